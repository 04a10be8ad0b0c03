//! A client that asks a service in the process, in whichever era the service speaks.

use std::future::poll_fn;
use std::pin::pin;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST};
use http::{HeaderValue, Request, Response, request};
use http_body::Body as HttpBody;
use serde_json::{Value, json};
use tower_service::Service;

use super::Body;
use super::unanswered::{BoxError, Unanswered, Why};
use crate::exchange::Content;
use crate::protocol::{APP_MEDIA_TYPE, UI_EXTENSION, header, meta};
use crate::sse::Splitter;

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";

/// More pages than this are no list.
const MOST_PAGES: usize = 1000;

/// A client with MCP Apps that has shaken hands with a service.
pub(super) struct Client<S> {
    service: S,
    era: Era,
    last_id: u64,
    capabilities: Value,
}

enum Era {
    Modern,
    Legacy { session: Option<HeaderValue>, version: Option<HeaderValue> },
}

impl<S, R> Client<S>
where
    S: Service<Request<Body>, Response = Response<R>>,
    S::Error: Into<BoxError>,
    R: HttpBody<Data = Bytes>,
    R::Error: Into<BoxError>,
{
    /// Shakes hands: in the modern era, or else in the legacy one.
    pub(super) async fn connect(service: S) -> Result<Self, Unanswered> {
        let mut client = Self { service, era: Era::Modern, last_id: 0, capabilities: Value::Null };
        if let Ok(discovered) = client.ask("server/discover", json!({})).await {
            client.capabilities = discovered["capabilities"].clone();
            return Ok(client);
        }
        client.era = Era::Legacy { session: None, version: None };
        let info = json!({ "name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION") });
        let params = json!({ "protocolVersion": LEGACY, "capabilities": declared(), "clientInfo": info });
        let initialized = client.ask("initialize", params).await?;
        client.capabilities = initialized["capabilities"].clone();
        let chosen = initialized["protocolVersion"].as_str().and_then(|version| HeaderValue::from_str(version).ok());
        if let Era::Legacy { version, .. } = &mut client.era {
            *version = chosen;
        }
        let notification = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        client.send("notifications/initialized", &notification).await?;
        Ok(client)
    }

    /// Whether the service declared a capability.
    pub(super) fn has(&self, capability: &str) -> bool {
        self.capabilities.get(capability).is_some()
    }

    /// All entries of a list.
    pub(super) async fn list(&mut self, method: &'static str, member: &str) -> Result<Vec<Value>, Unanswered> {
        let (mut entries, mut params) = (Vec::new(), json!({}));
        for _ in 0..MOST_PAGES {
            let mut page = self.ask(method, params.clone()).await?;
            if let Value::Array(more) = page[member].take() {
                entries.extend(more);
            }
            let cursor = page["nextCursor"].take();
            if cursor.is_null() {
                return Ok(entries);
            }
            if params["cursor"] == cursor {
                break;
            }
            params["cursor"] = cursor;
        }
        Err(Unanswered::new(method, Why::Endless))
    }

    /// The result of one request.
    pub(super) async fn ask(&mut self, method: &'static str, mut params: Value) -> Result<Value, Unanswered> {
        self.last_id += 1;
        let id = self.last_id;
        if matches!(self.era, Era::Modern) {
            params["_meta"] = json!({ (meta::PROTOCOL_VERSION): MODERN, (meta::CLIENT_CAPABILITIES): declared() });
        }
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let response = self.send(method, &message).await?;
        let (parts, body) = response.into_parts();
        if let (Era::Legacy { session, .. }, "initialize") = (&mut self.era, method) {
            *session = parts.headers.get(header::SESSION_ID).cloned();
        }
        let is_stream = Content::of(&parts.headers) == Content::Events;
        let answer =
            find_answer(body, is_stream, id).await.map_err(|error| Unanswered::new(method, Why::Body(error)))?;
        let Some(mut answer) = answer else {
            return Err(Unanswered::new(method, Why::NoAnswer(parts.status)));
        };
        if let Some(error) = answer.get("error") {
            let message = error["message"].as_str().unwrap_or_default().to_owned();
            return Err(Unanswered::new(
                method,
                Why::Error { code: error["code"].as_i64().unwrap_or_default(), message },
            ));
        }
        Ok(answer["result"].take())
    }

    /// Ends the session, where there is one.
    pub(super) async fn close(mut self) {
        if let Era::Legacy { session: Some(_), .. } = &self.era {
            let request = self.head(Request::delete(PATH)).body(Body::default());
            if let Ok(request) = request {
                // The lint is done, whatever comes of it.
                drop(self.call(request).await);
            }
        }
    }

    async fn send(&mut self, method: &'static str, message: &Value) -> Result<Response<R>, Unanswered> {
        let mut request = self.head(Request::post(PATH)).header(CONTENT_TYPE, "application/json");
        if matches!(self.era, Era::Modern) {
            request = request.header(header::METHOD, method);
            if let Some(uri) = message["params"]["uri"].as_str() {
                request = request.header(header::NAME, mirrored(uri));
            }
        }
        let failed = |error| Unanswered::new(method, Why::Service(error));
        let request = request.body(Body::from(Bytes::from(message.to_string())));
        let request = request.map_err(|error| failed(error.into()))?;
        self.call(request).await.map_err(|error| failed(error.into()))
    }

    fn head(&self, request: request::Builder) -> request::Builder {
        // Servers that guard against DNS rebinding look at the host.
        let request = request.header(HOST, "localhost").header(ACCEPT, "application/json, text/event-stream");
        match &self.era {
            Era::Modern => request.header(header::PROTOCOL_VERSION, MODERN),
            Era::Legacy { session, version } => {
                let headers = [(header::SESSION_ID, session), (header::PROTOCOL_VERSION, version)];
                headers.into_iter().fold(request, |request, (name, value)| match value {
                    Some(value) => request.header(name, value),
                    None => request,
                })
            }
        }
    }

    async fn call(&mut self, request: Request<Body>) -> Result<Response<R>, S::Error> {
        poll_fn(|cx| self.service.poll_ready(cx)).await?;
        self.service.call(request).await
    }
}

const PATH: &str = "/mcp";

/// What a host with MCP Apps declares.
fn declared() -> Value {
    json!({ "extensions": { UI_EXTENSION: { "mimeTypes": [APP_MEDIA_TYPE] } } })
}

/// A value as headers of the modern era mirror it (MCP 2026-07-28, "Value Encoding").
fn mirrored(value: &str) -> String {
    let is_plain = value.bytes().all(|byte| matches!(byte, b'!'..=b'~')) && !value.starts_with("=?");
    if is_plain { value.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(value)) }
}

/// The answer with this id. Of an event stream no more is read than that takes.
async fn find_answer<R>(body: R, is_stream: bool, id: u64) -> Result<Option<Value>, BoxError>
where
    R: HttpBody<Data = Bytes>,
    R::Error: Into<BoxError>,
{
    let is_answer = |message: &Value| message["id"] == id;
    let read = |bytes: &[u8]| serde_json::from_slice(bytes).ok().filter(is_answer);
    let mut body = pin!(body);
    let mut whole = Vec::new();
    let mut events = Splitter::default();
    while let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
        let Ok(piece) = frame.map_err(Into::into)?.into_data() else { continue };
        if !is_stream {
            whole.extend_from_slice(&piece);
            continue;
        }
        events.push(piece);
        while let Some(event) = events.next_block() {
            if let Some(answer) = read(&event.data()) {
                return Ok(Some(answer));
            }
        }
    }
    // Some servers forget the last blank line.
    let last = std::iter::from_fn(|| events.finish()).find_map(|event| read(&event.data()));
    Ok(last.or_else(|| read(&whole)))
}
