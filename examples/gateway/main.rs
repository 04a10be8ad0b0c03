//! `cargo run --example gateway -- --upstream maps=http://127.0.0.1:3001/mcp --upstream notes=http://127.0.0.1:3002/mcp`:
//! several MCP servers behind one endpoint, with their Apps intact. Without `--upstream`, three small ones of its own.
//!
//! Around each upstream stand the layers of this crate, the outermost a prefix for its names and URIs. The gateway itself
//! asks all of them or the one that a prefix names, and puts their answers together byte for byte. It remembers nothing:
//! what it must know again is in names, cursors and session ids, so any number of replicas can stand side by side.
//!
//! # Whose app asks
//!
//! A UI calls tools by the names that its own server gave them, and its host passes these on. So the host, or an edge
//! before the gateway, says whose app it is in the header of `--app-header`: the NAME that stands before the tool which
//! opened the UI. The gateway then passes the call to that upstream alone, as an app's; what belongs to another server is
//! unknown. That header decides, so the edge must overwrite it. Without it only `--bare NAME` takes such names, and for all
//! other servers the host has to put the prefix in front. A host that calls an app-only tool for a UI without saying so
//! is trusted to call no other server's (MCP Apps, "Visibility").
//!
//! # What does not pass
//!
//! - Requests of legacy servers to their client (sampling, elicitation, roots): the server gets an error, and hears at
//!   `initialize` that the client has none of these. In the modern era they are part of results, and pass.
//! - Resumption: the ids of events do not pass, and `Last-Event-ID` is refused.
//! - Tasks, in both eras: their ids name no server. Nor `experimental` capabilities, batches, and methods of extensions.
//! - Credentials, but to and from the upstreams that `--credentials` names: what is meant for the gateway is not meant for
//!   all of them.
//!
//! `Origin` passes: to tell good origins from bad ones stays with the upstreams, or with what stands before the gateway.
//!
//! # When an upstream fails
//!
//! `initialize`, `server/discover` and the first page of a list leave it out and name it in `_meta`; such a result is not to
//! be kept (`ttlMs` 0). It takes no part in a session that began without it. A later page of a list, and whatever is for
//! it alone, is an error that names it. Where one upstream does not know a session any longer, the session is over.
//!
//! A session that an upstream opened for an `initialize` that failed in the end, or whose client left, is ended (DELETE). One that
//! it opens later than `--answer-timeout` stays, until it ends it itself.

#![forbid(unsafe_code)]

mod acknowledged;
mod answer;
mod asked;
mod asked_of_client;
mod caching;
mod caller;
mod capabilities;
mod client;
mod cursor;
mod embedded;
mod event;
mod fan_out;
mod flags;
mod gateway;
mod greeting;
#[path = "../reverse_proxy/headers.rs"]
mod headers;
mod listen;
mod lists;
mod merged;
mod opened;
mod response;
mod route;
#[path = "../reverse_proxy/serve.rs"]
mod serve;
mod session;
mod unavailable;
mod upstreams;
mod versions;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use tokio::net::TcpListener;
use tower::BoxError;
use tracing::Level;

use crate::client::UpstreamClient;
use crate::flags::Flags;
use crate::gateway::{Gateway, PATH, Settings};
use crate::upstreams::Upstream;

#[tokio::main]
async fn main() -> ExitCode {
    match run(Flags::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("gateway: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(flags: Flags) -> Result<(), BoxError> {
    tracing_subscriber::fmt().with_max_level(Level::WARN).with_writer(io::stderr).init();
    let named = if flags.upstreams.is_empty() { embedded::start().await? } else { flags.upstreams.clone() };
    flags.check_names(&named)?;
    let connections = client::connections();
    let upstreams = named.iter().map(|named| {
        let client = UpstreamClient::new(connections.clone(), named.name(), named.value.0.clone());
        let gets_credentials = flags.credentials.iter().any(|name| name == named.name());
        Ok(Upstream::new(named.namespace.clone(), &flags.apps(named.name())?, client, gets_credentials))
    });
    let upstreams = upstreams.collect::<Result<Vec<_>, BoxError>>()?;
    let settings = Settings {
        app_header: flags.app_header,
        audience_header: flags.audience_header,
        bare: flags.bare,
        patience: flags.answer_timeout,
    };
    let listener =
        TcpListener::bind(flags.listen).await.map_err(|error| format!("--listen {}: {error}", flags.listen))?;
    writeln!(io::stdout(), "listening on http://{}{PATH}", listener.local_addr()?)?;
    serve::serve(listener, Gateway::new(upstreams, settings), stop()).await;
    Ok(())
}

/// Ends on Ctrl-C.
async fn stop() {
    // Without the signal the process can only be killed, so an error must not stop it.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending().await
    }
}
