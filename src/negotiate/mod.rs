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
//! # Other extensions
//!
//! What is understood of which extension, and what is forwarded, stands in [`support`].
//!
//! Any extension can be [advertised](NegotiateLayer::advertise), [withheld](NegotiateLayer::withhold), or chosen
//! [for each request](NegotiateLayer::advertise_by), such as for the principal that an outer layer knows. What one server
//! or many say is an [`ExtensionSet`]. MCP Apps is never advertised for a server that has no resources and does not say it.
//!
//! To withhold is to filter: `extensions` that readers may differ on are taken out as a whole, and an answer that cannot be read
//! is an error. Where the choice is each request's, modern results say `"cacheScope":"private"`.
//!
//! # Capabilities of the client
//!
//! The server hears what its client declares, unless [`ClientCapabilities`] say otherwise: all of it or single extensions can be
//! withheld or replaced. They are edited where a message declares them, in `_meta` of each modern request and in the
//! parameters of `initialize`, and in the look-ups that are made in the caller's name; every other byte of the body stays, and
//! `Content-Length` is made to fit. No header mirrors capabilities, so headers and body go on saying the same.
//!
//! - Audience, session tags and what is required go by what the client declared, as does [`McpContext`](crate::McpContext).
//! - A layer further in knows only what is written: with stacked layers, the one with this option is the innermost. Where several
//!   have it, the outer one edits first, also in one [`Chain`](crate::concern::Chain).
//! - Where a message declares nothing, nothing is added. What could not be read, or readers may understand differently, is
//!   refused: what is withheld would get through in it.
//! - A digest of the body in a header or trailer is taken off, where the body was edited; a signature over it
//!   (RFC 9421) does not hold any more.
//!
//! # Required extensions
//!
//! With [`NegotiateLayer::require`] a client must have declared an extension: MCP Apps with `text/html;profile=mcp-app`, any
//! other with a settings object, once. What was not declared so is named in the error's `data.requiredCapabilities`.
//!
//! - Modern requests are refused with 400 and `-32021` (MCP 2026-07-28, "General fields", `_meta`). `server/discover` stays
//!   open, so that a client can learn what there is.
//! - In the legacy era `initialize` is refused (200, `-32602`), and so is what comes without a session that was opened
//!   with a declaration. A GET or DELETE is then refused with 400. A session tag keeps 2 KiB of what was declared: an
//!   `initialize` that declares more is refused where what is required would be forgotten.
//! - Notifications and responses ask for nothing, and pass.
//! - If one message of a batch may not run, none does (400, `-32600`). An `initialize` may not, whatever it declares: it must
//!   not be part of a batch (MCP 2025-03-26, "Lifecycle", Initialization), and no session would remember its declaration.
//! - It fails closed: what cannot be read, or readers may understand differently, is refused as by any filter.
//!
//! A declaration is compatibility, not authorisation: any client can declare anything. Where layers are stacked, the one that
//! requires stands outside of those that look up tools, so that the caller hears what it lacks.
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

mod advertise;
mod client;
mod concern;
mod layer;
mod require;
mod set;
#[cfg(test)]
mod tests;

#[doc = include_str!("support.md")]
pub mod support {}

pub use advertise::Advertise;
pub use client::ClientCapabilities;
pub use concern::Negotiate;
pub use layer::NegotiateLayer;
pub use set::{Conflict, ExtensionSet, InvalidExtensions};
