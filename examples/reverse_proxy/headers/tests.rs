//! What passes the proxy, and what does not.

use http::{HeaderMap, HeaderName, HeaderValue};

use super::{to_client, to_upstream};

fn map(fields: &[(&'static str, &'static str)]) -> HeaderMap {
    let field = |&(name, value): &(&'static str, &'static str)| {
        (HeaderName::from_static(name), HeaderValue::from_static(value))
    };
    fields.iter().map(field).collect()
}

#[test]
fn drops_what_belongs_to_the_connection() {
    let mut headers = map(&[
        ("connection", "close, X-Mine"),
        ("connection", "x-other,, no name"),
        ("x-mine", "1"),
        ("x-other", "1"),
        ("keep-alive", "timeout=5"),
        ("proxy-connection", "close"),
        ("proxy-authenticate", "Basic"),
        ("upgrade", "h2c"),
        ("te", "gzip"),
        ("content-type", "text/plain"),
        ("trailer", "x-sum"),
        ("content-length", "3"),
    ]);
    to_client(&mut headers);
    let left = map(&[("content-type", "text/plain"), ("trailer", "x-sum"), ("content-length", "3")]);
    assert_eq!(headers, left);
}

#[test]
fn a_length_beside_a_transfer_coding_goes() {
    let mut headers = map(&[("content-length", "3"), ("transfer-encoding", "chunked")]);
    to_client(&mut headers);
    assert!(headers.is_empty());
}

#[test]
fn trailers_stay_welcome_and_the_host_is_the_upstreams() {
    let mut headers = map(&[("te", "gzip;q=0.5, Trailers"), ("host", "proxy"), ("authorization", "Bearer t")]);
    to_upstream(&mut headers);
    let left = map(&[("te", "trailers"), ("connection", "te"), ("authorization", "Bearer t")]);
    assert_eq!(headers, left);
}

#[test]
fn cookies_become_one_field() {
    let mut headers = map(&[("cookie", "a=1"), ("cookie", "b=2; c=3")]);
    to_upstream(&mut headers);
    assert_eq!(headers, map(&[("cookie", "a=1; b=2; c=3")]));
}
