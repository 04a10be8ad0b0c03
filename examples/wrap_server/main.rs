//! `cargo run --example wrap_server`: a server that was not written for MCP Apps gets a face.
//!
//! `account.rs` is the server that was there before. One layer around it, here, gives it a dashboard, keeps a tool for
//! that dashboard from the model, and records who called what. At start the program prints what a text client and an
//! Apps host see without and with the layer. Then it serves both, and a small host for the browser (`demo.rs`): open
//! the address that it prints last.

use std::{error::Error, io, sync::Arc};

use axum::Router;
use rmcp::transport::streamable_http_server::*;
use session::local::LocalSessionManager;
use tokio::{net::TcpListener, sync::broadcast, task::JoinSet};
use tower_mcp_apps::ui::{Csp, Html};
use tower_mcp_apps::{AppsLayer, audit::Record, protocol::Audience, serve::App, visibility::Visibility};

use account::Account;

mod account;
mod demo;
mod terminal;

/// Where the demo is, and where its frames are: another origin. If taken, a free port is used.
const ADDRESSES: [&str; 2] = ["127.0.0.1:8081", "127.0.0.1:8082"];

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let ledger = Account::new();
    let account = StreamableHttpService::new(
        move || Ok::<_, io::Error>(ledger.clone()),
        Arc::<LocalSessionManager>::default(),
        StreamableHttpServerConfig::default(),
    );
    let bare = Router::new().nest_service("/mcp", account);

    // The layer that gives the service its face; everything below is to look at it.
    let (records, _) = broadcast::channel(256);
    let sink = records.clone();
    let dashboard = Html::try_from(include_str!("dashboard.html"))?;
    let dashboard = App::new("ui://account/dashboard".parse()?, dashboard).title("Account").csp(Csp::closed());
    let dashboard = dashboard.link("usage_by_day");
    let layer = AppsLayer::new()
        .app(dashboard)
        .visibility(Visibility::new().tool("account_overview", [Audience::App]))
        .audit(move |record: &Record| drop(sink.send(record.to_json())));

    let (demo, address) = listen(ADDRESSES[0]).await?;
    let (frames, frame_origin) = listen(ADDRESSES[1]).await?;
    let mut servers = JoinSet::new();
    servers.spawn(axum::serve(demo, demo::router(bare, layer, records, frame_origin)).into_future());
    servers.spawn(axum::serve(frames, demo::frames()).into_future());

    terminal::compare(&format!("{address}/bare/mcp"), &format!("{address}/mcp")).await?;
    println!("Serving both until Ctrl-C. To see it: {address}/");
    while let Some(ended) = servers.join_next().await {
        ended??;
    }
    Ok(())
}

/// Listens at the address, or at a free port where it is taken, and says under which origin.
async fn listen(address: &str) -> io::Result<(TcpListener, String)> {
    let listener = match TcpListener::bind(address).await {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => TcpListener::bind("127.0.0.1:0").await?,
        listener => listener?,
    };
    let origin = format!("http://{}", listener.local_addr()?);
    Ok((listener, origin))
}
