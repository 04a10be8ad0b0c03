//! Streams of several servers as one.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body as AxumBody;
use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::time::timeout;
use tower_mcp_apps::testing::{Body, Sender};

use crate::kit::server::{Received, Server, event_answer, json_answer};
use crate::kit::with;
use crate::world::{Gateway, Upstream, bodiless, greeting, host, legacy, listen, nowhere, status, upstream};

/// A server whose streams the test feeds, and those feeds.
struct Live {
    upstream: Upstream,
    feeds: UnboundedReceiver<Sender>,
}

impl Live {
    async fn new(name: &'static str) -> Self {
        let (opened, feeds) = mpsc::unbounded_channel();
        let server = Server::new(move |received| match (received.parts.method.as_str(), received.method().as_str()) {
            ("GET", _) | (_, "subscriptions/listen" | "tools/call") => {
                let (feed, script) = Body::channel();
                opened.send(feed).expect("the test listens");
                event_answer(script)
            }
            (_, "initialize") => {
                let mut response = crate::world::answer(received, Ok(greeting("2025-11-25", json!({ "tools": {} }))));
                response.headers_mut().insert("mcp-session-id", format!("{name}-1").parse().expect("visible ASCII"));
                response
            }
            ("POST", _) if received.json()["id"].is_null() || received.json()["method"].is_null() => status(202),
            ("POST", _) => crate::world::answer(received, Err((-32601, "Method not found"))),
            _ => status(204),
        });
        Self { upstream: upstream(name, server).await, feeds }
    }

    async fn feed(&mut self) -> Sender {
        self.feeds.recv().await.expect("the gateway opens a stream")
    }

    /// What it was asked, waiting until it was.
    async fn asked(&self) -> Received {
        loop {
            if let Some(received) = self.upstream.server.take().into_iter().next() {
                return received;
            }
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
    }
}

/// The next event's data, as JSON.
async fn event(response: &mut Response<Incoming>) -> Value {
    let mut text = String::new();
    loop {
        let frame = response.frame().await.expect("the stream goes on").expect("no error");
        text.push_str(std::str::from_utf8(&frame.into_data().expect("data")).expect("text"));
        if text.ends_with("\n\n") {
            let data = text.trim().strip_prefix("data: ").unwrap_or_else(|| panic!("no data: {text}"));
            return serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {text}"));
        }
    }
}

/// Whether the stream ends here.
async fn has_ended(response: &mut Response<Incoming>) -> bool {
    response.frame().await.is_none()
}

fn acknowledged(notifications: Value) -> Value {
    let meta = json!({ "io.modelcontextprotocol/subscriptionId": 7 });
    let params = json!({ "_meta": meta, "notifications": notifications });
    json!({ "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params })
}

fn told(method: &str, uri: Option<&str>) -> Value {
    let mut params = json!({ "_meta": { "io.modelcontextprotocol/subscriptionId": 7 } });
    if let Some(uri) = uri {
        params["uri"] = uri.into();
    }
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

fn data(message: &Value) -> String {
    format!("id: 9\ndata: {message}\n\n")
}

#[tokio::test]
async fn each_server_is_asked_for_its_part_and_all_are_heard() {
    let (mut a, mut b) = (Live::new("a").await, Live::new("b").await);
    let gateway = Gateway::before(&[&a.upstream, &b.upstream], &[]).await;
    let filter = json!({ "toolsListChanged": true, "resourceSubscriptions": ["b+x:1", "ui://a+v", "x:2", "b+x:3"] });
    let mut response = gateway.open(host("subscriptions/listen", json!({ "notifications": filter }))).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let notifications = |received: Received| received.json()["params"]["notifications"].clone();
    let part = json!({ "toolsListChanged": true, "resourceSubscriptions": ["ui://v"] });
    assert_eq!(notifications(a.asked().await), part);
    let (feed_a, feed_b) = (a.feed().await, b.feed().await);
    let part = json!({ "toolsListChanged": true, "resourceSubscriptions": ["x:1", "x:3"] });
    assert_eq!(notifications(b.asked().await), part);

    // One honours less, and both say so before anything else is heard.
    feed_b.send_data(": hello\n\n");
    feed_b.send_data(data(&acknowledged(json!({ "resourceSubscriptions": ["x:1"] }))));
    feed_b.send_data(data(&told("notifications/resources/updated", Some("x:1"))));
    feed_a.send_data(data(&acknowledged(json!({ "toolsListChanged": true, "resourceSubscriptions": ["ui://v"] }))));
    let together = json!({ "toolsListChanged": true, "resourceSubscriptions": ["ui://a+v", "b+x:1"] });
    assert_eq!(event(&mut response).await, acknowledged(together));
    let text = told("notifications/resources/updated", Some("b+x:1"));
    assert_eq!(response.frame().await.expect("more").expect("no error").into_data().expect("data"), data(&text));
    for (feed, method) in [(&feed_a, "notifications/tools/list_changed"), (&feed_b, "notifications/x")] {
        feed.send_data(data(&told(method, None)));
        let frame = response.frame().await.expect("more").expect("no error").into_data().expect("data");
        assert_eq!(frame, data(&told(method, None)));
    }
    drop(response);
    feed_a.closed().await;
    feed_b.closed().await;
}

#[tokio::test]
async fn nobody_is_asked_for_nothing() {
    let (mut a, b) = (Live::new("a").await, Live::new("b").await);
    let gateway = Gateway::before(&[&a.upstream, &b.upstream], &[]).await;
    let filter = json!({ "resourceSubscriptions": ["a+x:1"] });
    let mut response = gateway.open(host("subscriptions/listen", json!({ "notifications": filter }))).await;
    a.feed().await.send_data(data(&acknowledged(json!({ "resourceSubscriptions": ["x:1"] }))));
    assert_eq!(event(&mut response).await, acknowledged(filter));
    assert!(b.upstream.server.take().is_empty());
    for params in [json!({}), json!({ "notifications": [] })] {
        assert_eq!(gateway.ask("subscriptions/listen", params).await.error_code(), json!(-32602));
    }
    // Nothing that anybody could tell: said, and over.
    let filter = json!({ "resourceSubscriptions": ["c+x:1"] });
    let mut response = gateway.open(host("subscriptions/listen", json!({ "notifications": filter }))).await;
    assert_eq!(event(&mut response).await, acknowledged(json!({})));
    assert_eq!(event(&mut response).await["result"]["resultType"], "complete");
    assert!(has_ended(&mut response).await);
}

#[tokio::test]
async fn servers_without_subscriptions_are_no_part_of_them() {
    let mut a = Live::new("a").await;
    let knows_none = Server::new(|received| {
        let mut response = crate::world::answer(received, Err((-32601, "Method not found")));
        *response.status_mut() = StatusCode::NOT_FOUND;
        response
    });
    let none = upstream("none", knows_none).await;
    let gateway = Gateway::before(&[&none, &a.upstream], &[]).await;
    let filter = json!({ "toolsListChanged": true });
    let listen = || host("subscriptions/listen", json!({ "notifications": filter }));
    let mut response = gateway.open(listen()).await;
    a.feed().await.send_data(data(&acknowledged(filter.clone())));
    assert_eq!(event(&mut response).await, acknowledged(filter.clone()));
    let answer = Gateway::before(&[&none], &[]).await.send(listen()).await;
    assert_eq!((answer.status, answer.error_code()), (StatusCode::NOT_FOUND, json!(-32601)));
    let answer = Gateway::start(&[("none", &none.url), ("gone", &nowhere().await)], &[]).await.send(listen()).await;
    assert_eq!((answer.status, answer.error_code()), (StatusCode::BAD_GATEWAY, json!(-32603)));
}

#[tokio::test]
async fn when_one_server_ends_all_ends() {
    for in_good_order in [true, false] {
        let (mut a, mut b) = (Live::new("a").await, Live::new("b").await);
        let gateway = Gateway::before(&[&a.upstream, &b.upstream], &[]).await;
        let filter = json!({ "toolsListChanged": true });
        let mut response = gateway.open(host("subscriptions/listen", json!({ "notifications": filter }))).await;
        let (feed_a, feed_b) = (a.feed().await, b.feed().await);
        for feed in [&feed_a, &feed_b] {
            feed.send_data(data(&acknowledged(filter.clone())));
        }
        assert_eq!(event(&mut response).await, acknowledged(filter));
        let meta = json!({ "io.modelcontextprotocol/subscriptionId": 7 });
        let end = json!({ "jsonrpc": "2.0", "id": 7, "result": { "resultType": "complete", "_meta": meta } });
        if in_good_order {
            feed_a.send_data(format!("data: {end}\n\n"));
            assert_eq!(event(&mut response).await, end);
        } else {
            drop(feed_a);
        }
        assert!(has_ended(&mut response).await);
        feed_b.closed().await;
    }
}

#[tokio::test]
async fn who_tells_nothing_may_leave_and_who_says_nothing_takes_no_part() {
    let (mut a, mut b, mut c) = (Live::new("a").await, Live::new("b").await, Live::new("c").await);
    let gone = nowhere().await;
    let named = [("a", a.upstream.url.as_str()), ("b", &b.upstream.url), ("c", &c.upstream.url), ("gone", &gone)];
    let gateway = Gateway::start(&named, &["--answer-timeout", "0.3"]).await;
    let filter = json!({ "toolsListChanged": true });
    let mut response = gateway.open(host("subscriptions/listen", json!({ "notifications": filter }))).await;
    let (feed_a, feed_b, feed_c) = (a.feed().await, b.feed().await, c.feed().await);
    feed_a.send_data(data(&acknowledged(filter.clone())));
    feed_b.send_data(data(&acknowledged(json!({}))));
    drop(feed_b);
    assert_eq!(event(&mut response).await, acknowledged(filter));
    feed_c.closed().await;
    let changed = told("notifications/tools/list_changed", None);
    feed_a.send_data(format!("data: {changed}\n\n"));
    assert_eq!(event(&mut response).await, changed);
}

#[tokio::test]
async fn a_get_stream_has_what_all_say_without_their_event_ids() {
    let (mut a, mut b) = (Live::new("a").await, Live::new("b").await);
    let gateway = Gateway::before(&[&a.upstream, &b.upstream], &[]).await;
    let session = gateway.session().await;
    let _ = (a.upstream.server.take(), b.upstream.server.take());
    let mut response = gateway.open(bodiless(Method::GET, &session)).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let (feed_a, feed_b) = (a.feed().await, b.feed().await);
    assert_eq!(a.asked().await.header("mcp-session-id"), Some("a-1"));
    feed_a.send_data("id: 0\nretry: 3000\ndata: \n\n");
    let mut seen = String::new();
    while !seen.ends_with("\n\n") {
        let frame = response.frame().await.expect("more").expect("no error").into_data().expect("data");
        seen.push_str(std::str::from_utf8(&frame).expect("text"));
    }
    assert_eq!(seen, ":\n\n");
    for (feed, method) in [(&feed_a, "notifications/tools/list_changed"), (&feed_b, "notifications/message")] {
        let message = json!({ "jsonrpc": "2.0", "method": method });
        feed.send_data(data(&message));
        assert_eq!(event(&mut response).await, message);
    }
    let updated = told("notifications/resources/updated", Some("x:1"));
    feed_b.send_data(data(&updated));
    assert_eq!(event(&mut response).await["params"]["uri"], "b+x:1");

    let asked_for_old = with(bodiless(Method::GET, &session), "last-event-id", "9");
    let answer = gateway.send(asked_for_old).await;
    assert_eq!((answer.status, answer.error_code()), (StatusCode::BAD_REQUEST, json!(-32600)));

    drop(feed_a);
    assert!(has_ended(&mut response).await);
    feed_b.closed().await;
}

#[tokio::test]
async fn without_any_stream_a_get_is_not_allowed() {
    let none = Server::new(|received| match received.method().as_str() {
        "initialize" => crate::world::answer(received, Ok(greeting("2025-11-25", json!({})))),
        _ => status(405),
    });
    let none = upstream("none", none).await;
    let gateway = Gateway::before(&[&none], &[]).await;
    let session = gateway.session().await;
    let answer = gateway.send(bodiless(Method::GET, &session)).await;
    assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn the_end_of_a_session_is_told_to_all() {
    let (a, b) = (Live::new("a").await, Live::new("b").await);
    let gateway = Gateway::before(&[&a.upstream, &b.upstream], &[]).await;
    let session = gateway.session().await;
    let _ = (a.upstream.server.take(), b.upstream.server.take());
    let answer = gateway.send(bodiless(Method::DELETE, &session)).await;
    assert_eq!(answer.status, StatusCode::NO_CONTENT);
    for (live, id) in [(&a, "a-1"), (&b, "b-1")] {
        let received = live.upstream.server.only();
        assert_eq!((received.parts.method.as_str(), received.header("mcp-session-id")), ("DELETE", Some(id)));
    }
}

#[tokio::test]
async fn a_server_that_asks_its_client_is_answered_here() {
    let mut a = Live::new("a").await;
    let gateway = Gateway::before(&[&a.upstream], &[]).await;
    let session = gateway.session().await;
    let _ = a.upstream.server.take();
    let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": "a__x" } });
    let in_call = gateway.open(legacy(&session, call)).await;
    let in_call = (in_call, a.feed().await);
    let in_get = gateway.open(bodiless(Method::GET, &session)).await;
    let in_get = (in_get, a.feed().await);
    let _ = a.upstream.server.take();
    for (mut response, feed) in [in_call, in_get] {
        for (method, id) in
            [("elicitation/create", json!("e-1")), ("sampling/createMessage", json!(1.0)), ("ping", json!(2))]
        {
            let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": {} });
            feed.send_data(data(&request));
            let received = a.asked().await;
            assert_eq!(received.header("mcp-session-id"), Some("a-1"));
            assert_eq!(received.header("content-type"), Some("application/json"));
            let reply = received.json();
            assert_eq!(reply["id"], id);
            if method == "ping" {
                assert_eq!(reply["result"], json!({}));
            } else {
                assert_eq!(reply["error"]["code"], -32601, "{reply}");
                assert!(reply["error"]["message"].as_str().is_some_and(|text| text.contains(method)), "{reply}");
            }
        }
        // The client sees none of it, only what comes behind.
        let message = json!({ "jsonrpc": "2.0", "method": "notifications/message" });
        feed.send_data(data(&message));
        assert_eq!(event(&mut response).await, message);
    }
}

#[tokio::test]
async fn a_server_that_asks_faster_than_it_listens_gets_no_more_answers() {
    const MOST: u64 = 64;
    let (arrived, mut arrivals) = mpsc::unbounded_channel();
    let (opened, mut feeds) = mpsc::unbounded_channel();
    let listens = Arc::new(Semaphore::new(0));
    let may_answer = Arc::clone(&listens);
    let router = Router::new().fallback(move |request: Request<AxumBody>| {
        let (arrived, opened, listens) = (arrived.clone(), opened.clone(), Arc::clone(&may_answer));
        async move {
            let body = request.into_body().collect().await.expect("the request arrives").to_bytes();
            let message: Value = serde_json::from_slice(&body).expect("JSON");
            match message["method"].as_str() {
                Some("initialize") => {
                    let result = greeting("2025-11-25", json!({ "tools": {} }));
                    json_answer(format!(r#"{{"jsonrpc":"2.0","id":0,"result":{result}}}"#)).map(AxumBody::new)
                }
                Some(_) => {
                    let (feed, script) = Body::channel();
                    opened.send(feed).expect("the test listens");
                    event_answer(script).map(AxumBody::new)
                }
                None => {
                    arrived.send(message["id"].as_u64().expect("a number")).expect("the test listens");
                    listens.acquire().await.expect("it stays open").forget();
                    status(202).map(AxumBody::new)
                }
            }
        }
    });
    let url = listen(router).await;
    let gateway = Gateway::start(&[("a", &url)], &[]).await;
    let session = gateway.session().await;
    let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": "a__x" } });
    let mut response = gateway.open(legacy(&session, call)).await;
    let feed = feeds.recv().await.expect("the gateway opens a stream");
    let ping = |id: u64| feed.send_data(data(&json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })));
    (0..2 * MOST).for_each(ping);
    // Once the client hears what comes behind, all of them were seen.
    feed.send_data(data(&json!({ "jsonrpc": "2.0", "method": "notifications/message" })));
    assert_eq!(event(&mut response).await["method"], "notifications/message");
    let mut answered = Vec::new();
    for _ in 0..MOST {
        let arrival = timeout(Duration::from_secs(20), arrivals.recv()).await.expect("it is answered in time");
        answered.push(arrival.expect("it is answered"));
    }
    answered.sort_unstable();
    assert_eq!(answered, (0..MOST).collect::<Vec<_>>());

    // It listens again, and hears only of what it asks from then on.
    listens.add_permits(Semaphore::MAX_PERMITS / 2);
    for id in 2 * MOST..1000 {
        ping(id);
        if let Ok(answered) = timeout(Duration::from_millis(20), arrivals.recv()).await {
            let answered = answered.expect("the server is there");
            return assert!(answered >= 2 * MOST, "{answered} was dropped, not kept for later");
        }
    }
    panic!("nothing is answered any more");
}
