//! Any text of a list, however it is spelt: what passes is what a slow twin leaves of it, and nothing hidden is in it.

use proptest::prelude::*;
use serde_json::{Value, json};
use tower::Layer;
use tower_mcp_apps::normalize::FlatKey;
use tower_mcp_apps::protocol::Audience;

use crate::kit::send;
use crate::kit::server::json_answer;
use crate::world::{layer, legacy, saying};

/// A tool, and whether a model may see it.
fn tool() -> impl Strategy<Value = (Value, bool)> {
    let visibility = prop::sample::select(vec![
        (json!(null), true),
        (json!({}), true),
        (json!({ "ui": {} }), true),
        (json!({ "ui": { "visibility": ["model"] } }), true),
        (json!({ "ui": { "visibility": ["app", "model"] } }), true),
        (json!({ "ui": { "visibility": ["app"] } }), false),
        (json!({ "ui": { "visibility": [] } }), false),
        (json!({ "ui": { "visibility": "model" } }), false),
    ]);
    (0..5u8, visibility, "[a-z é😀\"\\\\\n/]{0,8}").prop_map(|(number, (meta, visible), description)| {
        let secret = if visible { "shown" } else { "secret" };
        let mut tool =
            json!({ "name": format!("{secret}{number}"), "description": description, "x": [1.5, { "tools": [] }] });
        if !meta.is_null() {
            tool["_meta"] = meta;
        }
        (tool, visible)
    })
}

/// Where the tools stand: the value, given the list.
fn place(shape: u8, list: &[Value]) -> Value {
    match shape {
        0 => json!(list),
        1 => json!({ "total": 1, "tools": list, "more": { "a": [1, "x", null] } }),
        2 => json!({ "result": list }),
        3 => json!({ "servers": [{ "name": "a", "tools": list }, { "name": "b", "tools": [] }] }),
        4 => json!({ "a": { "b": { "tools": list } } }),
        5 => json!([{ "server": "a", "tools": list }]),
        6 => json!({ "name": "all", "servers": [{ "tools": list }] }),
        _ => json!([{ "name": "a", "catalog": { "tools": list } }]),
    }
}

/// A JSON string that stands for a text, with more escapes than it needs, by turns.
fn spell(text: &str, choices: &[u8]) -> String {
    let spelt = text.chars().enumerate().map(|(at, character)| {
        let mut units = [0; 2];
        let units = character.encode_utf16(&mut units);
        if choices[at % choices.len()].is_multiple_of(4) || character < ' ' || matches!(character, '"' | '\\') {
            units.iter().map(|unit| format!("\\u{unit:04x}")).collect()
        } else {
            character.to_string()
        }
    });
    format!("\"{}\"", spelt.collect::<String>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_passes_is_the_list_without_what_is_hidden(
        tools in prop::collection::vec(tool(), 0..5),
        shape in 0..8u8,
        in_text in any::<bool>(),
        pretty in any::<bool>(),
        choices in prop::collection::vec(any::<u8>(), 1..20),
    ) {
        let all: Vec<Value> = tools.iter().map(|(tool, _)| tool.clone()).collect();
        let shown: Vec<Value> = tools.iter().filter(|(_, visible)| *visible).map(|(tool, _)| tool.clone()).collect();
        let write = |value: &Value| if pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
        let text = write(&place(shape, &all)).unwrap();
        let result = if in_text {
            format!(r#"{{"content":[{{"type":"text","text":{}}}]}}"#, spell(&text, &choices))
        } else {
            format!(r#"{{"content":[],"structuredContent":{text}}}"#)
        };
        let body = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{result}}}"#);
        let server = saying(move || json_answer(body.clone()));
        let layer = layer(Audience::Model).flat_key(FlatKey::Keep);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let answer = runtime.block_on(send(layer.layer(server), legacy("filter_tools", json!({}))));
        let got = answer.json();
        let read: Value = if in_text {
            let text = got["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{got}"));
            serde_json::from_str(text).unwrap()
        } else {
            got["result"]["structuredContent"].clone()
        };
        prop_assert_eq!(&read, &place(shape, &shown));
        if shown == all {
            prop_assert_eq!(answer.text(), format!(r#"{{"jsonrpc":"2.0","id":7,"result":{result}}}"#));
        }
        prop_assert!(!answer.text().contains("secret"));
    }
}
