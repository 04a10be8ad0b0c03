//! A server that answers as a test scripts it, and remembers what it was asked.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderMap, Request, Response};
use http_body::Body as HttpBody;
use serde_json::{Value, json};
use tower::Service;
use tower_mcp_apps::testing::{Body, BrokenOff};

use super::body::{BoxError, drain};

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) parts: Parts,
    pub(crate) frames: Vec<Bytes>,
    pub(crate) trailers: Option<HeaderMap>,
    pub(crate) error: Option<BrokenOff>,
}

impl Received {
    pub(crate) fn bytes(&self) -> Bytes {
        self.frames.concat().into()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes()).unwrap_or(Value::Null)
    }

    /// The JSON-RPC method, or `""`.
    pub(crate) fn method(&self) -> String {
        self.json()["method"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.parts.headers.get(name).map(|value| value.to_str().expect("the header is text"))
    }
}

/// A request as it would arrive without anything between.
pub(crate) async fn record<B>(request: Request<B>) -> Received
where
    B: HttpBody<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    let (parts, body) = request.into_parts();
    let (frames, trailers, error) = drain(body).await;
    Received { parts, frames, trailers, error }
}

type Act = dyn Fn(&Received) -> Response<Body> + Send + Sync;

/// A server, generic over its request body. Its clones share what they remember.
#[derive(Clone)]
pub(crate) struct Server {
    act: Arc<Act>,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Server {
    pub(crate) fn new(act: impl Fn(&Received) -> Response<Body> + Send + Sync + 'static) -> Self {
        Self { act: Arc::new(act), received: Arc::default() }
    }

    /// A server that answers all requests with this JSON text.
    pub(crate) fn saying(body: impl Into<Bytes>) -> Self {
        let body = body.into();
        Self::new(move |_| json_answer(body.clone()))
    }

    /// A server that answers all requests with this event stream.
    pub(crate) fn streaming(body: impl Into<Bytes>) -> Self {
        let body = body.into();
        Self::new(move |_| event_answer(Body::frames([body.clone()])))
    }

    /// A server with these tools, and an `initialize` and `server/discover` that say so.
    pub(crate) fn with_tools(tools: Value) -> Self {
        Self::new(move |received| {
            let message = received.json();
            let result = match message["method"].as_str() {
                Some("tools/list") => json!({ "tools": tools }),
                Some("initialize") => json!({ "protocolVersion": "2025-11-25", "capabilities": { "resources": {} } }),
                Some("server/discover") => {
                    json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "resources": {} } })
                }
                _ => json!({ "content": [] }),
            };
            json_answer(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string())
        })
    }

    /// All that arrived since the last time.
    pub(crate) fn take(&self) -> Vec<Received> {
        std::mem::take(&mut *self.received.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The only request that arrived since the last time.
    pub(crate) fn only(&self) -> Received {
        let mut received = self.take();
        assert_eq!(received.len(), 1, "{received:?}");
        received.remove(0)
    }
}

/// A JSON answer that says its length.
pub(crate) fn json_answer(body: impl Into<Bytes>) -> Response<Body> {
    let body = body.into();
    let response = Response::builder().header(CONTENT_TYPE, "application/json").header("content-length", body.len());
    response.body(Body::new(body)).expect("the answer is well formed")
}

/// An event stream.
pub(crate) fn event_answer(body: Body) -> Response<Body> {
    labelled("text/event-stream", body)
}

/// An answer with this `Content-Type`.
pub(crate) fn labelled(content_type: &str, body: Body) -> Response<Body> {
    Response::builder().header(CONTENT_TYPE, content_type).body(body).expect("the answer is well formed")
}

impl<B> Service<Request<B>> for Server
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let server = self.clone();
        Box::pin(async move {
            let received = record(request).await;
            let answer = (server.act)(&received);
            server.received.lock().unwrap_or_else(PoisonError::into_inner).push(received);
            Ok(answer)
        })
    }
}
