//! Our stack in front of a server that misbehaves in each way the kit has: what is hidden does not come out.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use tower::Layer;
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::testing::{FakeServer, Reply, TestClient, assert_hidden, assert_only_changed, assert_refused};

type Way = (&'static str, fn(Reply) -> Reply);

/// Each way to misbehave that leaves an answer.
const WAYS: [Way; 17] = [
    ("not at all", |reply| reply),
    ("another status", |reply| reply.status(StatusCode::INTERNAL_SERVER_ERROR)),
    ("says it is HTML", |reply| reply.content_type("text/html")),
    ("says it is JSON", |reply| reply.content_type("application/json")),
    ("says it is a stream", |reply| reply.content_type("text/event-stream")),
    ("says two things", |reply| reply.append_header("content-type", "text/plain")),
    ("a stream in an event", |reply| reply.as_events().after(r#"{"jsonrpc":"2.0","method":"notifications/x"}"#)),
    ("another id", |reply| reply.id(99)),
    ("an id of another kind", |reply| reply.id("[1]")),
    ("its id twice", |reply| reply.doubled("id")),
    ("its result twice", |reply| reply.doubled("result")),
    ("coded", Reply::gzipped),
    ("cut", |reply| reply.cut_after(150)),
    ("in single bytes", |reply| reply.cut_at((1..400).collect::<Vec<_>>())),
    ("a wrong length", |reply| reply.header("content-length", "3")),
    ("slow", |reply| reply.slow(Duration::from_millis(1))),
    ("cut off within JSON", |reply| reply.edit(|text| text[..text.len() - 2].to_owned())),
];

fn server() -> FakeServer {
    FakeServer::new()
        .tool(r#"{"name":"open","size":1.0}"#)
        .tool(r#"{"name":"secret-tool","_meta":{"ui":{"visibility":["app"]}}}"#)
}

/// The client in each era.
fn clients<S: Clone>(stack: &S) -> [TestClient<S>; 2] {
    [TestClient::new(stack.clone()), TestClient::new(stack.clone()).legacy()]
}

#[tokio::test]
async fn what_is_hidden_stays_so() {
    for (way, tamper) in WAYS {
        for server in [server(), server().streaming(), server().sessions()] {
            let server = server.tamper("tools/list", tamper);
            for mut client in clients(&AppsLayer::new().layer(server.clone())) {
                let answer = client.request("tools/list", "{}").await.expect("an answer");
                // Whatever it is, coded or not; in the form that is stored, coding hides nothing.
                assert!(!answer.text().contains("secret-tool"), "{way}: {}", answer.text());
                if let Some(tools) = answer.result()["tools"].as_array() {
                    assert_hidden(&answer, "secret-tool");
                    assert_eq!(*tools, [json!({ "name": "open", "size": 1.0 })], "{way}");
                } else if answer.error().is_none() {
                    // A body that breaks off does so for the client, too.
                    assert_refused(&answer, -32603);
                }
                let call = client.call("secret-tool", "{}").await.expect("an answer");
                assert_ne!(call.error_code(), None, "{way}: {}", call.text());
            }
            assert!(server.calls().is_empty(), "{way}: nothing hidden runs");
        }
    }
}

#[tokio::test]
async fn who_may_see_it_gets_the_servers_bytes() {
    for server in [server(), server().streaming()] {
        let stack = AppsLayer::new().layer(server.clone());
        for (bare, wrapped) in clients(&server).into_iter().zip(clients(&stack)) {
            let (mut bare, mut wrapped) = (bare.with_apps(), wrapped.with_apps());
            for (method, params, changed) in [
                ("tools/list", json!({}), &[][..]),
                ("tools/call", json!({ "name": "secret-tool" }), &[]),
                ("resources/list", json!({}), &[]),
                ("no/such", json!({}), &[]),
            ] {
                let params: Value = params;
                let before = bare.request(method, &params).await.expect("an answer");
                assert_only_changed(&before, &wrapped.request(method, params).await.expect("an answer"), changed);
            }
        }
    }
}
