//! An MCP server with canned answers. It parses requests no further than to echo their id, so that little of what is
//! measured is its own.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, HeaderName, Method, Response, StatusCode};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::corpus;

#[derive(Clone)]
pub struct Server(Arc<Answers>);

struct Answers {
    tools: Bytes,
    few_tools: Bytes,
    page: Bytes,
    events: Vec<Bytes>,
}

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: String,
    #[serde(default)]
    params: Params,
}

#[derive(Deserialize, Default)]
struct Params {
    cursor: Option<String>,
}

const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream");

/// How many events come before the answer, where only events are asked for.
const EVENTS: usize = 1_000;

const CALLED: &[u8] =
    br#"{"content":[{"type":"text","text":"12 documents, the newest of today"}],"isError":false,"resultType":"complete"}"#;

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

impl Server {
    pub fn new() -> Self {
        let result = |message: &Bytes| {
            let text = std::str::from_utf8(message).unwrap();
            let result = text.split_once(r#""result":"#).unwrap().1;
            Bytes::copy_from_slice(result.strip_suffix('}').unwrap().as_bytes())
        };
        // One page is all there is.
        let list = |count| {
            let tools = String::from_utf8(result(&corpus::tools(0, count)).into()).unwrap();
            Bytes::from(tools.replace(
                r#","nextCursor":"bmV4dA==""#,
                r#","resultType":"complete","ttlMs":60000,"cacheScope":"public""#,
            ))
        };
        let mut events = corpus::progress(EVENTS);
        events.pop();
        let page = result(&corpus::page(50_000));
        Self(Arc::new(Answers { tools: list(100), few_tools: list(20), page, events }))
    }

    pub async fn answer(self, method: Method, headers: HeaderMap, body: Bytes) -> Response<Body> {
        match serde_json::from_slice::<Call<'_>>(&body) {
            // A session that was ended.
            _ if method == Method::DELETE => empty(StatusCode::OK),
            _ if method != Method::POST => empty(StatusCode::METHOD_NOT_ALLOWED),
            Err(_) => empty(StatusCode::BAD_REQUEST),
            Ok(Call { id: None, .. }) => empty(StatusCode::ACCEPTED),
            Ok(Call { id: Some(id), method, .. })
                if method == "tools/call" && headers.get(ACCEPT).is_some_and(|accept| accept == EVENT_STREAM) =>
            {
                self.events(id.get())
            }
            Ok(Call { id: Some(id), method, params }) => self.result(&method, id.get(), params.cursor.is_some()),
        }
    }

    fn events(&self, id: &str) -> Response<Body> {
        let answer = [br#"{"jsonrpc":"2.0","id":"#, id.as_bytes(), br#","result":"#, CALLED, b"}"].concat();
        let events = self.0.events.clone().into_iter().chain([corpus::one_event(&answer)]);
        let mut response = Response::new(Body::from_stream(tokio_stream::iter(events.map(Ok::<_, Infallible>))));
        response.headers_mut().insert(CONTENT_TYPE, EVENT_STREAM);
        response
    }

    fn result(&self, method: &str, id: &str, is_page: bool) -> Response<Body> {
        let result: &[u8] = match method {
            "initialize" => {
                br#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"bench","version":"1.0.0"}}"#
            }
            "tools/list" if is_page => &self.0.few_tools,
            "tools/list" => &self.0.tools,
            "tools/call" => CALLED,
            "resources/read" => &self.0.page,
            "resources/list" => {
                br#"{"resources":[{"uri":"ui://archive/page.html","name":"page","mimeType":"text/html;profile=mcp-app"}],"resultType":"complete","ttlMs":60000,"cacheScope":"public"}"#
            }
            "resources/templates/list" => br#"{"resourceTemplates":[]}"#,
            "prompts/list" => br#"{"prompts":[]}"#,
            "ping" => b"{}",
            _ => {
                let error = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"Method not found"}}}}"#);
                return json(error.into());
            }
        };
        let mut response =
            json([br#"{"jsonrpc":"2.0","id":"#, id.as_bytes(), br#","result":"#, result, b"}"].concat().into());
        if method == "initialize" {
            response.headers_mut().insert(SESSION_ID, HeaderValue::from_static("session-0001"));
        }
        response
    }
}

fn json(body: Bytes) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}
