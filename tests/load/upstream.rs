//! The MCP server behind the proxy. It knows which streams are open and how often each call ran, and it can fail.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::routing::any;
use axum::serve::ListenerExt;
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Method, Response, StatusCode, Uri};
use http_body::Frame;
use http_body_util::StreamBody;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{broadcast, mpsc};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;

/// The header that numbers a stream which a GET opens; calls have the number in their arguments.
pub const NUMBER: &str = "x-number";
pub const PAGE: &str = "ui://load/page.html";
const CHUNKS: usize = 4;

/// The server. Its clones are one.
#[derive(Clone)]
pub struct Upstream {
    pub url: Uri,
    state: Arc<State>,
}

struct State {
    /// The streams that are open, by number.
    open: Mutex<HashSet<u64>>,
    /// How often each call ran.
    ran: Mutex<HashMap<u64, u32>>,
    ticks: broadcast::Sender<()>,
}

type Chunk = Result<Bytes, io::Error>;

impl Upstream {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap()).parse().unwrap();
        let state = State { open: Mutex::default(), ran: Mutex::default(), ticks: broadcast::channel(256).0 };
        let server = Self { url, state: Arc::new(state) };
        let (listener, shared) = (listener.tap_io(|stream| stream.set_nodelay(true).unwrap()), server.clone());
        let app = Router::new().route(
            "/mcp",
            any(async move |method: Method, headers: HeaderMap, body: Bytes| {
                shared.answer(&method, &headers, &body).await
            }),
        );
        tokio::spawn(async move { axum::serve(listener, app).await });
        server
    }

    /// Each open stream sends an event.
    pub fn tick(&self) {
        // Where no stream is open, nobody receives it.
        let _ = self.state.ticks.send(());
    }

    /// How many streams are open.
    pub fn open(&self) -> usize {
        self.state.open.lock().unwrap().len()
    }

    pub fn is_open(&self, number: u64) -> bool {
        self.state.open.lock().unwrap().contains(&number)
    }

    /// How often the call ran.
    pub fn runs(&self, number: u64) -> u32 {
        self.state.ran.lock().unwrap().get(&number).copied().unwrap_or_default()
    }

    /// Forgets how often the call ran, so that a long run needs no more memory than a short one.
    pub fn take_runs(&self, number: u64) -> u32 {
        self.state.ran.lock().unwrap().remove(&number).unwrap_or_default()
    }

    async fn answer(&self, method: &Method, headers: &HeaderMap, body: &Bytes) -> Response<Body> {
        if method == Method::GET {
            let number = headers[NUMBER].to_str().unwrap().parse().unwrap();
            return self.stream(number, usize::MAX, None);
        }
        let message: Value = serde_json::from_slice(body).unwrap_or_default();
        let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) else {
            return empty(StatusCode::ACCEPTED);
        };
        let params = &message["params"];
        let is_modern = params["_meta"].get("io.modelcontextprotocol/protocolVersion").is_some();
        let mut result = match method {
            "tools/call" => return self.call(id, params).await,
            "initialize" => json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}, "resources": {}},
                "serverInfo": {"name": "load", "version": "1"},
            }),
            "tools/list" => json!({"tools": tools()}),
            "resources/read" => json!({"contents": [{
                "uri": PAGE,
                "mimeType": "text/html;profile=mcp-app",
                "_meta": {"ui": {"csp": {"connectDomains": ["https://api.example.com", "https://elsewhere.example"]}}},
                "text": "x".repeat(20_000),
            }]}),
            _ => json!({}),
        };
        if is_modern {
            result["resultType"] = "complete".into();
            result["ttlMs"] = 0.into();
            result["cacheScope"] = "public".into();
        }
        let mut response = sent(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
        if method == "initialize" {
            response.headers_mut().insert("mcp-session-id", HeaderValue::from_static("load-session"));
        }
        response
    }

    async fn call(&self, id: &Value, params: &Value) -> Response<Body> {
        let number = params["arguments"]["number"].as_u64().unwrap_or_default();
        *self.state.ran.lock().unwrap().entry(number).or_default() += 1;
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": {
            "content": [{"type": "text", "text": number.to_string()}], "resultType": "complete",
        }});
        match params["name"].as_str().unwrap_or_default() {
            "watch" => {
                let events = params["arguments"]["events"].as_u64().unwrap_or_default();
                self.stream(number, events as usize, Some(event(&answer)))
            }
            "slow" => {
                tokio::time::sleep(Duration::from_secs(1)).await;
                sent(&answer)
            }
            "dies" => {
                let half = event(&answer);
                broken(events(), [event(&progress(number, 0)), half.slice(..half.len() / 2)])
            }
            "short" => {
                let text = answer.to_string();
                let mut response = broken(json_type(), [Bytes::copy_from_slice(&text.as_bytes()[..text.len() / 2])]);
                response.headers_mut().insert(CONTENT_LENGTH, text.len().into());
                response
            }
            _ => sent(&answer),
        }
    }

    /// An event stream: an event at each tick, so many in all, and then the last one.
    fn stream(&self, number: u64, events: usize, last: Option<Bytes>) -> Response<Body> {
        let (sender, chunks) = mpsc::channel::<Chunk>(CHUNKS);
        let mut ticks = self.state.ticks.subscribe();
        let state = self.state.clone();
        assert!(state.open.lock().unwrap().insert(number), "stream {number} is open twice");
        tokio::spawn(async move {
            for sent in 0..events {
                tokio::select! {
                    tick = ticks.recv() => tick.unwrap(),
                    () = sender.closed() => break,
                }
                // It waits for a reader that is slow, as a server would.
                if sender.send(Ok(event(&progress(number, sent)))).await.is_err() {
                    break;
                }
            }
            if let Some(last) = last {
                let _ = sender.send(Ok(last)).await;
            }
            state.open.lock().unwrap().remove(&number);
        });
        labelled(self::events(), chunks)
    }
}

/// The notification that a stream's event is.
pub fn progress(number: u64, sent: usize) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": number, "progress": sent}})
}

/// A list with one tool of each kind, and some more.
fn tools() -> Value {
    let schema = json!({"type": "object"});
    let mut tools = vec![
        json!({"name": "poll", "inputSchema": schema, "_meta": {"ui": {"resourceUri": PAGE, "visibility": ["app"]}}}),
        json!({"name": "work", "inputSchema": schema, "_meta": {"ui/resourceUri": PAGE}}),
    ];
    for name in ["watch", "slow", "dies", "short"] {
        tools.push(json!({"name": name, "description": "d".repeat(400), "inputSchema": schema}));
    }
    tools.into()
}

fn event(message: &Value) -> Bytes {
    format!("event: message\ndata: {message}\n\n").into()
}

fn events() -> HeaderValue {
    HeaderValue::from_static("text/event-stream")
}

fn json_type() -> HeaderValue {
    HeaderValue::from_static("application/json")
}

/// An answer that breaks off, and takes its connection with it.
fn broken<const N: usize>(content_type: HeaderValue, chunks: [Bytes; N]) -> Response<Body> {
    let (sender, body) = mpsc::channel::<Chunk>(N);
    tokio::spawn(async move {
        for chunk in chunks {
            let _ = sender.send(Ok(chunk)).await;
        }
        // What came before has to leave, or there is no answer at all.
        tokio::time::sleep(Duration::from_millis(20)).await;
        let _ = sender.send(Err(io::Error::other("died as asked"))).await;
    });
    labelled(content_type, body)
}

fn labelled(content_type: HeaderValue, body: mpsc::Receiver<Chunk>) -> Response<Body> {
    let frames = ReceiverStream::new(body).map(|it| it.map(Frame::data));
    let mut response = Response::new(Body::new(StreamBody::new(frames)));
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}

fn sent(message: &Value) -> Response<Body> {
    let mut response = Response::new(Body::from(message.to_string()));
    response.headers_mut().insert(CONTENT_TYPE, json_type());
    response
}

fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}
