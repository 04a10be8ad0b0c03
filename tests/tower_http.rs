//! Stacks with `tower-http`'s layers: the right order works, and the wrong one does what the design says of bad input.

mod kit;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::routing::post as on_post;
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS};
use http::{HeaderName, Method, Request, Response, StatusCode};
use kit::server::{Received, Server, event_answer};
use kit::{LIST, apps_capabilities, initialize, post, send, with};
use serde_json::{Value, json};
use tower::{Layer, ServiceBuilder, ServiceExt, service_fn};
use tower_http::compression::CompressionLayer;
use tower_http::cors::{Any, CorsLayer};
use tower_http::decompression::DecompressionLayer;
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::map_request_body::MapRequestBodyLayer;
use tower_http::timeout::TimeoutLayer;
use tower_http::trace::TraceLayer;
use tower_mcp_apps::exchange::Fixed;
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::testing::{Body, FakeServer, Reply};
use tower_mcp_apps::{AppsLayer, McpContext};

/// A list that is long enough to be worth compressing, and of which a model gets `open` only.
fn tools() -> Value {
    let text = "long ".repeat(200);
    json!([{ "name": "open", "description": text }, { "name": "poll", "_meta": { "ui": { "visibility": ["app"] } } }])
}

fn server() -> Server {
    Server::with_tools(tools())
}

/// A server that compresses whatever it is asked for.
fn stubborn() -> FakeServer {
    let list = json!({ "jsonrpc": "2.0", "id": 7, "result": { "tools": tools() } }).to_string();
    FakeServer::answering(move |_| Reply::json(&list).gzipped())
}

fn gzipped_list() -> Request<Body> {
    with(post(LIST), "accept-encoding", "gzip")
}

#[tokio::test]
async fn compression_outside_compresses_what_was_filtered() {
    let server = server();
    let stack = ServiceBuilder::new()
        .layer(DecompressionLayer::new())
        .layer(CompressionLayer::new())
        .layer(AppsLayer::new())
        .service(server.clone());
    // The decompression outside takes the encoding off again, as a client would.
    assert_eq!(send(stack, post(LIST)).await.tools(), ["open"]);
    assert_eq!(server.only().header("accept-encoding"), Some("identity"));

    let stack = ServiceBuilder::new().layer(CompressionLayer::new()).layer(AppsLayer::new()).service(server);
    let answer = send(stack, gzipped_list()).await;
    assert_eq!(answer.header("content-encoding"), Some("gzip"));
    assert_eq!(answer.header("content-length"), None);
}

#[tokio::test]
async fn compression_inside_only_costs_the_compression() {
    let stack = ServiceBuilder::new().layer(AppsLayer::new()).layer(CompressionLayer::new()).service(server());
    let answer = send(stack.clone(), gzipped_list()).await;
    assert_eq!(answer.header("content-encoding"), None);
    assert_eq!(answer.tools(), ["open"]);
    // What need not be read is compressed.
    let read = r#"{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"file:///a"}}"#;
    let big = Server::saying(json!({ "jsonrpc": "2.0", "id": 7, "result": { "text": "x".repeat(999) } }).to_string());
    let stack = ServiceBuilder::new().layer(AppsLayer::new()).layer(CompressionLayer::new()).service(big);
    let answer = send(stack, with(post(read), "accept-encoding", "gzip")).await;
    assert_eq!(answer.header("content-encoding"), Some("gzip"));
}

#[tokio::test]
async fn decompression_inside_reads_what_a_stubborn_server_compresses() {
    let stack = ServiceBuilder::new().layer(AppsLayer::new()).layer(DecompressionLayer::new()).service(stubborn());
    assert_eq!(send(stack, post(LIST)).await.tools(), ["open"]);
}

#[tokio::test]
async fn decompression_outside_comes_too_late() {
    let stack = ServiceBuilder::new().layer(DecompressionLayer::new()).layer(AppsLayer::new()).service(stubborn());
    let answer = send(stack, post(LIST)).await;
    assert_eq!((answer.status, answer.error_code()), (StatusCode::BAD_GATEWAY, json!(-32603)));
    assert_eq!(answer.json()["id"], 7);

    let host = AppsLayer::new().audience(Fixed(Audience::Host));
    let stack = ServiceBuilder::new().layer(DecompressionLayer::new()).layer(host).service(stubborn());
    assert_eq!(send(stack, post(LIST)).await.tools(), ["open", "poll"], "untouched where nothing is enforced");
}

/// What a layer was seen to know of the exchange.
type Seen = Arc<Mutex<Vec<Option<String>>>>;

fn note(seen: &Seen, extensions: &http::Extensions) {
    let method = extensions.get::<McpContext>().and_then(|context| context.method().map(str::to_owned));
    seen.lock().expect("no test panics with it").push(method);
}

#[tokio::test]
async fn trace_works_on_both_sides_and_finds_the_context() {
    let (outer, inner) = (Seen::default(), Seen::default());
    let (on_response, on_request) = (Arc::clone(&outer), Arc::clone(&inner));
    let outside = TraceLayer::new_for_http().on_response(move |response: &Response<_>, _: Duration, _: &_| {
        note(&on_response, response.extensions());
    });
    let inside = TraceLayer::new_for_http().on_request(move |request: &Request<_>, _: &_| {
        note(&on_request, request.extensions());
    });
    let stack = ServiceBuilder::new().layer(outside).layer(AppsLayer::new()).layer(inside).service(server());
    assert_eq!(send(stack, post(LIST)).await.tools(), ["open"]);
    let method = Some("tools/list".to_owned());
    assert_eq!(*outer.lock().expect("no panic"), std::slice::from_ref(&method));
    assert_eq!(*inner.lock().expect("no panic"), [method]);
}

fn cors() -> CorsLayer {
    let session = HeaderName::from_static("mcp-session-id");
    CorsLayer::new().allow_origin(Any).allow_methods(Any).allow_headers(Any).expose_headers([session])
}

fn preflight() -> Request<Body> {
    let mut request = with(post(""), "origin", "https://host.example");
    *request.method_mut() = Method::OPTIONS;
    let request = with(request, "access-control-request-method", "POST");
    with(request, "access-control-request-headers", "content-type,mcp-session-id")
}

#[tokio::test]
async fn cors_outside_lets_a_browser_read_refusals_and_sessions() {
    let server = server();
    let stack = ServiceBuilder::new().layer(cors()).layer(AppsLayer::new()).service(server.clone());
    let answer = send(stack.clone(), preflight()).await;
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (StatusCode::OK, Some("*")));
    assert!(server.take().is_empty());

    let refused = send(stack.clone(), with(post("{"), "origin", "https://host.example")).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert_eq!(refused.headers[ACCESS_CONTROL_ALLOW_ORIGIN], "*");

    let init = post(initialize(&apps_capabilities()));
    let opened = send(stack, with(init, "origin", "https://host.example")).await;
    assert!(opened.header("mcp-session-id").is_some());
    assert_eq!(opened.headers[ACCESS_CONTROL_EXPOSE_HEADERS], "mcp-session-id");
}

#[tokio::test]
async fn cors_inside_hides_refusals_from_a_browser() {
    let stack = ServiceBuilder::new().layer(AppsLayer::new()).layer(cors()).service(server());
    let answer = send(stack.clone(), preflight()).await;
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (StatusCode::OK, Some("*")));
    assert_eq!(send(stack.clone(), post(LIST)).await.header("access-control-allow-origin"), Some("*"));
    let refused = send(stack, post("{")).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert_eq!(refused.header("access-control-allow-origin"), None);
}

/// The head comes at once, the body never.
fn dribbling() -> Server {
    Server::new(|_| {
        let (feed, body) = Body::channel();
        feed.send_data("{");
        std::mem::forget(feed);
        kit::server::labelled("application/json", body)
    })
}

fn timeout() -> TimeoutLayer {
    TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, Duration::from_millis(50))
}

#[tokio::test]
async fn timeout_outside_bounds_the_reading_of_an_answer() {
    let stack = ServiceBuilder::new().layer(timeout()).layer(AppsLayer::new()).service(dribbling());
    let answer = send(stack, post(LIST)).await;
    assert_eq!((answer.status, answer.text().as_str()), (StatusCode::GATEWAY_TIMEOUT, ""));
}

#[tokio::test]
async fn timeout_inside_bounds_the_head_only() {
    let stack = ServiceBuilder::new().layer(AppsLayer::new()).layer(timeout()).service(dribbling());
    let answer = tokio::time::timeout(Duration::from_millis(200), stack.oneshot(post(LIST))).await;
    assert!(answer.is_err(), "the head was in time, and the body is waited for");

    let never = service_fn(async |_: Request<_>| -> Result<Response<Body>, std::convert::Infallible> {
        std::future::pending().await
    });
    let stack = ServiceBuilder::new().layer(AppsLayer::new()).layer(timeout()).service(never);
    let stack = MapRequestBodyLayer::new(|body: Body| body).layer(stack);
    let answer = send(stack, post(LIST)).await;
    assert_eq!(answer.status, StatusCode::GATEWAY_TIMEOUT, "an empty failure passes a filter");
}

#[tokio::test]
async fn timeout_outside_does_not_end_streams() {
    let server = Server::new(|_| {
        let (feed, body) = Body::channel();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(100)).await;
            feed.send_data(format!(
                "data: {}\n\n",
                json!({ "jsonrpc": "2.0", "id": 7, "result": { "tools": tools() } })
            ));
        });
        event_answer(body)
    });
    let stack = ServiceBuilder::new().layer(timeout()).layer(AppsLayer::new()).service(server);
    assert_eq!(send(stack, post(LIST)).await.tools(), ["open"]);
}

/// An axum handler that reads its body as handlers do.
fn handler() -> Router {
    async fn handle(body: Bytes) -> String {
        String::from_utf8_lossy(&body).into_owned()
    }
    Router::new().route("/mcp", on_post(handle))
}

/// Of unknown length, so that only reading tells.
fn long_request() -> Request<Body> {
    post("").map(|_| Body::frames([Bytes::from(LIST), Bytes::from(vec![b' '; 1000])]))
}

#[tokio::test]
async fn request_body_limit_outside_answers_first() {
    let limit = || RequestBodyLimitLayer::new(500);
    // By its declared length: the limit's own answer, which is no JSON-RPC.
    let stack = ServiceBuilder::new().layer(limit()).layer(AppsLayer::new()).service(server());
    let answer = send(stack.clone(), with(post(vec![b' '; 1000]), "content-length", "1000")).await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(send(stack, post(LIST)).await.tools(), ["open"]);
    // While it is read: the body fails, and a filter lets no broken request pass.
    let stack = ServiceBuilder::new().layer(limit()).layer(AppsLayer::new()).service(server());
    let answer = send(stack, long_request()).await;
    assert_eq!((answer.status, answer.error_code()), (StatusCode::BAD_REQUEST, json!(-32700)));
    // Elsewhere the inner service hears of it. axum looks for the reason below so many of its own wrappers only, and a
    // layer in between adds one: 400 where it was 413.
    let route = on_post(async |body: Bytes| body);
    let host = AppsLayer::new().audience(Fixed(Audience::Host));
    for (route, status) in [(route.clone(), 413), (route.layer(host), 400)] {
        let app = Router::new().route("/mcp", route).layer(limit());
        let answer = send(app, long_request().map(axum::body::Body::new)).await;
        assert_eq!(answer.status.as_u16(), status);
        assert!(answer.text().ends_with("length limit exceeded"), "{}", answer.text());
    }
}

#[tokio::test]
async fn request_body_limit_inside_meets_a_body_that_was_read() {
    let stack = ServiceBuilder::new().layer(AppsLayer::new()).layer(RequestBodyLimitLayer::new(500)).service(server());
    let answer = send(stack.clone(), with(post(vec![b' '; 1000]), "content-length", "1000")).await;
    assert_eq!(
        (answer.status, answer.error_code()),
        (StatusCode::BAD_REQUEST, json!(-32700)),
        "judged before it is counted"
    );
    let padded = format!("{LIST}{}", " ".repeat(1000));
    let answer = send(stack.clone(), with(post(padded.clone()), "content-length", "1045")).await;
    assert_eq!((answer.status, answer.text().as_str()), (StatusCode::PAYLOAD_TOO_LARGE, "length limit exceeded"));
    assert_eq!(send(stack, post(LIST)).await.tools(), ["open"]);
    // Without a length the service inside fails as it does without a layer.
    let stack = ServiceBuilder::new()
        .layer(MapRequestBodyLayer::new(axum::body::Body::new))
        .layer(AppsLayer::new())
        .layer(RequestBodyLimitLayer::new(500))
        .layer(MapRequestBodyLayer::new(axum::body::Body::new))
        .service(handler());
    let answer = send(stack, long_request()).await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn everything_at_once_in_the_right_order() {
    let server = server();
    let stack = ServiceBuilder::new()
        .layer(TraceLayer::new_for_http())
        .layer(cors())
        .layer(timeout())
        .layer(CompressionLayer::new())
        .layer(RequestBodyLimitLayer::new(1 << 20))
        .layer(AppsLayer::new())
        .layer(DecompressionLayer::new())
        .service(server.clone());
    let answer = send(stack.clone(), post(LIST)).await;
    assert_eq!(answer.tools(), ["open"]);
    let answer = send(stack, gzipped_list()).await;
    assert_eq!(answer.header("content-encoding"), Some("gzip"));
    assert!(server.take().iter().all(|received| received.parts.headers[ACCEPT_ENCODING] == "identity"));
}

#[tokio::test]
async fn everything_at_once_on_a_router() {
    async fn mcp(request: axum::extract::Request) -> axum::response::Response {
        let received: Received = kit::server::record(request).await;
        let result = json!({ "tools": tools() });
        let answer = json!({ "jsonrpc": "2.0", "id": received.json()["id"], "result": result });
        axum::response::IntoResponse::into_response(axum::Json(answer))
    }
    let app = Router::new()
        .route("/mcp", on_post(mcp).layer(AppsLayer::new()))
        .route("/health", axum::routing::get(async || "fine"))
        .layer(
            ServiceBuilder::new()
                .layer(TraceLayer::new_for_http())
                .layer(cors())
                .layer(timeout())
                .layer(CompressionLayer::new())
                .layer(RequestBodyLimitLayer::new(1 << 20)),
        );
    let request = post(LIST).map(axum::body::Body::new);
    assert_eq!(send(app.clone(), request).await.tools(), ["open"]);
    let health = Request::get("/health").body(axum::body::Body::empty()).expect("a request");
    assert_eq!(send(app, health).await.text(), "fine");
}
