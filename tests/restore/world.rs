//! Upstreams with rich metadata, and an aggregator that hands on hardly any of it.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use http::{Request, Response};
use http_body::Body as HttpBody;
use serde_json::{Value, json};
use tower::{Layer, Service};
use tower_mcp_apps::protocol::Namespace;
use tower_mcp_apps::restore::{CaptureLayer, Memory};
use tower_mcp_apps::testing::Body;

use crate::kit::body::BoxError;
use crate::kit::server::{Received, Server, json_answer, record};
use crate::kit::{Answer, post, send};

/// What the upstream `maps` says, on two pages, with numbers and spaces that no decoder keeps.
pub(crate) const TOOLS: [&str; 2] = [
    r#"{"tools":[{"name":"show","title":"Show a map","description":"Shows","inputSchema":{"type":"object"},
"annotations":{"readOnlyHint":true,"com.example/hint":1.0},"com.example/unknown":{ "n": 1.0, "big": 123456789012345678901234567890 },
"_meta":{"ui":{"resourceUri":"ui://server/view","com.example/x":-0.0},"ui/resourceUri":"ui://server/view",
"openai/outputTemplate":"ui://server/view","com.example/k":[1, 2.50]}}],"nextCursor":"two"}"#,
    r#"{"tools":[{"name":"poll","inputSchema":{"type":"object"},"_meta":{"ui":{"resourceUri":"ui://server/view","visibility":["app"]}}},
{"name":"plain","inputSchema":{"type":"object"}}]}"#,
];

pub(crate) const RESOURCES: &str = r#"{"resources":[{"uri":"ui://server/view","name":"view","mimeType":"text/html;profile=mcp-app",
"size":10,"_meta":{"ui":{"prefersBorder":true,"csp":{"connectDomains":["https://api.example.com"]}}}}]}"#;

pub(crate) const TEMPLATES: &str = r#"{"resourceTemplates":[{"uriTemplate":"ui://server/{view}","name":"views",
"mimeType":"text/html;profile=mcp-app","_meta":{"com.example/k":1.0}}]}"#;

pub(crate) const CONTENTS: &str = r#"{"contents":[{"uri":"ui://server/view","mimeType":"text/html;profile=mcp-app","text":"<!doctype html>",
"_meta":{"ui":{"csp":{"connectDomains":["https://api.example.com"]},"domain":"a.example"},"com.example/n":1e2}}]}"#;

/// The result for a request, of the upstream with all of the above.
pub(crate) fn rich(received: &Received) -> String {
    let message = received.json();
    let has_cursor = message["params"]["cursor"] == "two";
    match message["method"].as_str() {
        Some("tools/list") if has_cursor => TOOLS[1].to_owned(),
        Some("tools/list") => TOOLS[0].to_owned(),
        Some("resources/list") => RESOURCES.to_owned(),
        Some("resources/templates/list") => TEMPLATES.to_owned(),
        Some("resources/read") => CONTENTS.to_owned(),
        _ => r#"{"content":[{"type":"text","text":"ran"}]}"#.to_owned(),
    }
}

/// A server whose results this says, as JSON texts.
pub(crate) fn upstream(result: impl Fn(&Received) -> String + Send + Sync + 'static) -> Server {
    Server::new(move |received| {
        let id = &received.json()["id"];
        json_answer(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, result(received)))
    })
}

/// An upstream with one tool that says this, as a JSON text.
pub(crate) fn one_tool(tool: &'static str) -> Server {
    upstream(move |_| format!(r#"{{"tools":[{tool}]}}"#))
}

pub(crate) fn maps() -> Namespace {
    Namespace::new("maps").expect("a name")
}

type Ask = dyn Fn(Request<Body>) -> Pin<Box<dyn Future<Output = Answer> + Send>> + Send + Sync;

/// An aggregator that keeps of each entry its name or URI and what it cannot do without, under names of its own, and asks
/// its upstreams with the headers of its caller. Its clones are one.
#[derive(Clone)]
pub(crate) struct Lossy {
    upstreams: Vec<(Namespace, Arc<Ask>)>,
    /// The members that it keeps all the same.
    keeps: &'static [&'static str],
    cache: Option<Arc<Mutex<HashMap<String, Value>>>>,
    has_meta_tools: bool,
}

impl Lossy {
    pub(crate) fn new() -> Self {
        Self { upstreams: Vec::new(), keeps: &["description", "inputSchema"], cache: None, has_meta_tools: false }
    }

    /// The same, and hides its catalogue behind tools of its own: what they say is a text, for a model.
    pub(crate) fn with_meta_tools(mut self) -> Self {
        self.has_meta_tools = true;
        self
    }

    /// In front of this upstream, through this layer.
    pub(crate) fn behind(mut self, namespace: Namespace, layer: &CaptureLayer, upstream: Server) -> Self {
        let service = layer.layer(upstream);
        let ask = move |request| {
            let answer = send(service.clone(), request);
            Box::pin(answer) as Pin<Box<dyn Future<Output = Answer> + Send>>
        };
        self.upstreams.push((namespace, Arc::new(ask)));
        self
    }

    /// The same, and keeps these members.
    pub(crate) fn keeping(mut self, members: &'static [&'static str]) -> Self {
        self.keeps = members;
        self
    }

    /// The same, and asks no upstream twice for a caller's list or content.
    pub(crate) fn with_cache(mut self) -> Self {
        self.cache = Some(Arc::default());
        self
    }

    async fn answer(self, received: Received) -> Response<Body> {
        let message = received.json();
        let method = message["method"].as_str().unwrap_or_default();
        let arguments = &message["params"]["arguments"];
        let meta_tool = message["params"]["name"].as_str().filter(|_| self.has_meta_tools && method == "tools/call");
        let result = match meta_tool {
            Some("list_tools") => text_of(self.result(&received, "tools/list", arguments).await["tools"].take()),
            Some("list_resources") => {
                text_of(self.result(&received, "resources/list", arguments).await["resources"].take())
            }
            Some("get_resource") => text_of(self.result(&received, "resources/read", arguments).await),
            Some("call_tool") => self.result(&received, "tools/call", arguments).await,
            _ if self.has_meta_tools && method == "tools/list" => {
                let names = ["list_tools", "list_resources", "get_resource", "call_tool"];
                json!({ "tools": names.map(|name| json!({ "name": name, "inputSchema": { "type": "object" } })) })
            }
            _ => self.result(&received, method, &message["params"]).await,
        };
        json_answer(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string())
    }

    /// What its upstreams answer to this, as it says it.
    async fn result(&self, received: &Received, method: &str, asked_for: &Value) -> Value {
        let (list, own, change): (_, _, fn(&Namespace, &str) -> String) = match method {
            "tools/list" => ("tools", "name", Namespace::add_to_name),
            "resources/list" => ("resources", "uri", Namespace::add_to_uri),
            "resources/templates/list" => ("resourceTemplates", "uriTemplate", Namespace::add_to_uri),
            "resources/read" => ("contents", "uri", Namespace::add_to_uri),
            _ => ("", "", Namespace::add_to_name),
        };
        let caller = received.header("authorization").unwrap_or_default();
        let asked = format!("{caller} {method} {}", asked_for["uri"]);
        let cached = self.cache.as_ref().and_then(|cache| lock(cache).get(&asked).cloned());
        let mut result = cached.unwrap_or_else(|| json!({ list: [] }));
        let is_cached = result[list].as_array().is_some_and(|entries| !entries.is_empty());
        for (namespace, ask) in self.upstreams.iter().filter(|_| !is_cached) {
            let mut params = json!({});
            if let Some(name) = asked_for["name"].as_str() {
                let Some(name) = namespace.strip_name(name) else { continue };
                params["name"] = name.into();
            }
            if let Some(uri) = asked_for["uri"].as_str() {
                let Some(uri) = namespace.strip_uri(uri) else { continue };
                params["uri"] = uri.into();
            }
            loop {
                let request = json!({ "jsonrpc": "2.0", "id": "agg", "method": method, "params": params });
                let mut request = post(request.to_string());
                for (name, value) in &received.parts.headers {
                    if ["authorization", "x-user-token", "signature", "cookie"].contains(&name.as_str()) {
                        request.headers_mut().append(name, value.clone());
                    }
                }
                let page = ask(request).await.json()["result"].take();
                let Some(entries) = page[list].as_array() else {
                    result = page;
                    break;
                };
                let entries = entries.iter().map(|entry| {
                    let mut kept = json!({ own: change(namespace, entry[own].as_str().expect("a name")) });
                    for member in self.keeps.iter().chain(&["text"]).filter(|member| entry.get(member).is_some()) {
                        kept[member] = entry[member].clone();
                    }
                    kept
                });
                let entries: Vec<_> = entries.collect();
                result[list].as_array_mut().expect("a list").extend(entries);
                match page.get("nextCursor") {
                    Some(cursor) => params["cursor"] = cursor.clone(),
                    None => break,
                }
            }
        }
        if let Some(cache) = self.cache.as_ref().filter(|_| !list.is_empty()) {
            lock(cache).insert(asked, result.clone());
        }
        result
    }
}

/// A result of a tool, for a model.
fn text_of(value: Value) -> Value {
    json!({ "content": [{ "type": "text", "text": value.to_string() }] })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<B> Service<Request<B>> for Lossy
where
    B: HttpBody<Data = bytes::Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let aggregator = self.clone();
        Box::pin(async move {
            let received = record(request).await;
            Ok(aggregator.answer(received).await)
        })
    }
}

/// The aggregator of [`rich`] alone, with what it hears remembered here.
pub(crate) fn aggregator(memory: &Memory) -> Lossy {
    Lossy::new().behind(maps(), &CaptureLayer::new("maps", memory.clone()), upstream(rich))
}

/// A request of the legacy era.
pub(crate) fn ask(method: &str, params: &Value) -> Request<Body> {
    post(json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }).to_string())
}

/// The only entry of a list whose name or URI is this.
pub(crate) fn entry<'a>(answer: &'a Value, list: &str, name: &str) -> &'a Value {
    let entries = answer["result"][list].as_array().unwrap_or_else(|| panic!("no list: {answer}"));
    let mut found =
        entries.iter().filter(|entry| ["name", "uri", "uriTemplate"].iter().any(|member| entry[member] == name));
    let entry = found.next().unwrap_or_else(|| panic!("no {name}: {answer}"));
    assert!(found.next().is_none(), "{name} stands twice: {answer}");
    entry
}
