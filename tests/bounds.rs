//! What the layers ask of the services around them, held against bodies and services that offer no more than that.

use std::fmt;
use std::marker::{PhantomData, PhantomPinned};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use pin_project_lite::pin_project;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use tower::{Layer, Service, ServiceExt};
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::apps::Fused;
use tower_mcp_apps::concern::{ConcernService, RequestBody, ResponseBody};
use tower_mcp_apps::negotiate::NegotiateLayer;
use tower_mcp_apps::normalize::NormalizeLayer;
use tower_mcp_apps::visibility::VisibilityLayer;

const LIST: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#;
const ANSWER: &str =
    r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"open"},{"name":"none","_meta":{"ui":{"visibility":[]}}}]}}"#;

/// An error that is no more than a value.
#[derive(Debug, PartialEq)]
struct Plain;

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("plain")
    }
}

pin_project! {
    /// A body that is neither `Unpin` nor `Sync` nor `Send`, and whose error is not even an `Error`.
    struct Stubborn {
        frames: Vec<Bytes>,
        not_send: PhantomData<Rc<()>>,
        #[pin]
        not_unpin: PhantomPinned,
    }
}

fn stubborn(body: &'static str) -> Stubborn {
    let frames = vec![Bytes::from(&body[10..]), Bytes::from(&body[..10])];
    Stubborn { frames, not_send: PhantomData, not_unpin: PhantomPinned }
}

impl Body for Stubborn {
    type Data = Bytes;
    type Error = Plain;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Plain>>> {
        Poll::Ready(self.project().frames.pop().map(|frame| Ok(Frame::data(frame))))
    }
}

/// A service that is neither `Send` nor `Sync`, and whose future is neither `Unpin` nor `Send`.
#[derive(Clone)]
struct Local(PhantomData<Rc<()>>);

impl<B: Body<Data = Bytes> + 'static> Service<Request<B>> for Local {
    type Response = Response<Stubborn>;
    type Error = Plain;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Stubborn>, Plain>>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Plain>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let this = self.clone();
        Box::pin(async move {
            let body = request.into_body().collect().await.map_err(|_| Plain)?;
            assert_eq!(body.to_bytes(), LIST);
            let _held = this;
            Ok(Response::builder()
                .header("content-type", "application/json")
                .body(stubborn(ANSWER))
                .expect("well formed"))
        })
    }
}

#[tokio::test]
async fn a_thread_of_its_own_is_enough() {
    let request = Request::post("/mcp").header("content-type", "application/json");
    let request = request.body(stubborn(LIST)).expect("well formed");
    let answer = AppsLayer::new().layer(Local(PhantomData)).oneshot(request).await.expect("no failure");
    let mut body = Box::pin(answer.into_body());
    let frame = body.frame().await.expect("a frame").expect("no failure").into_data().expect("data");
    assert_eq!(frame, r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"open"}]}}"#);
    assert!(body.is_end_stream());
}

fn is_send<T: Send>() {}
fn is_sync<T: Sync>() {}
fn is_clone<T: Clone>() {}
fn is_debug<T: fmt::Debug>() {}

/// A body that can be sent and no more, as axum's.
type Outer = axum::body::Body;

/// What is asked of a service, and of what it makes, to be a route of axum.
fn is_a_route<S>(_: S)
where
    S: Service<Request<Outer>, Error = std::convert::Infallible> + Clone + Send + Sync + 'static,
    S::Response: axum::response::IntoResponse,
    S::Future: Send + 'static,
{
}

#[test]
fn what_is_inside_can_be_sent_and_so_can_the_whole() {
    is_send::<ConcernService<Router, Fused>>();
    is_sync::<ConcernService<Router, Fused>>();
    is_clone::<ConcernService<Router, Fused>>();
    is_debug::<ConcernService<Router, Fused>>();
    is_send::<<ConcernService<Router, Fused> as Service<Request<Outer>>>::Future>();
    is_send::<ResponseBody<Outer, Fused>>();
    is_send::<RequestBody<Outer>>();
    // Once and twice around a router, and around rmcp's service.
    let apps = AppsLayer::new();
    is_a_route(apps.layer(Router::new()));
    is_a_route(apps.layer(apps.layer(Router::new())));
    is_a_route(apps.layer(rmcp_service()));
}

struct Nothing;

impl rmcp::ServerHandler for Nothing {}

fn rmcp_service() -> StreamableHttpService<Nothing, NeverSessionManager> {
    StreamableHttpService::new(|| Ok(Nothing), Arc::default(), Default::default())
}

#[test]
fn layers_can_be_shared() {
    is_send::<AppsLayer>();
    is_sync::<AppsLayer>();
    is_clone::<AppsLayer>();
    is_debug::<AppsLayer>();
    is_clone::<NormalizeLayer>();
    is_clone::<NegotiateLayer>();
    is_clone::<VisibilityLayer>();
}

#[test]
fn the_inner_service_can_be_had_back() {
    let mut service = AppsLayer::new().layer(7);
    *service.get_mut() += 1;
    assert_eq!((*service.get_ref(), service.into_inner()), (8, 8));
}
