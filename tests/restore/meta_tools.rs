//! An aggregator that hides its catalogue behind tools of its own: what its formatters drop is put back in their texts.

use serde_json::{Value, json};
use tower::Layer;
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::concern::MetaTools;
use tower_mcp_apps::exchange::Fixed;
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::restore::{Memory, Restore};

use crate::kit::send;
use crate::world::{aggregator, ask, maps};

fn meta_tools() -> MetaTools {
    let meta_tools = MetaTools::new().list_tools("list_tools").list_resources("list_resources");
    meta_tools.get_resource("get_resource", "uri").call_tool("call_tool", "name")
}

fn calls(name: &str, arguments: &Value) -> http::Request<tower_mcp_apps::testing::Body> {
    ask("tools/call", &json!({ "name": name, "arguments": arguments }))
}

/// The text of a result, as JSON.
fn text(answer: &Value) -> Value {
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"));
    serde_json::from_str(text).expect("JSON")
}

fn entry<'a>(list: &'a Value, member: &str, name: &str) -> &'a Value {
    let entries = list.as_array().unwrap_or_else(|| panic!("no list: {list}"));
    entries.iter().find(|entry| entry[member] == name).unwrap_or_else(|| panic!("no {name}: {list}"))
}

#[tokio::test]
async fn what_formatters_drop_is_put_back() {
    let asks = [
        ("list_tools", json!({}), "name", "maps__show", "/_meta/ui/resourceUri", json!("ui://maps+server/view")),
        ("list_resources", json!({}), "uri", "ui://maps+server/view", "/mimeType", json!("text/html;profile=mcp-app")),
        (
            "get_resource",
            json!({ "uri": "ui://maps+server/view" }),
            "uri",
            "ui://maps+server/view",
            "/_meta/ui/domain",
            json!("a.example"),
        ),
    ];
    for (name, arguments, member, of, path, want) in asks {
        let list = |answer: Value| match text(&answer) {
            Value::Object(mut read) => read["contents"].take(),
            list => list,
        };
        let memory = Memory::new();
        let bare = send(aggregator(&memory).with_meta_tools(), calls(name, &arguments)).await.json();
        assert!(entry(&list(bare), member, of).pointer(path).is_none(), "{name} drops {path}");

        let memory = Memory::new();
        let layer = AppsLayer::new()
            .restore(Restore::new(memory.clone()).upstream("maps", maps()))
            .meta_tools(meta_tools())
            .audience(Fixed(Audience::Host));
        let answer = send(layer.layer(aggregator(&memory).with_meta_tools()), calls(name, &arguments)).await.json();
        assert_eq!(entry(&list(answer), member, of).pointer(path), Some(&want), "{name} has {path} again");
    }
}

#[tokio::test]
async fn a_visibility_that_formatters_drop_is_enforced() {
    let memory = Memory::new();
    let bare = aggregator(&memory).with_meta_tools();
    let poll = || calls("call_tool", &json!({ "name": "maps__poll" }));
    assert!(send(bare, poll()).await.json()["result"].is_object(), "without the layer it runs");

    let memory = Memory::new();
    let layer =
        AppsLayer::new().restore(Restore::new(memory.clone()).upstream("maps", maps())).meta_tools(meta_tools());
    let service = layer.layer(aggregator(&memory).with_meta_tools());
    assert_eq!(send(service.clone(), poll()).await.error_code(), -32602);
    let listed = text(&send(service.clone(), calls("list_tools", &json!({}))).await.json()).to_string();
    assert!(listed.contains("maps__show") && !listed.contains("maps__poll"), "{listed}");
    let ran = send(service, calls("call_tool", &json!({ "name": "maps__show" }))).await.json();
    assert!(ran["result"].is_object(), "{ran}");
}
