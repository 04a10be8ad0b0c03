//! `cargo run --example wrap_server`: what Apps-awareness does to a server that was not written for it.
//!
//! An account service on rmcp is served twice, bare and with the layer around it. At start the
//! program prints what a text client and an Apps host see at either address; then it keeps serving
//! both, so that you can point a client of your own at them.
//!
//! The service knows nothing of negotiation or visibility. So that there is something to see, it
//! has what such servers pick up over time: `get_balance` links its page with the deprecated flat
//! key, and `list_settlements`, which only that page should call, says so in its `_meta`.

use std::{error::Error, io, sync::Arc};

use axum::Router;
use rmcp::{
    ClientLifecycleMode, ClientServiceExt, ErrorData, RoleServer, ServerHandler,
    model::*,
    service::RequestContext,
    tool, tool_handler, tool_router,
    transport::{StreamableHttpClientTransport, streamable_http_server::*},
};
use serde_json::{Value, json};
use session::local::LocalSessionManager;
use tokio::{net::TcpListener, task::JoinSet};
use tower_mcp_apps::AppsLayer;

/// Where the bare service and the wrapped one are.
const ADDRESSES: [&str; 2] = ["127.0.0.1:8081", "127.0.0.1:8082"];
const PAGE: &str = "ui://account/balance";
const APP_HTML: &str = "text/html;profile=mcp-app";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let account = StreamableHttpService::new(
        || Ok::<_, io::Error>(Account),
        Arc::<LocalSessionManager>::default(),
        StreamableHttpServerConfig::default(),
    );
    let bare = Router::new().nest_service("/mcp", account);
    // The one line that makes the service Apps-aware.
    let wrapped = bare.clone().layer(AppsLayer::new());
    let mut servers = JoinSet::new();
    for (address, router) in ADDRESSES.into_iter().zip([bare, wrapped]) {
        let listener = TcpListener::bind(address).await?;
        servers.spawn(async move { axum::serve(listener, router).await });
    }

    let urls = ADDRESSES.map(|address| format!("http://{address}/mcp"));
    println!("An account service, bare at {} and with AppsLayer at {}.\n", urls[0], urls[1]);
    for (who, apps) in [("A text client sees", false), ("An Apps host sees", true)] {
        row(who, "bare", "with AppsLayer");
        let (bare, wrapped) = (look(&urls[0], apps).await?, look(&urls[1], apps).await?);
        for ((what, bare), (_, wrapped)) in bare.into_iter().zip(wrapped) {
            row(&format!("  {what}"), &bare, &wrapped);
        }
        println!();
    }
    println!("Serving both until Ctrl-C.");
    while let Some(ended) = servers.join_next().await {
        ended??;
    }
    Ok(())
}

fn row(what: &str, bare: &str, wrapped: &str) {
    println!("{what:<19} {bare:<34} {wrapped}");
}

/// What a client sees: the server's extensions in either era, then each tool.
async fn look(url: &str, apps: bool) -> Result<Vec<(String, String)>, Box<dyn Error>> {
    let mut capabilities = ClientCapabilities::default();
    if apps {
        let settings = object(json!({ "mimeTypes": [APP_HTML] }));
        let id = "io.modelcontextprotocol/ui".to_owned();
        capabilities.extensions = Some(ExtensionCapabilities::from([(id, settings)]));
    }
    let config = ClientConfig::new(capabilities, Implementation::new("wrap-server", "1"))
        .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE);
    let modern = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    let mut seen = Vec::new();
    for (method, lifecycle) in [("initialize", ClientLifecycleMode::Initialize), ("server/discover", modern)] {
        let transport = StreamableHttpClientTransport::from_uri(url);
        let client = config.clone().serve_with_lifecycle(transport, lifecycle);
        let client = client.await?;
        let server = client.peer_info().ok_or("no answer")?;
        let extensions = server.capabilities.extensions.iter().flatten();
        let extensions: Vec<_> = extensions.map(|(id, _)| id.as_str()).collect();
        let extensions = if extensions.is_empty() { "no extension".to_owned() } else { extensions.join(", ") };
        seen.push((method.to_owned(), extensions));
        if method == "server/discover" {
            let listed = client.list_tools(None).await?.tools;
            for tool in Account::tool_router().list_all() {
                let listed = listed.iter().find(|listed| listed.name == tool.name);
                seen.push((tool.name.into_owned(), cell(listed)));
            }
        }
        client.cancel().await?;
    }
    Ok(seen)
}

fn cell(listed: Option<&Tool>) -> String {
    let meta = |key| listed?.meta.as_ref()?.0.get(key);
    match (meta("ui"), meta("ui/resourceUri")) {
        (Some(ui), _) => format!("listed, ui {ui}"),
        (None, Some(_)) => "listed, deprecated ui/resourceUri".to_owned(),
        (None, None) if listed.is_some() => "listed".to_owned(),
        (None, None) => "not listed".to_owned(),
    }
}

/// The account service, as rmcp's macros make it.
struct Account;

#[tool_router]
impl Account {
    #[tool(description = "What is on the account.", meta = meta(json!({ "ui/resourceUri": PAGE })))]
    async fn get_balance(&self) -> String {
        "120.50 EUR".to_owned()
    }

    #[tool(description = "What was spent on each day.")]
    async fn usage_by_day(&self) -> String {
        "Mon 3.20, Tue 4.10, Wed 0.00".to_owned()
    }

    #[tool(description = "The rows behind the page.", meta = meta(json!({ "ui": { "visibility": ["app"] } })))]
    async fn list_settlements(&self) -> String {
        "2026-10-31 88.00; 2026-11-30 91.40".to_owned()
    }
}

fn meta(members: Value) -> MetaObject {
    MetaObject(object(members))
}

#[tool_handler]
impl ServerHandler for Account {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools();
        ServerConfig::new(capabilities.enable_resources().build())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != PAGE {
            return Err(ErrorData::resource_not_found("no such page", None));
        }
        let page = "<!doctype html><html><body><h1>Balance</h1></body></html>";
        let page = ResourceContents::text(page, PAGE).with_mime_type(APP_HTML);
        Ok(ReadResourceResult::new(vec![page]).into())
    }
}
