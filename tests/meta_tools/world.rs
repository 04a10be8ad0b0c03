//! An aggregator by script: a catalogue behind tools, calls of these, and what arrived.

use http::{Request, Response};
use serde_json::{Value, json};
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::concern::MetaTools;
use tower_mcp_apps::exchange::Fixed;
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::testing::Body;

use crate::kit::server::{Received, Server, json_answer};
use crate::kit::{modern, post};

/// `open` for both, `poll` for apps, `admin` for models.
pub(crate) fn tools() -> Value {
    json!([
        { "name": "open", "inputSchema": { "type": "object" } },
        { "name": "poll", "inputSchema": {}, "_meta": { "ui": { "visibility": ["app"] } } },
        { "name": "admin", "inputSchema": {}, "_meta": { "ui": { "visibility": ["model"] } } },
    ])
}

/// The layer for a fixed audience.
pub(crate) fn layer(audience: Audience) -> AppsLayer {
    AppsLayer::new().audience(Fixed(audience)).meta_tools(MetaTools::muster())
}

/// The answer to a request with this result.
pub(crate) fn result(received: &Received, result: &Value) -> Response<Body> {
    json_answer(json!({ "jsonrpc": "2.0", "id": received.json()["id"], "result": result }).to_string())
}

/// A result with this text, as a model gets it.
pub(crate) fn text(text: impl Into<String>) -> Value {
    json!({ "content": [{ "type": "text", "text": text.into() }] })
}

/// An aggregator whose catalogue this is.
pub(crate) fn aggregator(catalogue: Value) -> Server {
    Server::new(move |received| {
        let message = received.json();
        if let Value::Array(messages) = &message {
            let answer =
                |message: &Value| json!({ "jsonrpc": "2.0", "id": message["id"], "result": ran(message, &catalogue) });
            return json_answer(Value::Array(messages.iter().map(answer).collect()).to_string());
        }
        result(received, &ran(&message, &catalogue))
    })
}

/// The result of a message to an aggregator.
pub(crate) fn ran(message: &Value, catalogue: &Value) -> Value {
    let arguments = &message["params"]["arguments"];
    let find = |name: &Value| catalogue.as_array()?.iter().find(|tool| tool["name"] == *name).cloned();
    match (message["method"].as_str(), message["params"]["name"].as_str()) {
        (Some("tools/list"), _) => {
            json!({ "tools": [{ "name": "list_tools" }, { "name": "describe_tool" }, { "name": "call_tool" }] })
        }
        (_, Some("list_tools")) => {
            let list = json!({ "total_tools": 3, "tools": catalogue });
            text(serde_json::to_string_pretty(&list).unwrap())
        }
        (_, Some("describe_tool")) => match find(&arguments["name"]) {
            Some(tool) => text(serde_json::to_string_pretty(&tool).unwrap()),
            None => {
                let mut unknown = text(format!("Tool not found: {}", arguments["name"].as_str().unwrap_or_default()));
                unknown["isError"] = json!(true);
                unknown
            }
        },
        (_, Some("call_tool")) => text(format!("ran {}", arguments["name"].as_str().unwrap_or_default().trim())),
        (_, Some(name)) => text(format!("ran {name}")),
        _ => json!({}),
    }
}

/// A call of this tool of the aggregator, in the legacy era.
pub(crate) fn legacy(name: &str, arguments: Value) -> Request<Body> {
    let params = json!({ "name": name, "arguments": arguments });
    post(json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params }).to_string())
}

/// The same, in the modern era.
pub(crate) fn now(name: &str, arguments: Value) -> Request<Body> {
    modern("tools/call", &json!({ "name": name, "arguments": arguments }), &json!({}))
}

/// A call through the meta-tool.
pub(crate) fn through(name: &str) -> Request<Body> {
    legacy("call_tool", json!({ "name": name, "arguments": {} }))
}

/// What ran: tools through `call_tool`, and others by their name.
pub(crate) fn ran_tools(server: &Server) -> Vec<String> {
    let received = server.take();
    let calls = received.iter().flat_map(|received| match received.json() {
        Value::Array(messages) => messages,
        message => vec![message],
    });
    let named = calls.filter(|message| message["method"] == "tools/call").filter_map(|message| {
        let name = message["params"]["name"].as_str()?.to_owned();
        match name.as_str() {
            "call_tool" => message["params"]["arguments"]["name"].as_str().map(str::to_owned),
            "describe_tool" | "list_tools" => None,
            _ => Some(name),
        }
    });
    named.collect()
}

/// An aggregator that gives a caller this answer, and look-ups what they ask for.
pub(crate) fn saying(answer: impl Fn() -> Response<Body> + Send + Sync + 'static) -> Server {
    Server::new(move |received| {
        let message = received.json();
        if message.is_null() || message["id"] == 7 { answer() } else { result(received, &ran(&message, &tools())) }
    })
}

/// The same for a result.
pub(crate) fn with_result(answer: Value) -> Server {
    saying(move || json_answer(json!({ "jsonrpc": "2.0", "id": 7, "result": answer }).to_string()))
}
