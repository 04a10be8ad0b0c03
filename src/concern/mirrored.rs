//! Headers in which a client repeats what its message says (MCP 2026-07-28, "Server Validation").

use std::borrow::Cow;

use http::request::Parts;
use http::{HeaderName, HeaderValue, StatusCode};

use crate::message::{Call, Reason, Refusal};
use crate::protocol::{Era, Method, code, decode_mirrored, header};

/// The headers that repeat what a message says, and what it says.
pub(crate) fn mirrors<'c>(call: &'c Call<'_>) -> [(HeaderName, Option<&'c str>); 3] {
    let named = if call.method() == Some(Method::ResourcesRead) { &call.uri } else { &call.name };
    [
        (header::PROTOCOL_VERSION, call.version.as_deref()),
        (header::METHOD, call.method.as_deref()),
        (header::NAME, named.as_deref()),
    ]
}

/// Why the headers that are there do not say what the message says. One that is missing misleads nobody; and a legacy message has
/// no version of its own.
pub(crate) fn contradicted(call: &Call<'_>, parts: &Parts) -> Option<Refusal> {
    let says = |name: &HeaderName| call.era() == Era::Modern || *name != header::PROTOCOL_VERSION;
    let mut there = mirrors(call).into_iter().filter(|(name, _)| says(name) && parts.headers.contains_key(name));
    there.find_map(|(name, body)| mismatch(parts, &name, body))
}

/// Why a header does not say what the message says.
pub(crate) fn mismatch(parts: &Parts, name: &HeaderName, body: Option<&str>) -> Option<Refusal> {
    let mut values = parts.headers.get_all(name).iter();
    let what = match (values.next(), values.next()) {
        (None, _) => "is missing",
        (Some(_), Some(_)) => "stands twice",
        (Some(value), None) => match mirror(name, value) {
            None => "cannot be read",
            Some(value) if Some(&*value) != body => "differs from the body",
            Some(_) => return None,
        },
    };
    let message = format!("header mismatch: {name} {what}");
    let refusal = Refusal::new(StatusCode::BAD_REQUEST, code::HEADER_MISMATCH, message);
    Some(refusal.because(Reason::HeaderMismatch))
}

/// The value of the body that a header stands for, if it can be read.
fn mirror<'v>(name: &HeaderName, value: &'v HeaderValue) -> Option<Cow<'v, str>> {
    if name == header::NAME {
        return decode_mirrored(value.as_bytes()).ok();
    }
    value.to_str().ok().map(Cow::Borrowed)
}
