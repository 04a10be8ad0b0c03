//! The header that a host builds from a declaration, and a parser for it.

use serde_json::Value;

/// The header as the specification builds it ("Content Security Policy Enforcement"), trusting the declaration.
pub(crate) fn build(ui: &Value) -> String {
    let joined = |key: &str| {
        let list = ui["csp"][key].as_array().map(Vec::as_slice).unwrap_or_default();
        list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
    };
    let or = |list: String, default: &str| if list.is_empty() { default.to_owned() } else { list };
    let resources = joined("resourceDomains");
    [
        "default-src 'none'".to_owned(),
        format!("script-src 'self' 'unsafe-inline' {resources}"),
        format!("style-src 'self' 'unsafe-inline' {resources}"),
        format!("connect-src 'self' {}", joined("connectDomains")),
        format!("img-src 'self' data: {resources}"),
        format!("font-src 'self' {resources}"),
        format!("media-src 'self' data: {resources}"),
        format!("frame-src {}", or(joined("frameDomains"), "'none'")),
        "object-src 'none'".to_owned(),
        format!("base-uri {}", or(joined("baseUriDomains"), "'self'")),
    ]
    .join("; ")
}

/// One policy: its directives with their values, in order.
pub(crate) type Policy = Vec<(String, Vec<String>)>;

/// Parses a header (CSP 3, section 2.2.2).
pub(crate) fn parse(header: &str) -> Vec<Policy> {
    header.split(',').map(parse_policy).filter(|policy| !policy.is_empty()).collect()
}

/// Parses one policy (CSP 3, section 2.2.1).
fn parse_policy(text: &str) -> Policy {
    let mut policy = Policy::new();
    for token in text.split(';') {
        let mut words = token.split(is_white_space).filter(|word| !word.is_empty());
        let Some(name) = words.next().filter(|_| token.is_ascii()) else { continue };
        let name = name.to_ascii_lowercase();
        if policy.iter().all(|(known, _)| *known != name) {
            policy.push((name, words.map(str::to_owned).collect()));
        }
    }
    policy
}

fn is_white_space(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\u{c}' | '\r' | ' ')
}

/// A host-source (CSP 3, section 2.3.1) with a scheme and without a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HostSource {
    pub(crate) scheme: String,
    pub(crate) has_wildcard: bool,
    pub(crate) host: String,
    pub(crate) port: Option<String>,
}

impl HostSource {
    /// `None` where the grammar has another reading for the text or none.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let (host, port) = match rest.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (rest, None),
        };
        let (has_wildcard, host) = match host.strip_prefix("*.") {
            Some(host) => (true, host),
            None => (false, host),
        };
        let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        let is_label =
            |label: &str| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        (is_scheme && host.split('.').all(is_label) && port.is_none_or(is_port)).then(|| Self {
            scheme: scheme.to_owned(),
            has_wildcard,
            host: host.to_owned(),
            port: port.map(str::to_owned),
        })
    }
}

#[test]
fn the_parser_sees_what_a_browser_sees() {
    let evil = serde_json::json!({"csp": {"resourceDomains": ["https://a.com;script-src-elem\tevil.com"]}});
    let policies = parse(&build(&evil));
    assert!(policies[0].iter().any(|(name, values)| name == "script-src-elem" && values == &["evil.com"]));
    let two = parse(&build(&serde_json::json!({"csp": {"connectDomains": ["https://a.com, x"]}})));
    assert_eq!(two.len(), 2);
    assert_eq!(HostSource::parse("https://a_b.com"), None);
    assert_eq!(HostSource::parse("https://[::1]"), None);
    assert!(HostSource::parse("https://*.a.com:8443").is_some_and(|source| source.has_wildcard));
}
