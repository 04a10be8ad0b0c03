//! Assertions hold where they should, and fail where they should, telling where and what.

use std::ops::Range;

use serde_json::json;
use tower_mcp_apps::testing::{
    Answer, FakeServer, Reply, TestClient, assert_hidden, assert_only_changed, assert_refused, assert_unchanged,
};

use crate::told;

/// What is told where something else changed than these places.
fn difference(before: &str, after: &str, places: &[&str]) -> String {
    told(|| assert_only_changed(before, after, places))
}

#[test]
fn what_may_change_may() {
    for (before, after, places) in [
        (r#"{"a":1}"#, r#"{"a":2}"#, &["/a"][..]),
        (r#"{"a":1}"#, r#"{"a":{"b":[1]}}"#, &["/a"]),
        // A member that comes or goes, wherever it stands.
        (r#"{"a":1,"b":2}"#, r#"{"a":1}"#, &["/b"]),
        (r#"{ "a":1, "b":2 }"#, r#"{ "b":2 }"#, &["/a"]),
        (r#"{"a":1}"#, r#"{"a":1,"b":{}}"#, &["/b"]),
        ("{}", r#"{"b":{}}"#, &["/b"]),
        (r#"{"a":1, "b":2, "c":3}"#, r#"{"a":1, "c":3,"b":2}"#, &["/b"]),
        // Elements.
        ("[1,2,3]", "[1,0,3]", &["/1"]),
        ("[1, 2, 3]", "[1, 3]", &["/1"]),
        ("[1,2,3]", "[2]", &["/0", "/2"]),
        ("[1,2,3]", "[]", &["/*"]),
        ("[1,2,3]", "[2,3]", &["/*"]),
        ("[1]", "[1,2,3]", &["/-"]),
        (r#"[{"x":1},{"x":2}]"#, r#"[{"x":1,"y":1},{"x":2,"y":2}]"#, &["/*/y"]),
        // Names as pointers write them, and as JSON may.
        (r#"{"a/b":{"~":1}}"#, r#"{"a/b":{"~":2}}"#, &["/a~1b/~0"]),
        (r#"{"\u0061":1}"#, r#"{"\u0061":2}"#, &["/a"]),
        // Several.
        (r#"{"a":1,"b":[1,2],"c":3}"#, r#"{"a":9,"b":[1,8],"c":3}"#, &["/a", "/b/1"]),
    ] {
        assert_only_changed(before, after, places);
        // Each place is needed.
        for needed in 0..places.len() {
            let others: Vec<_> =
                places.iter().enumerate().filter(|(at, _)| *at != needed).map(|(_, place)| *place).collect();
            difference(before, after, &others);
        }
    }
}

#[test]
fn all_else_is_told_with_its_place() {
    for (before, after, places, lines) in [
        (r#"{"a":{"b":1.0}}"#, r#"{"a":{"b":1}}"#, &[][..], ["at /a/b: the value differs", "before: 1.0", "after:  1"]),
        (
            r#"{"a":"é"}"#,
            r#"{"a":"\u00e9"}"#,
            &[],
            ["at /a: the value differs", r#"before: "é""#, r#"after:  "\u00e9""#],
        ),
        (r#"{"a":1,"b":2}"#, r#"{"b":2}"#, &[], ["at /a: the member is gone", "before: 1", "after:  nothing"]),
        (r#"{"b":2}"#, r#"{"a":1,"b":2}"#, &[], ["at /a: the member is new", "before: nothing", "after:  1"]),
        (r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#, &[], ["at the whole: the order", r#"before: "a""#, r#"after:  "b""#]),
        (r#"{"a":1,"a":1}"#, r#"{"a":1}"#, &[], ["at /a: the member is gone", "before: 1", "after:  nothing"]),
        ("[[1,2]]", "[[1]]", &[], ["at /0: there are fewer elements", "before: [1,2]", "after:  [1]"]),
        ("[1,2]", "[1]", &["/0"], ["at /1: the value differs", "before: 2", "after:  1"]),
        ("[1]", "[1,2]", &["/*"], ["there are more elements", "before: [1]", "after:  [1,2]"]),
        (r#"{"a": 1}"#, r#"{"a":1}"#, &[], ["at /a: white space around the colon", r#"before: ": ""#, "after:  :"]),
        (
            r#"{"a":1, "b":2}"#,
            r#"{"a":1,"b":2}"#,
            &[],
            ["at /b: white space before it", r#"before: ", ""#, "after:  ,"],
        ),
        ("[1 ]", "[1]", &[], ["at the whole: white space at the end", r#"before: " ]""#, "after:  ]"]),
        ("[1]\n", "[1]", &[], ["white space behind the message", r#"before: \n"#, r#"after:  """#]),
        (r#"{"a":1}"#, r#"{"a":1"#, &["/a"], ["it is no JSON any more", r#"before: {"a":1}"#, r#"after:  {"a":1"#]),
        ("no JSON", "no json", &[], ["the bytes differ", "before: no JSON", "after:  no json"]),
        (r#"{"a":1,"b":1}"#, r#"{"a":2,"b":2}"#, &["/a"], ["at /b: the value differs", "before: 1", "after:  2"]),
    ] {
        let told = difference(before, after, places);
        assert!(told.starts_with("something changed that should not:"), "{told}");
        for line in lines {
            assert!(told.contains(line), "{line:?} is not in:\n{told}");
        }
    }
}

#[test]
fn long_texts_are_cut_around_the_difference() {
    let long = |end: &str| format!(r#"{{"text":"{}{end}{}"}}"#, "x".repeat(500), "y".repeat(500));
    let told = difference(&long("1"), &long("2"), &[]);
    assert!(told.contains(&format!("before: …{}1{}…", "x".repeat(40), "y".repeat(119))), "{told}");
    let many: Vec<_> = (0..20).collect();
    let told = difference(&json!(many).to_string(), &json!(vec![99; 20]).to_string(), &[]);
    assert!(told.contains("at /7:") && !told.contains("at /8:") && told.ends_with("and 12 more"), "{told}");
}

#[test]
#[should_panic(expected = "nothing changed at /b, /c/*")]
fn a_place_where_nothing_changed() {
    assert_only_changed(r#"{"a":1,"b":1,"c":[1]}"#, r#"{"a":2,"b":1,"c":[1]}"#, &["/a", "/b", "/c/*"]);
}

#[test]
#[should_panic(expected = r#""a" is no JSON pointer: it does not start with /"#)]
fn a_place_that_is_none() {
    assert_only_changed("1", "2", &["a"]);
}

/// Whatever happens to one byte is found out, unless it is where something may change.
#[test]
fn any_byte() {
    let text = r#"{"id": 1, "result": {"tools":[{"name":"a", "_meta": {"ui": [1.0, "x"]}},{"b":null}] , "n":-0.0}}"#;
    let place = r#"{"ui": [1.0, "x"]}"#;
    let start = text.find(place).expect("it is there");
    let may_change: Range<usize> = start..start + place.len();
    for at in 0..text.len() {
        let (head, tail) = (&text[..at], &text[at + 1..]);
        for byte in ["", " ", "0", "x", "\"", "}", ",", "\\"] {
            for after in [format!("{head}{byte}{tail}"), format!("{head}{byte}{}", &text[at..])] {
                if after == text {
                    continue;
                }
                told(|| assert_unchanged(text, &after));
                let is_json = serde_json::from_str::<serde_json::Value>(&after).is_ok();
                // Inserted at its start, a byte is white space before the value, or not JSON.
                let is_inside = may_change.contains(&at) && (at > start || after.len() <= text.len());
                if is_json && is_inside {
                    assert_only_changed(text, &after, &["/result/tools/0/_meta"]);
                } else {
                    difference(text, &after, &["/result/tools/0/_meta"]);
                }
            }
        }
    }
}

async fn answer(reply: Reply) -> Answer {
    let server = FakeServer::answering(move |_| reply.clone());
    TestClient::new(server).request("tools/list", "{}").await.expect("the server answers")
}

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"}]}}"#;

#[tokio::test]
async fn heads_are_compared_too() {
    let before = answer(Reply::json(LIST)).await;
    assert_unchanged(&before, &answer(Reply::json(LIST).header("x-other", "1")).await);
    for (after, expected) in [
        (
            Reply::json(LIST).status(http::StatusCode::ACCEPTED),
            "at the status: it differs\n    before: 200\n    after:  202",
        ),
        (Reply::json(LIST).content_type("text/html"), "at content-type: it differs\n    before: \"application/json\""),
        (Reply::json(LIST).header("content-encoding", "br"), "at content-encoding: it differs\n    before: none"),
        (Reply::json(LIST).cut_after(LIST.len()), "at the end of the body: it differs\n    before: whole"),
        (
            Reply::json(LIST).header("content-length", "7"),
            "at content-length: it is not the body's\n    before: 58\n    after:  7",
        ),
        (Reply::json(LIST).as_events(), "at content-type"),
    ] {
        let after = answer(after).await;
        let told = told(|| assert_unchanged(&before, &after));
        assert!(told.contains(expected), "{told}");
    }
}

#[tokio::test]
async fn events_are_compared_one_by_one() {
    let stream = |text: String| answer(Reply::bytes(text).content_type("text/event-stream"));
    let edited = LIST.replace(r#"{"name":"a"}"#, r#"{"name":"a","_meta":{}}"#);
    let before = stream(format!(": hello\n\nid: 1\ndata: {{}}\n\nid: 2\ndata: {LIST}\n\n")).await;
    let after = stream(format!(": hello\n\nid: 1\ndata: {{}}\n\nid: 2\ndata: {edited}\n\n")).await;
    assert_only_changed(&before, &after, &["/result/tools/0/_meta"]);
    for (other, expected) in [
        (
            format!(": hello\n\nid: 1\ndata: {{}}\n\nid: 2\ndata: {edited}\n\n"),
            "at /result/tools/0/_meta, in event 2: the member is new",
        ),
        (
            format!(": hello\n\nid: 1\ndata: {{}}\n\nid: 3\ndata: {LIST}\n\n"),
            "at event 2: the lines around the data differ",
        ),
        (
            format!(": hello\n\nid: 1\ndata: {{}}\n\nid: 2\r\ndata: {LIST}\n\n"),
            "at event 2: the lines around the data differ",
        ),
        (format!("id: 1\ndata: {{}}\n\nid: 2\ndata: {LIST}\n\n"), "at the stream of 3 events: their number differs"),
    ] {
        let other = stream(other).await;
        let told = told(|| assert_unchanged(&before, &other));
        assert!(told.contains(expected), "{told}");
    }
}

#[tokio::test]
async fn a_tool_that_is_there_is_not_hidden() {
    let list = answer(Reply::json(LIST)).await;
    assert_hidden(&list, "b");
    assert!(told(|| assert_hidden(&list, "a")).starts_with(r#""a" is not hidden: {"jsonrpc""#));
    // Whichever message it is in, and however its name is written.
    let hiding = answer(Reply::json(LIST).after(r#"{"result":{"tools":[{"n\u0061me":"\u0062"}]}}"#)).await;
    assert!(told(|| assert_hidden(&hiding, "b")).starts_with(r#""b" is not hidden"#));
    // An error hides everything.
    let error = answer(Reply::json(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}"#)).await;
    assert!(told(|| assert_hidden(&error, "b")).starts_with("this is no list of tools, status 200 OK: {"));
}

#[tokio::test]
async fn what_is_not_refused_as_it_should_be() {
    let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}"#;
    for reply in [Reply::json(error), Reply::json(error).as_events(), Reply::json(error).after("{}")] {
        assert_refused(&answer(reply).await, -32602);
    }
    for (reply, expected) in [
        (Reply::json(error).id(2), "error -32602 was expected, and this is error -32602, but with another id"),
        (Reply::json(error.replace("-32602", "-32603")), "and this is error -32603, status 200 OK: {\"jsonrpc"),
        (Reply::json(LIST), "and this is a result, status 200 OK"),
        (Reply::empty(http::StatusCode::FORBIDDEN), "and this is neither an error nor a result, status 403 Forbidden"),
        (Reply::json(LIST).cut_after(9), "{\"jsonrpc, then the body broke off"),
    ] {
        let answer = answer(reply).await;
        let told = told(|| assert_refused(&answer, -32602));
        assert!(told.contains(expected), "{told}");
    }
}
