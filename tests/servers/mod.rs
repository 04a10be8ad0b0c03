//! Real MCP servers with one catalogue, and the rmcp client, as fixtures for whole flows.
//!
//! Every server module has `service()`, a Tower service that expects to stand below a path: put a
//! layer around it and hand it to [`mount`], then give the router to [`serve`].

pub(crate) mod by_hand;
pub(crate) mod catalogue;
pub(crate) mod client;
pub(crate) mod rmcp_json;
pub(crate) mod rmcp_sessions;
pub(crate) mod tower_mcp;

use std::{convert::Infallible, net::SocketAddr};

use axum::{Router, extract::Request, response::IntoResponse};
use tower::Service;

/// The path that [`mount`] puts a service on, and that the client asks for.
pub(crate) const PATH: &str = "/mcp";

/// Puts a service, bare or layered, on [`PATH`].
///
/// The bounds are axum's: a layered service has to be `Sync` too, and its response body any
/// `http_body::Body<Data = Bytes> + Send` whose error is `Into<BoxError>`.
pub(crate) fn mount<S>(service: S) -> Router
where
    S: Service<Request, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Response: IntoResponse,
    S::Future: Send + 'static,
{
    Router::new().nest_service(PATH, service)
}

/// Serves a router on a free port of the loopback interface until the test's runtime ends.
pub(crate) async fn serve(router: Router) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("the loopback interface has a free port");
    let address = listener.local_addr().expect("a bound listener has an address");
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}
