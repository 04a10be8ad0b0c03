//! The parser of `ui` and the filter of `visibility` say the same about a tool.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tower::{Layer, ServiceExt, service_fn};
use tower_mcp_apps::concern::RequestBody;
use tower_mcp_apps::exchange::Fixed;
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::ui::{ToolMeta, ToolVisibility};
use tower_mcp_apps::visibility::VisibilityLayer;

/// Whether the filter lets a tool with this `_meta` pass.
async fn passes(meta: &Value, audience: Audience) -> bool {
    let list = json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "t", "_meta": meta}]}}).to_string();
    let server = service_fn(move |_: Request<RequestBody<Full<Bytes>>>| {
        let response = Response::builder().header("content-type", "application/json");
        let response = response.body(Full::<Bytes>::from(list.clone())).expect("a response");
        async { Ok::<_, std::convert::Infallible>(response) }
    });
    let request = Request::post("/mcp")
        .header("content-type", "application/json")
        .body(Full::<Bytes>::from(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#))
        .expect("a request");
    let service = VisibilityLayer::new().audience(Fixed(audience)).layer(server);
    let answer = service.oneshot(request).await.expect("an answer").into_body().collect().await.expect("a body");
    let answer: Value = serde_json::from_slice(&answer.to_bytes()).expect("JSON");
    answer["result"]["tools"].as_array().is_some_and(|tools| !tools.is_empty())
}

#[tokio::test]
async fn parser_and_filter_agree() {
    for meta in [
        json!({}),
        json!(null),
        json!([]),
        json!({"ui": null}),
        json!({"ui": "app"}),
        json!({"ui": {}}),
        json!({"ui": {"visibility": null}}),
        json!({"ui": {"visibility": "model"}}),
        json!({"ui": {"visibility": {"model": true}}}),
        json!({"ui": {"visibility": []}}),
        json!({"ui": {"visibility": ["model"]}}),
        json!({"ui": {"visibility": ["app"]}}),
        json!({"ui": {"visibility": ["app", "model"]}}),
        json!({"ui": {"visibility": ["APP", "robot", 1, ["model"]]}}),
        json!({"visibility": ["app"]}),
        json!({"io.modelcontextprotocol/ui": {"visibility": ["app"]}}),
    ] {
        let visibility = ToolMeta::parse(&meta).value.visibility().unwrap_or(ToolVisibility::Both);
        assert_eq!(passes(&meta, Audience::Model).await, visibility.includes(Audience::Model), "{meta}");
        assert_eq!(passes(&meta, Audience::App).await, visibility.includes(Audience::App), "{meta}");
    }
}
