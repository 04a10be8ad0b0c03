//! The clients: who asks, over which version of HTTP, and what is read of the answer.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderValue};
use http::{HeaderName, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use memchr::memmem;
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::upstream::NUMBER;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Http {
    First,
    Second,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Era {
    Legacy,
    Modern,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum Failure {
    /// It is known that the request went to nobody.
    NotSent,
    /// The connection was lost meanwhile, or the stream.
    Lost(#[expect(dead_code, reason = "to be seen where it is unexpected")] hyper::Error),
}

/// A connection to the proxy.
pub enum Connection {
    First(http1::SendRequest<Full<Bytes>>),
    Second(http2::SendRequest<Full<Bytes>>),
}

impl Connection {
    pub async fn open(url: &Uri, http: Http) -> Result<Self, Failure> {
        let stream = TcpStream::connect(url.authority().unwrap().as_str()).await.map_err(|_| Failure::NotSent)?;
        stream.set_nodelay(true).unwrap();
        let stream = TokioIo::new(stream);
        Ok(match http {
            Http::First => {
                let (client, connection) = http1::handshake(stream).await.map_err(|_| Failure::NotSent)?;
                tokio::spawn(connection);
                Self::First(client)
            }
            Http::Second => {
                let handshake = http2::handshake(TokioExecutor::new(), stream).await;
                let (client, connection) = handshake.map_err(|_| Failure::NotSent)?;
                tokio::spawn(connection);
                Self::Second(client)
            }
        })
    }

    /// Another handle of the same connection. Only HTTP/2 has any use for it.
    pub fn share(&self) -> Option<Self> {
        match self {
            Self::First(_) => None,
            Self::Second(client) => Some(Self::Second(client.clone())),
        }
    }

    pub async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Failure> {
        let ready = match self {
            Self::First(client) => client.ready().await,
            Self::Second(client) => client.ready().await,
        };
        ready.map_err(|_| Failure::NotSent)?;
        let answer = match self {
            Self::First(client) => client.send_request(request).await,
            Self::Second(client) => client.send_request(request).await,
        };
        answer.map_err(|error| if error.is_canceled() { Failure::NotSent } else { Failure::Lost(error) })
    }
}

/// One who asks: in which era, with MCP Apps or without, in which session.
#[derive(Clone)]
pub struct Caller {
    pub era: Era,
    pub has_apps: bool,
    session: Option<HeaderValue>,
}

/// One of the eight kinds of clients, which take turns: either version of HTTP, either era, with MCP Apps or without.
pub fn kind(number: u64) -> (Http, Caller) {
    let is = |bit: u64| number & bit != 0;
    let http = if is(1) { Http::Second } else { Http::First };
    let era = if is(2) { Era::Modern } else { Era::Legacy };
    (http, Caller::new(era, !is(4)))
}

impl Caller {
    /// Without a session so far.
    pub fn new(era: Era, has_apps: bool) -> Self {
        Self { era, has_apps, session: None }
    }

    /// Opens a session, where the era has them.
    pub async fn initialize(&mut self, url: &Uri, connection: &mut Connection) -> Result<(), Failure> {
        if self.era == Era::Modern {
            return Ok(());
        }
        self.session = None;
        let answer = connection.send(self.request(url, "initialize", json!({}), 0)).await?;
        self.session = answer.headers().get(SESSION).cloned();
        assert!(self.session.is_some(), "no session");
        read(answer).await.map(drop)
    }

    fn capabilities(&self) -> Value {
        match self.has_apps {
            true => json!({"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}),
            false => json!({}),
        }
    }

    /// A request with this id.
    pub fn request(&self, url: &Uri, method: &str, mut params: Value, id: u64) -> Request<Full<Bytes>> {
        let is_modern = self.era == Era::Modern;
        let mut request = Request::post(url).header(CONTENT_TYPE, "application/json");
        if is_modern {
            request = request.header("mcp-method", method).header("mcp-protocol-version", "2026-07-28");
            if let Some(name) = params["name"].as_str().or(params["uri"].as_str()) {
                request = request.header("mcp-name", name);
            }
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "load", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": self.capabilities(),
            });
        } else if method == "initialize" {
            params["protocolVersion"] = "2025-11-25".into();
            params["clientInfo"] = json!({"name": "load", "version": "1"});
            params["capabilities"] = self.capabilities();
        } else {
            request = request.header("mcp-protocol-version", "2025-11-25");
        }
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.complete(request, url).body(Full::from(message.to_string())).unwrap()
    }

    /// The GET that opens a stream of what the server has to say.
    pub fn listen(&self, url: &Uri, number: u64) -> Request<Full<Bytes>> {
        self.complete(Request::get(url).header(NUMBER, number), url).body(Full::default()).unwrap()
    }

    fn complete(&self, request: http::request::Builder, url: &Uri) -> http::request::Builder {
        let request = request.header(ACCEPT, "application/json, text/event-stream");
        let request = request.header(HOST, url.authority().unwrap().as_str());
        match &self.session {
            Some(session) => request.header(SESSION, session),
            None => request,
        }
    }
}

/// The whole of a JSON answer, or what broke it off.
pub async fn read(answer: Response<Incoming>) -> Result<Value, Failure> {
    let status = answer.status();
    let body = answer.into_body().collect().await.map_err(Failure::Lost)?.to_bytes();
    match serde_json::from_slice(&body) {
        Ok(value) => Ok(value),
        Err(_) if body.is_empty() && status == StatusCode::ACCEPTED => Ok(Value::Null),
        Err(error) => panic!("{status}, {error}: {}", String::from_utf8_lossy(&body)),
    }
}

/// The events of a stream, one after the other.
pub struct Events {
    body: Incoming,
    held: Vec<u8>,
}

impl Events {
    pub fn of(answer: Response<Incoming>) -> Self {
        assert_eq!(answer.status(), StatusCode::OK);
        assert_eq!(answer.headers()[CONTENT_TYPE], "text/event-stream");
        Self { body: answer.into_body(), held: Vec::new() }
    }

    /// The next message, or none where the stream is over. An error where it broke off.
    pub async fn next(&mut self) -> Result<Option<Value>, Failure> {
        loop {
            if let Some(end) = memmem::find(&self.held, b"\n\n") {
                let event: Vec<u8> = self.held.drain(..end + 2).collect();
                let data = event.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"data: "));
                return Ok(Some(serde_json::from_slice(data.unwrap_or_default()).unwrap()));
            }
            match self.body.frame().await {
                Some(Ok(frame)) => self.held.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data)),
                Some(Err(error)) => return Err(Failure::Lost(error)),
                None if self.held.is_empty() => return Ok(None),
                None => panic!("half an event, then the end: {}", String::from_utf8_lossy(&self.held)),
            }
        }
    }
}
