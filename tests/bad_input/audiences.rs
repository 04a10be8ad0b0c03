//! What a caller says of itself: an audience header that makes no sense, and claims that grant nothing.

use serde_json::json;
use tower::Layer;
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::exchange::ByHeader;

use crate::kit::server::Server;
use crate::kit::{LIST, apps_capabilities, initialize, post, send, with};

#[tokio::test]
async fn an_odd_audience_header() {
    let server = Server::with_tools(json!([{ "name": "open" }]));
    let layer = AppsLayer::new().audience(ByHeader::new(http::HeaderName::from_static("x-audience")));
    for value in ["", "Model", "root", "model,app"] {
        let answer = send(layer.layer(server.clone()), with(post(LIST), "x-audience", value)).await;
        assert_eq!(
            (answer.status.as_u16(), answer.error_code(), &answer.json()["id"]),
            (400, json!(-32600), &json!(7))
        );
    }
    // The id of a response is the server's, and not that of a request which could have this answer.
    let response = with(post(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#), "x-audience", "root");
    let answer = send(layer.layer(server.clone()), response).await;
    assert_eq!((answer.status.as_u16(), answer.json().get("id")), (400, None));
    let doubled = with(with(post(LIST), "x-audience", "model"), "x-audience", "model");
    let answer = send(layer.layer(server.clone()), doubled).await;
    assert_eq!((answer.status.as_u16(), answer.error_code()), (400, json!(-32600)));
    assert!(server.take().is_empty());

    let answer = send(layer.layer(server.clone()), with(post(LIST), "x-audience", "app")).await;
    assert_eq!(answer.tools(), ["open"]);
    assert_eq!(server.only().header("x-audience"), None);
}

#[tokio::test]
async fn what_a_caller_says_of_itself_grants_nothing() {
    let server = Server::with_tools(json!([{ "name": "poll", "_meta": { "ui": { "visibility": ["app"] } } }]));
    let layer = AppsLayer::new();
    let body = r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{"ui":{"visibility":["app"]},"audience":"host","io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}}"#;
    let request = with(post(body), "origin", "null");
    let request = with(with(request, "user-agent", "claude"), "x-audience", "host");
    assert!(send(layer.layer(server.clone()), request).await.tools().is_empty());
    let init =
        initialize(&json!({ "experimental": apps_capabilities(), "extensions": { "io.modelcontextprotocol/ui": {} } }));
    let opened = send(layer.layer(server.clone()), post(init)).await;
    let session = opened.header("mcp-session-id").expect("a session").to_owned();
    let request = with(post(LIST), "mcp-session-id", &session);
    assert!(send(layer.layer(server), request).await.tools().is_empty());
}
