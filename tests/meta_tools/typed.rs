//! A typed aggregator of rmcp's server and client whose tools are the meta-tools: what its formatters drop is put back.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::response::IntoResponse;
use axum::routing::post;
use http::header::CONTENT_TYPE;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ClientConfig, ContentBlock,
    Implementation, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, Resource,
    ResourceContents, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};
use rmcp::{ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient, RoleServer, ServerHandler, ServiceError};
use serde_json::{Value, json};
use tower::{Layer, Service};
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::concern::{MetaTools, Preparation};
use tower_mcp_apps::exchange::Fixed;
use tower_mcp_apps::protocol::{Audience, Namespace};
use tower_mcp_apps::restore::{CaptureLayer, Memory, Place, RestoreLayer, Said, Store};
use tower_mcp_apps::testing::Body;

use crate::kit::{post as request, send};
use crate::socket::serve;

/// What the upstream says, with numbers that no decoder keeps.
fn said(message: &Value) -> String {
    let capabilities = r#""capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"up","version":"1"}"#;
    match message["method"].as_str() {
        Some("initialize") => format!(r#"{{"protocolVersion":"2025-11-25",{capabilities}}}"#),
        Some("tools/list") => {
            r#"{"tools":[{"name":"show","description":"Shows","inputSchema":{"type":"object"},"com.example/x":1.0,
            "_meta":{"ui":{"resourceUri":"ui://maps/view"},"com.example/n":1.50}},
            {"name":"poll","inputSchema":{"type":"object"},"_meta":{"ui":{"visibility":["app"]}}}]}"#
                .to_owned()
        }
        Some("resources/list") => {
            r#"{"resources":[{"uri":"ui://maps/view","name":"view","mimeType":"text/html;profile=mcp-app",
            "_meta":{"ui":{"prefersBorder":true}}}]}"#
                .to_owned()
        }
        Some("resources/read") => {
            r#"{"contents":[{"uri":"ui://maps/view","mimeType":"text/html;profile=mcp-app","text":"<p>",
            "_meta":{"ui":{"csp":{"connectDomains":["https://a.example"]}}}}]}"#
                .to_owned()
        }
        Some("tools/call") => {
            format!(r#"{{"content":[{{"type":"text","text":"ran {}"}}]}}"#, message["params"]["name"].as_str().unwrap())
        }
        _ => "{}".to_owned(),
    }
}

/// The upstream, behind the layer that remembers what it says.
async fn upstream(layer: CaptureLayer) -> SocketAddr {
    async fn answer(body: Bytes) -> impl IntoResponse {
        let message: Value = serde_json::from_slice(&body).expect("a message");
        let Some(id) = message.get("id") else {
            return (http::StatusCode::ACCEPTED, [(CONTENT_TYPE, "text/plain")], String::new());
        };
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, said(&message));
        (http::StatusCode::OK, [(CONTENT_TYPE, "application/json")], answer)
    }
    serve(Router::new().route("/mcp", post(answer)).layer(layer)).await
}

/// The aggregator: a client of the upstream, and tools that show what that has, in its own words.
#[derive(Clone)]
struct Aggregator(Arc<RunningService<RoleClient, ClientConfig>>);

impl Aggregator {
    async fn of(upstream: SocketAddr) -> Self {
        let config = ClientConfig::new(ClientCapabilities::default(), Implementation::new("aggregator", "1"))
            .with_protocol_version(ProtocolVersion::V_2025_11_25);
        let transport = StreamableHttpClientTransport::from_uri(format!("http://{upstream}/mcp"));
        let client =
            config.serve_with_lifecycle(transport, ClientLifecycleMode::Initialize).await.expect("it connects");
        Self(Arc::new(client))
    }

    async fn tools(&self) -> Result<Vec<Tool>, ServiceError> {
        self.0.list_all_tools().await
    }

    async fn resources(&self) -> Result<Vec<Resource>, ServiceError> {
        self.0.list_all_resources().await
    }

    async fn run(&self, name: &str, arguments: &Value) -> Result<Value, ServiceError> {
        let tool = |tool: &Tool| json!({ "name": format!("maps__{}", tool.name), "description": tool.description });
        let named = |argument: &str| arguments[argument].as_str().unwrap_or_default().to_owned();
        let own = named("name").strip_prefix("maps__").unwrap_or_default().to_owned();
        let uri = |uri: &str| uri.replacen("ui://", "ui://maps+", 1);
        let own_uri = named("uri").replacen("ui://maps+", "ui://", 1);
        let resource = |resource: &Resource| json!({ "uri": uri(&resource.uri), "name": resource.name });
        Ok(match name {
            "list_tools" => json!({ "tools": self.tools().await?.iter().map(tool).collect::<Vec<_>>() }),
            "describe_tool" => match self.tools().await?.iter().find(|tool| tool.name == *own) {
                Some(found) => tool(found),
                None => Value::String(format!("Tool not found: {}", named("name"))),
            },
            "list_resources" => Value::Array(self.resources().await?.iter().map(resource).collect()),
            "get_resource" => {
                let read = self.0.read_resource(ReadResourceRequestParams::new(own_uri)).await?;
                let contents = read.contents.iter().map(|contents| match contents {
                    ResourceContents::TextResourceContents { uri: own, text, .. } => {
                        json!({ "uri": uri(own), "text": text })
                    }
                    _ => Value::Null,
                });
                json!({ "contents": contents.collect::<Vec<_>>() })
            }
            _ => {
                let result = self.0.call_tool(CallToolRequestParams::new(own)).await?;
                serde_json::to_value(result.content).expect("JSON")
            }
        })
    }
}

impl ServerHandler for Aggregator {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("aggregator", "1"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let names = ["list_tools", "describe_tool", "call_tool", "list_resources", "get_resource"];
        let schema = Arc::new(serde_json::Map::new());
        let tools = names.map(|name| Tool::new(name, "", Arc::clone(&schema)));
        Ok(ListToolsResult::with_all_items(tools.to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let result = self.run(&request.name, &arguments).await;
        let result = result.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let text = serde_json::to_string_pretty(&result).expect("JSON");
        let blocks = vec![ContentBlock::text(text)];
        Ok(if result.is_string() { CallToolResult::error(blocks) } else { CallToolResult::success(blocks) }.into())
    }
}

type Rmcp = StreamableHttpService<Aggregator, NeverSessionManager>;

/// The aggregator's service, and where what its upstream says is remembered.
async fn aggregator() -> (Rmcp, Memory) {
    let memory = Memory::new();
    let upstream = upstream(CaptureLayer::new("maps", memory.clone())).await;
    let aggregator = Aggregator::of(upstream).await;
    let config = StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
    (StreamableHttpService::new(move || Ok::<_, io::Error>(aggregator.clone()), Arc::default(), config), memory)
}

/// What a call of a meta-tool shows, as JSON; or the code of the error.
async fn shown<S, R>(service: S, name: &str, arguments: Value) -> Result<Value, Value>
where
    S: Service<http::Request<Body>, Response = http::Response<R>>,
    S::Error: std::fmt::Debug,
    R: http_body::Body<Data = Bytes>,
    R::Error: Into<crate::kit::body::BoxError>,
{
    let params = json!({ "name": name, "arguments": arguments });
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params });
    let answer = send(service, request(body.to_string())).await;
    let answer = answer.json();
    match answer["result"]["content"][0]["text"].as_str() {
        Some(text) => Ok(serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))),
        None => Err(answer["error"]["code"].clone()),
    }
}

#[tokio::test]
async fn what_a_typed_aggregator_drops_behind_meta_tools_is_put_back() {
    let (bare, memory) = aggregator().await;
    let uri = json!({ "uri": "ui://maps+maps/view" });
    let poll = json!({ "name": "maps__poll" });

    // The loss: nobody could tell for whom a tool is, what it shows, or what a page may reach.
    let tools = shown(bare.clone(), "list_tools", json!({})).await.unwrap();
    assert_eq!(
        tools,
        json!({ "tools": [{ "name": "maps__show", "description": "Shows" }, { "name": "maps__poll", "description": null }] })
    );
    assert_eq!(shown(bare.clone(), "describe_tool", poll.clone()).await.unwrap(), tools["tools"][1]);
    let resources = shown(bare.clone(), "list_resources", json!({})).await.unwrap();
    assert_eq!(resources, json!([{ "uri": "ui://maps+maps/view", "name": "view" }]));
    let read = shown(bare.clone(), "get_resource", uri.clone()).await.unwrap();
    assert_eq!(read, json!({ "contents": [{ "uri": "ui://maps+maps/view", "text": "<p>" }] }));
    let model = AppsLayer::new().audience(Fixed(Audience::Model)).meta_tools(MetaTools::muster());
    assert!(shown(model.layer(bare.clone()), "call_tool", poll.clone()).await.is_ok(), "an app-only tool runs");

    let namespace = Namespace::new("maps").unwrap();
    let restore = RestoreLayer::new(memory).upstream("maps", namespace).meta_tools(MetaTools::muster());
    let restored = restore.layer(bare);
    let tools = shown(restored.clone(), "list_tools", json!({})).await.unwrap();
    let show = &tools["tools"][0];
    assert_eq!(show["_meta"]["ui"]["resourceUri"], "ui://maps+maps/view");
    assert_eq!((&show["com.example/x"], &show["_meta"]["com.example/n"]), (&json!(1.0), &json!(1.5)));
    let described = shown(restored.clone(), "describe_tool", poll.clone()).await.unwrap();
    assert_eq!(described["_meta"]["ui"]["visibility"], json!(["app"]));
    let resources = shown(restored.clone(), "list_resources", json!({})).await.unwrap();
    assert_eq!(resources[0]["mimeType"], "text/html;profile=mcp-app");
    assert_eq!(resources[0]["_meta"]["ui"]["prefersBorder"], true);
    let read = shown(restored.clone(), "get_resource", uri).await.unwrap();
    assert_eq!(read["contents"][0]["mimeType"], "text/html;profile=mcp-app");
    assert_eq!(read["contents"][0]["_meta"]["ui"]["csp"]["connectDomains"], json!(["https://a.example"]));

    // And with it the gate knows.
    let gate = model.layer(restored);
    assert_eq!(shown(gate.clone(), "call_tool", poll.clone()).await, Err(json!(-32602)));
    assert_eq!(shown(gate.clone(), "describe_tool", poll).await, Err(json!(-32602)));
    let ran = shown(gate.clone(), "call_tool", json!({ "name": "maps__show" })).await.unwrap();
    assert_eq!(ran[0]["text"], "ran show");
    let tools = shown(gate, "list_tools", json!({})).await.unwrap();
    assert_eq!(tools["tools"].as_array().unwrap().len(), 1);
}

/// A store that notes what kinds of places it is asked to fetch.
#[derive(Clone, Default)]
struct Noting(Arc<Mutex<String>>);

impl Store for Noting {
    fn remember(&self, _: &Place, _: Vec<(String, Said)>) {}

    fn recall(&self, _: &Place, _: &str, _: u64) -> Option<Said> {
        None
    }

    fn refresh(&self, places: Vec<Place>) -> Option<Preparation> {
        let mut noted = self.0.lock().expect("nobody panicked");
        // Behind the 32 bytes that say whose it is.
        noted.extend(places.iter().map(|place| char::from(place.to_bytes()[32])));
        None
    }
}

#[tokio::test]
async fn a_shared_store_is_asked_for_what_a_meta_tool_shows() {
    for (name, arguments, kinds) in [
        ("list_tools", json!({}), "t"),
        ("describe_tool", json!({ "name": "maps__poll" }), "t"),
        ("list_resources", json!({}), "tr"),
        ("describe_resource", json!({ "uri": "ui://maps+a" }), "tr"),
        ("get_resource", json!({ "uri": "ui://maps+a" }), "tc"),
    ] {
        let noting = Noting::default();
        let restore = RestoreLayer::new(noting.clone()).upstream("maps", Namespace::new("maps").unwrap());
        let service = restore.meta_tools(MetaTools::muster()).layer(crate::world::aggregator(json!([])));
        send(service, crate::world::legacy(name, arguments)).await;
        assert_eq!(*noting.0.lock().unwrap(), kinds, "{name}");
    }
}
