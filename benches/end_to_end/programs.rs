//! The programs that `run.py` measures proxies with: an upstream and a load generator.
//!
//! `cargo run --release --example end_to_end -- upstream|load --help`; `run.py` drives them.

#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../support/corpus.rs"]
#[allow(dead_code, reason = "a part of it is used here")]
mod corpus;
mod load;
mod server;

use std::io::{Write, stdout};
use std::net::SocketAddr;

use axum::Router;
use axum::routing::any;
use axum::serve::ListenerExt;
use clap::Parser;
use tokio::net::TcpListener;

#[derive(Parser)]
enum Command {
    /// An MCP server with canned answers: JSON, of both eras, with sessions.
    Upstream {
        #[arg(long, default_value = "127.0.0.1:0")]
        listen: SocketAddr,
    },
    /// Sends requests for a while, and says in a line of JSON how that went.
    Load(load::Load),
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    match Command::parse() {
        Command::Upstream { listen } => {
            let listener = TcpListener::bind(listen).await.unwrap();
            println!("listening on http://{}/mcp", listener.local_addr().unwrap());
            stdout().flush().unwrap();
            let server = server::Server::new();
            let app = Router::new()
                .route("/mcp", any(move |method, headers, body| server.clone().answer(method, headers, body)));
            let listener = listener.tap_io(|stream| stream.set_nodelay(true).unwrap());
            axum::serve(listener, app).await.unwrap();
        }
        Command::Load(load) => println!("{}", load.run().await),
    }
}
