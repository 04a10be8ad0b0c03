//! Middleware that advertises MCP Apps for a server that can serve UIs and does not say so.
//!
//! MCP Apps must be negotiated: the server names `io.modelcontextprotocol/ui` in `capabilities.extensions`
//! of its `initialize` or `server/discover` result, the client does the same on its side (MCP Apps,
//! "Client\<\>Server Capability Negotiation"; MCP 2026-07-28, "Extension Negotiation"). Few servers do.
//!
//! - What the server says of the extension stays: unknown settings verbatim, its `mimeTypes` first, ours
//!   appended where they are missing.
//! - MCP Apps is advertised only where the server has `resources`: without them it cannot serve a UI.
//! - Errors, `input_required` results, and `extensions` that are no object are left alone.
//! - The answer is the same for every caller, so its cache hints stay.
//!
//! This is cosmetic: what cannot be read passes as it came.
//!
//! # Example
//!
//! ```
//! use bytes::Bytes;
//! use http::{Request, Response};
//! use http_body_util::{BodyExt, Full};
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//! use tower_mcp_apps::negotiate::NegotiateLayer;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! async fn server<B>(_: Request<B>) -> Result<Response<Full<Bytes>>, std::convert::Infallible> {
//!     let result = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"resources":{}}}}"#;
//!     let response = Response::builder().header("content-type", "application/json");
//!     Ok(response.body(Full::from(result)).unwrap_or_default())
//! }
//!
//! let service = ServiceBuilder::new().layer(NegotiateLayer::new()).service(service_fn(server));
//!
//! let request = Request::post("/mcp")
//!     .header("content-type", "application/json")
//!     .body(Full::<Bytes>::from(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#))?;
//! let answer = service.oneshot(request).await?.into_body().collect().await?.to_bytes();
//! let answer = String::from_utf8(answer.to_vec())?;
//! assert!(answer.contains(r#""extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}"#));
//! # Ok(())
//! # }
//! ```

mod concern;
mod layer;
#[cfg(test)]
mod tests;

pub use concern::Negotiate;
pub use layer::NegotiateLayer;
