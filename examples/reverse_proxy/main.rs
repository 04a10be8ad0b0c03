//! `cargo run --release --example reverse_proxy -- --upstream http://127.0.0.1:3000/mcp`: an Apps-aware reverse proxy.
//!
//! The path of the upstream's URL, with everything below it, is MCP and goes through the layers. All other paths
//! go to the same origin untouched: where a server has a second MCP endpoint there (such as the `/sse` and
//! `/messages` of 2024-11-05), that endpoint needs a proxy of its own, or none of its filters hold.
//!
//! Clients speak HTTP/1.1 or HTTP/2 with prior knowledge, the upstream HTTP/1.1. `Host` becomes the upstream's,
//! `Origin` passes: to tell good origins from bad ones stays the upstream's duty, and it cannot use `Host` for it.
//! One line on stdout says that the proxy is ready, and where; the log is on stderr.

#![forbid(unsafe_code)]

mod apps;
mod audit_log;
mod endpoint;
mod flags;
mod headers;
mod plain_server;
mod policy;
mod serve;
mod upstream;

use std::future::Future;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use http::request::Parts;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tower::{BoxError, ServiceBuilder};
use tower_mcp_apps::audit::Background;
use tracing::Level;

use crate::flags::Flags;
use crate::upstream::Upstream;

fn main() -> ExitCode {
    match start(Flags::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("reverse_proxy: {error}");
            ExitCode::FAILURE
        }
    }
}

fn start(flags: Flags) -> Result<(), BoxError> {
    // Violations of the policy. Records have a file of their own.
    tracing_subscriber::fmt().with_max_level(Level::WARN).with_writer(io::stderr).init();
    let open = |path: &PathBuf| audit_log::open(path).map_err(|error| format!("--audit {}: {error}", path.display()));
    let audit = flags.audit.as_ref().map(open).transpose()?;
    // The runtime ends here, and with it the exchanges that are still open: they, too, leave a record.
    let outcome = Runtime::new()?.block_on(run(flags, audit.clone()));
    if let Some(audit) = audit {
        audit_log::close(&audit);
    }
    outcome
}

async fn run(flags: Flags, audit: Option<Background>) -> Result<(), BoxError> {
    let stop = stop()?;
    let endpoint = match &flags.upstream {
        Some(endpoint) => endpoint.clone(),
        None => plain_server::start().await?,
    };
    let listener =
        TcpListener::bind(flags.listen).await.map_err(|error| format!("--listen {}: {error}", flags.listen))?;
    let address = listener.local_addr()?;
    let path = endpoint.path().to_owned();
    let upstream = Upstream::new(endpoint.clone());
    let mut apps = flags.layer()?.predicate(move |parts: &Parts| endpoint.covers(parts.uri.path()));
    if let Some(audit) = audit {
        apps = apps.audit(audit);
    }
    let proxy = ServiceBuilder::new().layer(apps).service(upstream);
    writeln!(io::stdout(), "listening on http://{address}{path}")?;
    serve::serve(listener, proxy, stop).await;
    Ok(())
}

/// Ends on SIGINT or SIGTERM, which are caught from the call on.
#[cfg(unix)]
fn stop() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Ends on Ctrl-C.
#[cfg(not(unix))]
fn stop() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        // Without the signal the process can only be killed, so an error must not stop it.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    })
}
