//! What rules make of single entries, and of metadata that is odd; `tests/policy` has whole exchanges and properties.

use super::{InvalidRule, List, Policy, judge};
use crate::json::{Object, Reader};
use crate::protocol::Origin;

/// Whether an entry of `connectDomains` stays, by these rules.
fn stays(allow: &[&str], deny: &[&str], entry: &str) -> bool {
    let policy = allow.iter().fold(Policy::new(), |policy, rule| policy.allow(List::Connect, rule).expect(rule));
    let policy = deny.iter().fold(policy, |policy, rule| policy.deny(List::Connect, rule).expect(rule));
    allowed(&policy, List::Connect, entry)
}

fn allowed(policy: &Policy, list: List, text: &str) -> bool {
    let text = serde_json::json!({ "entry": text }).to_string();
    let mut object = Object::default();
    object.read(&mut Reader::new(text.as_bytes())).expect("an object");
    judge::is_allowed(policy.rules(list), list, object.get("entry").expect("the entry"))
}

#[test]
fn an_origin_is_allowed_by_its_scheme_host_and_port() {
    for entry in [
        "https://api.example",
        "HTTPS://API.Example",
        "https://api.example:443",
        "https://api.example/",
        "https://api.example/v1/data.json",
    ] {
        assert!(stays(&["https://api.example"], &[], entry), "{entry}");
    }
    for entry in [
        "http://api.example",
        "wss://api.example",
        "https://api.example:8443",
        "https://a.api.example",
        "https://example",
        "https://xapi.example",
        "https://api.example.evil.example",
        "https://*.api.example",
        "https://*.example",
    ] {
        assert!(!stays(&["https://api.example"], &[], entry), "{entry}");
    }
    assert!(stays(&["http://localhost:5077"], &[], "http://localhost:5077"));
    assert!(!stays(&["http://localhost:5077"], &[], "http://localhost:5078"));
    assert!(stays(&["wss://live.example"], &[], "wss://live.example"));
    // Written out, port 80 also stands for `https` on that port.
    assert!(stays(&["http://a.example:80"], &[], "http://a.example"));
    assert!(stays(&["http://a.example:80"], &[], "http://a.example:80"));
    assert!(!stays(&["http://a.example"], &[], "http://a.example:80"));
    assert!(!stays(&["wss://live.example"], &[], "https://live.example"));
}

#[test]
fn a_wildcard_needs_a_rule_for_all_that_it_matches() {
    let rules = &["https://*.cdn.example", "https://cdn.example"];
    for entry in
        ["https://*.cdn.example", "https://*.eu.cdn.example", "https://a.cdn.example", "https://a.b.cdn.example"]
    {
        assert!(stays(rules, &[], entry), "{entry}");
    }
    for entry in [
        "https://*.example",
        "http://*.cdn.example",
        "https://*.cdn.example:444",
        "https://xcdn.example",
        "https://.cdn.example",
    ] {
        assert!(!stays(rules, &[], entry), "{entry}");
    }
    assert!(!stays(&["https://*.cdn.example"], &[], "https://cdn.example"));
    assert!(stays(&["https://*.example"], &[], "https://*.example"));
    assert!(stays(&["https://*.example"], &[], "https://a.example"));
}

#[test]
fn a_scheme_is_allowed_by_its_own_name() {
    for scheme in ["data:", "blob:", "https:", "wss:"] {
        assert!(stays(&[scheme], &[], scheme));
        assert!(stays(&[scheme], &[], &scheme.to_uppercase()));
        assert!(!stays(&["https://api.example"], &[], scheme), "{scheme}");
        assert!(!stays(&["http:"], &[], scheme), "{scheme}");
    }
    assert!(stays(&["https:"], &[], "https://anything.example:8443"));
    assert!(!stays(&["https:"], &[], "http://anything.example"));
}

/// Even where only something else is denied.
#[test]
fn what_is_not_plain_never_stays() {
    for entry in [
        "",
        " ",
        "*",
        "https://*",
        "https://*:443",
        "https://*.*.example",
        "https://*.127.0.0.1",
        "https://x://*.example",
        "https://*.",
        "https://a.*.example",
        "https://api.example:*",
        "'self'",
        "'none'",
        "'unsafe-eval'",
        "'nonce-abc'",
        "javascript:",
        "api.example",
        "//api.example",
        "https:api.example",
        "https:\\\\api.example",
        "https://api.example.",
        "https://u@api.example",
        "https://api.example?x",
        "https://api.example#x",
        "https://api.example/?x",
        "https://api.example/a b",
        "https://api.example/;script-src *",
        "https://api.example/,x",
        "https://api.example/'x'",
        "https://api.example;script-src-elem\thttps://evil.example",
        "https://api.example https://evil.example",
        "https://api.example\n",
        "https://[::1]:3000",
        "https://0x7f.1",
        "https://api.exämple",
        "data:text/html,x",
        "ftp://api.example",
    ] {
        assert!(!stays(&["https://api.example", "data:", "https:"], &[], entry), "{entry:?}");
        assert!(!stays(&[], &["https://other.example"], entry), "{entry:?}");
    }
}

#[test]
fn a_denied_host_is_denied_however_it_is_reached() {
    let deny = &["https://evil.example"];
    for entry in [
        "https://evil.example",
        "http://evil.example",
        "wss://evil.example",
        "https://evil.example:8443",
        "https://evil.example/path",
        "https:",
        "ws:",
    ] {
        assert!(!stays(&[], deny, entry), "{entry}");
        assert!(!stays(&["https:", "http:", "wss:", "ws:"], deny, entry), "{entry}");
    }
    for entry in ["https://good.example", "https://a.evil.example", "https://*.evil.example", "data:"] {
        assert!(stays(&[], deny, entry), "{entry}");
    }
    let deny = &["https://ads.cdn.example", "https://*.evil.example"];
    for entry in
        ["https://*.cdn.example", "https://*.a.evil.example", "https://a.b.evil.example", "http://*.evil.example"]
    {
        assert!(!stays(&[], deny, entry), "{entry}");
    }
    assert!(stays(&["https://*.cdn.example"], deny, "https://img.cdn.example"));
}

/// A source in a header matches more schemes than it names (CSP 3, "scheme-part matches").
#[test]
fn a_denied_scheme_is_denied_wherever_it_is_reached() {
    for entry in ["http:", "http://a.example", "ws://a.example", "ws:"] {
        assert!(!stays(&[], &["http:"], entry), "{entry}");
    }
    for entry in ["https:", "https://a.example", "wss://a.example", "data:"] {
        assert!(stays(&[], &["http:"], entry), "{entry}");
    }
    assert!(!stays(&[], &["data:"], "data:"));
}

#[test]
fn other_lists_have_rules_of_their_own() -> Result<(), InvalidRule> {
    let policy = Policy::new()
        .allow(List::Domain, "*.apps.example")?
        .allow(List::Domain, "one.example")?
        .deny(List::Domain, "bad.apps.example")?
        .allow(List::MediaTypes, "text/html;profile=mcp-app")?
        .deny(List::Permissions, "camera")?;
    for (list, text, expected) in [
        (List::Domain, "a.apps.example", true),
        (List::Domain, "A.Apps.example", true),
        (List::Domain, "one.example", true),
        (List::Domain, "apps.example", false),
        (List::Domain, "bad.apps.example", false),
        (List::Domain, "https://a.apps.example", false),
        (List::Domain, "a.apps.example/x", false),
        (List::MediaTypes, "text/html;profile=mcp-app", true),
        (List::MediaTypes, "Text/HTML; charset=utf-8; profile=\"mcp-app\"", true),
        (List::MediaTypes, "text/html", false),
        (List::MediaTypes, "html", false),
        (List::Permissions, "microphone", true),
        (List::Permissions, "camera", false),
        (List::Connect, "whatever", true),
    ] {
        assert_eq!(allowed(&policy, list, text), expected, "{list}: {text}");
    }
    Ok(())
}

#[test]
fn presets_allow_what_they_say() {
    let origin: Origin = "https://app.example".parse().expect("an origin");
    let policies = [Policy::no_network(), Policy::same_origin(origin)];
    for list in List::OF_SOURCES {
        let allowed = |entry| policies.each_ref().map(|policy| allowed(policy, list, entry));
        assert_eq!(allowed("https://app.example"), [false, true]);
        assert_eq!(allowed("wss://app.example"), [false, false]);
        assert_eq!(allowed("https://other.example"), [false, false]);
        assert_eq!(allowed("data:"), [false, false]);
    }
}

#[test]
fn a_rule_that_is_none_is_an_error_that_says_why() {
    for (list, rule, message) in [
        (List::Connect, "api.example", "connectDomains: an origin begins with"),
        (List::Resource, "https://cdn.example/npm", "resourceDomains: an origin has no path"),
        (List::Frame, "*", "frameDomains: an origin begins with"),
        (List::Permissions, "", "permissions: a name is not empty"),
        (List::Domain, "https://a.example", "domain: it is neither"),
        (List::Domain, "*.127.0.0.1", "domain: it is neither"),
        (List::MediaTypes, "html", "mimeType: it is no media type"),
    ] {
        let error = Policy::new().allow(list, rule).expect_err(rule);
        assert_eq!((error.list(), error.rule()), (list, rule));
        assert!(error.to_string().contains(message), "{error}");
        assert!(Policy::new().deny(list, rule).is_err());
    }
}

/// What another concern wanted to see is no business of a policy without rules about it.
#[tokio::test]
async fn a_policy_without_rules_changes_nothing_that_others_look_at() {
    const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":["no object",{"name":"t","name":"u"}]}}"#;
    let audience = crate::exchange::Fixed(crate::protocol::Audience::Host);
    let layer = crate::AppsLayer::new().audience(audience).policy(Policy::new());
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    assert_eq!(crate::tried::through(&layer, request, LIST).await, LIST);
}
