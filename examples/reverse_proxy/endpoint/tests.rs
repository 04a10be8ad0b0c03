//! Which URLs are endpoints, and which paths are theirs.

use super::Endpoint;

#[test]
fn reads_plain_http_urls_only() {
    for url in ["http://localhost:3000/mcp", "http://[::1]:9/a/b", "http://h"] {
        assert!(url.parse::<Endpoint>().is_ok(), "{url}");
    }
    for url in ["https://h/mcp", "h/mcp", "/mcp", "", "http://h/mcp?q", "http://u:p@h/mcp"] {
        assert!(url.parse::<Endpoint>().is_err(), "{url}");
    }
}

#[test]
fn covers_every_spelling_that_a_server_may_accept() {
    let endpoint: Endpoint = "http://h/mcp".parse().unwrap();
    for path in [
        "/mcp",
        "/mcp/",
        "//mcp",
        "/MCP",
        "/%6dcp",
        "/%6Dcp",
        "/a/../mcp",
        "/./mcp",
        "/mcp;v=1",
        "/mcp/below",
        "/\\mcp",
        "/a/%2e%2e/mcp",
        "/x%2f..%2fmcp",
    ] {
        assert!(endpoint.covers(path), "{path}");
    }
    for path in ["/", "/mc", "/mcps", "/a/mcp", "/mcp/..", "/%", "/mcp%2", "*", ""] {
        assert!(!endpoint.covers(path), "{path}");
    }
    let root: Endpoint = "http://h".parse().unwrap();
    assert!(root.covers("/") && root.covers("/any"));
}

#[test]
fn keeps_path_and_query_and_changes_the_origin() {
    let endpoint: Endpoint = "http://up:1/mcp".parse().unwrap();
    for (from, to) in [("/mcp/?a=%20b", "http://up:1/mcp/?a=%20b"), ("http://else/x", "http://up:1/x")] {
        assert_eq!(endpoint.locate(&from.parse().unwrap()).unwrap(), to);
    }
}
