//! Batches in which one member may not run: none runs.

use http::StatusCode;
use serde_json::{Value, json};
use tower::Layer;
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::exchange::{Fixed, Limits};
use tower_mcp_apps::protocol::Audience;

use crate::kit::server::Server;
use crate::kit::{post, send};
use crate::{enforced, forwarded_or_refused};

#[tokio::test]
async fn members_of_a_batch_that_are_no_messages() {
    for body in ["[1]", "[[]]", r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},null]"#] {
        forwarded_or_refused(|| post(body), 400, &[-32600], &Value::Null).await;
    }
}

#[tokio::test]
async fn a_batch_of_more_messages_than_are_read() {
    let message = r#"{"jsonrpc":"2.0","method":"notifications/x"}"#;
    let batch = |messages: usize| format!("[{message}{}]", format!(",{message}").repeat(messages - 1));
    forwarded_or_refused(|| post(batch(1001)), 400, &[-32600], &Value::Null).await;
    let server = Server::with_tools(json!([]));
    for answer in enforced(&server, Limits::new(), || post(batch(1000))).await {
        assert_eq!(answer.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn a_batch_with_a_member_that_may_not_run() {
    let calls = |second: &str| format!(r#"[{{"jsonrpc":"2.0","id":1,"method":"tools/list"}},{second}]"#);
    for second in [
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{}}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"open"}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"ping","METHOD":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","id":2}"#,
        // Duplicate ids: the same text, the same text by escapes, the same number.
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1.0,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":10e-1,"method":"ping"}"#,
    ] {
        forwarded_or_refused(|| post(calls(second)), 400, &[-32600], &Value::Null).await;
    }
    let escaped = r#"[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":"\u0061","method":"ping"}]"#;
    forwarded_or_refused(|| post(escaped), 400, &[-32600], &Value::Null).await;
}

#[tokio::test]
async fn a_batch_for_an_app_with_a_method_that_is_not_for_apps() {
    let server = Server::with_tools(json!([]));
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"prompts/list"}]"#;
    let app = AppsLayer::new().audience(Fixed(Audience::App)).layer(server.clone());
    let answer = send(app.clone(), post(batch)).await;
    assert_eq!((answer.status.as_u16(), answer.error_code()), (400, json!(-32600)));
    let alone = r#"{"jsonrpc":"2.0","id":2,"method":"prompts/list"}"#;
    let answer = send(app, post(alone)).await;
    assert_eq!((answer.status.as_u16(), answer.error_code(), &answer.json()["id"]), (200, json!(-32601), &json!(2)));
    assert!(server.take().is_empty());
}
