//! What the lint finds in whole servers.

use http::StatusCode;
use serde_json::{Value, json};
use tower::Layer;
use tower_mcp_apps::lint::Rule;
use tower_mcp_apps::testing::{FakeServer, Reply};
use tower_mcp_apps::{AppsLayer, testing};

use crate::servers;

/// Links of tools, listed resources, and what can be read.
fn has(server: FakeServer, links: &[&str], listed: &[&str], readable: &[&str]) -> FakeServer {
    let tool = |uri: &&str| json!({ "name": uri[5..], "_meta": { "ui": { "resourceUri": uri } } });
    let page =
        |uri: &str| json!({ "uri": uri, "name": "x", "mimeType": "text/html;profile=mcp-app", "text": "<html>" });
    let server = links.iter().map(tool).fold(server.page_size(2), FakeServer::tool);
    let server = listed.iter().map(|uri| page(uri)).fold(server, FakeServer::resource);
    readable.iter().fold(server, |server, uri| server.contents(uri, page(uri)))
}

/// Servers of one era alone: in JSON, and in event streams with a session.
fn both_eras() -> [FakeServer; 2] {
    let noisy = |reply: Reply| reply.after(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#);
    let legacy = FakeServer::legacy().sessions().streaming();
    [FakeServer::modern(), legacy.tamper("tools/list", noisy)]
}

async fn lint(server: FakeServer) -> Vec<(Rule, String)> {
    let findings = testing::lint(server).await.expect("the server answers");
    let name = |text: Option<&str>| text.unwrap_or_default().to_owned();
    findings.iter().map(|finding| (finding.rule(), name(finding.tool().or(finding.uri())))).collect()
}

#[tokio::test]
async fn nothing_is_told_of_a_server_that_is_right() {
    for server in both_eras() {
        // A page need not be listed to be linked.
        let server = has(server, &["ui://a", "ui://b"], &["ui://a"], &["ui://a", "ui://b"]);
        assert_eq!(lint(server).await, []);
    }
}

#[tokio::test]
async fn links_that_lead_nowhere() {
    let expected = [
        (Rule::LinkSpelling, "A/x"),
        (Rule::LinkSpelling, "a/%78"),
        (Rule::NotReadable, "a/%78"),
        (Rule::NotReadable, "gone"),
        (Rule::NotReadable, "ui://old"),
    ];
    for server in both_eras() {
        let links = ["ui://A/x", "ui://a/%78", "ui://gone", "ui://a/x"];
        let listed = ["ui://a/x", "ui://old", "https://other"];
        let server = has(server, &links, &listed, &["ui://a/x", "ui://A/x"]);
        assert_eq!(lint(server).await, expected.map(|(rule, name)| (rule, name.to_owned())));
    }
}

#[tokio::test]
async fn the_session_is_ended() {
    let server = FakeServer::legacy().sessions();
    lint(server.clone()).await;
    let last = server.take_requests().pop().expect("a request");
    assert_eq!((last.method().as_str(), last.header("mcp-session-id")), ("DELETE", Some("fake-session-1")));
}

#[tokio::test]
async fn what_passes_is_told_too() {
    let server = FakeServer::new().tool(json!({ "name": "t", "_meta": { "ui": { "csp": {} } } }));
    assert_eq!(lint(server).await, [(Rule::Misplaced, "t".to_owned())]);
}

#[tokio::test]
async fn a_list_that_is_declared_must_be_there() {
    let broken = |declared: Value| {
        FakeServer::new()
            .capabilities(declared)
            .on("tools/list", |request| Reply::rpc_error(request, -32603, "broken"))
            .on("resources/list", |request| Reply::rpc_error(request, -32603, "broken"))
    };
    assert_eq!(lint(broken(json!({}))).await, []);
    let unanswered = testing::lint(broken(json!({ "tools": {} }))).await.expect_err("the list is declared");
    assert_eq!(unanswered.to_string(), "tools/list: the answer is error -32603, \"broken\"");
    let nothing = FakeServer::answering(|_| Reply::empty(StatusCode::OK));
    let unanswered = testing::lint(nothing).await.expect_err("this is no server");
    assert_eq!(unanswered.to_string(), "initialize: there is no JSON-RPC answer, the status is 200 OK");
}

#[tokio::test]
async fn a_list_without_end_is_given_up() {
    let server = FakeServer::new()
        .tool(r#"{"name":"t"}"#)
        .on("tools/list", |request| Reply::result(request, r#"{"tools":[],"nextCursor":"again"}"#));
    let unanswered = testing::lint(server).await.expect_err("the list has no end");
    assert_eq!(unanswered.method(), "tools/list");
}

#[tokio::test]
async fn results_that_are_no_objects() {
    for result in ["[]", "1", "null", r#"{"tools":{},"resources":1}"#] {
        let server = FakeServer::answering(move |request| Reply::result(request, result));
        assert_eq!(lint(server).await, [], "{result}");
    }
}

#[tokio::test]
async fn real_servers_bare_and_wrapped() {
    let flat_key = "tools/list of tool \"show\", _meta.ui/resourceUri: \
        is deprecated: the link belongs in ui.resourceUri (flat_key_alone)";
    let bare = testing::lint(servers::rmcp_json::service()).await.expect("rmcp answers");
    assert_eq!(bare.iter().map(ToString::to_string).collect::<Vec<_>>(), [flat_key]);
    assert_eq!(testing::lint(servers::rmcp_sessions::service()).await.expect("rmcp answers"), bare);
    let wrapped = AppsLayer::new().layer(servers::rmcp_sessions::service());
    assert_eq!(testing::lint(wrapped).await.expect("rmcp answers"), []);
}
