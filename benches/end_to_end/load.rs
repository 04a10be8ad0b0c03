//! The load: some connections, each with one request at a time, for some seconds. Every answer is looked at.

use std::time::{Duration, Instant};

use bytes::Bytes;
use clap::{Args, ValueEnum};
use http::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderValue};
use http::{HeaderMap, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use memchr::memmem;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

#[derive(Args, Clone)]
pub struct Load {
    #[arg(long)]
    url: Uri,
    #[arg(long, default_value_t = 8)]
    connections: usize,
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    #[arg(long, default_value = "legacy")]
    era: Era,
    /// Declares MCP Apps, as a host does.
    #[arg(long)]
    apps: bool,
    /// What is asked, and how often each. `page` is a further page of `tools/list`, `events` a `tools/call` whose answer is
    /// an event stream.
    #[arg(long, default_value = "tools/call=14,tools/list=2,resources/read=2,ping=2")]
    mix: String,
    #[arg(long, default_value = "tool_2_search")]
    tool: String,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Era {
    Legacy,
    Modern,
}

impl Load {
    pub async fn run(self) -> Value {
        let began = Instant::now();
        let mut connections = JoinSet::new();
        for number in 0..self.connections {
            connections.spawn(self.clone().connection(number));
        }
        let mut times: Vec<u32> = connections.join_all().await.into_iter().flatten().collect();
        let seconds = began.elapsed().as_secs_f64();
        times.sort_unstable();
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
        json!({"requests": times.len(), "seconds": seconds, "median_us": at(0.5), "p99_us": at(0.99), "max_us": at(1.0)})
    }

    /// Microseconds of each exchange.
    async fn connection(self, number: usize) -> Vec<u32> {
        let mut client = self.connect().await;
        let mut headers = self.headers();
        if self.era == Era::Legacy {
            self.initialize(&mut client, &mut headers).await;
        }
        let asked: Vec<(&str, usize)> = self
            .mix
            .split(',')
            .map(|part| part.split_once('=').map(|(method, times)| (method, times.parse().unwrap())).unwrap())
            .collect();
        // Spread out, so that connections do not all ask the same at a time.
        let total: usize = asked.iter().map(|(_, times)| times).sum();
        let mut turn: Vec<&str> = asked.iter().flat_map(|(method, times)| vec![*method; *times]).collect();
        turn.rotate_left(number * 3 % total);
        turn = (0..total).map(|at| turn[at * 7 % total]).collect();
        let end = Instant::now() + Duration::from_secs_f64(self.seconds);
        let mut times = Vec::new();
        for (id, method) in (1_u64..).zip(turn.into_iter().cycle()) {
            let began = Instant::now();
            if began >= end {
                break;
            }
            let body = self.send(&mut client, &headers, method, Some(id)).await.1;
            times.push(began.elapsed().as_micros() as u32);
            let text = String::from_utf8_lossy(&body[..body.len().min(400)]);
            assert!(memmem::find(&body, b"\"result\"").is_some(), "{method}: {text}");
            assert!(memmem::find(&body, b"\"isError\":true").is_none(), "{method}: {text}");
        }
        times
    }

    async fn connect(&self) -> SendRequest<Full<Bytes>> {
        let stream = TcpStream::connect(self.url.authority().unwrap().as_str()).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let (client, connection) = handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        client
    }

    fn headers(&self) -> HeaderMap {
        let version = if self.era == Era::Modern { "2026-07-28" } else { "2025-06-18" };
        [
            (HOST, self.url.authority().unwrap().as_str()),
            (CONTENT_TYPE, "application/json"),
            (ACCEPT, "application/json, text/event-stream"),
            ("mcp-protocol-version".parse().unwrap(), version),
        ]
        .map(|(name, value)| (name, HeaderValue::from_str(value).unwrap()))
        .into_iter()
        .collect()
    }

    async fn initialize(&self, client: &mut SendRequest<Full<Bytes>>, headers: &mut HeaderMap) {
        let (answer, _) = self.send(client, headers, "initialize", Some(0)).await;
        if let Some(session) = answer.get("mcp-session-id") {
            headers.insert("mcp-session-id", session.clone());
        }
        self.send(client, headers, "notifications/initialized", None).await;
    }

    async fn send(
        &self,
        client: &mut SendRequest<Full<Bytes>>,
        headers: &HeaderMap,
        method: &str,
        id: Option<u64>,
    ) -> (HeaderMap, Bytes) {
        let mut request = Request::post(self.url.path()).body(Full::from(self.message(method, id))).unwrap();
        *request.headers_mut() = headers.clone();
        if method == "events" {
            request.headers_mut().insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        }
        let method = method_of(method);
        if self.era == Era::Modern {
            request.headers_mut().insert("mcp-method", HeaderValue::from_str(method).unwrap());
            if method == "tools/call" {
                request.headers_mut().insert("mcp-name", HeaderValue::from_str(&self.tool).unwrap());
            }
            if method == "resources/read" {
                request.headers_mut().insert("mcp-name", HeaderValue::from_static(PAGE));
            }
        }
        client.ready().await.unwrap();
        let (parts, body) = client.send_request(request).await.unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let expected = if id.is_some() { StatusCode::OK } else { StatusCode::ACCEPTED };
        assert_eq!(parts.status, expected, "{method}: {}", String::from_utf8_lossy(&body));
        (parts.headers, body)
    }

    fn message(&self, method: &str, id: Option<u64>) -> String {
        let capabilities = if self.apps {
            json!({"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}})
        } else {
            json!({})
        };
        let client = json!({"name": "bench", "version": "1.0.0"});
        let mut params = match method {
            "initialize" => {
                json!({"protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": client})
            }
            "page" => json!({"cursor": "bmV4dA=="}),
            "tools/call" | "events" => json!({"name": self.tool, "arguments": {"query": "harbour", "limit": 20}}),
            "resources/read" => json!({"uri": PAGE}),
            _ => json!({}),
        };
        if self.era == Era::Modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": client,
                "io.modelcontextprotocol/clientCapabilities": capabilities,
            });
        }
        let mut message = json!({"jsonrpc": "2.0", "method": method_of(method), "params": params});
        if let Some(id) = id {
            message["id"] = id.into();
        }
        message.to_string()
    }
}

/// The method by which the load asks for this.
fn method_of(asked: &str) -> &str {
    match asked {
        "page" => "tools/list",
        "events" => "tools/call",
        method => method,
    }
}

const PAGE: &str = "ui://archive/page.html";
