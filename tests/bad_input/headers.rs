//! Headers that contradict the body which they should mirror.

use http::{Request, StatusCode};
use serde_json::json;
use tower_mcp_apps::exchange::Limits;
use tower_mcp_apps::testing::Body;

use crate::kit::server::Server;
use crate::kit::{modern, only, post, with};
use crate::{enforced, forwarded_or_refused};

fn call(name: &str) -> Request<Body> {
    modern("tools/call", &json!({ "name": name }), &json!({}))
}

#[tokio::test]
async fn headers_that_contradict_the_body() {
    let without = |name: &'static str| {
        let mut request = call("open");
        request.headers_mut().remove(name);
        request
    };
    let mismatched: [&dyn Fn() -> Request<Body>; 13] = [
        &|| only(call("open"), "mcp-name", "other"),
        &|| only(call("open"), "mcp-name", "Open"),
        &|| only(call("open"), "mcp-name", "=?base64?b3RoZXI=?="),
        &|| only(call("open"), "mcp-name", "=?base64?!?="),
        &|| only(call("open"), "mcp-method", "tools/list"),
        &|| only(call("open"), "mcp-method", "TOOLS/CALL"),
        &|| only(call("open"), "mcp-protocol-version", "2025-11-25"),
        &|| only(call("open"), "mcp-protocol-version", "2027-01-01"),
        &|| with(call("open"), "mcp-name", "open"),
        &|| with(call("open"), "mcp-method", "tools/call"),
        &|| without("mcp-name"),
        &|| without("mcp-method"),
        &|| without("mcp-protocol-version"),
    ];
    for request in mismatched {
        forwarded_or_refused(request, 400, &[-32020], &json!(7)).await;
    }
    let beyond_ascii = || {
        let mut request = call("");
        let value = http::HeaderValue::from_bytes(b"\xC3\xA9").expect("obs-text is allowed");
        request.headers_mut().insert("mcp-name", value);
        request
    };
    forwarded_or_refused(beyond_ascii, 400, &[-32020], &json!(7)).await;
}

#[tokio::test]
async fn a_modern_header_without_modern_meta() {
    let plain = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"open"}}"#;
    let version = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"open","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    let capabilities = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"open","_meta":{"io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    for body in [plain, version, capabilities] {
        let request = || {
            let request = with(post(body), "mcp-protocol-version", "2026-07-28");
            with(with(request, "mcp-method", "tools/call"), "mcp-name", "open")
        };
        forwarded_or_refused(request, 400, &[-32602], &json!(7)).await;
    }
}

#[tokio::test]
async fn a_legacy_call_with_modern_headers() {
    let body = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"open"}}"#;
    let contradicting: [&dyn Fn() -> Request<Body>; 3] =
        [&|| with(post(body), "mcp-name", "other"), &|| with(post(body), "mcp-method", "tools/list"), &|| {
            with(with(post(body), "mcp-name", "open"), "mcp-name", "other")
        }];
    for request in contradicting {
        forwarded_or_refused(request, 400, &[-32020], &json!(7)).await;
    }
    let doubled = || with(with(post(body), "mcp-protocol-version", "2025-11-25"), "mcp-protocol-version", "2026-07-28");
    forwarded_or_refused(doubled, 400, &[-32602], &json!(7)).await;
    let server = Server::with_tools(json!([{ "name": "open" }]));
    let agreeing = || with(with(post(body), "mcp-name", "open"), "mcp-method", "tools/call");
    for answer in enforced(&server, Limits::new(), agreeing).await {
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
    }
}

#[tokio::test]
async fn lists_are_filtered_by_the_body_whatever_the_headers_say() {
    let server =
        Server::with_tools(json!([{ "name": "open" }, { "name": "none", "_meta": { "ui": { "visibility": 1 } } }]));
    for (name, value) in [("mcp-method", "ping"), ("mcp-protocol-version", "1"), ("mcp-name", "x")] {
        let request = || only(modern("tools/list", &json!({}), &json!({})), name, value);
        for answer in enforced(&server, Limits::new(), request).await {
            assert_eq!(answer.tools(), ["open"]);
        }
    }
}
