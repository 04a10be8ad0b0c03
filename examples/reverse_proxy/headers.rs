//! Header fields that are about one connection, and so never pass a proxy (RFC 9110, section 7.6.1).

use http::header::{
    CONNECTION, CONTENT_LENGTH, COOKIE, HOST, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue};

// The example `gateway` has this file, too.
#[cfg(test)]
#[path = "headers/tests.rs"]
mod tests;

// `Trailer` is missing on purpose: it is end to end, and hyper sends only the trailers that it announces.
static HOP_BY_HOP: [HeaderName; 8] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Makes a client's header fields fit for the upstream's connection.
pub(crate) fn to_upstream(headers: &mut HeaderMap) {
    let takes_trailers = members(headers, &TE).any(|it| it.eq_ignore_ascii_case(b"trailers"));
    strip(headers);
    // The HTTP client writes the upstream's own authority where there is none.
    headers.remove(HOST);
    if takes_trailers {
        headers.insert(TE, HeaderValue::from_static("trailers"));
        headers.insert(CONNECTION, HeaderValue::from_static("te"));
    }
    join_cookies(headers);
}

/// Makes the upstream's header fields fit for the client's connection.
pub(crate) fn to_client(headers: &mut HeaderMap) {
    strip(headers);
}

fn strip(headers: &mut HeaderMap) {
    let named: Vec<_> = members(headers, &CONNECTION).filter_map(|name| HeaderName::from_bytes(name).ok()).collect();
    // A length beside a transfer coding is void (RFC 9112, section 6.3), and would be believed once that is gone.
    if headers.contains_key(TRANSFER_ENCODING) {
        headers.remove(CONTENT_LENGTH);
    }
    for name in named.iter().chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
}

/// HTTP/2 may cut cookies into several fields, HTTP/1.1 must not (RFC 9113, section 8.2.3).
fn join_cookies(headers: &mut HeaderMap) {
    let crumbs: Vec<_> = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes).collect();
    if crumbs.len() > 1
        && let Ok(cookie) = HeaderValue::from_bytes(&crumbs.join(&b"; "[..]))
    {
        headers.insert(COOKIE, cookie);
    }
}

fn members<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a [u8]> {
    let values = headers.get_all(name).into_iter();
    values.flat_map(|value| value.as_bytes().split(|byte| *byte == b',')).map(<[u8]>::trim_ascii)
}
