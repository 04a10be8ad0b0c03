//! Real servers and a real client with the stack between them: every server, era and kind of client.
//!
//! All combinations exist: the two rmcp servers, tower-mcp (with its feature `protocol-2026-07-28`)
//! and the handler by hand each speak both eras. Only 2024-11-05 is missing for tower-mcp, which
//! does not implement it. Streamable HTTP came with 2025-03-26, so a 2024-11-05 client is one that
//! uses the newer transport with the older messages; rmcp's client does that.

mod servers;

use std::net::SocketAddr;

use axum::Router;
use http::{Request, header};
use http_body_util::{BodyExt, Full};
use rmcp::{
    ServiceError,
    model::{ErrorCode, ProtocolVersion},
};
use serde::Serialize;
use serde_json::{Value, json};
use servers::{
    by_hand, catalogue,
    client::{APPS, Client, Era, Kind},
    mount, rmcp_json, rmcp_sessions, serve, tower_mcp,
};
use tower::{Layer, ServiceExt};
use tower_mcp_apps::AppsLayer;

/// The one place where the stack goes around a server.
fn wrap<S>(service: S) -> <AppsLayer as Layer<S>>::Service {
    AppsLayer::new().layer(service)
}

const LEGACY: [ProtocolVersion; 4] = [
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2024_11_05,
];

/// Lists, reads and calls, as each era and kind of client, on the bare server and through the stack once and twice.
async fn flows(bare: Router, once: Router, twice: Router, legacy: &[ProtocolVersion]) {
    let (bare, once, twice) = (serve(bare).await, serve(once).await, serve(twice).await);
    let legacy = legacy.iter().cloned().map(Era::Legacy);
    for era in legacy.chain([Era::Modern, Era::Auto]) {
        for kind in [Kind::Text, Kind::AppsHost] {
            let case = format!("{era:?}, {kind:?}");
            let want = through_the_stack(seen(bare, &era, kind).await, kind);
            assert_eq!(seen(once, &era, kind).await, want, "{case}");
            assert_eq!(seen(twice, &era, kind).await, want, "{case}, stacked twice");
        }
    }
}

/// What a client sees of a server.
async fn seen(address: SocketAddr, era: &Era, kind: Kind) -> Value {
    let case = format!("{era:?}, {kind:?}");
    let client = Client::connect(address, era.clone(), kind).await.unwrap_or_else(|error| panic!("{case}: {error}"));

    let server = client.server();
    let want = match era {
        Era::Legacy(asked) => asked,
        Era::Modern | Era::Auto => &ProtocolVersion::V_2026_07_28,
    };
    assert_eq!(&server.protocol_version, want, "{case}");

    let tools = serde_json::to_value(client.list_tools().await.expect(&case)).expect("tools are JSON");
    let resources = client.list_resources().await.expect(&case).resources;
    assert_eq!(to_json(&resources), json!([catalogue::resource()]), "{case}");
    let contents = client.read_resource(catalogue::VIEW).await.expect(&case).contents;
    assert_eq!(to_json(&contents), json!([catalogue::contents()]), "{case}");

    for name in names(&tools["tools"]) {
        let result = client.call_tool(&name).await.expect(&case);
        assert_eq!(to_json(&result.content)[0]["text"], format!("{name} ran"), "{case}");
    }
    let error = client.call_tool("absent").await.expect_err(&case);
    let ServiceError::McpError(error) = error else {
        panic!("{case}: {error}");
    };
    assert_eq!(error.code, ErrorCode::INVALID_PARAMS, "{case}");
    client.close().await;

    let mut capabilities = to_json(&server.capabilities);
    let extensions = capabilities["extensions"].take();
    json!({
        "info": server.server_info,
        "capabilities": capabilities,
        "extensions": extensions,
        "tools": tools,
    })
}

/// What a client should see through the stack, where it sees this without.
fn through_the_stack(mut seen: Value, kind: Kind) -> Value {
    assert_eq!(seen["extensions"], Value::Null, "no fixture advertises MCP Apps itself");
    assert_eq!(names(&seen["tools"]["tools"]), catalogue::names());
    seen["extensions"] = json!({ APPS: { "mimeTypes": [catalogue::APP_HTML] } });
    let tools = seen["tools"]["tools"].as_array_mut().expect("a list");
    if kind == Kind::Text {
        tools.retain(|tool| tool["name"] != "poll");
    }
    for tool in tools {
        let name = tool["name"].as_str().expect("a name").to_owned();
        assert_eq!(tool["_meta"], entry(&catalogue::tools(), &name)["_meta"], "{name}");
        if name == "show" {
            tool["_meta"]["ui"] = json!({ "resourceUri": catalogue::VIEW });
        }
    }
    seen
}

fn to_json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("the model's types are JSON")
}

fn names(tools: &Value) -> Vec<String> {
    let mut names: Vec<_> =
        tools.as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str().map(String::from)).collect();
    names.sort();
    names
}

fn entry<'a>(tools: &'a Value, name: &str) -> &'a Value {
    tools.as_array().into_iter().flatten().find(|tool| tool["name"] == name).unwrap_or(&Value::Null)
}

#[tokio::test]
async fn rmcp_without_sessions() {
    let server = rmcp_json::service();
    flows(mount(server.clone()), mount(wrap(server.clone())), mount(wrap(wrap(server))), &LEGACY).await;
}

#[tokio::test]
async fn rmcp_with_sessions() {
    let server = rmcp_sessions::service();
    flows(mount(server.clone()), mount(wrap(server.clone())), mount(wrap(wrap(server))), &LEGACY).await;
}

#[tokio::test]
async fn tower_mcp_router() {
    let server = tower_mcp::service();
    flows(mount(server.clone()), mount(wrap(server.clone())), mount(wrap(wrap(server))), &LEGACY[..3]).await;
}

#[tokio::test]
async fn handler_by_hand() {
    let server = by_hand::service();
    flows(mount(server.clone()), mount(wrap(server.clone())), mount(wrap(wrap(server))), &LEGACY).await;
}

/// The head of the answer to one bare request: media type, and whether a session was issued.
async fn head(router: Router, era: &Era) -> (String, bool) {
    let client_info = json!({ "name": "raw", "version": "1" });
    let (method, params) = match era {
        Era::Legacy(version) => (
            "initialize",
            json!({ "protocolVersion": version.as_str(), "capabilities": {}, "clientInfo": client_info }),
        ),
        Era::Modern | Era::Auto => (
            "server/discover",
            json!({ "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": client_info,
                "io.modelcontextprotocol/clientCapabilities": {}
            }}),
        ),
    };
    let mut request = Request::post(servers::PATH)
        .header(header::HOST, "127.0.0.1")
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json, text/event-stream");
    if method == "server/discover" {
        request = request.header("mcp-protocol-version", "2026-07-28").header("mcp-method", method);
    }
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let request = request.body(Full::from(message.to_string())).expect("the request is well formed");
    let response = router.oneshot(request).await.expect("routers do not fail");
    let (parts, body) = response.into_parts();
    let media_type = parts.headers[header::CONTENT_TYPE].to_str().expect("a media type is ASCII");
    let media_type = media_type.split(';').next().unwrap_or_default().to_owned();
    if media_type == "application/json" {
        let body = body.collect().await.expect("the body is whole").to_bytes();
        let answer: Value = serde_json::from_slice(&body).expect("the body is JSON");
        assert_eq!(answer["id"], 1, "{answer}");
    }
    (media_type, parts.headers.contains_key("mcp-session-id"))
}

/// The fixtures are what their files say, so that the flows above cover what they seem to.
#[tokio::test]
async fn answers_come_in_each_servers_own_kind() {
    let legacy = Era::Legacy(ProtocolVersion::V_2025_11_25);
    let json = "application/json";
    let sse = "text/event-stream";
    let servers = [
        ("rmcp json", mount(rmcp_json::service()), json, false),
        ("rmcp sessions", mount(rmcp_sessions::service()), sse, true),
        ("tower-mcp", mount(tower_mcp::service()), json, true),
        ("by hand", mount(by_hand::service()), json, false),
    ];
    for (server, router, media_type, session) in servers {
        let got = head(router.clone(), &legacy).await;
        assert_eq!(got, (media_type.to_owned(), session), "{server}, legacy");
        let got = head(router, &Era::Modern).await;
        assert_eq!(got, (media_type.to_owned(), false), "{server}, modern");
    }
}
