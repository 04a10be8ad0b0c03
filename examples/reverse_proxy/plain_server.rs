//! A small MCP server that knows nothing of the proxy: what stands behind it when no upstream is named.
//!
//! It speaks 2025-06-18, 2025-11-25 and 2026-07-28, and answers in JSON. It has what the layers are about: a page,
//! a tool that names the page by the deprecated flat key, and a tool for that page alone. It advertises no extension.

use std::convert::Infallible;
use std::future;
use std::time::SystemTime;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tower::{BoxError, service_fn};

use crate::endpoint::Endpoint;
use crate::serve::{Lingering, serve};

const LEGACY: [&str; 2] = ["2025-11-25", "2025-06-18"];
const MODERN: &str = "2026-07-28";
const PAGE: &str = "ui://clock/face.html";
const MAX_REQUEST_BYTES: usize = 4 << 20;

/// Starts the server on a free port of the loopback interface, for as long as the process lives.
pub(crate) async fn start() -> Result<Endpoint, BoxError> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let endpoint = format!("http://{}/mcp", listener.local_addr()?).parse()?;
    tokio::spawn(serve(listener, service_fn(answer), future::pending()));
    Ok(endpoint)
}

async fn answer(request: Request<Lingering>) -> Result<Response<Full<Bytes>>, Infallible> {
    Ok(if request.uri().path() != "/mcp" {
        empty(StatusCode::NOT_FOUND)
    } else if request.method() != Method::POST {
        let mut response = empty(StatusCode::METHOD_NOT_ALLOWED);
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
        response
    } else {
        let body = Limited::new(request.into_body(), MAX_REQUEST_BYTES);
        match body.collect().await {
            Ok(body) => message(&body.to_bytes()),
            Err(_) => empty(StatusCode::PAYLOAD_TOO_LARGE),
        }
    })
}

/// Why a request has no result: JSON-RPC code and message.
type Refusal = (i32, &'static str);

fn message(body: &[u8]) -> Response<Full<Bytes>> {
    let Ok(request) = serde_json::from_slice::<Value>(body) else {
        return refused(StatusCode::BAD_REQUEST, None, json!({"code": -32700, "message": "Parse error"}));
    };
    if !request.is_object() {
        return refused(StatusCode::BAD_REQUEST, None, json!({"code": -32600, "message": "Invalid request"}));
    }
    // A notification, or an answer to a question that this server never asks.
    let (Some(id), Some(method)) = (request.get("id"), request["method"].as_str()) else {
        return empty(StatusCode::ACCEPTED);
    };
    let params = &request["params"];
    let version = params["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str();
    let modern = version.is_some();
    if let Some(requested) = version.filter(|version| *version != MODERN) {
        let data = json!({"supported": [MODERN], "requested": requested});
        let error = json!({"code": -32022, "message": "Unsupported protocol version", "data": data});
        return refused(StatusCode::BAD_REQUEST, Some(id), error);
    }
    match result(method, params) {
        Ok(mut result) => {
            if modern {
                result["resultType"] = "complete".into();
            }
            if modern && method != "tools/call" {
                result["ttlMs"] = 60_000.into();
                result["cacheScope"] = "public".into();
            }
            sent(StatusCode::OK, &json!({"jsonrpc": "2.0", "id": id, "result": result}))
        }
        Err((code, text)) => {
            let unknown = modern && code == -32601;
            let status = if unknown { StatusCode::NOT_FOUND } else { StatusCode::OK };
            refused(status, Some(id), json!({"code": code, "message": text}))
        }
    }
}

fn result(method: &str, params: &Value) -> Result<Value, Refusal> {
    let info = json!({"name": "plain-clock", "version": "1.0.0"});
    let capabilities = json!({"tools": {}, "resources": {}});
    Ok(match method {
        "initialize" => {
            let asked = params["protocolVersion"].as_str();
            let known = LEGACY.into_iter().find(|version| asked == Some(*version));
            let version = known.unwrap_or(LEGACY[0]);
            json!({"protocolVersion": version, "capabilities": capabilities, "serverInfo": info})
        }
        "server/discover" => json!({
            "supportedVersions": [MODERN],
            "capabilities": capabilities,
            "_meta": {"io.modelcontextprotocol/serverInfo": info},
        }),
        "ping" => json!({}),
        "tools/list" => json!({"tools": tools()}),
        "tools/call" => match params["name"].as_str() {
            Some("show-clock" | "read-clock") => {
                let text = format!("{} seconds since 1970", seconds());
                json!({"content": [{"type": "text", "text": text}]})
            }
            _ => return Err((-32602, "Unknown tool")),
        },
        "resources/list" => json!({"resources": [
            {"uri": PAGE, "name": "clock-face", "mimeType": "text/html;profile=mcp-app"},
        ]}),
        "resources/read" if params["uri"] == PAGE => {
            let page = "<!doctype html><title>Clock</title><p>A clock would stand here.</p>";
            let mime = "text/html;profile=mcp-app";
            json!({"contents": [{"uri": PAGE, "mimeType": mime, "text": page}]})
        }
        "resources/read" => return Err((-32602, "Resource not found")),
        _ => return Err((-32601, "Method not found")),
    })
}

fn tools() -> Value {
    let nothing = json!({"type": "object"});
    json!([
        {
            "name": "show-clock",
            "description": "Shows the time",
            "inputSchema": nothing,
            "_meta": {"ui/resourceUri": PAGE},
        },
        {
            "name": "read-clock",
            "description": "Reads the time again, for the clock's face",
            "inputSchema": nothing,
            "_meta": {"ui": {"resourceUri": PAGE, "visibility": ["app"]}},
        },
    ])
}

fn seconds() -> u64 {
    let now = SystemTime::UNIX_EPOCH.elapsed();
    now.map(|since| since.as_secs()).unwrap_or_default()
}

fn refused(status: StatusCode, id: Option<&Value>, error: Value) -> Response<Full<Bytes>> {
    let mut message = json!({"jsonrpc": "2.0", "error": error});
    if let Some(id) = id {
        message["id"] = id.clone();
    }
    sent(status, &message)
}

fn sent(status: StatusCode, message: &Value) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(message.to_string()));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

fn empty(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}
