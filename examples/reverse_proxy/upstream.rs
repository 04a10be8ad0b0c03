//! The innermost service: sends a request to the upstream and passes its answer on as it arrives.

use std::convert::Infallible;
use std::error::Error;
use std::future::{self, Future};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Extensions, HeaderValue, Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Either, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::{self, Client, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tower::{BoxError, Service};
use tower_mcp_apps::McpContext;

use crate::endpoint::Endpoint;
use crate::headers;

#[cfg(test)]
mod tests;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Common servers close an idle connection after five seconds. A request that is sent into that moment is lost,
/// and a tool call must not be sent twice, so this side leaves first.
const IDLE_TIMEOUT: Duration = Duration::from_secs(3);

/// The body of an answer: the upstream's, or an error of our own.
pub(crate) type UpstreamBody = Either<Incoming, Full<Bytes>>;

/// A tower `Service` over HTTP/1.1 to one upstream.
///
/// It never fails: an upstream that cannot be reached is answered for, with a JSON-RPC error and 502, or 504
/// where it let the time to connect run out. An upstream that dies within its answer breaks the answer's body.
#[derive(Clone, Debug)]
pub(crate) struct Upstream {
    // Shared, since each request has a clone of the service.
    origin: Arc<Origin>,
}

#[derive(Debug)]
struct Origin {
    // The client knows one type of body; whatever the layers make of the request fits into this.
    client: Client<HttpConnector, UnsyncBoxBody<Bytes, BoxError>>,
    endpoint: Endpoint,
}

impl Upstream {
    /// A service that talks to the origin of `endpoint`.
    pub(crate) fn new(endpoint: Endpoint) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .build(connector);
        Self { origin: Arc::new(Origin { client, endpoint }) }
    }
}

impl<B> Service<Request<B>> for Upstream
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<UpstreamBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (parts, body) = request.into_parts();
        let extensions = parts.extensions;
        let refuse = move |status, message| error_response(status, request_id(&extensions), message).map(Either::Right);
        let uri = match self.origin.endpoint.locate(&parts.uri) {
            Ok(uri) if parts.method != Method::CONNECT => uri,
            _ => {
                let answer = refuse(StatusCode::NOT_IMPLEMENTED, "this proxy opens no tunnels");
                return Box::pin(future::ready(Ok(answer)));
            }
        };

        let mut request = Request::new(body.map_err(Into::into).boxed_unsync());
        *request.method_mut() = parts.method;
        *request.uri_mut() = uri;
        *request.headers_mut() = parts.headers;
        headers::to_upstream(request.headers_mut());

        let answer = self.origin.client.request(request);
        Box::pin(async move {
            Ok(match answer.await {
                // No upgrade was asked for, so what follows such a head is no HTTP.
                Ok(response) if response.status().is_informational() => {
                    refuse(StatusCode::BAD_GATEWAY, "the upstream left the protocol")
                }
                Ok(mut response) => {
                    // The upstream's version is about its connection only.
                    *response.version_mut() = http::Version::HTTP_11;
                    headers::to_client(response.headers_mut());
                    response.map(Either::Left)
                }
                Err(error) => {
                    let (status, message) = verdict(&error);
                    eprintln!("{message}: {}", chain(&error));
                    refuse(status, message)
                }
            })
        })
    }
}

/// The raw JSON of the request's id, where a layer around this service has read it.
fn request_id(extensions: &Extensions) -> Option<&str> {
    let id = extensions.get::<McpContext>()?.id()?;
    std::str::from_utf8(id).ok()
}

/// An answer that carries a JSON-RPC error; an `id` (raw JSON) that is not known is left out.
pub(crate) fn error_response(status: StatusCode, id: Option<&str>, message: &str) -> Response<Full<Bytes>> {
    let id = id.map(|id| format!(r#""id":{id},"#)).unwrap_or_default();
    let message = serde_json::Value::from(message);
    let body = format!(r#"{{"jsonrpc":"2.0",{id}"error":{{"code":-32603,"message":{message}}}}}"#);
    let mut response = Response::new(Full::from(body));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

/// What the client is told; the particulars are the log's, since they name inner addresses.
fn verdict(error: &legacy::Error) -> (StatusCode, &'static str) {
    let timed_out = causes(error)
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::TimedOut);
    match (error.is_connect(), timed_out) {
        (true, true) => (StatusCode::GATEWAY_TIMEOUT, "the upstream could not be reached in time"),
        (true, false) => (StatusCode::BAD_GATEWAY, "the upstream cannot be reached"),
        (false, _) => (StatusCode::BAD_GATEWAY, "the upstream failed before it answered"),
    }
}

fn chain(error: &legacy::Error) -> String {
    let texts: Vec<_> = causes(error).map(ToString::to_string).collect();
    texts.join(": ")
}

fn causes(error: &legacy::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let outermost: &(dyn Error + 'static) = error;
    std::iter::successors(Some(outermost), |error: &&(dyn Error + 'static)| Error::source(*error))
}
