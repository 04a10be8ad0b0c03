//! A scripted server, a client's view of an answer, bodies that tests can cut, fail and watch, and JSON with its doubles.

// Each test crate uses a part of it.
#![allow(dead_code)]

pub(crate) mod body;
pub(crate) mod example;
pub(crate) mod server;
pub(crate) mod tree;

use std::fmt::Debug;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body::Body as HttpBody;
use serde_json::{Value, json};
use tower::{Service, ServiceExt};

use tower_mcp_apps::testing::{Body, BrokenOff};

use body::BoxError;

/// What a client got.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) frames: Vec<Bytes>,
    pub(crate) trailers: Option<HeaderMap>,
    pub(crate) error: Option<BrokenOff>,
}

impl Answer {
    pub(crate) fn bytes(&self) -> Bytes {
        self.frames.concat().into()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.bytes().to_vec()).expect("the body is UTF-8")
    }

    /// The body as JSON, or the only message of an event stream.
    pub(crate) fn json(&self) -> Value {
        let text = self.text();
        if let Ok(value) = serde_json::from_str(&text) {
            return value;
        }
        let mut events = self.events();
        assert_eq!(events.len(), 1, "{text}");
        events.remove(0)
    }

    /// The messages of an event stream.
    pub(crate) fn events(&self) -> Vec<Value> {
        let text = self.text();
        let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
        data.filter(|data| !data.trim().is_empty())
            .map(|data| serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {data}")))
            .collect()
    }

    /// The code of the JSON-RPC error that this is.
    pub(crate) fn error_code(&self) -> Value {
        self.json()["error"]["code"].clone()
    }

    /// The names of the tools that it lists.
    pub(crate) fn tools(&self) -> Vec<String> {
        let json = self.json();
        let tools = json["result"]["tools"].as_array().unwrap_or_else(|| panic!("no list: {json}"));
        tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("the header is text"))
    }
}

/// Sends a request and reads the answer to its end.
pub(crate) async fn send<S, B, R>(service: S, request: Request<B>) -> Answer
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Error: Debug,
    R: HttpBody<Data = Bytes>,
    R::Error: Into<BoxError>,
{
    let response = service.oneshot(request).await.expect("the service does not fail");
    read(response).await
}

/// Reads an answer to its end, and checks on the way that its hints are true.
pub(crate) async fn read<R>(response: Response<R>) -> Answer
where
    R: HttpBody<Data = Bytes>,
    R::Error: Into<BoxError>,
{
    let (parts, body) = response.into_parts();
    let (frames, trailers, error) = body::drain(body).await;
    Answer { status: parts.status, headers: parts.headers, frames, trailers, error }
}

/// A POST as MCP clients send it.
pub(crate) fn post(body: impl Into<Bytes>) -> Request<Body> {
    Request::post("http://127.0.0.1/mcp")
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json, text/event-stream")
        .body(Body::new(body))
        .expect("the request is well formed")
}

/// The request with one more header.
pub(crate) fn with<B>(mut request: Request<B>, name: &'static str, value: &str) -> Request<B> {
    request.headers_mut().append(name, value.parse().expect("the value is a header's"));
    request
}

/// The request with this header only.
pub(crate) fn only<B>(mut request: Request<B>, name: &'static str, value: &str) -> Request<B> {
    request.headers_mut().insert(name, value.parse().expect("the value is a header's"));
    request
}

pub(crate) const LIST: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#;

/// The capabilities that a host with MCP Apps declares.
pub(crate) fn apps_capabilities() -> Value {
    json!({ "extensions": { "io.modelcontextprotocol/ui": { "mimeTypes": ["text/html;profile=mcp-app"] } } })
}

/// An `initialize` with these capabilities.
pub(crate) fn initialize(capabilities: &Value) -> String {
    let info = json!({ "name": "client", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string()
}

/// A request of the modern era, with the headers that mirror it.
pub(crate) fn modern(method: &str, params: &Value, capabilities: &Value) -> Request<Body> {
    let mut params = params.clone();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    let message = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    let request = with(post(message.to_string()), "mcp-protocol-version", "2026-07-28");
    let request = with(request, "mcp-method", method);
    match params["name"].as_str() {
        Some(name) => with(request, "mcp-name", name),
        None => request,
    }
}
