//! One exchange through a layer, for tests that do not wait.

use std::fmt::Debug;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body as HttpBody;
use serde_json::{Value, json};
use tower::{Layer, Service};
use tower_mcp_apps::testing::Body;

use crate::kit::body::BoxError;
use crate::kit::server::Server;
use crate::kit::{self, Answer};

/// The request for a method, in the legacy era; a URI where one is read.
pub(crate) fn request(method: &str, uri: Option<&str>) -> Value {
    let params = uri.map_or(json!({}), |uri| json!({ "uri": uri }));
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

/// Sends a body through a layer around the server.
pub(crate) fn post<L, R>(layer: &L, server: Server, body: &Value) -> Answer
where
    L: Layer<Server>,
    L::Service: Service<Request<Body>, Response = Response<R>, Error: Debug>,
    R: HttpBody<Data = Bytes, Error: Into<BoxError>>,
{
    send(layer, server, kit::post(body.to_string()))
}

/// Sends a request through a layer around the server.
pub(crate) fn send<L, R>(layer: &L, server: Server, request: Request<Body>) -> Answer
where
    L: Layer<Server>,
    L::Service: Service<Request<Body>, Response = Response<R>, Error: Debug>,
    R: HttpBody<Data = Bytes, Error: Into<BoxError>>,
{
    crate::log::install();
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(kit::send(layer.layer(server), request))
}
