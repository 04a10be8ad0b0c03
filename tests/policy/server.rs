//! A server that always gives the same answer, and what a client gets of it through a layer.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tower::{Layer, Service, ServiceExt};

#[derive(Clone)]
pub(crate) struct Server {
    content_type: &'static str,
    body: Bytes,
}

impl Server {
    pub(crate) fn json(body: impl Into<Bytes>) -> Self {
        Self { content_type: "application/json", body: body.into() }
    }

    pub(crate) fn events(body: impl Into<Bytes>) -> Self {
        Self { content_type: "text/event-stream", body: body.into() }
    }
}

impl<B> Service<Request<B>> for Server {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<B>) -> Self::Future {
        let mut response = Response::new(Full::new(self.body.clone()));
        response.headers_mut().insert(CONTENT_TYPE, self.content_type.parse().expect("a header value"));
        ready(Ok(response))
    }
}

/// What a client got.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Got {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }
}

/// The request for a method, in the legacy era; a URI where one is read.
pub(crate) fn request(method: &str, uri: Option<&str>) -> Value {
    let params = uri.map_or(json!({}), |uri| json!({ "uri": uri }));
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

/// Sends a body through a layer around the server.
pub(crate) fn post<L, R>(layer: &L, server: Server, body: &Value) -> Got
where
    L: Layer<Server>,
    L::Service: Service<Request<Full<Bytes>>, Response = Response<R>, Error = Infallible>,
    R: Body<Data = Bytes, Error = Infallible>,
{
    let request = Request::post("/mcp").header(CONTENT_TYPE, "application/json");
    send(layer, server, request.body(Full::from(body.to_string())).expect("a request"))
}

pub(crate) fn send<L, R>(layer: &L, server: Server, request: Request<Full<Bytes>>) -> Got
where
    L: Layer<Server>,
    L::Service: Service<Request<Full<Bytes>>, Response = Response<R>, Error = Infallible>,
    R: Body<Data = Bytes, Error = Infallible>,
{
    crate::log::install();
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let response = layer.layer(server).oneshot(request).await.unwrap_or_else(|never| match never {});
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap_or_else(|never| match never {}).to_bytes();
        let text = String::from_utf8(bytes.to_vec()).expect("an answer is UTF-8");
        Got { status: parts.status, headers: parts.headers, text }
    })
}

/// Several layers as one, the first of them the innermost.
pub(crate) struct Stack<I, O>(pub(crate) I, pub(crate) O);

impl<S, I: Layer<S>, O: Layer<I::Service>> Layer<S> for Stack<I, O> {
    type Service = O::Service;

    fn layer(&self, inner: S) -> Self::Service {
        self.1.layer(self.0.layer(inner))
    }
}
