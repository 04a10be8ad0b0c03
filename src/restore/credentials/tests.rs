//! What counts as the same caller.

use http::request::Parts;
use http::{HeaderName, HeaderValue, Request};

use super::Credentials;

fn request(headers: &[(&str, &str)]) -> Parts {
    let (mut parts, ()) = Request::new(()).into_parts();
    for (name, value) in headers {
        let name = HeaderName::try_from(*name).unwrap();
        parts.headers.append(name, HeaderValue::from_str(value).unwrap());
    }
    parts
}

fn whose(upstream: &str, headers: &[(&str, &str)]) -> Option<[u8; 32]> {
    Credentials::of_request().whose(upstream, &request(headers))
}

#[test]
fn the_order_of_headers_does_not_count_but_that_of_their_values() {
    let (one, other) = (("authorization", "a"), ("x-api-key", "b"));
    assert_eq!(whose("u", &[one, other]), whose("u", &[other, one]));
    assert_ne!(whose("u", &[("cookie", "a"), ("cookie", "b")]), whose("u", &[("cookie", "b"), ("cookie", "a")]));
}

#[test]
fn no_two_callers_run_together() {
    let all = [
        whose("u", &[]),
        whose("ua", &[]),
        whose("u", &[("cookie", "ab")]),
        whose("u", &[("cookie", "a"), ("cookie", "b")]),
        whose("u", &[("cookie", "a"), ("x-api-key", "b")]),
        whose("u", &[("cookie", "a")]),
        Credentials::shared().whose("u", &request(&[])),
        Credentials::named(|_| Some(Vec::new())).whose("u", &request(&[])),
        Credentials::named(|_| Some(b"headers".to_vec())).whose("u", &request(&[])),
    ];
    for (at, one) in all.iter().enumerate() {
        assert!(one.is_some() && !all[at + 1..].contains(one), "{at}");
    }
}

#[test]
fn every_header_that_sounds_like_a_credential_is_one() {
    for name in [
        "authorization",
        "proxy-authorization",
        "cookie",
        "x-api-key",
        "api-key",
        "x-tenant-id",
        "x-forwarded-user",
        "cf-access-jwt-assertion",
        "x-client-cert",
        "x-amzn-oidc-identity",
        "x-goog-authenticated-user-email",
        "x-account",
        "x-principal",
        "x-shared-secret",
        "x-credential",
        "x-my-token",
        "x-scope-orgid",
        "x-grafana-org-id",
        "x-organization",
        "x-forwarded-email",
        "x-forwarded-groups",
        "x-ssl-client-s-dn",
        "ssl_client_dn",
        "x-role",
        "x-hasura-role",
        "x-roles",
        "x-login",
        "x-oauth-scopes",
    ] {
        assert_ne!(whose("u", &[(name, "a")]), whose("u", &[]), "{name}");
    }
    for name in [
        "mcp-session-id",
        "user-agent",
        "sec-fetch-user",
        "host",
        "accept",
        "content-type",
        "traceparent",
        "idempotency-key",
        "mcp-name",
        "mcp-protocol-version",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-proto",
        "x-real-ip",
        "forwarded",
        "via",
        "origin",
        "x-original-uri",
        "x-original-host",
        "referer",
        "cache-control",
        "access-control-request-method",
        "accept-language",
        "cdn-loop",
        "x-cdn",
        "priority",
        "dpop",
    ] {
        assert_eq!(whose("u", &[(name, "a")]), whose("u", &[]), "{name}");
    }
    assert_eq!(whose("u", &[("signature", "a")]), None);
    assert_eq!(whose("u", &[("signature-input", "a")]), None);
}
