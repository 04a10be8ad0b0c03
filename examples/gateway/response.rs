//! The gateway's own answers: results, refusals, and heads without a body.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use tower::BoxError;
use tower_mcp_apps::message::{Refusal, Unreadable};
use tower_mcp_apps::protocol::{Era, code};

/// The body of any answer: an upstream's, a merged one, or one of the gateway's own.
pub(crate) type Body = UnsyncBoxBody<Bytes, BoxError>;

/// A JSON answer.
pub(crate) fn json(status: StatusCode, body: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(whole(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A successful answer with this id and this JSON text as its result.
pub(crate) fn result(id: &[u8], result: &[u8]) -> Response<Body> {
    let parts: [&[u8]; 5] = [br#"{"jsonrpc":"2.0","id":"#, id, br#","result":"#, result, b"}"];
    json(StatusCode::OK, parts.concat())
}

/// An answer without a body.
pub(crate) fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(whole(Bytes::new()));
    *response.status_mut() = status;
    response
}

/// An answer that refuses a request, with its id where it is known.
pub(crate) fn refused(refusal: &Refusal, id: Option<&[u8]>) -> Response<Body> {
    json(refusal.status(), refusal.to_json(id))
}

/// The request makes no sense: 400.
pub(crate) fn invalid_request(message: impl Into<String>) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, code::INVALID_REQUEST, message.into())
}

/// The body of a request holds no message: 400.
pub(crate) fn unreadable(why: Unreadable) -> Refusal {
    let code = if why.is_grammatical() { code::INVALID_REQUEST } else { code::PARSE_ERROR };
    Refusal::new(StatusCode::BAD_REQUEST, code, why.to_string())
}

/// The parameters of a request name something that is not there.
pub(crate) fn invalid_params(message: impl Into<String>) -> Refusal {
    Refusal::new(StatusCode::OK, code::INVALID_PARAMS, message.into())
}

/// The gateway does not know the method (MCP 2026-07-28, "Protocol Version Header": 404).
pub(crate) fn unknown_method(era: Era, method: &str) -> Refusal {
    let status = if era == Era::Modern { StatusCode::NOT_FOUND } else { StatusCode::OK };
    Refusal::new(status, code::METHOD_NOT_FOUND, format!("the gateway does not know the method {method}"))
}

/// An upstream could not answer, which `message` tells.
pub(crate) fn upstream_failed(message: impl Into<String>) -> Refusal {
    Refusal::new(StatusCode::BAD_GATEWAY, code::INTERNAL_ERROR, message.into())
}

/// The client's session is over, as far as it ever was one: it must initialize again (MCP 2025-11-25, "Session Management").
pub(crate) fn session_gone() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, code::INVALID_REQUEST, "there is no such session: initialize again")
}

/// A body that is there already.
pub(crate) fn whole(body: Bytes) -> Body {
    Full::from(body).map_err(|never| match never {}).boxed_unsync()
}
