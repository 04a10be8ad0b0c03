//! A server that says that its tools changed: what was known is dropped, on whatever stream it is heard.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::{Method, Request, Response};
use http_body_util::BodyExt;
use serde_json::json;
use tower::{Layer, ServiceExt};
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::concern::RequestBody;
use tower_mcp_apps::exchange::{ByHeader, Fixed};
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::testing::{Body, Sender};
use tower_mcp_apps::visibility::VisibilityLayer;

use crate::kit::server::{Received, Server, event_answer, json_answer};
use crate::kit::{LIST, apps_capabilities, modern, post, read, send, with};
use crate::world::{call, events, gate, in_time, is_hidden, legacy_call, listing, look_ups, ran, result, runs, tool};

const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

/// A server whose `poll` is for apps until its tools change, and for all from then on.
#[derive(Clone)]
struct Changing {
    version: Arc<AtomicUsize>,
}

impl Changing {
    fn new() -> Self {
        Self { version: Arc::default() }
    }

    fn change(&self) {
        self.version.fetch_add(1, Ordering::SeqCst);
    }

    fn page(&self, received: &Received) -> String {
        let visibility: &[&str] = if self.version.load(Ordering::SeqCst) == 0 { &["app"] } else { &["app", "model"] };
        result(received, &json!({ "tools": [tool("poll", visibility), { "name": "open" }], "ttlMs": 60_000 }))
    }

    /// A server that tells of the change on the answer to everything but a plain look-up.
    fn server(&self) -> Server {
        let this = self.clone();
        Server::new(move |received| {
            let tells = received.header("x-tell").is_some();
            let message = received.json();
            let name = message["params"]["name"].as_str().unwrap_or_default();
            let answer = match received.method().as_str() {
                "tools/list" => this.page(received),
                _ if name == "poll" || name == "open" => return ran(received),
                _ => result(received, &json!({})),
            };
            if tells { events(&[CHANGED, &answer]) } else { json_answer(answer) }
        })
    }
}

fn get() -> Request<Body> {
    Request::get("http://127.0.0.1/mcp").header("accept", "text/event-stream").body(Body::new("")).expect("a request")
}

fn telling(request: Request<Body>) -> Request<Body> {
    with(request, "x-tell", "1")
}

#[tokio::test]
async fn a_change_that_is_heard_on_any_stream_that_is_read_drops_everything() {
    let streams = [
        ("GET", get()),
        ("a list", post(LIST)),
        ("a modern list", modern("tools/list", &json!({}), &json!({}))),
        ("a call", call("changes")),
        ("a subscription", modern("subscriptions/listen", &json!({}), &json!({}))),
    ];
    for (what, stream) in streams {
        let changing = Changing::new();
        let server = changing.server();
        let gate = gate(&server);
        is_hidden(&gate, call("poll")).await;
        is_hidden(&gate, legacy_call("poll")).await;
        changing.change();
        is_hidden(&gate, call("poll")).await;
        assert_eq!(look_ups(&server), 2, "{what}");
        let heard = send(gate.clone(), telling(stream)).await;
        assert!(heard.text().contains(CHANGED), "{what}: {}", heard.text());
        server.take();
        runs(&gate, call("poll")).await;
        runs(&gate, legacy_call("poll")).await;
        assert_eq!(look_ups(&server), 2, "{what}");
    }
}

#[tokio::test]
async fn a_change_that_a_host_hears_counts_for_models_too() {
    let changing = Changing::new();
    let server = changing.server();
    let audience = ByHeader::new("x-audience".parse().expect("a name"));
    let gate = VisibilityLayer::new().audience(audience).layer(server.clone());
    is_hidden(&gate, call("poll")).await;
    changing.change();
    let listen = modern("subscriptions/listen", &json!({}), &apps_capabilities());
    send(gate.clone(), telling(listen)).await;
    runs(&gate, call("poll")).await;
    // So it is in the fused layer.
    let changing = Changing::new();
    let apps = AppsLayer::new().layer(changing.server());
    assert_eq!(send(apps.clone(), call("poll")).await.error_code(), -32602);
    changing.change();
    let session = json!({ "extensions": apps_capabilities()["extensions"] });
    send(apps.clone(), telling(modern("subscriptions/listen", &json!({}), &session))).await;
    assert!(crate::world::has_run(&send(apps, call("poll")).await));
}

/// The answer to one GET, fed while the test runs.
fn live() -> (Sender, impl Fn(&Received) -> Option<Response<Body>> + Send + Sync) {
    let (feed, body) = Body::channel();
    let body = std::sync::Mutex::new(Some(body));
    (feed, move |received| {
        (received.parts.method == Method::GET)
            .then(|| event_answer(body.lock().expect("a lock").take().expect("one GET")))
    })
}

#[tokio::test]
async fn a_change_counts_from_when_it_passes_while_the_stream_goes_on() {
    let changing = Changing::new();
    let (feed, stream) = live();
    let lists = changing.clone();
    let server = Server::new(move |received| {
        stream(received).unwrap_or_else(|| match received.method().as_str() {
            "tools/list" => json_answer(lists.page(received)),
            _ => ran(received),
        })
    });
    let gate = gate(&server);
    let opened = gate.clone().oneshot(get()).await.expect("an answer");
    is_hidden(&gate, call("poll")).await;
    changing.change();
    feed.send_data(format!("data: {CHANGED}\n"));
    let mut body = Box::pin(opened.into_body());
    let next = tokio::time::timeout(Duration::from_millis(10), body.frame());
    assert!(next.await.is_err(), "the event is not over");
    is_hidden(&gate, call("poll")).await;
    feed.send_data("\n");
    let frame = body.frame().await.expect("a frame").expect("no failure");
    assert!(frame.into_data().expect("data").starts_with(b"data: {"));
    runs(&gate, call("poll")).await;
}

#[tokio::test]
async fn a_look_up_that_hears_of_a_change_is_not_kept() {
    let lists = Changing::new();
    let server = listing(move |received| events(&[CHANGED, &lists.page(received)]));
    let gate = gate(&server);
    for _ in 0..3 {
        is_hidden(&gate, call("poll")).await;
    }
    assert_eq!(look_ups(&server), 3);
}

#[tokio::test]
async fn other_notifications_drop_nothing() {
    for other in [
        r#"{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"method":"notifications/tools/list_changed"}}"#,
        r#"{"jsonrpc":"2.0","method":["notifications/tools/list_changed"]}"#,
    ] {
        let lists = Changing::new();
        let server = Server::new(move |received| match received.method().as_str() {
            "tools/list" => events(&[other, &lists.page(received)]),
            "tools/call" => events(&[other, &ran_text(received)]),
            _ => events(&[other]),
        });
        let gate = gate(&server);
        is_hidden(&gate, call("poll")).await;
        send(gate.clone(), get()).await;
        send(gate.clone(), call("open")).await;
        is_hidden(&gate, call("poll")).await;
        assert_eq!(look_ups(&server), 1, "{other}");
    }
}

fn ran_text(received: &Received) -> String {
    json!({ "jsonrpc": "2.0", "id": received.json()["id"], "result": { "content": ["ran"] } }).to_string()
}

#[tokio::test]
async fn a_look_up_from_before_a_change_is_neither_joined_nor_kept() {
    let changing = Changing::new();
    let (held, holds) = tokio::sync::watch::channel(false);
    let lists = changing.clone();
    let server = Server::new(move |received| match received.method().as_str() {
        "tools/list" => json_answer(lists.page(received)),
        "" => events(&[CHANGED]),
        _ => ran(received),
    });
    let requests = Arc::new(AtomicUsize::new(0));
    let slow = tower::service_fn({
        let server = server.clone();
        move |request: Request<RequestBody<Body>>| {
            let answer = server.clone().oneshot(request);
            let is_first = requests.fetch_add(1, Ordering::SeqCst) == 0;
            let mut holds = holds.clone();
            async move {
                let answer = answer.await;
                if is_first {
                    holds.wait_for(|opened| *opened).await.expect("the test goes on");
                }
                answer
            }
        }
    });
    let gate = VisibilityLayer::new().audience(Fixed(Audience::Model)).layer(slow);
    let before = tokio::spawn(gate.clone().oneshot(call("poll")));
    while server.take().is_empty() {
        tokio::task::yield_now().await;
    }
    changing.change();
    let told = read(gate.clone().oneshot(get()).await.expect("an answer")).await;
    assert!(told.text().contains(CHANGED));
    // Its look-up is still held.
    let after = read(in_time(gate.clone().oneshot(call("poll"))).await.expect("an answer")).await;
    assert!(crate::world::has_run(&after), "{}", after.text());
    held.send(true).expect("it waits");
    let before = read(before.await.expect("no panic").expect("an answer")).await;
    assert_eq!(before.error_code(), -32602, "it was asked before the change");
    let last = read(gate.oneshot(call("poll")).await.expect("an answer")).await;
    assert!(crate::world::has_run(&last), "{}", last.text());
    assert_eq!(look_ups(&server), 1, "that of the call after the change");
}

#[tokio::test]
async fn a_change_that_one_callers_look_up_hears_counts_for_all() {
    let changing = Changing::new();
    let lists = changing.clone();
    let server = listing(move |received| {
        let answer = lists.page(received);
        if received.header("x-tell").is_some() { events(&[CHANGED, &answer]) } else { json_answer(answer) }
    });
    let gate = gate(&server);
    is_hidden(&gate, call("poll")).await;
    changing.change();
    is_hidden(&gate, call("poll")).await;
    runs(&gate.clone(), telling(call("open"))).await;
    runs(&gate, call("poll")).await;
}
