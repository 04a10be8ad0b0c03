//! The same with processes of the `reverse_proxy` example, over real connections.

use axum::Router;
use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tower_mcp_apps::testing::Body;

use crate::kit::example::Proxy;
use crate::kit::server::{Received, Server};
use crate::kit::{apps_capabilities, initialize, post};
use crate::replicas::{answer, choices, request};
use crate::socket::serve;

/// What a request came to: what its sender got, and what arrived.
#[derive(Debug, PartialEq)]
struct Outcome {
    status: StatusCode,
    session: Option<HeaderValue>,
    body: Bytes,
    arrived: Vec<Value>,
}

async fn ask(
    client: &Client<HttpConnector, Body>,
    proxy: &Proxy,
    server: &Server,
    mut request: Request<Body>,
) -> Outcome {
    *request.uri_mut() = proxy.endpoint.clone();
    let response: Response<_> = client.request(request).await.expect("an answer");
    let (parts, body) = response.into_parts();
    let body = body.collect().await.expect("a whole answer").to_bytes();
    let is_look_up = |message: &Value| message["id"].as_str().is_some_and(|id| id.starts_with("apps-"));
    let arrived = server.take().iter().map(Received::json).filter(|message| !is_look_up(message)).collect();
    Outcome { status: parts.status, session: parts.headers.get("mcp-session-id").cloned(), body, arrived }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_in_turn_decide_as_one_does() {
    let server = Server::new(answer);
    let upstream = format!("http://{}/mcp", serve(Router::new().fallback_service(server.clone())).await);
    let start = move |()| Proxy::start(&["--upstream", &upstream, "--audience-header", "x-audience"]);
    let started = tokio::task::spawn_blocking(move || [(); 3].map(start));
    let [alone, one, two] = started.await.expect("they start");
    let client = Client::builder(TokioExecutor::new()).build_http();
    let mut sessions = vec!["S-1".to_owned(), "apps1-a.S-2".to_owned()];
    for (proxy, capabilities) in [(&one, json!({})), (&two, apps_capabilities())] {
        let of_one = ask(&client, &alone, &server, post(initialize(&capabilities))).await;
        let of_two = ask(&client, proxy, &server, post(initialize(&capabilities))).await;
        assert_eq!(of_one, of_two);
        sessions.push(of_one.session.expect("a session").to_str().expect("text").to_owned());
    }
    let mut ran = 0;
    for (at, choice) in choices().enumerate() {
        let of_one = ask(&client, &alone, &server, request(choice, &sessions)).await;
        let of_two = ask(&client, [&one, &two][at % 2], &server, request(choice, &sessions)).await;
        assert_eq!(of_one, of_two, "request {at}: {:?}", request(choice, &sessions));
        ran += of_one.arrived.len();
    }
    assert!((300..900).contains(&ran), "{ran} of them ran");
}
