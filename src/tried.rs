//! One exchange through a layer, for the tests beside the modules.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response};
use http_body_util::{BodyExt, Full};
use tower::ServiceExt;
use tower_layer::Layer;
use tower_service::Service;

use crate::concern::{Concern, ConcernService};

/// A server that gives every request the same JSON.
#[derive(Clone)]
pub(crate) struct Server(Bytes);

impl<B> Service<Request<B>> for Server {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<B>) -> Self::Future {
        let mut response = Response::new(Full::new(self.0.clone()));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        ready(Ok(response))
    }
}

/// What a client that sends `request` gets through the layer where the server says `answer`.
pub(crate) async fn through<C: Concern>(
    layer: &impl Layer<Server, Service = ConcernService<Server, C>>,
    request: &str,
    answer: &str,
) -> String {
    let server = Server(Bytes::copy_from_slice(answer.as_bytes()));
    let request = Request::post("/mcp")
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::copy_from_slice(request.as_bytes())))
        .unwrap();
    let response = layer.layer(server).oneshot(request).await.unwrap();
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
}
