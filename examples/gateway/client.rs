//! The innermost service: sends a request to one upstream and passes its answer on as it arrives.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body_util::BodyExt;
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tower::{BoxError, Service};
use tower_mcp_apps::McpContext;

use crate::headers;
use crate::response::{self, Body};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Common servers close an idle connection after five seconds. A request that is sent into that moment is lost,
/// and a tool call must not be sent twice, so this side leaves first.
const IDLE_TIMEOUT: Duration = Duration::from_secs(3);

/// The connections to all upstreams.
pub(crate) type Connections = Client<HttpConnector, Body>;

/// No connection yet.
pub(crate) fn connections() -> Connections {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    connector.set_connect_timeout(Some(CONNECT_TIMEOUT));
    Client::builder(TokioExecutor::new()).pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE_TIMEOUT).build(connector)
}

/// A tower `Service` over HTTP/1.1 to one upstream. It never fails: for an upstream that cannot be reached it answers
/// with a JSON-RPC error that names it.
#[derive(Clone, Debug)]
pub(crate) struct UpstreamClient {
    connections: Connections,
    name: Arc<str>,
    uri: Uri,
}

impl UpstreamClient {
    pub(crate) fn new(connections: Connections, name: &str, uri: Uri) -> Self {
        Self { connections, name: name.into(), uri }
    }
}

impl<B> Service<Request<B>> for UpstreamClient
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (mut parts, body) = request.into_parts();
        let id = parts.extensions.get::<McpContext>().and_then(McpContext::id).map(Bytes::copy_from_slice);
        parts.uri = self.uri.clone();
        headers::to_upstream(&mut parts.headers);
        let answer = self.connections.request(Request::from_parts(parts, body.map_err(Into::into).boxed_unsync()));
        let name = Arc::clone(&self.name);
        Box::pin(async move {
            Ok(match answer.await {
                Ok(mut response) => {
                    headers::to_client(response.headers_mut());
                    response.map(|body| body.map_err(Into::into).boxed_unsync())
                }
                Err(error) => {
                    eprintln!("{name}: {error}: {:?}", std::error::Error::source(&error));
                    let what = if error.is_connect() { "cannot be reached" } else { "failed before it answered" };
                    let refusal = response::upstream_failed(format!("the upstream {name} {what}"));
                    response::refused(&refusal, id.as_deref())
                }
            })
        })
    }
}
