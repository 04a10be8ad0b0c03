//! What the head of an answer says of its body, made to fit a body that is edited.

use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG};
use http::response::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

/// The `Content-Type` of a message.
pub(super) const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The `Content-Type` of an event stream.
pub(super) const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

/// Validators and digests of a body, which do not hold for an edited one.
const VALIDATORS: [HeaderName; 5] = [
    ETAG,
    HeaderName::from_static("content-md5"),
    HeaderName::from_static("digest"),
    HeaderName::from_static("content-digest"),
    HeaderName::from_static("repr-digest"),
];

/// Takes off what does not hold for a body that may be edited while it streams.
pub(super) fn unsettle(headers: &mut HeaderMap) {
    headers.remove(CONTENT_LENGTH);
    VALIDATORS.iter().for_each(|name| drop(headers.remove(name)));
}

/// Makes the head fit a body that was edited, and is now this long.
pub(super) fn settle(headers: &mut HeaderMap, length: usize) {
    let had_length = headers.contains_key(CONTENT_LENGTH);
    unsettle(headers);
    if had_length {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
}

/// Makes the head fit a JSON-RPC error in the place of an answer. A failure keeps its own status.
pub(super) fn replace(parts: &mut Parts, length: usize) {
    if parts.status.is_success() {
        parts.status = StatusCode::BAD_GATEWAY;
    }
    parts.headers.remove(CONTENT_ENCODING);
    settle(&mut parts.headers, length);
    parts.headers.insert(CONTENT_TYPE, JSON);
}
