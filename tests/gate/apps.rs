//! What an app may use: its methods, its tools, and the resources that a deployer leaves it.

use http::{Method, Request, StatusCode};
use serde_json::{Value, json};
use tower::{Layer, ServiceExt};
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::exchange::{Decision, Fixed};
use tower_mcp_apps::message::Reason;
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::testing::Body;
use tower_mcp_apps::visibility::{AppResources, Visibility, VisibilityLayer};

use crate::kit::server::{Received, Server, json_answer};
use crate::kit::{Answer, LIST, modern, only, post, send, with};
use crate::world::{for_apps, for_models, result, seen, tools};

const ALLOWED: [&str; 11] = [
    "initialize",
    "server/discover",
    "ping",
    "tools/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "notifications/initialized",
    "notifications/cancelled",
    "notifications/progress",
    "notifications/com.example/x",
];

const BARRED: [&str; 18] = [
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
    "subscriptions/listen",
    "sampling/createMessage",
    "elicitation/create",
    "roots/list",
    "tasks/get",
    "tasks/result",
    "tasks/cancel",
    "tasks/list",
    "com.example/x",
    "Tools/Call",
    "tools/call ",
    "",
];

fn server() -> Server {
    Server::new(|received: &Received| {
        let list = json!({ "tools": tools(), "contents": [], "resources": [], "content": ["ran"] });
        json_answer(result(received, &list))
    })
}

/// A request with this method, of either era.
fn asks(is_modern: bool, method: &str) -> Request<Body> {
    let params = json!({ "uri": "file:///etc/passwd" });
    if is_modern {
        return modern(method, &params, &json!({}));
    }
    post(json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }).to_string())
}

#[tokio::test]
async fn an_app_uses_its_methods_and_no_others() {
    for layer in [for_apps(), VisibilityLayer::new().audience(|_: &http::request::Parts| Audience::App)] {
        let server = server();
        let gate = layer.layer(server.clone());
        for is_modern in [true, false] {
            for method in ALLOWED {
                let answer = send(gate.clone(), asks(is_modern, method)).await;
                assert_eq!(answer.status, StatusCode::OK, "{method}: {}", answer.text());
                assert_eq!(server.only().method(), method);
            }
            for method in BARRED {
                let answer = send(gate.clone(), asks(is_modern, method)).await;
                let status = if is_modern { 404 } else { 200 };
                assert_eq!((answer.status.as_u16(), answer.error_code()), (status, json!(-32601)), "{method}");
                assert_eq!(answer.json()["id"], 7);
                assert!(server.take().is_empty(), "{method}");
            }
        }
    }
}

/// Whoever asks for no answer hears by the status alone that there is none (MCP 2025-11-25, "Sending Messages to the Server").
#[tokio::test]
async fn what_has_no_id_is_refused_by_its_status() {
    let modern = r#"{"jsonrpc":"2.0","method":"prompts/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let legacy = r#"{"jsonrpc":"2.0","method":"prompts/list"}"#;
    for (body, status) in [(modern, StatusCode::NOT_FOUND), (legacy, StatusCode::BAD_REQUEST)] {
        let server = server();
        let answer = send(for_apps().layer(server.clone()), post(body)).await;
        assert_eq!((answer.status, answer.error_code()), (status, json!(-32601)), "{body}");
        assert_eq!(answer.json().get("id"), None);
        assert!(server.take().is_empty());
    }
}

#[tokio::test]
async fn a_model_uses_all_methods() {
    let server = server();
    let gate = for_models().layer(server.clone());
    for method in ALLOWED.into_iter().chain(BARRED) {
        assert_eq!(send(gate.clone(), asks(true, method)).await.status, StatusCode::OK, "{method}");
        assert_eq!(server.only().method(), method);
    }
}

#[tokio::test]
async fn an_app_answers_the_server_opens_its_stream_and_ends_its_session() {
    let server = server();
    let gate = for_apps().layer(server.clone());
    for body in
        [r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":""}}"#]
    {
        assert_eq!(send(gate.clone(), post(body)).await.status, StatusCode::OK);
        server.only();
    }
    for method in [Method::GET, Method::DELETE] {
        let mut request = post("");
        *request.method_mut() = method;
        assert_eq!(send(gate.clone(), request).await.status, StatusCode::OK);
        server.only();
    }
}

#[tokio::test]
async fn an_app_sees_its_tools() {
    assert_eq!(send(for_apps().layer(server()), post(LIST)).await.tools(), ["open", "poll"]);
}

#[tokio::test]
async fn a_notification_of_a_method_that_is_not_for_apps_goes_no_further() {
    let server = server();
    let answer = send(for_apps().layer(server.clone()), post(r#"{"jsonrpc":"2.0","method":"prompts/get"}"#)).await;
    assert_eq!(answer.error_code(), -32601);
    assert!(answer.json().get("id").is_none());
    assert!(server.take().is_empty());
}

#[tokio::test]
async fn a_batch_with_a_method_that_is_not_for_apps_goes_no_further() {
    let server = server();
    for other in [
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"poll"}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#,
    ] {
        let batch = format!(r#"[{other},{{"jsonrpc":"2.0","id":1,"method":"prompts/list"}}]"#);
        let answer = send(for_apps().layer(server.clone()), post(batch)).await;
        assert_eq!((answer.status.as_u16(), answer.error_code()), (400, json!(-32600)));
    }
    assert!(server.take().is_empty(), "not even a look-up");
}

/// Reads a resource, mirrored in the header.
fn reading(is_modern: bool, uri: &Value) -> Request<Body> {
    let params = json!({ "uri": uri });
    if !is_modern {
        return post(json!({ "jsonrpc": "2.0", "id": 7, "method": "resources/read", "params": params }).to_string());
    }
    let request = modern("resources/read", &params, &json!({}));
    match uri.as_str() {
        Some(uri) => with(request, "mcp-name", uri),
        None => request,
    }
}

async fn answers(request: impl Fn() -> Request<Body>) -> Vec<(Answer, usize)> {
    let rules = Visibility::new().app_resources(AppResources::Ui);
    let layers = [
        AppsLayer::new().visibility(rules).audience(Fixed(Audience::App)),
        AppsLayer::new().visibility(Visibility::new().app_resources(AppResources::Ui)),
    ];
    let mut answers = Vec::new();
    for layer in layers {
        let server = server();
        let answer = send(layer.layer(server.clone()), request()).await;
        answers.push((answer, server.take().len()));
    }
    let server = server();
    let any = send(for_apps().layer(server.clone()), request()).await;
    answers.push((any, server.take().len()));
    answers
}

#[tokio::test]
async fn an_app_may_be_left_nothing_but_ui_resources() {
    for is_modern in [true, false] {
        for uri in ["ui://server/page", "ui://", "ui://server/page?x"] {
            for (answer, arrived) in answers(|| reading(is_modern, &json!(uri))).await {
                assert_eq!((answer.status, arrived), (StatusCode::OK, 1), "{uri}: {}", answer.text());
            }
        }
        for uri in [
            json!("file:///etc/passwd"),
            json!("UI://server/page"),
            json!(" ui://server"),
            json!("ui:/a"),
            json!("ui"),
            json!(""),
            json!(7),
            Value::Null,
        ] {
            let answers = answers(|| reading(is_modern, &uri)).await;
            let (narrowed, arrived) = &answers[0];
            let code = if is_modern { -32602 } else { -32002 };
            assert_eq!((narrowed.status.as_u16(), narrowed.error_code(), *arrived), (200, json!(code), 0), "{uri}");
            assert_eq!(narrowed.json()["id"], 7);
            // It is about apps, and only on request.
            assert_eq!((answers[1].1, answers[2].1), (1, 1), "{uri}");
        }
    }
}

#[tokio::test]
async fn escapes_hide_no_scheme() {
    let body = r#"{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"ur\u0069":"\u0075i:\/\/server/page"}}"#;
    let layer = for_apps().app_resources(AppResources::Ui);
    assert_eq!(send(layer.layer(server()), post(body)).await.status, StatusCode::OK);
    let body = r#"{"jsonrpc":"2.0","id":7,"method":"resources\/read","params":{"uri":"ui://a","\u0075ri":"file:///"}}"#;
    assert_eq!(send(layer.layer(server()), post(body)).await.error_code(), -32600);
}

#[tokio::test]
async fn headers_of_a_read_that_is_narrowed_say_what_its_body_says() {
    for (value, code) in [("file:///etc/passwd", json!(-32020)), ("ui://server/page", Value::Null)] {
        let request = || only(reading(true, &json!("ui://server/page")), "mcp-name", value);
        let answers = answers(request).await;
        assert_eq!(answers[0].0.error_code(), code, "{value}");
        assert_eq!((answers[1].1, answers[2].1), (1, 1));
    }
}

#[tokio::test]
async fn the_record_says_why() {
    let gate = for_apps().app_resources(AppResources::Ui).layer(server());
    for (request, reason) in [
        (reading(true, &json!("file:///")), Reason::ResourceNotForApps),
        (asks(true, "prompts/list"), Reason::MethodNotForApps),
    ] {
        let response = gate.clone().oneshot(request).await.expect("an answer");
        let decision = response.extensions().get::<Decision>().expect("a decision");
        assert_eq!(decision.reason(), Some(reason));
    }
    assert!(seen(&server()).ran.is_empty());
}
