//! However bodies are cut: a stack for which it does not matter, and ones for which it does.

use std::convert::Infallible;

use http::{Request, Response};
use http_body_util::BodyExt;
use serde_json::json;
use tower::{Layer, Service, service_fn};
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::testing::{Body, Cuts, FakeServer, TestClient, assert_same_however_cut};

fn server() -> FakeServer {
    FakeServer::new().tool(r#"{"name":"ä","_meta":{"ui":{"visibility":["app"]}}}"#).tool(r#"{"name":"b"}"#)
}

#[tokio::test]
async fn our_layers() {
    for server in [server(), server().streaming()] {
        for cuts in [Cuts::Once, Cuts::Bytes, Cuts::BytesAndEmpty] {
            for (method, params) in [("tools/list", json!({})), ("tools/call", json!({ "name": "b" }))] {
                let mut client = TestClient::new(AppsLayer::new().layer(server.clone()));
                let request = client.prepare(method, params);
                assert_same_however_cut(cuts, &server, &mut client, request).await.expect("an answer");
            }
        }
        // One exchange of each is remembered, and what was looked up for it.
        assert_eq!(server.methods().iter().filter(|method| *method == "tools/call").count(), 3);
    }
}

#[tokio::test]
async fn in_three_where_it_is_short() {
    let server = FakeServer::legacy();
    let mut client = TestClient::new(AppsLayer::new().layer(server.clone()));
    let request = client.raw(r#"{"id":1,"method":"ping"}"#);
    assert_same_however_cut(Cuts::Twice, &server, &mut client, request).await.expect("an answer");
    assert_eq!(server.requests().len(), 1);
}

/// The first frame alone.
async fn first(mut body: Body) -> Body {
    let frame = body.frame().await.and_then(Result::ok).and_then(|frame| frame.into_data().ok());
    Body::new(frame.unwrap_or_default())
}

/// What is told of a stack that passes the first frame of each answer alone, or of each request.
async fn told(spoils_answers: bool, cuts: Cuts) -> String {
    let server = server();
    let inner = server.clone();
    let stack = service_fn(move |request: Request<Body>| {
        let mut inner = inner.clone();
        async move {
            let (head, body) = request.into_parts();
            let body = if spoils_answers { body } else { first(body).await };
            let (mut head, body) = inner.call(Request::from_parts(head, body)).await?.into_parts();
            head.headers.remove("content-length");
            let body = if spoils_answers { first(body).await } else { body };
            Ok::<_, Infallible>(Response::from_parts(head, body))
        }
    });
    let mut client = TestClient::new(stack);
    let request = client.prepare("tools/list", "{}");
    let test = tokio::spawn(async move { assert_same_however_cut(cuts, &server, &mut client, request).await });
    *test.await.expect_err("it does matter").into_panic().downcast::<String>().expect("a text")
}

#[tokio::test]
async fn a_stack_for_which_it_matters() {
    let expected = "the outcome is another where the server's answer is cut at [1]:\n  at the body: it differs\n    \
        before: {\"jsonrpc\"";
    let message = told(true, Cuts::Once).await;
    assert!(message.contains(expected) && message.ends_with("after:  {"), "{message}");
    assert!(message.starts_with("tests/testing/cutting.rs:"), "it says which test: {message}");
    assert!(told(true, Cuts::Bytes).await.contains("is cut at [1, 2, 3, 4"));
    let message = told(false, Cuts::Once).await;
    assert!(message.contains("where the request is cut at [1]"), "{message}");
}
