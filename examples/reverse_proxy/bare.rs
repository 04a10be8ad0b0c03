//! `cargo run --release --example bare_proxy -- --upstream http://127.0.0.1:3000/mcp`: the reverse proxy without any
//! layer, to measure what the layers cost.

#![forbid(unsafe_code)]

#[allow(dead_code, reason = "which paths are MCP is for the layers to know")]
mod endpoint;
mod headers;
mod serve;
mod upstream;

use std::future;
use std::io::{self, Write};
use std::net::SocketAddr;

use clap::Parser;
use tokio::net::TcpListener;
use tower::BoxError;

use crate::endpoint::Endpoint;
use crate::upstream::Upstream;

/// A reverse proxy.
#[derive(Debug, Parser)]
#[command(name = "bare_proxy")]
struct Flags {
    /// Address to listen on; port 0 picks a free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,

    /// The MCP endpoint to stand in front of.
    #[arg(long, value_name = "URL")]
    upstream: Endpoint,
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let Flags { listen, upstream } = Flags::parse();
    let listener = TcpListener::bind(listen).await?;
    writeln!(io::stdout(), "listening on http://{}{}", listener.local_addr()?, upstream.path())?;
    serve::serve(listener, Upstream::new(upstream), future::pending()).await;
    Ok(())
}
