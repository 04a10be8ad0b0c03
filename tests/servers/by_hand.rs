//! A server that is nothing but an axum handler: both eras, JSON answers, never a session.
//!
//! It is what people write who need no SDK, and it issues no `Mcp-Session-Id` to its legacy
//! clients, so a layer that wants to remember something has to issue one of its own.

use axum::{
    Json, Router,
    body::Bytes,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::post,
};
use serde_json::{Value, json};

use super::catalogue;

const MODERN: &str = "2026-07-28";
const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// The service, generic over its request body as every [`Router`] is.
pub(crate) fn service() -> Router {
    Router::new().route("/", post(handle))
}

/// A JSON-RPC error with the HTTP status that the modern era gives it.
struct Failure {
    status: StatusCode,
    code: i32,
    message: &'static str,
    data: Option<Value>,
}

impl Failure {
    fn new(status: StatusCode, code: i32, message: &'static str) -> Self {
        Self { status, code, message, data: None }
    }

    fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }
}

async fn handle(headers: HeaderMap, body: Bytes) -> Response {
    let Ok(message) = serde_json::from_slice::<Value>(&body) else {
        let error = json!({ "code": -32700, "message": "parse error" });
        let body = json!({ "jsonrpc": "2.0", "error": error });
        return (StatusCode::BAD_REQUEST, Json(body)).into_response();
    };
    let Some(id) = message.get("id") else {
        return StatusCode::ACCEPTED.into_response();
    };
    let version = message["params"]["_meta"][VERSION_KEY].as_str();
    let answer = match version {
        Some(version) => checked(&headers, &message, version).and_then(|()| modern(&message)),
        None => legacy(&message),
    };
    match answer {
        Ok(result) => Json(json!({ "jsonrpc": "2.0", "id": id, "result": result })).into_response(),
        Err(failure) => {
            // Legacy clients expect JSON-RPC errors of a well-formed request under 200.
            let status = match version {
                Some(_) => failure.status,
                None => StatusCode::OK,
            };
            let mut error = json!({ "code": failure.code, "message": failure.message });
            if let Some(data) = failure.data {
                error["data"] = data;
            }
            let body = json!({ "jsonrpc": "2.0", "id": id, "error": error });
            (status, Json(body)).into_response()
        }
    }
}

/// The modern era's rule that the standard headers say what the body says (SEP-2243).
fn checked(headers: &HeaderMap, message: &Value, version: &str) -> Result<(), Failure> {
    let says = |name: &str, value: Option<&str>| headers.get(name).and_then(|header| header.to_str().ok()) == value;
    if !says("mcp-protocol-version", Some(version)) || !says("mcp-method", message["method"].as_str()) {
        return Err(Failure::new(StatusCode::BAD_REQUEST, -32020, "header mismatch"));
    }
    if version != MODERN {
        let data = json!({ "supported": [MODERN], "requested": version });
        return Err(Failure::new(StatusCode::BAD_REQUEST, -32022, "unsupported protocol version").with_data(data));
    }
    Ok(())
}

fn legacy(message: &Value) -> Result<Value, Failure> {
    let params = &message["params"];
    match method(message) {
        "initialize" => {
            let asked = params["protocolVersion"].as_str();
            let version = LEGACY.into_iter().find(|version| asked == Some(version)).unwrap_or(LEGACY[0]);
            Ok(json!({
                "protocolVersion": version,
                "capabilities": capabilities(),
                "serverInfo": server_info()
            }))
        }
        "ping" => Ok(json!({})),
        // -32002 is the code of the revisions before 2026-07-28.
        _ => common(message, -32002),
    }
}

fn modern(message: &Value) -> Result<Value, Failure> {
    let mut result = match method(message) {
        "server/discover" => json!({
            "supportedVersions": [MODERN],
            "capabilities": capabilities(),
            "_meta": { "io.modelcontextprotocol/serverInfo": server_info() }
        }),
        _ => common(message, -32602)?,
    };
    result["resultType"] = json!("complete");
    if method(message) != "tools/call" {
        result["ttlMs"] = json!(0);
        result["cacheScope"] = json!("private");
    }
    Ok(result)
}

fn common(message: &Value, no_resource: i32) -> Result<Value, Failure> {
    let params = &message["params"];
    match method(message) {
        "tools/list" => Ok(json!({ "tools": catalogue::tools() })),
        "tools/call" => params["name"]
            .as_str()
            .and_then(catalogue::ran)
            .map(|text| json!({ "content": [{ "type": "text", "text": text }] }))
            .ok_or(Failure::new(StatusCode::OK, -32602, "unknown tool")),
        "resources/list" => Ok(json!({ "resources": [catalogue::resource()] })),
        "resources/templates/list" => Ok(json!({ "resourceTemplates": [] })),
        "resources/read" if params["uri"] == catalogue::VIEW => Ok(json!({ "contents": [catalogue::contents()] })),
        "resources/read" => Err(Failure::new(StatusCode::OK, no_resource, "resource not found")),
        _ => Err(Failure::new(StatusCode::NOT_FOUND, -32601, "method not found")),
    }
}

fn method(message: &Value) -> &str {
    message["method"].as_str().unwrap_or_default()
}

fn capabilities() -> Value {
    json!({ "tools": {}, "resources": {} })
}

fn server_info() -> Value {
    json!({ "name": "fixture-by-hand", "version": "1" })
}
