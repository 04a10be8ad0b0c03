//! What is heard of messages, whatever they are.

use super::hear;
use crate::message::{Answer, EntryKind};
use crate::protocol::Method;
use crate::restore::Said;

fn tools(result: &str) -> Vec<(String, String)> {
    let message = format!(r#"{{"id":1,"result":{result}}}"#);
    let heard = hear(message.as_bytes(), Answer::To(Method::ToolsList));
    let texts = heard.into_iter().flat_map(|heard| heard.entries);
    texts.map(|(name, text)| (name, String::from_utf8(text).unwrap())).collect()
}

fn said(name: &str, text: &str) -> Vec<(String, String)> {
    vec![(name.to_owned(), text.to_owned())]
}

#[test]
fn an_entry_is_heard_as_it_stands_without_what_identifies_it_and_its_content() {
    let heard =
        tools(r#"{"tools":[{ "x" : 1.0, "name":"a", "inputSchema":{"type":"object"}, "_meta" : { "k":-0.0 } }]}"#);
    assert_eq!(heard, said("a", r#"{ "x" : 1.0, "_meta" : { "k":-0.0 } }"#));
    assert_eq!(tools(r#"{"tools":[{"n\u0061me":"\u0061"}]}"#), said("a", "{}"));
    let read = r#"{"id":1,"result":{"contents":[{"uri":"u","text":"t","blob":"b","mimeType":"m"}]}}"#;
    let heard = hear(read.as_bytes(), Answer::To(Method::ResourcesRead));
    assert_eq!(heard[0].entries, [("u".to_owned(), br#"{"mimeType":"m"}"#.to_vec())]);
}

#[test]
fn what_is_no_entry_is_passed_over() {
    assert_eq!(tools(r#"{"tools":[1,null,[],{},{"name":7},{"name":"\ud800"},{"name":"a"}]}"#), said("a", "{}"));
    for result in ["{}", r#"{"tools":{}}"#, r#"{"tools":null}"#, r#"{"resources":[{"uri":"a"}]}"#, "[]", "7"] {
        assert_eq!(tools(result), [], "{result}");
    }
}

#[test]
fn time_is_read_as_the_engine_reads_it() {
    for (ttl, want) in
        [("", None), (r#","ttlMs":1.9e3"#, Some(1900)), (r#","ttlMs":-1"#, Some(0)), (r#","ttlMs":"x""#, Some(0))]
    {
        let message = format!(r#"{{"id":1,"result":{{"tools":[]{ttl}}}}}"#);
        assert_eq!(hear(message.as_bytes(), Answer::Unknown)[0].ttl, want, "{ttl}");
    }
}

#[test]
fn an_answer_that_is_not_known_is_heard_by_its_shape() {
    let message = r#"{"id":1,"result":{"tools":[{"name":"a"}],"resourceTemplates":[{"uriTemplate":"b"}]}}"#;
    let kinds: Vec<_> = hear(message.as_bytes(), Answer::Unknown).into_iter().map(|heard| heard.kind).collect();
    assert_eq!(kinds, [EntryKind::Tool, EntryKind::Template]);
}

#[test]
fn what_would_cost_too_much_to_put_back_is_not_remembered() {
    let can = |text: String| Said { text: text.into(), at: 0, fresh_for: 0 }.can_be_put_back();
    let members = |count: usize| {
        let members: Vec<_> = (0..count).map(|at| format!(r#""{at}":0"#)).collect();
        format!("{{{}}}", members.join(","))
    };
    for (count, is_small) in [(256, true), (257, false)] {
        assert_eq!(can(members(count)), is_small);
        assert_eq!(can(format!(r#"{{"_meta":{}}}"#, members(count))), is_small);
        assert_eq!(can(format!(r#"{{"_meta":{{"ui":{}}}}}"#, members(count))), is_small);
        // What is put back as one value may be of any shape.
        assert!(can(format!(r#"{{"x":{}}}"#, members(count))));
    }
    assert!(!can(format!(r#"{{"x":"{}"}}"#, "x".repeat(256 << 10))));
    for text in ["", "[]", "7", "{", "{}{}", r#"{"a":}"#] {
        assert!(!can(text.to_owned()), "{text}");
    }
}
