//! A required extension: who declared it passes, everybody else is refused before the server hears of it.

mod kit;

use http::{Method, Request, Response, StatusCode};
use kit::server::{Received, Server, json_answer};
use kit::{Answer, LIST, apps_capabilities, initialize, modern, only, post, send, with};
use serde_json::{Value, json};
use tower::Layer;
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::exchange::{Decision, Fixed, Reason};
use tower_mcp_apps::negotiate::NegotiateLayer;
use tower_mcp_apps::protocol::{Audience, UI_EXTENSION};
use tower_mcp_apps::testing::Body;

const SESSION: &str = "mcp-session-id";

fn answer(received: &Received) -> Response<Body> {
    if received.parts.method != Method::POST || !received.json().is_object() {
        return json_answer("[]");
    }
    let message = received.json();
    let result = json!({ "capabilities": { "resources": {} }, "tools": [{ "name": "open" }] });
    json_answer(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string())
}

fn server() -> Server {
    Server::new(answer)
}

/// What a client gets through every layer that requires these extensions, which is always the same; and whether the
/// server heard of it.
async fn through(required: &[&str], request: impl Fn() -> Request<Body>) -> (Answer, bool) {
    let server = server();
    let negotiate = required.iter().fold(NegotiateLayer::new(), |layer, required| layer.require(*required));
    let apps = required.iter().fold(AppsLayer::new(), |layer, required| layer.require(*required));
    let silent = apps.clone().without_advertising();
    let host = apps.clone().audience(Fixed(Audience::Host));
    let got = send(negotiate.layer(server.clone()), request()).await;
    let is_heard = !server.take().is_empty();
    for layer in [apps, silent, host] {
        let other = send(layer.layer(server.clone()), request()).await;
        assert_eq!((other.status, other.error_code_if_any()), (got.status, got.error_code_if_any()));
        assert_eq!(!server.take().is_empty(), is_heard);
    }
    (got, is_heard)
}

trait ErrorCode {
    fn error_code_if_any(&self) -> Option<i64>;
}

impl ErrorCode for Answer {
    fn error_code_if_any(&self) -> Option<i64> {
        serde_json::from_slice::<Value>(&self.bytes()).ok()?["error"]["code"].as_i64()
    }
}

async fn passes(required: &[&str], request: impl Fn() -> Request<Body>) {
    let (answer, is_heard) = through(required, request).await;
    assert!(is_heard && answer.status.is_success() && answer.error_code_if_any().is_none(), "{answer:?}");
}

/// The error that a request gets that never arrives.
async fn refused(required: &[&str], request: impl Fn() -> Request<Body>, status: u16, code: i64) -> Value {
    let (answer, is_heard) = through(required, request).await;
    assert!(!is_heard, "{answer:?}");
    assert_eq!((answer.status.as_u16(), answer.error_code_if_any()), (status, Some(code)), "{}", answer.text());
    answer.json()
}

/// A session of a client that declared this, opened with another layer than that which will see it.
async fn session(capabilities: &Value) -> String {
    let answer = send(NegotiateLayer::new().layer(server()), post(initialize(capabilities))).await;
    answer.header(SESSION).expect("a session is given").to_owned()
}

fn apps_data() -> Value {
    json!({ "requiredCapabilities": apps_capabilities() })
}

/// Declarations of MCP Apps that are none.
fn odd_declarations() -> Vec<Value> {
    let ui = |settings: Value| json!({ "extensions": { UI_EXTENSION: settings } });
    vec![
        json!({}),
        json!({ "extensions": {} }),
        json!({ "extensions": null }),
        json!({ "extensions": [UI_EXTENSION] }),
        json!({ "experimental": apps_capabilities()["extensions"] }),
        json!({ "extensions": { "io.modelcontextprotocol/apps": { "mimeTypes": ["text/html;profile=mcp-app"] } } }),
        ui(json!({})),
        ui(json!(true)),
        ui(json!(null)),
        ui(json!(["text/html;profile=mcp-app"])),
        ui(json!({ "mimeTypes": [] })),
        ui(json!({ "mimeTypes": "text/html;profile=mcp-app" })),
        ui(json!({ "mimeTypes": ["text/html"] })),
        ui(json!({ "mimeTypes": ["text/html+skybridge", 7, null] })),
        ui(json!({ "MimeTypes": ["text/html;profile=mcp-app"] })),
    ]
}

/// Declarations of MCP Apps, however spelt.
fn declarations() -> Vec<Value> {
    let mime_types = |types: Value| json!({ "roots": {}, "extensions": { UI_EXTENSION: { "mimeTypes": types } } });
    vec![
        apps_capabilities(),
        mime_types(json!(["text/html", "Text/HTML; charset=utf-8; profile=\"mcp-app\""])),
        mime_types(json!([7, "text/html;profile=mcp-app"])),
    ]
}

#[tokio::test]
async fn a_modern_request_needs_the_declaration() {
    for (method, params) in [
        ("tools/list", json!({})),
        ("tools/call", json!({ "name": "open" })),
        ("resources/list", json!({})),
        ("prompts/list", json!({})),
        ("subscriptions/listen", json!({})),
        ("ping", json!({})),
        ("x/y", json!({})),
    ] {
        for odd in odd_declarations() {
            let error = refused(&[UI_EXTENSION], || modern(method, &params, &odd), 400, -32021).await;
            assert_eq!(error["error"]["data"], apps_data(), "{method} {odd}");
            assert_eq!(error["id"], 7);
        }
        for declared in declarations() {
            passes(&[UI_EXTENSION], || modern(method, &params, &declared)).await;
        }
    }
}

#[tokio::test]
async fn any_extension_can_be_required_and_what_is_missing_is_named() {
    let required = ["com.example/a", UI_EXTENSION, "com.example/\"b", "com.example/a"];
    let list =
        |extensions: Value| move || modern("tools/list", &json!({}), &json!({ "extensions": extensions.clone() }));
    let ui = &apps_capabilities()["extensions"][UI_EXTENSION];
    let names = |error: &Value| error["error"]["data"]["requiredCapabilities"]["extensions"].clone();

    let error = refused(&required, list(json!({ "com.example/a": null })), 400, -32021).await;
    assert_eq!(names(&error), json!({ "com.example/a": {}, UI_EXTENSION: ui, "com.example/\"b": {} }));
    let error = refused(&required, list(json!({ "com.example/a": {}, UI_EXTENSION: ui })), 400, -32021).await;
    assert_eq!(names(&error), json!({ "com.example/\"b": {} }));
    for odd in [json!(true), json!("x"), json!([]), json!(null)] {
        let error = refused(&["com.example/a"], list(json!({ "com.example/a": odd })), 400, -32021).await;
        assert_eq!(names(&error), json!({ "com.example/a": {} }));
    }
    passes(&required, list(json!({ "com.example/a": { "x": 1 }, UI_EXTENSION: ui, "com.example/\"b": {} }))).await;
}

#[tokio::test]
async fn discovery_notifications_and_responses_stay_open() {
    passes(&[UI_EXTENSION], || modern("server/discover", &json!({}), &json!({}))).await;
    for open in [
        r#"{"jsonrpc":"2.0","id":7,"method":"server/discover"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
    ] {
        passes(&[UI_EXTENSION], || post(open)).await;
    }
    // They ask for something after all.
    for (asks, status) in [
        (r#"{"jsonrpc":"2.0","id":7,"method":"notifications/run"}"#, 200),
        (r#"{"jsonrpc":"2.0","method":"prompts/get","params":{"name":"open"}}"#, 400),
        (r#"{"jsonrpc":"2.0","id":7,"result":{},"method":"tools/list"}"#, 200),
        (r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#, 200),
    ] {
        let error = refused(&[UI_EXTENSION], || post(asks), status, -32602).await;
        assert_eq!(error["error"]["data"], apps_data(), "{asks}");
    }
}

#[tokio::test]
async fn a_legacy_session_opens_with_the_declaration() {
    for odd in odd_declarations() {
        let error = refused(&[UI_EXTENSION], || post(initialize(&odd)), 200, -32602).await;
        assert_eq!((&error["id"], &error["error"]["data"]), (&json!(0), &apps_data()), "{odd}");
        // Opened before the extension was required, or past the layer.
        let session = session(&odd).await;
        refused(&[UI_EXTENSION], || with(post(LIST), SESSION, &session), 200, -32602).await;
    }
    for declared in declarations() {
        passes(&[UI_EXTENSION], || post(initialize(&declared))).await;
        let session = session(&declared).await;
        passes(&[UI_EXTENSION], || with(post(LIST), SESSION, &session)).await;
    }
    let error = refused(&[UI_EXTENSION], || post(LIST), 200, -32602).await;
    assert_eq!((&error["id"], &error["error"]["data"]), (&json!(7), &apps_data()));
    for foreign in ["S-1", "apps1-a", "apps1-q~x", "apps1-.x"] {
        refused(&[UI_EXTENSION], || with(post(LIST), SESSION, foreign), 200, -32602).await;
    }
    let twice = session(&apps_capabilities()).await;
    refused(&[UI_EXTENSION], || with(with(post(LIST), SESSION, &twice), SESSION, &twice), 200, -32602).await;
}

#[tokio::test]
async fn a_session_that_would_forget_what_is_required_does_not_open() {
    let long = |identifier: &str| {
        json!({ "extensions": {
        UI_EXTENSION: { "mimeTypes": ["text/html;profile=mcp-app"] },
        identifier: { "x": "y".repeat(4096) },
    } })
    };
    // MCP Apps is remembered in any case.
    passes(&[UI_EXTENSION], || post(initialize(&long("com.example/a")))).await;
    let error = refused(&["com.example/a"], || post(initialize(&long("com.example/a"))), 200, -32602).await;
    assert!(error["error"]["message"].as_str().is_some_and(|message| message.contains("longer")), "{error}");
    // The modern era remembers nothing.
    passes(&["com.example/a"], || modern("tools/list", &json!({}), &long("com.example/a"))).await;
}

#[tokio::test]
async fn what_a_modern_request_lacks_no_session_and_no_header_says() {
    let session = session(&apps_capabilities()).await;
    let request = || with(modern("tools/list", &json!({}), &json!({})), SESSION, &session);
    refused(&[UI_EXTENSION], request, 400, -32021).await;
    // The version in the header alone, with and without a session.
    let header_only = || with(post(LIST), "mcp-protocol-version", "2026-07-28");
    refused(&[UI_EXTENSION], header_only, 400, -32602).await;
    refused(&[UI_EXTENSION], || with(header_only(), SESSION, &session), 400, -32602).await;
    // No capabilities at all is malformed.
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
    let bare = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": { "_meta": meta } }).to_string();
    refused(&[UI_EXTENSION], || with(post(bare.clone()), "mcp-protocol-version", "2026-07-28"), 400, -32602).await;
}

#[tokio::test]
async fn requests_without_a_message_belong_to_a_session() {
    let declared = session(&apps_capabilities()).await;
    let undeclared = session(&json!({})).await;
    let request = |method: &Method| {
        let request = Request::builder().method(method).uri("/mcp").header("accept", "text/event-stream");
        request.body(Body::default()).expect("the request is well formed")
    };
    for method in [Method::GET, Method::DELETE] {
        passes(&[UI_EXTENSION], || with(request(&method), SESSION, &declared)).await;
        refused(&[UI_EXTENSION], || with(request(&method), SESSION, &undeclared), 400, -32602).await;
        refused(&[UI_EXTENSION], || with(request(&method), SESSION, "S-1"), 400, -32602).await;
        let error = refused(&[UI_EXTENSION], || request(&method), 400, -32602).await;
        assert!(error.get("id").is_none(), "{error}");
    }
    passes(&[UI_EXTENSION], || request(&Method::OPTIONS)).await;
    // A body is a message, by whatever method it comes.
    let preflight = || {
        let mut request = post(LIST);
        *request.method_mut() = Method::OPTIONS;
        request
    };
    refused(&[UI_EXTENSION], preflight, 200, -32602).await;
}

#[tokio::test]
async fn a_batch_with_one_undeclared_message_does_not_run() {
    let discover = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#;
    let batch = |second: &str| format!("[{discover},{second}]");
    passes(&[UI_EXTENSION], || post(batch(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#))).await;
    let error = refused(&[UI_EXTENSION], || post(batch(LIST)), 400, -32600).await;
    assert!(error.get("id").is_none(), "{error}");

    let session = session(&apps_capabilities()).await;
    passes(&[UI_EXTENSION], || with(post(batch(LIST)), SESSION, &session)).await;
    // Its own word counts, not the session's.
    let undeclared = modern("tools/list", &json!({}), &json!({}));
    let undeclared = kit::server::record(undeclared).await.json().to_string();
    refused(&[UI_EXTENSION], || with(post(batch(&undeclared)), SESSION, &session), 400, -32600).await;
    // It must not stand in a batch, whatever it declares.
    for declared in [json!({}), apps_capabilities()] {
        let initialize = initialize(&declared);
        refused(&[UI_EXTENSION], || with(post(batch(&initialize)), SESSION, &session), 400, -32600).await;
        refused(&[UI_EXTENSION], || post(format!("[{initialize}]")), 400, -32600).await;
    }
    refused(&[UI_EXTENSION], || with(post(batch("7")), SESSION, &session), 400, -32600).await;
}

#[tokio::test]
async fn what_cannot_be_read_is_refused() {
    let session = session(&apps_capabilities()).await;
    for (body, code) in [
        ("", -32700),
        ("{", -32700),
        ("\u{feff}{}", -32700),
        ("7", -32600),
        ("[]", -32600),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"} 7"#, -32700),
        // Readers may differ about these.
        (r#"{"jsonrpc":"2.0","id":7,"method":"server/discover","method":"tools/list"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","method":"server/discover"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":7,"method":"server/discover","Method":"tools/list"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{},"_meta":{}}}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":[],"method":"tools/list"}"#, -32600),
        // These ask for nothing, and answer nothing.
        ("{}", -32600),
        (r#"{"jsonrpc":"2.0","id":7}"#, -32600),
    ] {
        refused(&[UI_EXTENSION], || post(body), 400, code).await;
        refused(&[UI_EXTENSION], || with(post(body), SESSION, &session), 400, code).await;
    }
    refused(&[UI_EXTENSION], || only(post(LIST), "content-type", "text/plain"), 415, -32600).await;
    refused(&[UI_EXTENSION], || with(post(LIST), "content-encoding", "gzip"), 415, -32600).await;
    let doubled = apps_capabilities().to_string().replacen('{', r#"{"extensions":{},"#, 1);
    let message = initialize(&json!("HERE")).replace("\"HERE\"", &doubled);
    refused(&[UI_EXTENSION], || post(message.clone()), 400, -32600).await;
}

#[tokio::test]
async fn observers_hear_why() {
    let layer = AppsLayer::new().require(UI_EXTENSION);
    let response =
        tower::ServiceExt::oneshot(layer.layer(server()), post(LIST)).await.expect("the server does not fail");
    let decision = response.extensions().get::<Decision>().expect("a refusal has a decision");
    assert_eq!(decision.reason(), Some(Reason::MissingCapability));
    assert_eq!(response.status(), StatusCode::OK);
}

/// A client that takes event streams alone gets the refusal as one.
#[tokio::test]
async fn a_refusal_with_success_comes_as_the_client_takes_it() {
    let layer = NegotiateLayer::new().require(UI_EXTENSION);
    let answer = send(layer.layer(server()), only(post(LIST), "accept", "text/event-stream")).await;
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    assert_eq!(answer.error_code(), -32602);
}
