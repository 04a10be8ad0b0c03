//! Three small MCP servers that know nothing of the gateway: what stands behind it when no upstream is named.
//!
//! They speak 2025-06-18, 2025-11-25 and 2026-07-28, and answer in JSON. Their names clash on purpose: two have a tool `show`
//! with a page and a tool `poll` for that page alone, and the third has its list on two pages.

use std::convert::Infallible;
use std::future;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tower::{BoxError, service_fn};

use crate::flags::{Endpoint, Named};
use crate::response::{self, Body};
use crate::serve::{Lingering, serve};

const LEGACY: [&str; 2] = ["2025-11-25", "2025-06-18"];
const MODERN: &str = "2026-07-28";
const APP_HTML: &str = "text/html;profile=mcp-app";
const MAX_REQUEST_BYTES: usize = 4 << 20;

/// Starts the servers on free ports of the loopback interface, for as long as the process lives.
pub(crate) async fn start() -> Result<Vec<Named<Endpoint>>, BoxError> {
    let mut started = Vec::new();
    for name in ["clock", "weather", "notes"] {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        started.push(format!("{name}=http://{}/mcp", listener.local_addr()?).parse()?);
        let answer = move |request| async move { Ok::<_, Infallible>(answer(name, request).await) };
        tokio::spawn(serve(listener, service_fn(answer), future::pending()));
    }
    Ok(started)
}

async fn answer(name: &str, request: Request<Lingering>) -> Response<Body> {
    if request.method() != Method::POST {
        return response::empty(StatusCode::METHOD_NOT_ALLOWED);
    }
    let body = Limited::new(request.into_body(), MAX_REQUEST_BYTES).collect().await;
    let message: Option<Value> = body.ok().and_then(|body| serde_json::from_slice(&body.to_bytes()).ok());
    let Some(message) = message.filter(Value::is_object) else {
        let error = json!({"jsonrpc": "2.0", "error": {"code": -32600, "message": "Invalid request"}});
        return response::json(StatusCode::BAD_REQUEST, error.to_string());
    };
    let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) else {
        return response::empty(StatusCode::ACCEPTED);
    };
    let params = &message["params"];
    let is_modern = params["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string();
    let (status, outcome) = match result(name, method, params) {
        Ok(mut result) => {
            if is_modern {
                result["resultType"] = "complete".into();
            }
            if is_modern && method != "tools/call" {
                result["ttlMs"] = 60_000.into();
                result["cacheScope"] = "public".into();
            }
            (StatusCode::OK, json!({"jsonrpc": "2.0", "id": id, "result": result}))
        }
        Err((code, text)) => {
            let status = if is_modern && code == -32601 { StatusCode::NOT_FOUND } else { StatusCode::OK };
            (status, json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}}))
        }
    };
    response::json(status, Bytes::from(outcome.to_string()))
}

/// Why a request has no result: JSON-RPC code and message.
type Refusal = (i32, &'static str);

fn result(name: &str, method: &str, params: &Value) -> Result<Value, Refusal> {
    let info = json!({"name": name, "version": "1.0.0"});
    let capabilities = json!({"tools": {}, "resources": {}});
    let instructions = format!("This is the {name}.");
    let page = format!("ui://{name}/page.html");
    Ok(match method {
        "initialize" => {
            let asked = params["protocolVersion"].as_str();
            let known = LEGACY.into_iter().find(|version| asked == Some(*version));
            let version = known.unwrap_or(LEGACY[0]);
            json!({
                "protocolVersion": version,
                "capabilities": capabilities,
                "serverInfo": info,
                "instructions": instructions,
            })
        }
        "server/discover" => json!({
            "supportedVersions": [MODERN],
            "capabilities": capabilities,
            "_meta": {"io.modelcontextprotocol/serverInfo": info},
            "instructions": instructions,
        }),
        "ping" => json!({}),
        "tools/list" if name == "notes" => match params["cursor"].as_str() {
            None => json!({"tools": [tool("add", Value::Null)], "nextCursor": "more"}),
            Some("more") => json!({"tools": [tool("search", Value::Null)]}),
            Some(_) => return Err((-32602, "Invalid cursor")),
        },
        "tools/list" => json!({"tools": [
            tool("show", json!({"ui/resourceUri": page})),
            tool("poll", json!({"ui": {"resourceUri": page, "visibility": ["app"]}})),
        ]}),
        "tools/call" => {
            let known: &[&str] = if name == "notes" { &["add", "search"] } else { &["show", "poll"] };
            let called = params["name"].as_str().filter(|called| known.contains(called));
            let text = format!("{} of {name}", called.ok_or((-32602, "Unknown tool"))?);
            json!({"content": [{"type": "text", "text": text}]})
        }
        "resources/list" if name == "notes" => json!({"resources": [{"uri": "note:///1", "name": "first"}]}),
        "resources/list" => json!({"resources": [{"uri": page, "name": "page", "mimeType": APP_HTML}]}),
        "resources/read" if name == "notes" && params["uri"] == "note:///1" => {
            json!({"contents": [{"uri": "note:///1", "mimeType": "text/plain", "text": "The first note."}]})
        }
        "resources/read" if name != "notes" && params["uri"] == page.as_str() => {
            let html = format!("<!doctype html><title>{name}</title><p>The {name} would stand here.</p>");
            json!({"contents": [{"uri": page, "mimeType": APP_HTML, "text": html}]})
        }
        "resources/read" => return Err((-32602, "Resource not found")),
        _ => return Err((-32601, "Method not found")),
    })
}

fn tool(name: &str, meta: Value) -> Value {
    let mut tool = json!({"name": name, "inputSchema": {"type": "object"}});
    if !meta.is_null() {
        tool["_meta"] = meta;
    }
    tool
}
