//! Tools of which nothing is remembered: hidden, and not callable, unless the deployer says otherwise.

use serde_json::json;
use tower::Layer;
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::exchange::Fixed;
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::restore::{Memory, Restore, RestoreLayer, Unknown};

use crate::kit::server::Server;
use crate::kit::{apps_capabilities, initialize, modern, post, send};
use crate::world::{aggregator, ask, maps, one_tool, upstream};

/// An aggregator that kept its list over a restart, and never asks.
fn forgetful() -> Server {
    upstream(|received| match received.method().as_str() {
        "tools/list" => r#"{"tools":[{"name":"maps__poll"},{"name":"own"}]}"#.to_owned(),
        _ => r#"{"content":[]}"#.to_owned(),
    })
}

#[tokio::test]
async fn a_tool_of_which_nothing_is_remembered_is_hidden_from_everybody() {
    let layer = RestoreLayer::new(Memory::new()).upstream("maps", maps());
    for capabilities in [json!({}), apps_capabilities()] {
        let answer = send(layer.layer(forgetful()), modern("tools/list", &json!({}), &capabilities)).await;
        assert_eq!(answer.tools(), ["own"], "what no upstream has is the aggregator's word");
    }
    let answer = send(layer.unknown(Unknown::Pass).layer(forgetful()), ask("tools/list", &json!({}))).await;
    assert_eq!(answer.tools(), ["maps__poll", "own"]);
}

#[tokio::test]
async fn a_tool_of_which_nothing_is_remembered_does_not_run() {
    let restore = Restore::new(Memory::new()).upstream("maps", maps());
    for audience in [Audience::Model, Audience::App] {
        let server = forgetful();
        let service = AppsLayer::new().restore(restore.clone()).audience(Fixed(audience)).layer(server.clone());
        let call = |name: &str| ask("tools/call", &json!({ "name": name }));
        assert_eq!(send(service.clone(), call("maps__poll")).await.error_code(), -32602);
        assert!(server.take().iter().all(|received| received.method() != "tools/call"));
        assert!(send(service, call("own")).await.json()["result"].is_object());
    }
}

#[tokio::test]
async fn a_lost_visibility_is_enforced_on_lists_and_calls() {
    let memory = Memory::new();
    let bare = AppsLayer::new().layer(aggregator(&memory));
    assert_eq!(send(bare.clone(), ask("tools/list", &json!({}))).await.tools().len(), 3, "without the layer it leaks");
    assert!(send(bare, ask("tools/call", &json!({ "name": "maps__poll" }))).await.json()["result"].is_object());

    let memory = Memory::new();
    let restore = Restore::new(memory.clone()).upstream("maps", maps());
    let service = AppsLayer::new().restore(restore).layer(aggregator(&memory));
    // The first request of a fresh process is the call.
    assert_eq!(send(service.clone(), ask("tools/call", &json!({ "name": "maps__poll" }))).await.error_code(), -32602);
    assert!(
        send(service.clone(), ask("tools/call", &json!({ "name": "maps__show" }))).await.json()["result"].is_object()
    );
    assert_eq!(send(service.clone(), ask("tools/list", &json!({}))).await.tools(), ["maps__show", "maps__plain"]);
    let session = send(service, post(initialize(&json!({})))).await;
    assert!(session.header("mcp-session-id").is_some_and(|id| id.starts_with("apps1-n")));
}

#[tokio::test]
async fn a_list_that_cannot_be_read_is_an_error_where_tools_may_be_hidden() {
    let layer = RestoreLayer::new(Memory::new()).upstream("maps", maps());
    let broken = Server::saying(r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"maps__a"},]}}"#);
    assert_eq!(send(layer.layer(broken.clone()), ask("tools/list", &json!({}))).await.error_code(), -32603);
    let passes = send(layer.unknown(Unknown::Pass).layer(broken.clone()), ask("tools/list", &json!({}))).await;
    assert_eq!(passes.bytes(), send(broken, ask("tools/list", &json!({}))).await.bytes());
}

#[tokio::test]
async fn a_tool_whose_name_cannot_be_read_is_hidden() {
    let layer = RestoreLayer::new(Memory::new()).upstream("maps", maps());
    for tool in [r#"{"name":"maps__\ud800"}"#, r#"{"name":7}"#, "{}"] {
        let answer = send(layer.layer(one_tool(tool)), ask("tools/list", &json!({}))).await;
        assert_eq!(answer.json()["result"]["tools"], json!([]), "{tool}");
    }
}

#[tokio::test]
async fn resources_of_which_nothing_is_remembered_pass() {
    let layer = RestoreLayer::new(Memory::new()).upstream("maps", maps());
    let bare = upstream(|_| r#"{"resources":[{"uri":"ui://maps+v"}]}"#.to_owned());
    let answer = send(layer.layer(bare.clone()), ask("resources/list", &json!({}))).await;
    assert_eq!(answer.bytes(), send(bare, ask("resources/list", &json!({}))).await.bytes());
}
