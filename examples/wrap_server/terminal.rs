//! The comparison on the terminal: what clients see of the bare server, and of the one with the layer.

use std::error::Error;

use rmcp::{ClientLifecycleMode, ClientServiceExt, model::*, transport::StreamableHttpClientTransport};
use serde_json::json;
use tower_mcp_apps::protocol::{APP_MEDIA_TYPE, UI_EXTENSION};

use crate::account::Account;

/// Prints what a text client and an Apps host see at either URL.
pub(crate) async fn compare(bare: &str, wrapped: &str) -> Result<(), Box<dyn Error>> {
    println!("An account service, bare at {bare} and with AppsLayer at {wrapped}.\n");
    for (who, apps) in [("A text client sees", false), ("An Apps host sees", true)] {
        row(who, "bare", "with AppsLayer");
        let (bare, wrapped) = (look(bare, apps).await?, look(wrapped, apps).await?);
        for ((what, bare), (_, wrapped)) in bare.into_iter().zip(wrapped) {
            row(&format!("  {what}"), &bare, &wrapped);
        }
        println!();
    }
    Ok(())
}

fn row(what: &str, bare: &str, wrapped: &str) {
    println!("{what:<21} {bare:<14} {wrapped}");
}

/// What a client sees: the server's extensions in either era, then each tool.
async fn look(url: &str, apps: bool) -> Result<Vec<(String, String)>, Box<dyn Error>> {
    let mut capabilities = ClientCapabilities::default();
    if apps {
        let settings = object(json!({ "mimeTypes": [APP_MEDIA_TYPE] }));
        capabilities.extensions = Some(ExtensionCapabilities::from([(UI_EXTENSION.to_owned(), settings)]));
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
    let Some(tool) = listed else { return "not listed".to_owned() };
    match tool.meta.as_ref().and_then(|meta| meta.0.get("ui")) {
        Some(ui) => format!("listed, ui {ui}"),
        None => "listed".to_owned(),
    }
}
