//! Scripted servers on ports of their own, and a gateway before them.

use axum::Router;
use http::header::HeaderName;
use http::{HeaderValue, Method, Request, Response};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tower_mcp_apps::testing::Body;

use crate::kit::example::Proxy;
use crate::kit::server::{Received, Server, json_answer};
use crate::kit::{self, Answer, apps_capabilities, initialize, modern, post, with};
use crate::servers;

/// A scripted server behind the gateway.
pub(crate) struct Upstream {
    pub(crate) name: &'static str,
    pub(crate) server: Server,
    pub(crate) url: String,
}

/// Puts a server on a port of the loopback interface.
pub(crate) async fn upstream(name: &'static str, server: Server) -> Upstream {
    let router = Router::new().fallback_service(server.clone());
    Upstream { name, server, url: listen(router).await }
}

/// Serves a router until the test's runtime ends.
pub(crate) async fn listen(router: Router) -> String {
    format!("http://{}/mcp", servers::serve(router).await)
}

/// A URL on which nobody listens.
pub(crate) async fn nowhere() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    format!("http://{}/mcp", listener.local_addr().expect("an address"))
}

/// What a server says to a request: the JSON text of its result, or an error's code and message.
pub(crate) type Said = Result<String, (i32, &'static str)>;

/// A server that answers requests of either era so, but for the greetings and notifications, and gives sessions named `NAME-1`.
pub(crate) fn mcp(name: &'static str, says: impl Fn(&str, &Value) -> Said + Send + Sync + 'static) -> Server {
    Server::new(move |received| {
        let message = received.json();
        let (Some(method), Some(_)) = (message["method"].as_str(), message.get("id")) else {
            return status(202);
        };
        let said = match (method, says(method, &message["params"])) {
            ("initialize", Err((-32601, _))) => Ok(greeting("2025-11-25", json!({ "tools": {}, "resources": {} }))),
            ("server/discover", Err((-32601, _))) => {
                let capabilities = json!({ "tools": {}, "resources": {} });
                let versions = json!(["2026-07-28"]);
                Ok(json!({ "resultType": "complete", "supportedVersions": versions, "capabilities": capabilities,
                    "ttlMs": 9000, "cacheScope": "public" })
                .to_string())
            }
            (_, said) => said,
        };
        let mut response = answer(received, said);
        if method == "initialize" {
            let session = format!("{name}-1");
            response.headers_mut().insert("mcp-session-id", session.parse().expect("visible ASCII"));
        }
        response
    })
}

/// The result of an `initialize`.
pub(crate) fn greeting(version: &str, capabilities: Value) -> String {
    let info = json!({ "name": "scripted", "version": "1" });
    json!({ "protocolVersion": version, "capabilities": capabilities, "serverInfo": info }).to_string()
}

/// Answers a request with its id.
pub(crate) fn answer(received: &Received, said: Said) -> Response<Body> {
    let id = received.json()["id"].to_string();
    json_answer(match said {
        Ok(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
        Err((code, message)) => {
            let error = json!({ "code": code, "message": message });
            format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
        }
    })
}

pub(crate) fn status(code: u16) -> Response<Body> {
    Response::builder().status(code).body(Body::default()).expect("the answer is well formed")
}

/// Nothing but these tools.
pub(crate) fn tools(name: &'static str, tools: &'static str) -> Server {
    mcp(name, move |method, params| match method {
        "tools/list" => Ok(list("tools", tools, "")),
        "tools/call" => Ok(json!({ "content": [], "called": params["name"], "of": name }).to_string()),
        "resources/read" => Ok(json!({ "contents": [], "read": params["uri"], "of": name }).to_string()),
        _ => Err((-32601, "Method not found")),
    })
}

/// A list's result of the modern era; `more` are further members.
pub(crate) fn list(member: &str, entries: &str, more: &str) -> String {
    format!(r#"{{"resultType":"complete","{member}":[{entries}]{more},"ttlMs":9000,"cacheScope":"public"}}"#)
}

/// A gateway, and a client of it.
pub(crate) struct Gateway {
    proxy: Proxy,
    client: Client<HttpConnector, Body>,
}

impl Gateway {
    /// Starts one before these upstreams.
    pub(crate) async fn before(upstreams: &[&Upstream], flags: &[&str]) -> Self {
        let named: Vec<_> = upstreams.iter().map(|upstream| (upstream.name, upstream.url.as_str())).collect();
        Self::start(&named, flags).await
    }

    pub(crate) async fn start(upstreams: &[(&str, &str)], flags: &[&str]) -> Self {
        let mut all: Vec<String> = flags.iter().map(|flag| flag.to_string()).collect();
        for (name, url) in upstreams {
            all.extend(["--upstream".to_owned(), format!("{name}={url}")]);
        }
        let started = tokio::task::spawn_blocking(move || {
            let flags: Vec<_> = all.iter().map(String::as_str).collect();
            Proxy::start_example("gateway", &flags)
        });
        let proxy = started.await.expect("it starts");
        Self { proxy, client: Client::builder(TokioExecutor::new()).build_http() }
    }

    pub(crate) fn authority(&self) -> String {
        self.proxy.endpoint.authority().expect("a host").to_string()
    }

    /// Sends a request, and gives the answer as soon as its head is there.
    pub(crate) async fn open(&self, mut request: Request<Body>) -> Response<Incoming> {
        *request.uri_mut() = self.proxy.endpoint.clone();
        self.client.request(request).await.expect("an answer")
    }

    /// Sends a request, and reads the answer to its end.
    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        kit::read(self.open(request).await).await
    }

    /// Asks in the modern era, as a host with MCP Apps.
    pub(crate) async fn ask(&self, method: &str, params: Value) -> Answer {
        self.send(host(method, params)).await
    }

    /// Opens a legacy session as a host with MCP Apps, and gives its id.
    pub(crate) async fn session(&self) -> HeaderValue {
        let answer = self.send(post(initialize(&apps_capabilities()))).await;
        answer.headers.get("mcp-session-id").unwrap_or_else(|| panic!("no session: {}", answer.text())).clone()
    }
}

/// A request of the modern era by a host with MCP Apps.
pub(crate) fn host(method: &str, params: Value) -> Request<Body> {
    let request = modern(method, &params, &apps_capabilities());
    match params["uri"].as_str() {
        Some(uri) => with(request, "mcp-name", uri),
        None => request,
    }
}

/// A request of the legacy era in a session.
pub(crate) fn legacy(session: &HeaderValue, message: Value) -> Request<Body> {
    in_session(session, post(message.to_string()))
}

/// The request, as part of a session.
pub(crate) fn in_session(session: &HeaderValue, mut request: Request<Body>) -> Request<Body> {
    request.headers_mut().insert(HeaderName::from_static("mcp-session-id"), session.clone());
    with(request, "mcp-protocol-version", "2025-11-25")
}

/// A request without a body in a session.
pub(crate) fn bodiless(method: Method, session: &HeaderValue) -> Request<Body> {
    let mut request = Request::new(Body::default());
    *request.method_mut() = method;
    request.headers_mut().insert("accept", HeaderValue::from_static("text/event-stream"));
    in_session(session, request)
}

/// What the answer says of upstreams that are left out.
pub(crate) fn unavailable(answer: &Value) -> &Value {
    &answer["result"]["_meta"]["tower-mcp-apps.gateway/unavailable"]
}
