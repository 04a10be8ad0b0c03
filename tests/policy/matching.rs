//! What a source in a Content Security Policy matches, as a browser works it out: the oracle for rules.
//!
//! Written after CSP 3, "Does url match expression in origin with redirect count?", for a page of an opaque
//! origin. Wider than a browser where that is simpler: what is checked is that nothing matches too much.

/// A URL, as far as sources look at it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub(crate) scheme: &'static str,
    pub(crate) host: &'static str,
    pub(crate) port: u16,
}

/// URLs that tell the sources of the tests apart.
pub(crate) fn targets() -> impl Iterator<Item = Target> {
    const HOSTS: [&str; 9] = [
        "example",
        "a.example",
        "b.a.example",
        "c.b.a.example",
        "evil.example",
        "x.evil.example",
        "localhost",
        "127.0.0.1",
        "other.test",
    ];
    let of = |scheme| HOSTS.into_iter().flat_map(move |host| [80, 443, 5077].map(|port| Target { scheme, host, port }));
    let network = ["https", "http", "wss", "ws"].into_iter().flat_map(of);
    network.chain(["data", "blob"].map(|scheme| Target { scheme, host: "", port: 0 }))
}

/// Whether the source matches the URL.
pub(crate) fn matches(source: &str, target: Target) -> bool {
    let source = source.trim().to_ascii_lowercase();
    let is_network = !target.host.is_empty();
    if source == "*" {
        return is_network;
    }
    if let Some(scheme) = source.strip_suffix(':') {
        return matches_scheme(scheme, target.scheme);
    }
    let (scheme, rest) = match source.split_once("://") {
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, &*source),
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let authority = authority.rsplit('@').next().unwrap_or_default();
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    let host = host.trim_end_matches('.');
    let host_matches = match host.strip_prefix('*') {
        Some("") => true,
        Some(parent) => target.host.ends_with(parent) && target.host.len() > parent.len(),
        None => host == target.host,
    };
    let default_port = match target.scheme {
        "https" | "wss" => 443,
        _ => 80,
    };
    let port_matches = match port {
        None => target.port == default_port,
        Some("*") => true,
        // A source for port 80 follows an upgrade to the port of the upgraded scheme.
        Some("80") => target.port == 80 || target.port == default_port,
        Some(port) => port.parse() == Ok(target.port),
    };
    is_network && scheme.is_none_or(|scheme| matches_scheme(scheme, target.scheme)) && host_matches && port_matches
}

fn matches_scheme(source: &str, target: &str) -> bool {
    source == target
        || matches!((source, target), ("http", "https") | ("ws", "wss" | "http" | "https") | ("wss", "https"))
}

/// Whether a rule is about this host, whatever the scheme and port.
pub(crate) fn names_host(rule: &str, target: Target) -> bool {
    let Some((_, rest)) = rule.split_once("://") else { return false };
    let host = rest.split(':').next().unwrap_or_default();
    matches(&format!("{}://{host}:*", target.scheme), target)
}
