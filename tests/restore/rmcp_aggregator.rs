//! A typed aggregator of rmcp's server and client, over sockets: what it decodes into fewer members than came is put back.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::response::IntoResponse;
use axum::routing::post;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Request};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, ClientJsonRpcMessage, Implementation,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::BoxedSseResponse;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError, StreamableHttpPostResponse,
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};
use rmcp::{ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient, RoleServer, ServerHandler, ServiceError};
use serde_json::{Value, json};
use tower::{Layer, ServiceExt};
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::concern::{ConcernService, RequestBody};
use tower_mcp_apps::protocol::{Audience, Namespace};
use tower_mcp_apps::restore::{Capture, CaptureLayer, Credentials, Memory, Restore};

use crate::socket::serve;
use crate::world::{CONTENTS, RESOURCES, TEMPLATES, TOOLS, maps};

/// The upstream: a server by hand in the era that its client speaks, with the very texts of [`crate::world`].
async fn upstream() -> SocketAddr {
    async fn answer(body: String) -> impl IntoResponse {
        let message: Value = serde_json::from_str(&body).expect("a message");
        let Some(id) = message.get("id") else {
            return (http::StatusCode::ACCEPTED, [(CONTENT_TYPE, "text/plain")], String::new());
        };
        let is_modern = message["params"]["_meta"].is_object();
        let capabilities = r#""capabilities":{"tools":{},"resources":{}}"#;
        let result = match message["method"].as_str() {
            Some("initialize") => {
                format!(
                    r#"{{"protocolVersion":"2025-11-25",{capabilities},"serverInfo":{{"name":"up","version":"1"}}}}"#
                )
            }
            Some("server/discover") => format!(
                r#"{{"supportedVersions":["2026-07-28"],{capabilities},
                "_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"up","version":"1"}}}}}}"#
            ),
            Some("tools/list") if message["params"]["cursor"] == "two" => TOOLS[1].to_owned(),
            Some("tools/list") => TOOLS[0].to_owned(),
            Some("resources/list") => RESOURCES.to_owned(),
            Some("resources/templates/list") => TEMPLATES.to_owned(),
            Some("resources/read") => CONTENTS.to_owned(),
            _ => r#"{"content":[{"type":"text","text":"ran"}]}"#.to_owned(),
        };
        // What a modern result says beside: fresh for this very request.
        let modern = r#","resultType":"complete","ttlMs":0,"cacheScope":"private"}"#;
        let result =
            if is_modern { format!("{}{modern}", result.strip_suffix('}').expect("an object")) } else { result };
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        (http::StatusCode::OK, [(CONTENT_TYPE, "application/json")], answer)
    }
    serve(Router::new().route("/mcp", post(answer))).await
}

/// hyper's client, through the layer.
type Outgoing = ConcernService<Client<HttpConnector, RequestBody<Full<Bytes>>>, Capture>;

/// rmcp's client on a Tower service.
#[derive(Clone)]
struct Captured(Outgoing);

#[derive(Debug)]
struct Failed(String);

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failed {}

fn failed(error: impl ToString) -> StreamableHttpError<Failed> {
    StreamableHttpError::Client(Failed(error.to_string()))
}

impl StreamableHttpClient for Captured {
    type Error = Failed;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, StreamableHttpError<Failed>> {
        let mut request = Request::post(&*uri)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream");
        if let Some(token) = token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        if let Some(session) = session {
            request = request.header("mcp-session-id", &*session);
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let body = serde_json::to_vec(&message).map_err(failed)?;
        let request = request.body(Full::from(body)).map_err(failed)?;
        let answer = self.0.clone().oneshot(request).await.map_err(failed)?;
        if answer.status() == http::StatusCode::ACCEPTED {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        let body = answer.into_body().collect().await.map_err(failed)?.to_bytes();
        Ok(StreamableHttpPostResponse::Json(serde_json::from_slice(&body).map_err(failed)?, None))
    }

    async fn delete_session(
        &self,
        _: Arc<str>,
        _: Arc<str>,
        _: Option<String>,
        _: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), StreamableHttpError<Failed>> {
        Err(StreamableHttpError::ServerDoesNotSupportDeleteSession)
    }

    async fn get_stream(
        &self,
        _: Arc<str>,
        _: Option<Arc<str>>,
        _: Option<String>,
        _: Option<String>,
        _: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxedSseResponse, StreamableHttpError<Failed>> {
        Err(StreamableHttpError::ServerDoesNotSupportSse)
    }
}

/// The aggregator: hands on what its own types have room for, under names of its own.
#[derive(Clone)]
struct Aggregator(Arc<Vec<(Namespace, RunningService<RoleClient, ClientConfig>)>>);

impl Aggregator {
    /// In front of two upstreams, of which one speaks the legacy and one the modern era.
    async fn connect(memory: &Memory) -> Self {
        let mut upstreams = Vec::new();
        for (namespace, is_modern) in [(maps(), false), (air(), true)] {
            let uri = format!("http://{}/mcp", upstream().await);
            // It has a credential of its own.
            let config = StreamableHttpClientTransportConfig::with_uri(uri).auth_header("aggregator");
            let capture = CaptureLayer::new(namespace.name(), memory.clone()).credentials(Credentials::shared());
            let http = Client::builder(TokioExecutor::new()).build_http();
            let transport = StreamableHttpClientTransport::with_client(Captured(capture.layer(http)), config);
            let lifecycle = if is_modern {
                ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
            } else {
                ClientLifecycleMode::Initialize
            };
            let client = ClientConfig::new(ClientCapabilities::default(), Implementation::new("aggregator", "1"))
                .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE);
            let client = client.serve_with_lifecycle(transport, lifecycle).await.expect("the upstream answers");
            upstreams.push((namespace, client));
        }
        Self(Arc::new(upstreams))
    }

    fn service(self) -> StreamableHttpService<Self, NeverSessionManager> {
        let config = StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
        StreamableHttpService::new(move || Ok::<_, io::Error>(self.clone()), Arc::default(), config)
    }
}

fn air() -> Namespace {
    Namespace::new("air").expect("a name")
}

fn internal(error: ServiceError) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

fn unknown() -> ErrorData {
    ErrorData::invalid_params("unknown", None)
}

impl ServerHandler for Aggregator {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_resources().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut tools = Vec::new();
        for (namespace, upstream) in self.0.iter() {
            for tool in upstream.list_all_tools().await.map_err(internal)? {
                let description = tool.description.clone().unwrap_or_default();
                tools.push(Tool::new(namespace.add_to_name(&tool.name), description, tool.input_schema.clone()));
            }
        }
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut resources = Vec::new();
        for (namespace, upstream) in self.0.iter() {
            let theirs = upstream.list_all_resources().await.map_err(internal)?;
            resources
                .extend(theirs.iter().map(|theirs| Resource::new(namespace.add_to_uri(&theirs.uri), &*theirs.name)));
        }
        Ok(ListResourcesResult::with_all_items(resources))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut templates = Vec::new();
        for (namespace, upstream) in self.0.iter() {
            let theirs = upstream.list_all_resource_templates().await.map_err(internal)?;
            templates.extend(
                theirs
                    .iter()
                    .map(|theirs| ResourceTemplate::new(namespace.add_to_uri(&theirs.uri_template), &*theirs.name)),
            );
        }
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        for (namespace, upstream) in self.0.iter() {
            let Some(own) = namespace.strip_uri(&request.uri) else { continue };
            let read = upstream.read_resource(ReadResourceRequestParams::new(own)).await.map_err(internal)?;
            let contents = read.contents.into_iter().filter_map(|theirs| match theirs {
                ResourceContents::TextResourceContents { uri, text, .. } => {
                    let uri = namespace.add_to_uri(&uri);
                    Some(ResourceContents::TextResourceContents { uri, mime_type: None, text, meta: None })
                }
                _ => None,
            });
            return Ok(ReadResourceResult::new(contents.collect()).into());
        }
        Err(unknown())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        for (namespace, upstream) in self.0.iter() {
            let Some(own) = namespace.strip_name(&request.name) else { continue };
            let called = upstream.call_tool(CallToolRequestParams::new(own.to_owned())).await.map_err(internal)?;
            return Ok(called.into());
        }
        Err(unknown())
    }
}

/// What a client gets, as text.
async fn asks(at: SocketAddr, method: &str, params: &Value) -> String {
    let message = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }).to_string();
    let request = Request::post(format!("http://{at}/mcp"))
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json, text/event-stream")
        .header("mcp-protocol-version", "2025-11-25")
        .body(Full::<Bytes>::from(message))
        .expect("a request");
    let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
    let answer = client.request(request).await.expect("an answer").into_body().collect().await.expect("all of it");
    String::from_utf8(answer.to_bytes().to_vec()).expect("text")
}

/// What the upstreams say of each kind of entry, as it must arrive under the names of one of them.
fn said(namespace: &Namespace) -> Vec<(&'static str, Value, Vec<String>)> {
    let uri = |rest: &str| namespace.add_to_uri(&format!("ui://server/{rest}"));
    let view = uri("view");
    let html = r#""mimeType":"text/html;profile=mcp-app""#.to_owned();
    vec![
        (
            "tools/list",
            json!({}),
            vec![
                r#""title":"Show a map""#.to_owned(),
                r#""annotations":{"readOnlyHint":true,"com.example/hint":1.0}"#.to_owned(),
                r#""com.example/unknown":{ "n": 1.0, "big": 123456789012345678901234567890 }"#.to_owned(),
                format!(r#""ui":{{"resourceUri":"{view}","com.example/x":-0.0}}"#),
                format!(r#""ui/resourceUri":"{view}""#),
                format!(r#""openai/outputTemplate":"{view}""#),
                r#""com.example/k":[1, 2.50]"#.to_owned(),
                format!(r#""ui":{{"resourceUri":"{view}","visibility":["app"]}}"#),
            ],
        ),
        (
            "resources/list",
            json!({}),
            vec![
                html.clone(),
                r#""size":10"#.to_owned(),
                r#""ui":{"prefersBorder":true,"csp":{"connectDomains":["https://api.example.com"]}}"#.to_owned(),
            ],
        ),
        ("resources/templates/list", json!({}), vec![html.clone(), r#""_meta":{"com.example/k":1.0}"#.to_owned()]),
        (
            "resources/read",
            json!({ "uri": view }),
            vec![
                html,
                r#""ui":{"csp":{"connectDomains":["https://api.example.com"]},"domain":"a.example"}"#.to_owned(),
                r#""com.example/n":1e2"#.to_owned(),
            ],
        ),
    ]
}

#[tokio::test]
async fn what_a_typed_aggregator_drops_is_put_back() {
    let memory = Memory::new();
    let aggregator = Aggregator::connect(&memory).await;
    let bare = serve(Router::new().nest_service("/mcp", aggregator.clone().service())).await;
    let restore = [maps(), air()].into_iter().fold(Restore::new(memory), |restore, namespace| {
        restore.upstream_with(namespace.name().to_owned(), namespace, Credentials::shared())
    });
    // A host's view: everything.
    let layer = AppsLayer::new().restore(restore.clone()).audience(tower_mcp_apps::exchange::Fixed(Audience::Host));
    let front = serve(Router::new().nest_service("/mcp", layer.layer(aggregator.clone().service()))).await;
    for namespace in [maps(), air()] {
        for (method, params, texts) in said(&namespace) {
            let lost = asks(bare, method, &params).await;
            let found = asks(front, method, &params).await;
            for text in texts {
                assert!(!lost.contains(&text), "the aggregator drops {text}: {lost}");
                let name = namespace.name();
                assert!(found.contains(&text), "{method} of {name} has {text}: {found}");
            }
        }
    }

    // A model's view, whose first request is a call of a tool for apps.
    let layer = AppsLayer::new().restore(restore);
    let front = serve(Router::new().nest_service("/mcp", layer.layer(aggregator.service()))).await;
    for name in ["maps__poll", "air__poll"] {
        let call = json!({ "name": name });
        assert!(asks(bare, "tools/call", &call).await.contains("ran"), "without the layer {name} runs");
        assert!(asks(front, "tools/call", &call).await.contains("-32602"), "{name} is for apps");
        assert!(!asks(front, "tools/list", &json!({})).await.contains(name));
    }
    assert!(asks(front, "tools/call", &json!({ "name": "air__show" })).await.contains("ran"));
}
