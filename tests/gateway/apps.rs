//! Whose app asks: it gets what is its own server's, by the names that it knows, and nothing of any other.

use http::{Request, StatusCode};
use serde_json::json;
use tower_mcp_apps::testing::Body;

use crate::kit::server::{Server, event_answer, json_answer};
use crate::kit::{apps_capabilities, modern, with};
use crate::world::{Gateway, Upstream, host, legacy, list, tools, upstream};

const TOOLS: &str = r#"{"name":"show"},{"name":"poll","_meta":{"ui":{"visibility":["app"]}}},{"name":"think","_meta":{"ui":{"visibility":["model"]}}}"#;

async fn two() -> (Upstream, Upstream) {
    (upstream("a", tools("a", TOOLS)).await, upstream("b", tools("b", TOOLS)).await)
}

fn by_app(of: &str, request: Request<Body>) -> Request<Body> {
    with(request, "x-mcp-app", of)
}

fn call(name: &str) -> Request<Body> {
    host("tools/call", json!({ "name": name }))
}

#[tokio::test]
async fn an_app_calls_by_the_names_of_its_own_server() {
    let (a, b) = two().await;
    let gateway = Gateway::before(&[&a, &b], &["--app-header", "x-mcp-app"]).await;
    for (of, name) in [("a", "poll"), ("b", "poll"), ("a", "show"), ("a", "a__poll")] {
        let answer = gateway.send(by_app(of, call(name))).await.json();
        let bare = name.trim_start_matches("a__");
        assert_eq!(json!([answer["result"]["of"], answer["result"]["called"]]), json!([of, bare]), "{of} {name}");
    }
    let read = host("resources/read", json!({ "uri": "ui://x/page" }));
    assert_eq!(gateway.send(by_app("b", read)).await.json()["result"]["read"], "ui://x/page");
    let list = gateway.send(by_app("a", host("tools/list", json!({})))).await;
    assert_eq!(list.tools(), ["show", "poll"], "its own, without what is for models alone");
    assert!([&a, &b].iter().all(|up| up.server.take().iter().all(|received| received.header("x-mcp-app").is_none())));
}

#[tokio::test]
async fn an_app_is_part_of_its_hosts_session() {
    let (a, b) = two().await;
    let gateway = Gateway::before(&[&a, &b], &["--app-header", "x-mcp-app", "--bare", "a"]).await;
    let session = gateway.session().await;
    let _ = (a.server.take(), b.server.take());
    for (of, name) in [("b", Some("b")), ("a", Some("a")), ("a", None)] {
        let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": "poll" } });
        let request = legacy(&session, call);
        let request = if let Some(name) = name { by_app(name, request) } else { request };
        assert_eq!(gateway.send(request).await.json()["result"]["of"], of);
        let received = [&a, &b].map(|upstream| upstream.server.take()).concat();
        let id = format!("{of}-1");
        assert!(
            !received.is_empty() && received.iter().all(|it| it.header("mcp-session-id") == Some(&id)),
            "{received:?}"
        );
    }
}

#[tokio::test]
async fn an_app_gets_nothing_of_another_server() {
    let (a, b) = two().await;
    let gateway = Gateway::before(&[&a, &b], &["--app-header", "x-mcp-app", "--bare", "b"]).await;
    for name in ["b__poll", "b__show", "think"] {
        let answer = gateway.send(by_app("a", call(name))).await;
        assert_eq!((answer.status, answer.error_code()), (StatusCode::OK, json!(-32602)), "{name}");
    }
    for uri in ["ui://b+x/page", "b+file:///x"] {
        let answer = gateway.send(by_app("a", host("resources/read", json!({ "uri": uri })))).await;
        assert_eq!(answer.error_code(), json!(-32602), "{uri}");
    }
    // What its server has is not what another has by that name.
    let answer = gateway.send(by_app("a", call("poll"))).await.json();
    assert_eq!(answer["result"]["of"], "a");
    assert!(b.server.take().is_empty(), "nothing of it reached the other server");
    // A host that says nothing is trusted, as before.
    assert_eq!(gateway.send(call("b__poll")).await.json()["result"]["of"], "b");
}

#[tokio::test]
async fn the_header_makes_sense_or_nothing_goes_on() {
    let (a, b) = two().await;
    let flags = ["--app-header", "x-mcp-app", "--audience-header", "x-audience"];
    let gateway = Gateway::before(&[&a, &b], &flags).await;
    for request in [
        by_app("c", call("poll")),
        by_app("", call("poll")),
        by_app("a", by_app("b", call("poll"))),
        // An app, but whose?
        with(call("b__poll"), "x-audience", "app"),
        with(with(call("b__poll"), "x-audience", "host"), "x-audience", "host"),
    ] {
        let answer = gateway.send(request).await;
        assert_eq!((answer.status, answer.error_code()), (StatusCode::BAD_REQUEST, json!(-32600)));
    }
    assert!(a.server.take().is_empty() && b.server.take().is_empty());
    // The audience says what the client does not.
    let poll = modern("tools/call", &json!({ "name": "b__poll" }), &json!({}));
    assert_eq!(gateway.send(with(poll, "x-audience", "host")).await.json()["result"]["of"], "b");
    assert!(b.server.take().iter().all(|received| received.header("x-audience").is_none()));
    let poll = modern("tools/call", &json!({ "name": "b__poll" }), &apps_capabilities());
    assert_eq!(gateway.send(with(poll, "x-audience", "model")).await.error_code(), json!(-32602));
}

#[tokio::test]
async fn without_the_flag_the_header_means_nothing() {
    let (a, b) = two().await;
    let gateway = Gateway::before(&[&a, &b], &[]).await;
    assert_eq!(gateway.send(by_app("a", call("poll"))).await.error_code(), json!(-32602));
    assert!(a.server.take().is_empty() && b.server.take().is_empty());
}

#[tokio::test]
async fn one_server_may_take_names_without_a_prefix() {
    let (a, b) = two().await;
    let gateway = Gateway::before(&[&a, &b], &["--bare", "b"]).await;
    assert_eq!(gateway.send(call("poll")).await.json()["result"]["of"], "b");
    let read = gateway.ask("resources/read", json!({ "uri": "ui://x/page" })).await.json();
    assert_eq!(json!([read["result"]["of"], read["result"]["read"]]), json!(["b", "ui://x/page"]));
    assert_eq!(gateway.send(call("a__poll")).await.json()["result"]["of"], "a");
    // A model gets no more than with the prefix.
    let poll = modern("tools/call", &json!({ "name": "poll" }), &json!({}));
    assert_eq!(gateway.send(poll).await.error_code(), json!(-32602));
}

const READ: &str = r#"{ "contents" : [{"uri":"x:1","n":1.0}], "cacheScope":"public" , "ttlMs":9000}"#;
const PROGRESS: &str =
    "id: 1\nevent: message\ndata: {\"method\":\"notifications/progress\",\"params\":{\"cacheScope\":\"public\"}}\n\n";

/// A server whose results all may keep, in JSON or in streams whose last line end is missing.
fn public(in_streams: bool) -> Server {
    Server::new(move |received| {
        let result = match received.method().as_str() {
            "tools/list" => list("tools", "", ""),
            "resources/list" => list("resources", r#"{"uri":"x:1"}"#, ""),
            "resources/templates/list" => list("resourceTemplates", r#"{"uriTemplate":"x:{n}"}"#, ""),
            _ => READ.to_owned(),
        };
        let message = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, received.json()["id"]);
        if in_streams {
            return event_answer(Body::new(format!("{PROGRESS}id: 2\ndata: {message}\n")));
        }
        json_answer(message)
    })
}

#[tokio::test]
async fn what_depends_on_whose_app_asks_is_for_nobody_else_to_keep() {
    for in_streams in [false, true] {
        let a = upstream("a", public(in_streams)).await;
        let b = upstream("b", public(in_streams)).await;
        let gateway = Gateway::before(&[&a, &b], &["--app-header", "x-mcp-app"]).await;
        let read = |uri: &str| host("resources/read", json!({ "uri": uri }));
        for request in [
            by_app("a", host("resources/list", json!({}))),
            by_app("a", host("resources/templates/list", json!({}))),
            by_app("a", read("x:1")),
            // Another server's app would be refused this.
            read("a+x:1"),
        ] {
            let text = gateway.send(request).await.text();
            assert!(!text.replace(PROGRESS, "").contains("public"), "{text}");
            assert_eq!(text.matches(r#""cacheScope":"private""#).count(), 1, "{text}");
        }
        let stream = |result: &str| {
            let message = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{result}}}"#);
            if in_streams { format!("{PROGRESS}id: 2\ndata: {message}\n") } else { message }
        };
        let text = gateway.send(by_app("b", read("x:1"))).await.text();
        assert_eq!(text, stream(&READ.replace("public", "private")), "every other byte stays");
        // What is no result to be kept, and what no header decides about, passes as it came.
        let call = gateway.send(by_app("b", call("x"))).await.text();
        assert_eq!(call, stream(READ));
        let gateway = Gateway::before(&[&a, &b], &[]).await;
        assert_eq!(gateway.send(read("a+x:1")).await.text(), stream(&READ.replace("x:1", "a+x:1")));
    }
}
