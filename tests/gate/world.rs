//! What the tests of the gate share: tools, calls of them, and servers with catalogues.

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use serde_json::{Value, json};
use tower::Layer;
use tower_mcp_apps::concern::ConcernService;
use tower_mcp_apps::exchange::Fixed;
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::testing::Body;
use tower_mcp_apps::visibility::{Visibility, VisibilityLayer};

use crate::kit::server::{Received, Server, event_answer, json_answer};
use crate::kit::{Answer, modern, post, send};

/// A layer for models alone.
pub(crate) fn for_models() -> VisibilityLayer {
    VisibilityLayer::new().audience(Fixed(Audience::Model))
}

/// A layer for apps alone.
pub(crate) fn for_apps() -> VisibilityLayer {
    VisibilityLayer::new().audience(Fixed(Audience::App))
}

pub(crate) type Gated = ConcernService<Server, Visibility>;

/// A tool for these.
pub(crate) fn tool(name: &str, visibility: &[&str]) -> Value {
    json!({ "name": name, "_meta": { "ui": { "visibility": visibility } } })
}

/// `open` for both, `poll` for apps, `admin` for models.
pub(crate) fn tools() -> Value {
    json!([{ "name": "open" }, tool("poll", &["app"]), tool("admin", &["model"])])
}

/// The answer to a request, with its id.
pub(crate) fn result(received: &Received, result: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": received.json()["id"], "result": result }).to_string()
}

/// A server that answers `tools/list` so, and runs whatever is called.
pub(crate) fn listing(list: impl Fn(&Received) -> Response<Body> + Send + Sync + 'static) -> Server {
    Server::new(move |received| match received.method().as_str() {
        "tools/list" => list(received),
        _ => ran(received),
    })
}

/// A server whose only page this is, beside its id.
pub(crate) fn with_page(page: Value) -> Server {
    listing(move |received| json_answer(result(received, &page)))
}

/// The answer to a call that runs. Answers a batch by an array.
pub(crate) fn ran(received: &Received) -> Response<Body> {
    let answer = |message: &Value| json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "content": ["ran"] } });
    json_answer(match received.json() {
        Value::Array(messages) => Value::Array(messages.iter().map(answer).collect()).to_string(),
        message => answer(&message).to_string(),
    })
}

/// A stream of these messages that ends.
pub(crate) fn events(messages: &[&str]) -> Response<Body> {
    let stream: String = messages.iter().map(|message| format!("event: message\ndata: {message}\n\n")).collect();
    event_answer(Body::frames([Bytes::from(stream)]))
}

/// An answer with this status and nothing in it.
pub(crate) fn empty(status: u16) -> Response<Body> {
    let mut response = Response::new(Body::new(""));
    *response.status_mut() = StatusCode::from_u16(status).expect("a status");
    response
}

/// A call of the modern era.
pub(crate) fn call(name: &str) -> Request<Body> {
    modern("tools/call", &json!({ "name": name, "arguments": {} }), &json!({}))
}

/// A call of the legacy era.
pub(crate) fn legacy_call(name: &str) -> Request<Body> {
    let params = json!({ "name": name, "arguments": {} });
    post(json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params }).to_string())
}

/// What arrived at a server: how many look-ups, and the tools that ran.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) look_ups: usize,
    pub(crate) ran: Vec<String>,
}

/// What arrived since the last time.
pub(crate) fn seen(server: &Server) -> Seen {
    let received = server.take();
    let of = |method: &str| received.iter().filter(|received| received.method() == method).count();
    let ran = received.iter().filter(|received| received.method() == "tools/call");
    let name = |received: &Received| received.json()["params"]["name"].as_str().unwrap_or_default().to_owned();
    Seen { look_ups: of("tools/list"), ran: ran.map(name).collect() }
}

/// How many look-ups arrived since the last time.
pub(crate) fn look_ups(server: &Server) -> usize {
    seen(server).look_ups
}

/// The look-ups that arrived since the last time.
pub(crate) fn asked(server: &Server) -> Vec<Received> {
    server.take().into_iter().filter(|received| received.method() == "tools/list").collect()
}

/// Whether an answer is that of a call that ran.
pub(crate) fn has_run(answer: &Answer) -> bool {
    answer.status == StatusCode::OK && answer.json()["result"]["content"] == json!(["ran"])
}

/// Calls a tool that runs.
pub(crate) async fn runs(service: &Gated, request: Request<Body>) {
    let answer = send(service.clone(), request).await;
    assert!(has_run(&answer), "{}", answer.text());
}

/// Calls a tool that is refused as one that is not known.
pub(crate) async fn is_hidden(service: &Gated, request: Request<Body>) {
    let answer = send(service.clone(), request).await;
    assert_eq!((answer.status, answer.error_code()), (StatusCode::OK, json!(-32602)), "{}", answer.text());
    assert_eq!(answer.json()["id"], 7);
}

/// No test may hang: a deadlock is a failure.
pub(crate) async fn in_time<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(20), future).await.expect("it does not hang")
}

/// A gate for models in front of a server.
pub(crate) fn gate(server: &Server) -> Gated {
    for_models().layer(server.clone())
}
