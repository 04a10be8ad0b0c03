//! Requests that make no sense: they reach no server.

use http::{Method, StatusCode};
use serde_json::json;

use crate::kit::{LIST, only, post, with};
use crate::world::{Gateway, bodiless, tools, upstream};

#[tokio::test]
async fn bad_input_is_refused() {
    let a = upstream("a", tools("a", "")).await;
    let gateway = Gateway::before(&[&a], &[]).await;
    let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a__x","name":"a__y"}}"#;
    let long = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"x","params":"{}"}}"#, "y".repeat(4 << 20));
    for (request, status) in [
        (post("7"), 400),
        (post("[]"), 400),
        (post(format!("[{LIST}]")), 400),
        (post(r#"{"jsonrpc":"2.0","id":7}"#), 400),
        (post(r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#), 400),
        (post(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#), 400),
        (post(call), 400),
        (post(long), 413),
        (only(post(LIST), "content-type", "text/plain"), 415),
        (with(post(LIST), "content-encoding", "gzip"), 415),
        (with(post(LIST), "last-event-id", "1"), 400),
        (with(with(post(LIST), "mcp-session-id", "gw1"), "mcp-session-id", "gw1"), 400),
    ] {
        let what = format!("{request:?}");
        let answer = gateway.send(request).await;
        assert_eq!((answer.status.as_u16(), answer.error_code()), (status, json!(-32600)), "{what}");
    }
    for body in ["{", ""] {
        let answer = gateway.send(post(body)).await;
        assert_eq!((answer.status.as_u16(), answer.error_code()), (400, json!(-32700)), "{body}");
    }
    // The id of a response is a server's: with it the refusal would be the answer to a request of the client's.
    let answer = gateway.send(post(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#)).await;
    assert_eq!(answer.json().get("id"), None);
    for method in [Method::PUT, Method::OPTIONS, Method::PATCH] {
        let mut request = post(LIST);
        *request.method_mut() = method;
        assert_eq!(gateway.send(request).await.status, StatusCode::METHOD_NOT_ALLOWED);
    }
    let foreign = "gw1.a~@".parse().expect("visible ASCII");
    assert_eq!(gateway.send(bodiless(Method::DELETE, &foreign)).await.status, StatusCode::NOT_FOUND);
    assert_eq!(gateway.send(bodiless(Method::GET, &foreign)).await.status, StatusCode::NOT_FOUND);
    assert!(a.server.take().is_empty());
}
