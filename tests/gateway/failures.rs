//! Servers that are away, slow, or talk nonsense: the others are served, and the caller sees who is missing.

use http::StatusCode;
use serde_json::{Value, json};
use tower_mcp_apps::testing::Body;

use crate::kit::server::{Server, event_answer, labelled};
use crate::kit::{apps_capabilities, modern};
use crate::world::{Gateway, Upstream, legacy, list, mcp, nowhere, status, tools, unavailable, upstream};

async fn good() -> Upstream {
    upstream("good", tools("good", r#"{"name":"x"}"#)).await
}

#[tokio::test]
async fn a_list_goes_on_without_a_server_that_fails_and_says_so() {
    let good = good().await;
    let html = Server::new(|_| labelled("text/html", Body::new("<html>busy</html>")));
    let broken = Server::saying("{\"jsonrpc\":");
    let foreign = Server::saying("[1,2]");
    let no_list = Server::saying(r#"{"jsonrpc":"2.0","id":7,"result":{"tools":{}}}"#);
    let two_lists = Server::saying(r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"y"}],"tools":[]}}"#);
    let refusing = mcp("bad", |_, _| Err((-32000, "not today")));
    let dying = Server::new(|_| event_answer(Body::frames([": wait\n\n"])));
    let cut = Server::new(|_| labelled("application/json", Body::frames(["{\"json"]).then_fail()));
    let cases = [
        (html, "it answered 200 OK and no JSON-RPC response"),
        (broken, "no JSON-RPC response"),
        (foreign, "no JSON-RPC response"),
        (no_list, "its answer has no list of tools"),
        (two_lists, "its answer has no list of tools"),
        (refusing, "error -32000: not today"),
        (dying, "its stream ended without an answer"),
        // Before or behind its head.
        (cut, ""),
    ];
    for (server, what) in cases {
        let bad = upstream("bad", server).await;
        let gateway = Gateway::before(&[&bad, &good], &[]).await;
        // As a model, whose lists are filtered before, and as a host.
        for (is_host, capabilities) in [(false, json!({})), (true, apps_capabilities())] {
            let answer = gateway.send(modern("tools/list", &json!({}), &capabilities)).await;
            assert_eq!(answer.tools(), ["good__x"], "{what}");
            let answer = answer.json();
            assert_eq!(answer["result"]["ttlMs"], 0, "{answer}");
            assert_eq!(answer["result"]["cacheScope"], "private", "{answer}");
            let told = unavailable(&answer)["bad"].as_str().unwrap_or_else(|| panic!("{answer}"));
            assert!(!is_host || told.contains(what), "{told}: {what}");
        }
    }
}

#[tokio::test]
async fn a_server_that_is_slow_or_away_holds_nobody_up() {
    let good = good().await;
    let (feed, script) = Body::channel();
    let slow = std::sync::Mutex::new(Some(script));
    let slow = Server::new(move |_| match slow.lock().expect("nobody panicked").take() {
        Some(script) => labelled("application/json", script),
        None => status(500),
    });
    let slow = upstream("slow", slow).await;
    let gone = nowhere().await;
    let named = [("slow", slow.url.as_str()), ("gone", &gone), ("good", &good.url)];
    let gateway = Gateway::start(&named, &["--answer-timeout", "0.2"]).await;
    let answer = gateway.ask("tools/list", json!({})).await;
    assert_eq!(answer.tools(), ["good__x"]);
    let expected = json!({
        "slow": "it did not answer within 200ms",
        "gone": "error -32603: the upstream gone cannot be reached",
    });
    assert_eq!(unavailable(&answer.json()), &expected);
    // Nobody waits for it any longer.
    feed.closed().await;
}

#[tokio::test]
async fn where_all_fail_so_does_the_list() {
    let (one, other) = (nowhere().await, nowhere().await);
    let gateway = Gateway::start(&[("one", &one), ("other", &other)], &[]).await;
    let answer = gateway.ask("tools/list", json!({})).await;
    assert_eq!((answer.status, answer.error_code()), (StatusCode::BAD_GATEWAY, json!(-32603)));
    let answer = answer.json();
    assert_eq!(answer["id"], 7);
    for name in ["one", "other"] {
        assert!(answer["error"]["message"].as_str().is_some_and(|text| text.contains(name)), "{answer}");
    }
}

#[tokio::test]
async fn who_does_not_know_the_method_has_nothing_to_add() {
    let (a, b) =
        (upstream("a", tools("a", r#"{"name":"x"}"#)).await, upstream("b", mcp("b", |_, _| Err((-32601, "?")))).await);
    let gateway = Gateway::before(&[&a, &b], &[]).await;
    let answer = gateway.ask("tools/list", json!({})).await;
    assert_eq!((answer.tools(), unavailable(&answer.json())), (vec!["a__x".to_owned()], &Value::Null));
    let answer = gateway.ask("prompts/list", json!({})).await;
    assert_eq!((answer.status, answer.error_code()), (StatusCode::NOT_FOUND, json!(-32601)));
}

#[tokio::test]
async fn a_later_page_is_whole_or_an_error() {
    let pages = mcp("pages", |method, params| match (method, params["cursor"].as_str()) {
        ("prompts/list", None) => Ok(list("prompts", r#"{"name":"p"}"#, r#","nextCursor":"1""#)),
        _ => Err((-32000, "worn out")),
    });
    let (pages, good) = (upstream("pages", pages).await, good().await);
    let gateway = Gateway::before(&[&pages, &good], &[]).await;
    let first = gateway.ask("prompts/list", json!({})).await.json();
    let answer = gateway.ask("prompts/list", json!({ "cursor": first["result"]["nextCursor"] })).await;
    assert_eq!((answer.status, answer.error_code()), (StatusCode::BAD_GATEWAY, json!(-32603)));
    assert!(answer.text().contains("pages: error -32000: worn out"), "{}", answer.text());
}

#[tokio::test]
async fn what_is_for_a_server_that_fails_is_an_error_that_names_it() {
    let html = Server::new(|_| {
        let mut response = labelled("text/html", Body::new("<html>busy</html>"));
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        response
    });
    let html = upstream("html", html).await;
    let gone = nowhere().await;
    let gateway = Gateway::start(&[("html", &html.url), ("gone", &gone)], &[]).await;
    for (name, what) in [
        ("html__x", "the upstream html answered 503 Service Unavailable and no JSON"),
        ("gone__x", "the upstream gone cannot be reached"),
    ] {
        let answer = gateway.ask("tools/call", json!({ "name": name })).await;
        assert_eq!((answer.status, answer.error_code()), (StatusCode::BAD_GATEWAY, json!(-32603)));
        let answer = answer.json();
        assert_eq!((&answer["id"], &answer["error"]["message"]), (&json!(7), &json!(what)));
    }
}

#[tokio::test]
async fn a_server_sends_clients_nowhere_else() {
    let elsewhere = Server::new(|_| {
        let mut response = labelled("application/json", Body::new("{}"));
        *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
        response.headers_mut().insert("location", "http://elsewhere.example/mcp".parse().expect("visible ASCII"));
        response
    });
    let a = upstream("a", elsewhere).await;
    let gateway = Gateway::before(&[&a], &[]).await;
    let answer = gateway.ask("prompts/get", json!({ "name": "a__x" })).await;
    assert_eq!((answer.status, answer.error_code()), (StatusCode::BAD_GATEWAY, json!(-32603)));
    assert_eq!(answer.header("location"), None);
}

#[tokio::test]
async fn a_session_that_one_server_forgot_is_over() {
    let forgetful = Server::new(|received| match received.method().as_str() {
        "initialize" => {
            crate::world::answer(received, Ok(crate::world::greeting("2025-11-25", json!({ "tools": {} }))))
        }
        _ => status(404),
    });
    let (good, forgetful) = (good().await, upstream("forgetful", forgetful).await);
    let gateway = Gateway::before(&[&good, &forgetful], &[]).await;
    let session = gateway.session().await;
    for params in [json!({}), json!({ "name": "forgetful__x" })] {
        let method = if params["name"].is_null() { "tools/list" } else { "tools/call" };
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let answer = gateway.send(legacy(&session, message)).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{method}");
    }
    // It is said by the server itself, of its session; without one it is an answer like any other.
    let answer = gateway.ask("tools/list", json!({})).await;
    assert_eq!(answer.tools(), ["good__x"]);
}

#[tokio::test]
async fn a_server_that_does_not_know_a_method_by_404_knows_its_session() {
    let odd = Server::new(|received| match received.method().as_str() {
        "initialize" => {
            crate::world::answer(received, Ok(crate::world::greeting("2025-11-25", json!({ "tools": {} }))))
        }
        _ => {
            let mut response = crate::world::answer(received, Err((-32601, "?")));
            *response.status_mut() = StatusCode::NOT_FOUND;
            response
        }
    });
    let prompts = mcp("good", |method, _| match method {
        "prompts/list" => Ok(list("prompts", r#"{"name":"p"}"#, "")),
        _ => Err((-32601, "?")),
    });
    let (odd, good) = (upstream("odd", odd).await, upstream("good", prompts).await);
    let gateway = Gateway::before(&[&odd, &good], &[]).await;
    let session = gateway.session().await;
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "prompts/list", "params": {} });
    let answer = gateway.send(legacy(&session, message)).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.json()["result"]["prompts"][0]["name"], "good__p");
}
