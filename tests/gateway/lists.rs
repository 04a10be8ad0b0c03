//! Lists of several servers as one: their entries byte for byte, pages, and how long they may be kept.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::StatusCode;
use serde_json::{Value, json};

use crate::kit::{apps_capabilities, modern};
use crate::world::{Gateway, legacy, list, mcp, tools, upstream};

const ODD: &str =
    r#"{ "name" : "\u0061", "size":1.0, "zero":-0.0 ,"long":123456789012345678901234567890, "x" : [ 1,2 ] }"#;

#[tokio::test]
async fn entries_stand_one_after_the_other_byte_for_byte() {
    let maps = upstream("maps", tools("maps", ODD)).await;
    let notes = upstream("notes", tools("notes", r#"{"name":"b"}, {"name":"c","n":1e2}"#)).await;
    let empty = upstream("empty", tools("empty", "")).await;
    let gateway = Gateway::before(&[&maps, &empty, &notes], &[]).await;
    let answer = gateway.ask("tools/list", json!({})).await;
    let odd = ODD.replacen(r#""\u0061""#, r#""maps__\u0061""#, 1);
    let entries = format!(r#"[{odd},{{"name":"notes__b"}}, {{"name":"notes__c","n":1e2}}]"#);
    let rest = r#","resultType":"complete","ttlMs":9000,"cacheScope":"private"}"#;
    assert_eq!(answer.text(), format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"tools":{entries}{rest}}}"#));

    // Nothing is invented for the legacy era.
    let session = gateway.session().await;
    let answer = gateway.send(legacy(&session, json!({ "jsonrpc": "2.0", "id": "x", "method": "tools/list" }))).await;
    assert_eq!(answer.text(), format!(r#"{{"jsonrpc":"2.0","id":"x","result":{{"tools":{entries}}}}}"#));
}

/// Resources on pages: `of` is how many, each with one entry.
fn paged(name: &'static str, of: usize) -> crate::kit::server::Server {
    mcp(name, move |method, params| match method {
        "resources/list" => {
            let page = params["cursor"].as_str().map_or(Ok(0), |cursor| cursor.trim_matches('\u{e4}').parse());
            let Ok(page) = page else { return Err((-32602, "Invalid cursor")) };
            let next = format!(r#","nextCursor":"\u00e4{}\u00e4""#, page + 1);
            let next = if page + 1 < of { next } else { String::new() };
            Ok(list("resources", &format!(r#"{{"uri":"{name}:{page}","name":"r"}}"#), &next))
        }
        _ => Err((-32601, "Method not found")),
    })
}

#[tokio::test]
async fn pages_go_on_in_each_server_until_all_are_through() {
    let (one, three, four) = (paged("one", 1), paged("three", 3), paged("four", 4));
    let (one, three, four) = (upstream("a", one).await, upstream("b", three).await, upstream("c", four).await);
    let gateway = Gateway::before(&[&one, &three, &four], &[]).await;
    let (mut cursor, mut seen, mut pages) = (Value::Null, Vec::new(), 0);
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        let page = gateway.ask("resources/list", params).await.json();
        let entries = page["result"]["resources"].as_array().unwrap_or_else(|| panic!("{page}"));
        seen.extend(entries.iter().map(|entry| entry["uri"].as_str().expect("a URI").to_owned()));
        cursor = page["result"]["nextCursor"].clone();
        pages += 1;
        if cursor.is_null() {
            break;
        }
        assert!(cursor.as_str().is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_graphic())), "{cursor}");
    }
    let expected = ["a+one:0", "b+three:0", "c+four:0", "b+three:1", "c+four:1", "b+three:2", "c+four:2", "c+four:3"];
    assert_eq!((seen.iter().map(String::as_str).collect::<Vec<_>>(), pages), (expected.to_vec(), 4));
    // Each was asked once for each of its pages.
    let asked = |server: &crate::kit::server::Server| {
        server.take().iter().filter(|received| received.method() == "resources/list").count()
    };
    assert_eq!([asked(&one.server), asked(&three.server), asked(&four.server)], [1, 3, 4]);
}

#[tokio::test]
async fn a_cursor_of_anything_else_is_invalid() {
    let two = upstream("a", paged("two", 2)).await;
    let gateway = Gateway::before(&[&two], &[]).await;
    let first = gateway.ask("resources/list", json!({})).await.json();
    let cursor = first["result"]["nextCursor"].as_str().expect("there is more").to_owned();
    let of_another = String::from_utf8(URL_SAFE_NO_PAD.decode(&cursor).expect("base64url")).expect("text");
    let of_another = URL_SAFE_NO_PAD.encode(of_another.replace(r#"{"a":"#, r#"{"b":"#));
    two.server.take();
    for (method, cursor) in [
        ("resources/list", json!("nonsense")),
        ("resources/list", json!("")),
        ("resources/list", json!(7)),
        ("resources/list", json!(of_another)),
        ("tools/list", json!(cursor)),
    ] {
        let answer = gateway.ask(method, json!({ "cursor": cursor })).await;
        assert_eq!((answer.status, answer.error_code()), (StatusCode::OK, json!(-32602)), "{method} {cursor}");
    }
    assert!(two.server.take().is_empty(), "none of them reached a server");
    // The server itself refuses its own cursor.
    let broken = URL_SAFE_NO_PAD.encode(r#"{"list":"resources/list","private":false,"next":{"a":"x"}}"#);
    let answer = gateway.ask("resources/list", json!({ "cursor": broken })).await;
    assert_eq!(answer.error_code(), json!(-32602));
    assert_eq!(answer.json()["error"]["message"], "a: Invalid cursor");
}

/// A list of prompts with these caching hints.
fn hinted(name: &'static str, hints: &'static str) -> crate::kit::server::Server {
    mcp(name, move |method, params| match method {
        "prompts/list" => {
            let more = if params["cursor"].is_null() && name == "b" { r#","nextCursor":"1""# } else { "" };
            Ok(format!(r#"{{"resultType":"complete","prompts":[]{more}{hints}}}"#))
        }
        _ => Err((-32601, "Method not found")),
    })
}

#[tokio::test]
async fn a_list_is_kept_no_longer_and_by_no_more_than_each_part() {
    let public = r#","ttlMs":5000,"cacheScope":"public""#;
    for (hints, expected) in [
        (r#","ttlMs":700,"cacheScope":"public""#, json!([700, "public"])),
        (r#","ttlMs":9000,"cacheScope":"private""#, json!([5000, "private"])),
        (r#","ttlMs":-1,"cacheScope":"public""#, json!([0, "public"])),
        (r#","ttlMs":1.5,"cacheScope":"else""#, json!([0, "private"])),
        ("", json!([0, "private"])),
    ] {
        let (a, b) = (upstream("a", hinted("a", hints)).await, upstream("b", hinted("b", public)).await);
        let gateway = Gateway::before(&[&a, &b], &[]).await;
        let page = gateway.ask("prompts/list", json!({})).await.json();
        assert_eq!(json!([page["result"]["ttlMs"], page["result"]["cacheScope"]]), expected, "{hints}");
        // All pages have the scope of the first, also those of public servers alone.
        let next = gateway.ask("prompts/list", json!({ "cursor": page["result"]["nextCursor"] })).await.json();
        assert_eq!(next["result"]["cacheScope"], expected[1], "{hints}: {next}");
    }
}

/// Shared caches know nothing of the header that says whose app asks, and to an app the list is another.
#[tokio::test]
async fn where_apps_are_told_apart_no_list_is_for_all() {
    let public = r#","ttlMs":5000,"cacheScope":"public""#;
    let (a, b) = (upstream("a", hinted("a", public)).await, upstream("b", hinted("b", public)).await);
    for (flags, scope) in [(&[][..], "public"), (&["--app-header", "x-mcp-app"], "private")] {
        let gateway = Gateway::before(&[&a, &b], flags).await;
        assert_eq!(gateway.ask("prompts/list", json!({})).await.json()["result"]["cacheScope"], scope);
        assert_eq!(gateway.ask("server/discover", json!({})).await.json()["result"]["cacheScope"], scope);
    }
}

#[tokio::test]
async fn models_do_not_see_what_is_for_apps() {
    let both = r#"{"name":"show"},{"name":"poll","_meta":{"ui":{"visibility":["app"]}}}"#;
    let (a, b) = (upstream("a", tools("a", both)).await, upstream("b", tools("b", both)).await);
    let gateway = Gateway::before(&[&a, &b], &[]).await;
    let seen = gateway.send(modern("tools/list", &json!({}), &json!({}))).await;
    assert_eq!(seen.tools(), ["a__show", "b__show"]);
    let seen = gateway.send(modern("tools/list", &json!({}), &apps_capabilities())).await;
    assert_eq!(seen.tools(), ["a__show", "a__poll", "b__show", "b__poll"]);
}
