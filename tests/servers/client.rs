//! The rmcp client over streamable HTTP: either era, with or without the Apps capability.

use std::net::SocketAddr;

use rmcp::{
    ClientLifecycleMode, ClientServiceExt, RoleClient, ServiceError,
    model::{
        CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ExtensionCapabilities, Implementation,
        ListResourcesResult, ListToolsResult, ProtocolVersion, ReadResourceRequestParams, ReadResourceResult,
        ServerPeerInfo,
    },
    service::{ClientInitializeError, RunningService},
    transport::StreamableHttpClientTransport,
};
use serde_json::json;

use super::{PATH, catalogue};

/// The extension that a host declares.
pub(crate) const APPS: &str = "io.modelcontextprotocol/ui";

/// How the client opens the conversation.
#[derive(Clone, Debug)]
pub(crate) enum Era {
    /// `initialize`, asking for this version.
    Legacy(ProtocolVersion),
    /// `server/discover`, then requests that say everything themselves (2026-07-28).
    Modern,
    /// `server/discover`, and `initialize` if the server does not know it.
    Auto,
}

/// What the client declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A client that renders text only: no extension at all.
    Text,
    /// A host that renders MCP Apps.
    AppsHost,
}

/// A connected client.
///
/// rmcp caches lists and reads for as long as their `ttlMs` says, so a test that expects an answer
/// to change needs a new client.
#[derive(Debug)]
pub(crate) struct Client(RunningService<RoleClient, ClientConfig>);

impl Client {
    /// Connects to the server that is mounted on [`PATH`] at `address`.
    pub(crate) async fn connect(address: SocketAddr, era: Era, kind: Kind) -> Result<Self, ClientInitializeError> {
        let modern = vec![ProtocolVersion::V_2026_07_28];
        // rmcp's own default is 2026-07-28, which `initialize` cannot negotiate.
        let mut version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        let lifecycle = match era {
            Era::Legacy(asked) => {
                version = asked;
                ClientLifecycleMode::Initialize
            }
            Era::Modern => ClientLifecycleMode::Discover { preferred_versions: modern },
            Era::Auto => {
                ClientLifecycleMode::Auto { preferred_versions: modern, legacy_version: Some(version.clone()) }
            }
        };
        let config =
            ClientConfig::new(capabilities(kind), Implementation::new("fixture", "1")).with_protocol_version(version);
        let transport = StreamableHttpClientTransport::from_uri(format!("http://{address}{PATH}"));
        config.serve_with_lifecycle(transport, lifecycle).await.map(Self)
    }

    /// What the server said of itself in `initialize` or `server/discover`.
    pub(crate) fn server(&self) -> ServerPeerInfo {
        let info = self.0.peer_info().expect("a connected client knows its peer");
        (*info).clone()
    }

    /// `tools/list`.
    pub(crate) async fn list_tools(&self) -> Result<ListToolsResult, ServiceError> {
        self.0.list_tools(None).await
    }

    /// `resources/list`.
    pub(crate) async fn list_resources(&self) -> Result<ListResourcesResult, ServiceError> {
        self.0.list_resources(None).await
    }

    /// `resources/read`.
    pub(crate) async fn read_resource(&self, uri: &str) -> Result<ReadResourceResult, ServiceError> {
        let params = ReadResourceRequestParams::new(uri);
        self.0.read_resource(params).await
    }

    /// `tools/call`, without arguments.
    pub(crate) async fn call_tool(&self, name: &str) -> Result<CallToolResult, ServiceError> {
        let params = CallToolRequestParams::new(name.to_owned());
        self.0.call_tool(params).await
    }

    /// Ends the conversation; a legacy one with the DELETE of its session.
    pub(crate) async fn close(self) {
        self.0.cancel().await.expect("the client's task ends well");
    }
}

fn capabilities(kind: Kind) -> ClientCapabilities {
    let mut capabilities = ClientCapabilities::default();
    if kind == Kind::AppsHost {
        let settings = json!({ "mimeTypes": [catalogue::APP_HTML] });
        let settings = serde_json::from_value(settings).expect("the settings are an object");
        capabilities.extensions = Some(ExtensionCapabilities::from([(APPS.to_owned(), settings)]));
    }
    capabilities
}
