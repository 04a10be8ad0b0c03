//! What a layer costs an exchange, from `Service::call` to the last frame of the answer: `cargo bench --bench exchange`.
//!
//! The service inside is in the same process and does nearly nothing, so what is measured is the layer.

#![allow(missing_docs, clippy::unwrap_used)]

mod support;

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::Request as AxumRequest;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response as AxumResponse};
use bytes::Bytes;
use criterion::{BatchSize, BenchmarkGroup, Criterion, measurement::WallTime};
use http::header::{AUTHORIZATION, CONTENT_LENGTH, HeaderValue};
use http::{Request, Response};
use http_body::Body as HttpBody;
use http_body_util::Full;
use serde_json::Value;
use tower::{Layer, Service, ServiceBuilder};
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::concern::LookUp;
use tower_mcp_apps::negotiate::NegotiateLayer;
use tower_mcp_apps::normalize::NormalizeLayer;
use tower_mcp_apps::visibility::VisibilityLayer;

use support::corpus;
use support::peers::value;
use support::service::{HOST, HOST_SESSION, NO_APPS, NO_SESSION, Server, call, exchange, legacy_call, modern, server};

fn main() {
    let criterion = &mut support::criterion();
    host_call(criterion);
    gate(criterion);
    list(criterion);
    axum_route(criterion);
    criterion.final_summary();
}

/// Measures one exchange after the other. Requests are made, and answers' heads dropped, outside of the measurement.
fn measure<S, B, R>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    mut service: S,
    mut request: impl FnMut() -> Request<B>,
) where
    S: Service<Request<B>, Response = Response<R>>,
    R: HttpBody<Data = Bytes>,
{
    group.bench_function(name, |bencher| {
        bencher.iter_batched(&mut request, |request| exchange(&mut service, request), BatchSize::SmallInput);
    });
}

/// A call of a host that declared Apps: nothing is judged, and its answer passes unread.
fn host_call(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("exchange/host-call");
    let host = call(HOST);
    measure(&mut group, "bare", server(), || host.clone());
    measure(&mut group, "negotiate", NegotiateLayer::new().layer(server()), || host.clone());
    measure(&mut group, "normalize", NormalizeLayer::new().layer(server()), || host.clone());
    measure(&mut group, "visibility", VisibilityLayer::new().layer(server()), || host.clone());
    measure(&mut group, "apps", AppsLayer::new().layer(server()), || host.clone());
    measure(&mut group, "stacked", stacked(), || host.clone());
    let session = legacy_call(HOST_SESSION);
    measure(&mut group, "bare/legacy", server(), || session.clone());
    measure(&mut group, "apps/legacy", AppsLayer::new().layer(server()), || session.clone());
}

fn stacked() -> impl Service<Request<Full<Bytes>>, Response = Response<impl HttpBody<Data = Bytes>>> {
    ServiceBuilder::new()
        .layer(VisibilityLayer::new())
        .layer(NormalizeLayer::new())
        .layer(NegotiateLayer::new())
        .service(server())
}

/// A call of a model: the catalogue decides whether it may run.
fn gate(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("exchange/gate");
    let (host, model) = (call(HOST), call(NO_APPS));
    let mut bearer = model.clone();
    bearer.headers_mut().insert(AUTHORIZATION, token(0));
    let session = legacy_call(NO_SESSION);
    measure(&mut group, "ungated", AppsLayer::new().layer(server()), || host.clone());
    measure(&mut group, "hot", AppsLayer::new().layer(server()), || model.clone());
    measure(&mut group, "hot/bearer-1KiB", AppsLayer::new().layer(server()), || bearer.clone());
    measure(&mut group, "hot/legacy", AppsLayer::new().layer(server()), || session.clone());
    let mut number = 0;
    measure(&mut group, "cold", AppsLayer::new().layer(server()), || {
        number += 1;
        bearer.headers_mut().insert(AUTHORIZATION, token(number));
        bearer.clone()
    });
    let at_its_word = LookUp::new().at_least(Duration::ZERO).at_most(Duration::ZERO);
    measure(&mut group, "never-fresh", AppsLayer::new().look_up(at_its_word).layer(server()), || model.clone());
}

/// A bearer token of 1 KiB.
fn token(number: usize) -> HeaderValue {
    format!("Bearer {number:0>1017}").parse().unwrap()
}

/// A list for a model, out of the mix. Each is one server's, and comes again and again.
fn list(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("exchange/list-mix");
    let mix = corpus::mix();
    let request = modern("tools/list", "", NO_APPS);
    measure_mix(&mut group, "bare", &mix, |server| server, &request);
    measure_mix(&mut group, "apps", &mix, |server| AppsLayer::new().remembered_bytes(0).layer(server), &request);
    measure_mix(&mut group, "apps/remembered", &mix, |server| AppsLayer::new().layer(server), &request);
    measure_mix(
        &mut group,
        "stacked",
        &mix,
        |server| {
            ServiceBuilder::new()
                .layer(VisibilityLayer::new().remembered_bytes(0))
                .layer(NormalizeLayer::new().remembered_bytes(0))
                .layer(NegotiateLayer::new().remembered_bytes(0))
                .service(server)
        },
        &request,
    );
}

fn measure_mix<S, R>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    mix: &[Bytes],
    layer: impl Fn(Server) -> S,
    request: &Request<Full<Bytes>>,
) where
    S: Service<Request<Full<Bytes>>, Response = Response<R>>,
    R: HttpBody<Data = Bytes>,
{
    let mut services: Vec<S> = mix.iter().map(|body| layer(Server::json(body, &corpus::called()))).collect();
    let mut turn = (0..services.len()).cycle();
    group.bench_function(name, |bencher| {
        bencher.iter_batched(
            || request.clone(),
            |request| turn.next().map(|at| exchange(&mut services[at], request)),
            BatchSize::SmallInput,
        );
    });
}

/// On a route of axum: the layer, beside a middleware as a user would write it.
fn axum_route(criterion: &mut Criterion) {
    let mix = corpus::mix();
    for (name, request) in [("list-mix", modern("tools/list", "", NO_APPS)), ("host-call", call(HOST))] {
        let mut group = criterion.benchmark_group(format!("axum/{name}"));
        let mut bare = mix.iter().map(route).collect::<Vec<_>>();
        measure_routes(&mut group, "bare", &mut bare, &request);
        let apps = || AppsLayer::new().remembered_bytes(0);
        let mut apps = mix.iter().map(|list| route(list).layer(apps())).collect::<Vec<_>>();
        measure_routes(&mut group, "apps", &mut apps, &request);
        let mut values = mix.iter().map(|list| route(list).layer(from_fn(by_values))).collect::<Vec<_>>();
        measure_routes(&mut group, "value-middleware", &mut values, &request);
    }
}

fn route(list: &Bytes) -> axum::routing::MethodRouter<(), Infallible> {
    axum::routing::any_service(Boxed(Server::json(list, &corpus::called())))
}

fn measure_routes(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    routes: &mut [axum::routing::MethodRouter<(), Infallible>],
    request: &Request<Full<Bytes>>,
) {
    let mut turn = (0..routes.len()).cycle();
    group.bench_function(name, |bencher| {
        bencher.iter_batched(
            || request.clone().map(Body::new),
            |request| turn.next().map(|at| exchange(&mut routes[at], request)),
            BatchSize::SmallInput,
        );
    });
}

/// The server with answers that axum takes.
#[derive(Clone)]
struct Boxed(Server);

impl<B: HttpBody<Data = Bytes> + Send + 'static> Service<Request<B>> for Boxed {
    type Response = AxumResponse;
    type Error = Infallible;
    type Future = std::pin::Pin<Box<dyn Future<Output = Result<AxumResponse, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Infallible>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let answer = self.0.call(request);
        Box::pin(async { answer.await.map(|response| response.map(Body::new)) })
    }
}

/// Reads the request for its method, and edits the answer where it is a list: as a user would write it.
async fn by_values(request: AxumRequest, next: Next) -> AxumResponse {
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, 4 << 20).await else { return http::StatusCode::PAYLOAD_TOO_LARGE.into_response() };
    let Ok(message) = serde_json::from_slice::<Value>(&body) else {
        return http::StatusCode::BAD_REQUEST.into_response();
    };
    let response = next.run(Request::from_parts(parts, Body::from(body))).await;
    if message["method"] != "tools/list" {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Ok(body) = to_bytes(body, 16 << 20).await else { return http::StatusCode::BAD_GATEWAY.into_response() };
    let body = value::list(&body);
    parts.headers.insert(CONTENT_LENGTH, body.len().into());
    Response::from_parts(parts, Body::from(body))
}
