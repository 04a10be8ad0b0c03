//! What is for one server: which it is, that it alone is asked, and that its answer comes as it is.

use http::StatusCode;
use serde_json::json;
use tokio::sync::mpsc;
use tower_mcp_apps::testing::Body;

use crate::kit::server::{Server, event_answer, json_answer};
use crate::kit::with;
use crate::world::{Gateway, Upstream, host, legacy, mcp, upstream};

/// Two servers that say who was asked for what.
async fn two() -> (Upstream, Upstream) {
    let server = |name| {
        mcp(name, move |method, params| match method {
            "tools/list" => Ok(r#"{"tools":[]}"#.to_owned()),
            "tools/call" | "prompts/get" => {
                Ok(json!({ "content": [], "messages": [], "got": params["name"] }).to_string())
            }
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
                Ok(json!({ "contents": [], "got": params["uri"] }).to_string())
            }
            "completion/complete" => Ok(json!({ "completion": { "values": [] }, "got": params["ref"] }).to_string()),
            _ => Err((-32601, "Method not found")),
        })
    };
    (upstream("a", server("a")).await, upstream("a-b", server("a-b")).await)
}

#[tokio::test]
async fn a_prefix_names_the_server_and_comes_off() {
    let (a, b) = two().await;
    let gateway = Gateway::before(&[&a, &b], &[]).await;
    let session = gateway.session().await;
    let (_, _) = (a.server.take(), b.server.take());
    let prompt = |name| json!({ "ref": { "type": "ref/prompt", "name": name } });
    let template = |uri| json!({ "ref": { "type": "ref/resource", "uri": uri } });
    for (method, params, of, got) in [
        ("tools/call", json!({ "name": "a__x" }), &a, json!("x")),
        ("tools/call", json!({ "name": "a-b__x__y" }), &b, json!("x__y")),
        ("tools/call", json!({ "name": "a__a-b__x" }), &a, json!("a-b__x")),
        ("prompts/get", json!({ "name": "a-b__" }), &b, json!("")),
        ("resources/read", json!({ "uri": "ui://a+server/page" }), &a, json!("ui://server/page")),
        ("resources/read", json!({ "uri": "a-b+file:///x?y#z" }), &b, json!("file:///x?y#z")),
        ("resources/subscribe", json!({ "uri": "a+x:y" }), &a, json!("x:y")),
        ("resources/unsubscribe", json!({ "uri": "a-b+x:y" }), &b, json!("x:y")),
        ("completion/complete", prompt("a__p"), &a, json!({ "type": "ref/prompt", "name": "p" })),
        ("completion/complete", template("a-b+x:{y}"), &b, json!({ "type": "ref/resource", "uri": "x:{y}" })),
    ] {
        let message = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        for request in [host(method, params), legacy(&session, message)] {
            let answer = gateway.send(request).await.json();
            assert_eq!(answer["result"]["got"], got, "{method}");
            let received = of.server.only();
            assert_eq!(
                received.header("mcp-name").is_some(),
                received.header("mcp-method").is_some_and(|method| {
                    matches!(
                        method,
                        "tools/call"
                            | "prompts/get"
                            | "resources/read"
                            | "resources/subscribe"
                            | "resources/unsubscribe"
                    )
                })
            );
            assert!(a.server.take().is_empty() && b.server.take().is_empty(), "nobody else is asked");
        }
    }
}

#[tokio::test]
async fn what_names_no_server_is_unknown() {
    let (a, b) = two().await;
    let gateway = Gateway::before(&[&a, &b], &[]).await;
    for (method, params) in [
        ("tools/call", json!({ "name": "x" })),
        ("tools/call", json!({ "name": "c__x" })),
        ("tools/call", json!({ "name": "A__x" })),
        ("tools/call", json!({ "name": "a_x" })),
        ("tools/call", json!({})),
        ("prompts/get", json!({ "name": "x" })),
        ("resources/read", json!({ "uri": "ui://server/a+page" })),
        ("resources/read", json!({ "uri": "ui://a" })),
        ("resources/read", json!({ "uri": "file:///x" })),
        ("completion/complete", json!({})),
        ("completion/complete", json!({ "ref": { "type": "ref/prompt", "name": "x" } })),
        ("completion/complete", json!({ "ref": { "type": "ref/prompt", "name": "a__x", "uri": "a-b+x:y" } })),
    ] {
        let answer = gateway.ask(method, params.clone()).await;
        assert_eq!((answer.status, answer.error_code()), (StatusCode::OK, json!(-32602)), "{method} {params}");
        assert_eq!(answer.json()["id"], 7);
    }
    for (method, status) in [("tasks/get", 404), ("ping", 404), ("com.example/x", 404)] {
        let answer = gateway.ask(method, json!({ "name": "a__x" })).await;
        assert_eq!((answer.status.as_u16(), answer.error_code()), (status, json!(-32601)), "{method}");
    }
    assert!(a.server.take().is_empty() && b.server.take().is_empty());
}

#[tokio::test]
async fn an_answer_comes_as_it_is() {
    let body = concat!(r#" {"id" :7,"jsonrpc":"2.0", "result":{"content" : [], "n":1.0,"#, r#""x":-0.0e0 } } "#);
    let a = upstream("a", Server::saying(body)).await;
    let gateway = Gateway::before(&[&a], &[]).await;
    let answer = gateway.ask("tools/call", json!({ "name": "a__x", "arguments": { "n": 1 } })).await;
    assert_eq!(answer.text(), body);

    // So does the request, but for the name.
    let asked = a.server.only();
    assert_eq!(asked.json()["params"]["arguments"], json!({ "n": 1 }));
    assert_eq!(asked.header("mcp-name"), Some("x"));
}

#[tokio::test]
async fn events_come_at_once() {
    let (feeds, mut feed) = mpsc::unbounded_channel();
    let streaming = Server::new(move |received| match received.method().as_str() {
        "tools/call" => {
            let (feed, script) = Body::channel();
            feeds.send(feed).expect("the test listens");
            event_answer(script)
        }
        _ => json_answer(r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[]}}"#),
    });
    let a = upstream("a", streaming).await;
    let gateway = Gateway::before(&[&a], &[]).await;
    let mut response = gateway.open(host("tools/call", json!({ "name": "a__x" }))).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let feed = feed.recv().await.expect("the server was asked");
    for text in ["event: message\ndata: {\"method\":\"notifications/progress\"}\n\n", ": still here\n\n"] {
        feed.send_data(text);
        let frame = http_body_util::BodyExt::frame(&mut response).await.expect("a frame").expect("no error");
        assert_eq!(frame.into_data().expect("data"), text);
    }
    drop(response);
    feed.closed().await;
}

#[tokio::test]
async fn credentials_are_for_those_who_are_named() {
    let server = || {
        Server::new(|_| {
            let mut response = json_answer(r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#);
            response.headers_mut().insert("set-cookie", "c=2".parse().expect("visible ASCII"));
            response
        })
    };
    let (a, b) = (upstream("a", server()).await, upstream("a-b", server()).await);
    let gateway = Gateway::before(&[&a, &b], &["--credentials", "a-b"]).await;
    for (name, expected) in [("a__x", None), ("a-b__x", Some("Bearer t"))] {
        let request =
            with(with(host("tools/call", json!({ "name": name })), "authorization", "Bearer t"), "cookie", "c=1");
        let request = with(with(request, "x-api-key", "k"), "x-auth-token", "k");
        let answer = gateway.send(request).await;
        assert_eq!(answer.header("set-cookie"), expected.map(|_| "c=2"));
        let received = if expected.is_some() { b.server.only() } else { a.server.only() };
        assert_eq!(received.header("authorization"), expected);
        assert_eq!(received.header("cookie"), expected.map(|_| "c=1"));
        for name in ["x-api-key", "x-auth-token"] {
            assert_eq!(received.header(name), expected.map(|_| "k"), "{name}");
        }
    }
}
