//! Readiness is respected: a service is called only after it said that it is ready, and none is kept waiting for nothing.

mod kit;

use std::future::{Ready, poll_fn};
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response};
use http_body::Body as HttpBody;
use kit::server::Server;
use kit::{LIST, post, read, send};
use serde_json::json;
use tower::limit::ConcurrencyLimitLayer;
use tower::{Layer, Service, ServiceBuilder, ServiceExt};
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::concern::LookUp;
use tower_mcp_apps::testing::Body;

const CALL: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"open"}}"#;
const HIDDEN: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"poll"}}"#;

fn server() -> Server {
    Server::with_tools(json!([{ "name": "open" }, { "name": "poll", "_meta": { "ui": { "visibility": ["app"] } } }]))
}

/// Asks again for each call.
fn forgetful() -> AppsLayer {
    AppsLayer::new().look_up(LookUp::new().at_least(Duration::ZERO).where_unsaid(Duration::ZERO))
}

/// A service that must be polled ready before each call, as Tower's contract says. A clone is not ready.
struct Strict<S> {
    inner: S,
    is_ready: bool,
}

impl<S: Clone> Clone for Strict<S> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), is_ready: false }
    }
}

impl<S: Service<R>, R> Service<R> for Strict<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        let ready = self.inner.poll_ready(cx);
        self.is_ready |= ready.is_ready();
        ready
    }

    fn call(&mut self, request: R) -> S::Future {
        assert!(std::mem::take(&mut self.is_ready), "called before it was ready");
        self.inner.call(request)
    }
}

#[tokio::test]
async fn every_call_comes_after_its_readiness() {
    for layer in [AppsLayer::new(), forgetful()] {
        let mut service = layer.layer(Strict { inner: server(), is_ready: false });
        for _ in 0..3 {
            for body in [LIST, CALL, HIDDEN, "{", "[]"] {
                poll_fn(|cx| Service::<Request<Body>>::poll_ready(&mut service, cx)).await.expect("no failure");
                let answer = read(service.call(post(body)).await.expect("no failure")).await;
                assert_eq!(answer.status.is_success(), body.len() > 2, "{body}");
            }
        }
    }
}

#[tokio::test]
async fn a_single_permit_is_enough_for_a_call_and_its_look_up() {
    for layer in [AppsLayer::new(), forgetful()] {
        let stack = ServiceBuilder::new().layer(layer).layer(ConcurrencyLimitLayer::new(1)).service(server());
        let calls = (0..20).map(|at| {
            let body = if at % 3 == 0 { LIST } else { CALL };
            tokio::spawn(send(stack.clone(), post(body)))
        });
        let calls: Vec<_> = calls.collect();
        for call in calls {
            let answer = tokio::time::timeout(Duration::from_secs(10), call).await.expect("nobody waits for ever");
            assert_eq!(answer.expect("no panic").json().get("error"), None);
        }
    }
}

#[tokio::test]
async fn a_refusal_gives_its_permit_back() {
    let stack = ServiceBuilder::new().layer(AppsLayer::new()).layer(ConcurrencyLimitLayer::new(1)).service(server());
    for body in ["{", HIDDEN, HIDDEN, CALL] {
        let answer = tokio::time::timeout(Duration::from_secs(5), send(stack.clone(), post(body)));
        answer.await.expect("the permit is free");
    }
    // Nor does a client keep one that leaves while its request is read.
    let (_feed, body) = Body::channel();
    let reading = tokio::time::timeout(Duration::from_millis(20), send(stack.clone(), post("").map(|_| body)));
    assert!(reading.await.is_err());
    tokio::time::timeout(Duration::from_secs(5), send(stack, post(LIST))).await.expect("the permit is free");
}

/// Fails to become ready, or to answer.
#[derive(Clone, Copy)]
enum Failing {
    Ready,
    Answer,
}

impl<B: HttpBody> Service<Request<B>> for Failing {
    type Response = Response<Body>;
    type Error = &'static str;
    type Future = Ready<Result<Response<Body>, &'static str>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), &'static str>> {
        Poll::Ready(match self {
            Self::Ready => Err("not ready"),
            Self::Answer => Ok(()),
        })
    }

    fn call(&mut self, _: Request<B>) -> Self::Future {
        std::future::ready(Err("no answer"))
    }
}

#[tokio::test]
async fn errors_of_the_inner_service_pass_as_they_are() {
    for body in [LIST, CALL] {
        let error = AppsLayer::new().layer(Failing::Ready).oneshot(post(body)).await.map(drop);
        assert_eq!(error, Err("not ready"));
        let error = AppsLayer::new().layer(Failing::Answer).oneshot(post(body)).await.map(drop);
        assert_eq!(error, Err("no answer"));
    }
}

#[tokio::test]
async fn a_call_that_was_given_up_does_not_stop_the_others() {
    // The first asks for the catalogue and leaves; who waited for it asks again.
    let slow = tower::service_fn(move |request: Request<_>| {
        let mut server = server();
        async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            Service::<Request<tower_mcp_apps::concern::RequestBody<Body>>>::call(&mut server, request).await
        }
    });
    let stack = ServiceBuilder::new().layer(AppsLayer::new()).service(slow);
    let first = tokio::spawn(send(stack.clone(), post(CALL)));
    tokio::time::sleep(Duration::from_millis(10)).await;
    let others: Vec<_> = (0..5).map(|_| tokio::spawn(send(stack.clone(), post(CALL)))).collect();
    tokio::time::sleep(Duration::from_millis(10)).await;
    first.abort();
    for other in others {
        let answer = tokio::time::timeout(Duration::from_secs(5), other).await.expect("nobody waits for ever");
        assert_eq!(answer.expect("no panic").json().get("error"), None);
    }
}
