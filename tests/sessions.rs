//! Session tags: what a legacy client declared at `initialize` holds for its later requests, on any replica.

mod kit;

use std::collections::HashSet;

use http::{Method, Request, Response, StatusCode};
use kit::server::{Received, Server, event_answer, json_answer};
use kit::{Answer, LIST, apps_capabilities, initialize, modern, post, send, with};
use serde_json::{Value, json};
use tower::Layer;
use tower_mcp_apps::negotiate::NegotiateLayer;
use tower_mcp_apps::testing::Body;
use tower_mcp_apps::visibility::VisibilityLayer;
use tower_mcp_apps::{AppsLayer, McpContext};

const SESSION: &str = "mcp-session-id";

/// What a host and what a text client get of [`tools`].
const EVERYTHING: [&str; 2] = ["open", "poll"];
const FOR_MODELS: [&str; 1] = ["open"];

fn tools() -> Value {
    json!([{ "name": "open" }, { "name": "poll", "_meta": { "ui": { "visibility": ["app"] } } }])
}

/// Answers a list or an `initialize`, with a session id if it gives one.
fn answer(received: &Received, session: Option<&str>) -> Response<Body> {
    let message = received.json();
    let result = match message["method"].as_str() {
        Some("initialize") => json!({ "protocolVersion": "2025-11-25", "capabilities": { "resources": {} } }),
        _ => json!({ "tools": tools() }),
    };
    let mut response = json_answer(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string());
    if let Some(session) = session {
        response.headers_mut().insert(SESSION, session.parse().expect("the id is a header value"));
    }
    response
}

/// Gives `S-1` to who initializes, and asks for it from then on. Names it in every answer.
fn with_sessions() -> Server {
    Server::new(|received| {
        if received.method() == "initialize" || received.header(SESSION) == Some("S-1") {
            return answer(received, Some("S-1"));
        }
        let mut response = Response::new(Body::new("no session"));
        *response.status_mut() =
            if received.header(SESSION).is_some() { StatusCode::NOT_FOUND } else { StatusCode::BAD_REQUEST };
        response
    })
}

/// Knows no sessions.
fn without_sessions() -> Server {
    Server::new(|received| answer(received, None))
}

/// Initializes and gives the session id that the client got.
async fn open<L>(layer: &L, server: &Server, capabilities: &Value) -> String
where
    L: Layer<Server>,
    L::Service: Serve,
{
    let answer = layer.layer(server.clone()).serve(post(initialize(capabilities))).await;
    assert_eq!(answer.status, StatusCode::OK);
    let mut ids = answer.headers.get_all(SESSION).iter();
    let id = ids.next().expect("a session is given").to_str().expect("ids are visible ASCII").to_owned();
    assert!(ids.next().is_none());
    assert!(id.bytes().all(|byte| byte.is_ascii_graphic()), "{id}");
    id
}

async fn list<L>(layer: &L, server: &Server, session: &str) -> Answer
where
    L: Layer<Server>,
    L::Service: Serve,
{
    layer.layer(server.clone()).serve(with(post(LIST), SESSION, session)).await
}

/// A service around [`Server`], whatever its bodies are.
trait Serve {
    fn serve(self, request: Request<Body>) -> impl Future<Output = Answer>;
}

impl<S, R> Serve for S
where
    S: tower::Service<Request<Body>, Response = Response<R>>,
    S::Error: std::fmt::Debug,
    R: http_body::Body<Data = bytes::Bytes>,
    R::Error: Into<kit::body::BoxError>,
{
    async fn serve(self, request: Request<Body>) -> Answer {
        send(self, request).await
    }
}

#[tokio::test]
async fn a_session_remembers_on_every_replica() {
    for server in [with_sessions(), without_sessions()] {
        for (capabilities, expected) in [(apps_capabilities(), &EVERYTHING[..]), (json!({}), &FOR_MODELS[..])] {
            let session = open(&AppsLayer::new(), &server, &capabilities).await;
            // Every request meets a layer that saw none before.
            for _ in 0..2 {
                let answer = list(&AppsLayer::new(), &server, &session).await;
                assert_eq!(answer.tools(), expected, "{capabilities}");
            }
        }
    }
}

#[tokio::test]
async fn a_server_sees_its_own_ids_only() {
    let server = with_sessions();
    let session = open(&AppsLayer::new(), &server, &apps_capabilities()).await;
    assert_eq!(server.only().header(SESSION), None);
    assert_ne!(session, "S-1");
    let answer = list(&AppsLayer::new(), &server, &session).await;
    assert_eq!(server.only().header(SESSION), Some("S-1"));
    assert_eq!(answer.header(SESSION), Some(&*session), "an id that comes back is the client's again");

    let server = without_sessions();
    let session = open(&AppsLayer::new(), &server, &apps_capabilities()).await;
    server.take();
    let answer = list(&AppsLayer::new(), &server, &session).await;
    assert_eq!(server.only().header(SESSION), None);
    assert_eq!(answer.header(SESSION), None, "only an initialize opens a session");
}

#[tokio::test]
async fn ids_of_our_own_cannot_be_guessed() {
    let server = without_sessions();
    let mut ids = HashSet::new();
    for _ in 0..100 {
        let id = open(&AppsLayer::new(), &server, &json!({})).await;
        let random = id.rsplit('~').next().expect("there is always a last part").to_owned();
        assert!(random.len() >= 22, "{id}: 128 bits are 22 characters of base64");
        assert!(ids.insert(random), "{id}");
    }
}

#[tokio::test]
async fn delete_and_get_belong_to_the_session() {
    for method in [Method::DELETE, Method::GET] {
        let request = |session: &str| {
            let mut request = with(post(""), SESSION, session);
            *request.method_mut() = method.clone();
            request.headers_mut().remove("content-type");
            request
        };
        let server = with_sessions();
        let session = open(&AppsLayer::new(), &server, &json!({})).await;
        server.take();
        let answer = send(AppsLayer::new().layer(server.clone()), request(&session)).await;
        let received = server.only();
        assert_eq!((received.parts.method.clone(), received.header(SESSION)), (method.clone(), Some("S-1")));
        assert_eq!(answer.header(SESSION), Some(&*session));

        let server = without_sessions();
        let session = open(&AppsLayer::new(), &server, &json!({})).await;
        server.take();
        send(AppsLayer::new().layer(server.clone()), request(&session)).await;
        let received = server.only();
        assert_eq!((received.parts.method.clone(), received.header(SESSION)), (method.clone(), None));
    }
}

#[tokio::test]
async fn a_get_stream_is_filtered_for_the_session() {
    let stream = format!("data: {}\n\n", json!({ "jsonrpc": "2.0", "id": 7, "result": { "tools": tools() } }));
    let server = Server::new(move |received| match received.method().as_str() {
        "initialize" => answer(received, Some("S-1")),
        _ => event_answer(Body::frames([stream.clone()])),
    });
    for (capabilities, expected) in [(apps_capabilities(), &EVERYTHING[..]), (json!({}), &FOR_MODELS[..])] {
        let session = open(&AppsLayer::new(), &server, &capabilities).await;
        let mut request = with(post(""), SESSION, &session);
        *request.method_mut() = Method::GET;
        let answer = send(AppsLayer::new().layer(server.clone()), request).await;
        assert_eq!(answer.tools(), expected);
    }
}

#[tokio::test]
async fn an_answer_that_is_no_success_opens_no_session() {
    for status in [400, 401, 404, 500, 503, 307] {
        let server = Server::new(move |received| {
            let mut response = answer(received, Some("S-1"));
            *response.status_mut() = StatusCode::from_u16(status).expect("a status");
            response
        });
        for request in [post(initialize(&apps_capabilities())), with(post(LIST), SESSION, "apps1-a.S-1")] {
            let answer = send(AppsLayer::new().layer(server.clone()), request).await;
            assert_eq!(answer.status.as_u16(), status);
            assert_eq!(answer.header(SESSION), Some("S-1"), "{status}");
        }
    }
    let server = Server::new(|received| {
        let mut response = answer(received, None);
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        response
    });
    let answer = send(AppsLayer::new().layer(server), post(initialize(&json!({})))).await;
    assert_eq!(answer.header(SESSION), None);
}

#[tokio::test]
async fn a_lost_session_is_the_servers_word() {
    let server = with_sessions();
    let session = open(&AppsLayer::new(), &server, &apps_capabilities()).await.replace("S-1", "S-2");
    server.take();
    let answer = list(&AppsLayer::new(), &server, &session).await;
    assert_eq!((answer.status, answer.text().as_str()), (StatusCode::NOT_FOUND, "no session"));
    assert_eq!(server.only().header(SESSION), Some("S-2"));
}

#[tokio::test]
async fn an_id_without_a_tag_declares_nothing() {
    let server = with_sessions();
    let answer = list(&AppsLayer::new(), &server, "S-1").await;
    assert_eq!(answer.tools(), FOR_MODELS);
    assert_eq!(answer.header(SESSION), Some("S-1"), "it does not get a tag afterwards");
    assert_eq!(server.only().header(SESSION), Some("S-1"));
}

#[tokio::test]
async fn a_tag_without_sense_declares_nothing() {
    for tag in ["apps1-.", "apps1-a1.", "apps1-x.", "apps1-x!.", "apps1-xe30.", "apps1-q.", "apps1-xW10.", "apps1-A."] {
        let server = with_sessions();
        let answer = list(&AppsLayer::new(), &server, &format!("{tag}S-1")).await;
        assert_eq!(answer.tools(), FOR_MODELS, "{tag}");
        assert_eq!(server.only().header(SESSION), Some("S-1"), "{tag}");
    }
}

#[tokio::test]
async fn two_session_headers_declare_nothing() {
    let server = without_sessions();
    let request = with(with(post(LIST), SESSION, "apps1-a.S-1"), SESSION, "apps1-a.S-2");
    let answer = send(AppsLayer::new().layer(server.clone()), request).await;
    assert_eq!(answer.tools(), FOR_MODELS);
    let received = server.only();
    let ids: Vec<_> = received.parts.headers.get_all(SESSION).iter().collect();
    assert_eq!(ids, ["S-1", "S-2"]);
}

#[tokio::test]
async fn initializing_again_declares_again() {
    let server = with_sessions();
    let text = open(&AppsLayer::new(), &server, &json!({})).await;
    let again = with(post(initialize(&apps_capabilities())), SESSION, &text);
    let answer = send(AppsLayer::new().layer(server.clone()), again).await;
    let session = answer.header(SESSION).expect("a session").to_owned();
    assert_eq!(list(&AppsLayer::new(), &server, &session).await.tools(), EVERYTHING);
}

#[tokio::test]
async fn each_stacked_layer_has_its_own_tag() {
    let stack = || (AppsLayer::new(), NegotiateLayer::new(), VisibilityLayer::new());
    for server in [with_sessions(), without_sessions()] {
        let own = server.clone();
        for (capabilities, expected) in [(apps_capabilities(), &EVERYTHING[..]), (json!({}), &FOR_MODELS[..])] {
            let (apps, negotiate, visibility) = stack();
            let service = visibility.layer(negotiate.layer(apps.layer(server.clone())));
            let opened = send(service, post(initialize(&capabilities))).await;
            let session = opened.header(SESSION).expect("a session").to_owned();
            assert_eq!(session.matches("apps1-").count(), 3, "{session}");
            own.take();

            let (apps, negotiate, visibility) = stack();
            let service = visibility.layer(negotiate.layer(apps.layer(server.clone())));
            let answer = send(service, with(post(LIST), SESSION, &session)).await;
            assert_eq!(answer.tools(), expected);
            let received = own.only();
            assert!(received.header(SESSION).is_none_or(|id| id == "S-1"));
            assert!(answer.header(SESSION).is_none_or(|id| id == session));
        }
    }
}

#[tokio::test]
async fn the_inner_service_learns_what_the_session_declared() {
    let server = with_sessions();
    for (capabilities, supports_apps) in [(apps_capabilities(), true), (json!({}), false)] {
        let session = open(&AppsLayer::new(), &server, &capabilities).await;
        server.take();
        list(&AppsLayer::new(), &server, &session).await;
        let received = server.only();
        let context = received.parts.extensions.get::<McpContext>().expect("the layer leaves a context");
        assert_eq!(context.supports_apps(), supports_apps);
        assert_eq!((context.method(), context.id()), (Some("tools/list"), Some(&b"7"[..])));
    }
}

#[tokio::test]
async fn every_extension_is_remembered_as_it_was_declared() {
    let server = without_sessions();
    let extensions = r#"{"com.example/x": {"n":1.0},"io.modelcontextprotocol/ui":{"mimeTypes":["a/b"]}}"#;
    let body =
        initialize(&json!({ "extensions": 0 })).replace("\"extensions\":0", &format!("\"extensions\":{extensions}"));
    let opened = send(AppsLayer::new().layer(server.clone()), post(body)).await;
    let session = opened.header(SESSION).expect("a session").to_owned();
    server.take();
    list(&AppsLayer::new(), &server, &session).await;
    let received = server.only();
    let context = received.parts.extensions.get::<McpContext>().expect("the layer leaves a context");
    assert_eq!(context.declared().extensions(), Some(extensions.as_bytes()));
    assert!(context.declared().has_extension("com.example/x") && !context.supports_apps());
}

#[tokio::test]
async fn a_forged_tag_hands_no_broken_json_inwards() {
    // base64 of `{"a":1,}`, of `{} {}` and of `[]`.
    for code in ["xeyJhIjoxLH0", "xe30ge30", "xW10"] {
        let server = without_sessions();
        list(&AppsLayer::new(), &server, &format!("apps1-{code}~r")).await;
        let received = server.only();
        let context = received.parts.extensions.get::<McpContext>().expect("the layer leaves a context");
        assert_eq!(context.declared().extensions(), None, "{code}");
    }
}

#[tokio::test]
async fn a_huge_declaration_keeps_what_matters() {
    let mut capabilities = apps_capabilities();
    capabilities["extensions"]["com.example/big"] = json!({ "text": "x".repeat(100_000) });
    let server = without_sessions();
    let session = open(&AppsLayer::new(), &server, &capabilities).await;
    assert!(session.len() < 4096);
    assert_eq!(list(&AppsLayer::new(), &server, &session).await.tools(), EVERYTHING);
}

#[tokio::test]
async fn modern_requests_know_no_sessions() {
    let server = without_sessions();
    for method in ["server/discover", "tools/list"] {
        let answer =
            send(AppsLayer::new().layer(server.clone()), modern(method, &json!({}), &apps_capabilities())).await;
        assert_eq!(answer.header(SESSION), None, "{method}");
    }
    // What the request says itself is what counts, not a tag that comes along.
    let session = open(&AppsLayer::new(), &server, &apps_capabilities()).await;
    let request = with(modern("tools/list", &json!({}), &json!({})), SESSION, &session);
    assert_eq!(send(AppsLayer::new().layer(server.clone()), request).await.tools(), FOR_MODELS);
    let session = open(&AppsLayer::new(), &server, &json!({})).await;
    let request = with(modern("tools/list", &json!({}), &apps_capabilities()), SESSION, &session);
    assert_eq!(send(AppsLayer::new().layer(server), request).await.tools(), EVERYTHING);
}

#[tokio::test]
async fn an_initialize_in_a_batch_opens_nothing() {
    let server = Server::new(|_| json_answer("[]"));
    let batch = format!("[{}]", initialize(&apps_capabilities()));
    let answer = send(AppsLayer::new().layer(server), post(batch)).await;
    assert_eq!(answer.header(SESSION), None);
}

#[tokio::test]
async fn an_initialize_that_is_answered_by_a_stream_opens_a_session_at_once() {
    let server = Server::new(|received| {
        let (feed, body) = Body::channel();
        // The stream goes on: its head must not wait for it.
        std::mem::forget(feed);
        assert_eq!(received.method(), "initialize");
        event_answer(body)
    });
    let service = AppsLayer::new().layer(server);
    let response = tower::ServiceExt::oneshot(service, post(initialize(&json!({})))).await.expect("no failure");
    assert!(response.headers().contains_key(SESSION));
}

#[tokio::test]
async fn what_is_not_mcp_keeps_its_header() {
    let server = with_sessions();
    let layer = AppsLayer::new().predicate(|parts: &http::request::Parts| parts.uri.path() == "/other");
    let answer = list(&layer, &server, "apps1-a.S-1").await;
    assert_eq!(server.only().header(SESSION), Some("apps1-a.S-1"));
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
}
