//! What bad input gets: every row of the design's table, where nothing is enforced and where a filter applies.
//!
//! The look-up of the gate has its own tests; here the server lists the tool that is called.

mod answers;
mod audiences;
mod batches;
mod bodies;
mod headers;
#[path = "../kit/mod.rs"]
mod kit;
mod messages;

use http::{Request, StatusCode};
use kit::server::Server;
use kit::{Answer, send};
use serde_json::{Value, json};
use tower::Layer;
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::concern::Settings;
use tower_mcp_apps::exchange::{Fixed, Limits};
use tower_mcp_apps::negotiate::NegotiateLayer;
use tower_mcp_apps::normalize::NormalizeLayer;
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::testing::Body;
use tower_mcp_apps::visibility::VisibilityLayer;

/// Sends a request through every stack in which nothing is enforced.
async fn unenforced(server: &Server, limits: Limits, request: impl Fn() -> Request<Body>) -> Vec<Answer> {
    let settings = Settings::new().limits(limits).audience(Fixed(Audience::Host));
    let host = AppsLayer::new().settings(settings).layer(server.clone());
    let negotiate = NegotiateLayer::new().limits(limits).layer(server.clone());
    let normalize = NormalizeLayer::new().limits(limits).layer(server.clone());
    vec![send(host, request()).await, send(negotiate, request()).await, send(normalize, request()).await]
}

/// Sends a request through every stack in which a filter applies.
async fn enforced(server: &Server, limits: Limits, request: impl Fn() -> Request<Body>) -> Vec<Answer> {
    let visibility = VisibilityLayer::new().limits(limits);
    let apps = AppsLayer::new().limits(limits);
    let model = apps.clone().audience(Fixed(Audience::Model)).layer(server.clone());
    let app = apps.clone().audience(Fixed(Audience::App)).layer(server.clone());
    let stacked = apps.layer(apps.layer(server.clone()));
    vec![
        send(visibility.layer(server.clone()), request()).await,
        send(apps.layer(server.clone()), request()).await,
        send(model, request()).await,
        send(app, request()).await,
        send(stacked, request()).await,
    ]
}

/// Where nothing is enforced, the request arrives as it came; a filter refuses it, and the server never hears of it.
async fn forwarded_or_refused(request: impl Fn() -> Request<Body>, status: u16, codes: &[i32], id: &Value) {
    let server = Server::with_tools(json!([{ "name": "open" }]));
    let sent = kit::server::record(request()).await;
    for answer in unenforced(&server, Limits::new(), &request).await {
        assert_eq!(answer.status, StatusCode::OK, "{sent:?}");
    }
    let received = server.take();
    assert_eq!(received.len(), 3, "{sent:?}");
    for received in received {
        assert_eq!(received.frames, sent.frames);
        assert_eq!(received.trailers, sent.trailers);
        for (name, value) in &sent.parts.headers {
            // This one is ours to change.
            assert!(name == "accept-encoding" || received.parts.headers.get_all(name).iter().any(|it| it == value));
        }
    }
    for answer in enforced(&server, Limits::new(), &request).await {
        assert_eq!(answer.status.as_u16(), status, "{sent:?}: {}", answer.text());
        let error = answer.json();
        assert!(codes.iter().any(|code| error["error"]["code"] == *code), "{sent:?}: {error}");
        assert_eq!(error["jsonrpc"], "2.0");
        match id {
            // Never null.
            Value::Null => assert!(error.get("id").is_none(), "{sent:?}: {error}"),
            id => assert_eq!(&error["id"], id, "{sent:?}"),
        }
        assert_eq!(answer.header("content-type"), Some("application/json"));
    }
    assert!(server.take().is_empty(), "{sent:?} went on");
}
