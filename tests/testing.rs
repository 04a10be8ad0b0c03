//! The test kit: what its lint finds in whole servers.

mod kit;
#[allow(dead_code)]
mod servers;

use http::{HeaderValue, Response, StatusCode};
use kit::body::Script;
use kit::server::{Received, Server, event_answer, json_answer};
use serde_json::{Value, json};
use tower::Layer;
use tower_mcp_apps::lint::Rule;
use tower_mcp_apps::{AppsLayer, testing};

/// What a server has: its tools on two pages, its resources, and whether it can be read.
#[derive(Clone)]
struct Has {
    links: Vec<&'static str>,
    listed: Vec<&'static str>,
    readable: Vec<&'static str>,
}

fn result(has: &Has, message: &Value) -> Result<Value, Value> {
    let none = json!({ "code": -32601, "message": "no such method" });
    let page =
        |uri: &str| json!({ "uri": uri, "name": "x", "mimeType": "text/html;profile=mcp-app", "text": "<html>" });
    let capabilities = json!({ "tools": {}, "resources": {} });
    match message["method"].as_str() {
        Some("server/discover") => {
            Ok(json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": capabilities }))
        }
        Some("initialize") => Ok(json!({ "protocolVersion": "2025-06-18", "capabilities": capabilities })),
        Some("tools/list") => {
            let tool = |uri: &&str| json!({ "name": uri[5..], "_meta": { "ui": { "resourceUri": uri } } });
            let tools: Vec<_> = has.links.iter().map(tool).collect();
            let (first, second) = tools.split_at(tools.len() / 2);
            match message["params"]["cursor"].as_str() {
                None => Ok(json!({ "tools": first, "nextCursor": "2" })),
                Some(_) => Ok(json!({ "tools": second })),
            }
        }
        Some("resources/list") => {
            Ok(json!({ "resources": has.listed.iter().map(|uri| page(uri)).collect::<Vec<_>>() }))
        }
        Some("resources/read") => match has.readable.iter().find(|uri| message["params"]["uri"] == **uri) {
            Some(uri) => Ok(json!({ "contents": [page(uri)] })),
            None => Err(json!({ "code": -32602, "message": "no such resource" })),
        },
        _ => Err(none),
    }
}

/// The answer, as JSON text.
fn text(has: &Has, received: &Received) -> String {
    let message = received.json();
    match result(has, &message) {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string(),
        Err(error) => json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }).to_string(),
    }
}

/// Speaks the modern era alone, in JSON.
fn modern(has: Has) -> Server {
    Server::new(move |received| match received.header("mcp-protocol-version") {
        Some("2026-07-28") if received.header("mcp-method") == Some(&received.method()) => {
            json_answer(text(&has, received))
        }
        _ => empty(StatusCode::BAD_REQUEST),
    })
}

/// Speaks the legacy era alone, in event streams, with a session.
fn legacy(has: Has) -> Server {
    Server::new(move |received| {
        let method = received.method();
        let has_session = received.header("mcp-session-id") == Some("S-1")
            && received.header("mcp-protocol-version") == Some("2025-06-18");
        match method.as_str() {
            "initialize" => {}
            "notifications/initialized" if has_session => return empty(StatusCode::ACCEPTED),
            _ if !has_session || received.parts.method == "DELETE" => return empty(StatusCode::BAD_REQUEST),
            _ => {}
        }
        let other = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#;
        let events = format!("id: 1\ndata:\n\ndata: {other}\n\ndata: {}\n\n", text(&has, received));
        let mut response = event_answer(Script::frames([events.into()]));
        response.headers_mut().insert("mcp-session-id", HeaderValue::from_static("S-1"));
        response
    })
}

fn empty(status: StatusCode) -> Response<Script> {
    let mut response = Response::new(Script::whole(""));
    *response.status_mut() = status;
    response
}

async fn lint(server: Server) -> Vec<(Rule, String)> {
    let findings = testing::lint(server).await.expect("the server answers");
    let name = |text: Option<&str>| text.unwrap_or_default().to_owned();
    findings.iter().map(|finding| (finding.rule(), name(finding.tool().or(finding.uri())))).collect()
}

#[tokio::test]
async fn nothing_is_told_of_a_server_that_is_right() {
    // A page need not be listed to be linked.
    let has = Has { links: vec!["ui://a", "ui://b"], listed: vec!["ui://a"], readable: vec!["ui://a", "ui://b"] };
    assert_eq!(lint(modern(has.clone())).await, []);
    assert_eq!(lint(legacy(has)).await, []);
}

#[tokio::test]
async fn links_that_lead_nowhere() {
    let has = Has {
        links: vec!["ui://A/x", "ui://a/%78", "ui://gone", "ui://a/x"],
        listed: vec!["ui://a/x", "ui://old", "https://other"],
        readable: vec!["ui://a/x", "ui://A/x"],
    };
    let expected = [
        (Rule::LinkSpelling, "A/x"),
        (Rule::LinkSpelling, "a/%78"),
        (Rule::NotReadable, "a/%78"),
        (Rule::NotReadable, "gone"),
        (Rule::NotReadable, "ui://old"),
    ];
    let expected = expected.map(|(rule, name)| (rule, name.to_owned()));
    assert_eq!(lint(modern(has.clone())).await, expected);
    assert_eq!(lint(legacy(has)).await, expected);
}

#[tokio::test]
async fn the_session_is_ended() {
    let server = legacy(Has { links: vec![], listed: vec![], readable: vec![] });
    lint(server.clone()).await;
    let last = server.take().pop().expect("a request");
    assert_eq!((last.parts.method.as_str(), last.header("mcp-session-id")), ("DELETE", Some("S-1")));
}

#[tokio::test]
async fn what_passes_is_told_too() {
    let server = Server::with_tools(json!([{ "name": "t", "_meta": { "ui": { "csp": {} } } }]));
    assert_eq!(lint(server).await, [(Rule::Misplaced, "t".to_owned())]);
}

#[tokio::test]
async fn a_list_that_is_declared_must_be_there() {
    let answer = |declared: Value| {
        Server::new(move |received| {
            let message = received.json();
            let answer = match message["method"].as_str() {
                Some("server/discover") => json!({ "id": message["id"], "result": { "capabilities": declared } }),
                _ => json!({ "id": message["id"], "error": { "code": -32603, "message": "broken" } }),
            };
            json_answer(answer.to_string())
        })
    };
    assert_eq!(lint(answer(json!({}))).await, []);
    let unanswered = testing::lint(answer(json!({ "tools": {} }))).await.expect_err("the list is declared");
    assert_eq!(unanswered.to_string(), "tools/list: the answer is error -32603, \"broken\"");
    let unanswered = testing::lint(Server::saying("nothing")).await.expect_err("this is no server");
    assert_eq!(unanswered.to_string(), "initialize: there is no JSON-RPC answer, the status is 200 OK");
}

#[tokio::test]
async fn a_list_without_end_is_given_up() {
    let server = Server::new(|received| {
        let result = json!({ "capabilities": { "tools": {} }, "tools": [], "nextCursor": "again" });
        json_answer(json!({ "id": received.json()["id"], "result": result }).to_string())
    });
    let unanswered = testing::lint(server).await.expect_err("the list has no end");
    assert_eq!(unanswered.method(), "tools/list");
}

#[tokio::test]
async fn real_servers_bare_and_wrapped() {
    let flat_key = "tools/list of tool \"show\", _meta.ui/resourceUri: \
        is deprecated: the link belongs in ui.resourceUri (flat_key_alone)";
    let bare = testing::lint(servers::rmcp_json::service()).await.expect("rmcp answers");
    assert_eq!(bare.iter().map(ToString::to_string).collect::<Vec<_>>(), [flat_key]);
    assert_eq!(testing::lint(servers::rmcp_sessions::service()).await.expect("rmcp answers"), bare);
    let wrapped = AppsLayer::new().layer(servers::rmcp_sessions::service());
    assert_eq!(testing::lint(wrapped).await.expect("rmcp answers"), []);
}
