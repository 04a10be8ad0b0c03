//! rmcp's streamable HTTP server with its defaults: legacy clients get a session, every answer is an SSE stream.
//!
//! Modern requests have no session here either, since 2026-07-28 knows none; they too are answered
//! in SSE, without the priming event that opens a legacy stream.

use std::{io, sync::Arc};

use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};

use super::rmcp_json::Fixture;

/// The service, generic over its request body.
pub(crate) fn service() -> StreamableHttpService<Fixture, LocalSessionManager> {
    StreamableHttpService::new(|| Ok::<_, io::Error>(Fixture), Arc::default(), StreamableHttpServerConfig::default())
}
