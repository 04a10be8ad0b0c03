//! Middleware that gives UIs to a server that has none.
//!
//! The server keeps answering what it always answered. For clients with MCP Apps the layer adds the rest:
//!
//! - An [`App`] is listed on the first page of `resources/list`, behind the server's own resources, and read by
//!   `resources/read`. Its media type and `_meta.ui` stand on both, and nothing that was not declared.
//! - Tools that are linked to it say so in `_meta.ui.resourceUri`; the rest of their metadata stays.
//! - The server's capabilities get `resources` where it is missing. [`NegotiateLayer`](crate::negotiate::NegotiateLayer)
//!   outside then advertises MCP Apps.
//! - Where the server says that it does not know `resources/list` or `resources/templates/list` (`-32601`, by 200 or
//!   404), the client gets a list all the same, by 200.
//!
//! A client without MCP Apps sees the plain server: no resource, no link, no capability, and a read of an app's URI goes
//! to the server, which does not know it. So in the modern era all these answers are `"cacheScope":"private"`. Who is a
//! client with Apps says what it declared, or an [audience](crate::exchange::AudienceSource) that the deployer settled as
//! `Host` or `App`.
//!
//! # Caveats
//!
//! - **Authentication goes outside.** A read of an app is answered here: the server sees neither it nor its credentials, and
//!   its sessions are not looked at.
//! - A resource of the server's own with the URI of an app is an error: the list becomes a JSON-RPC error `-32603` that
//!   names both, and a `tracing` event says so. Reads answer the app.
//! - A batch (2025-03-26) with a read of an app is refused, 400 and `-32600`, and none of it runs. Lists in a batch are
//!   joined unless one of them has a cursor.
//! - A read whose `Mcp-Method`, `Mcp-Name` or `MCP-Protocol-Version` says something else than its body is refused as a server has to
//!   (MCP 2026-07-28, "Server Validation"): 400 and `-32020`. One that lacks them is answered.
//! - An answer of the server that is replayed on a GET stream gets links, but no entries in `resources`: which page it was
//!   cannot be told.
//! - Reads are not streamed or compressed here; answers that are added to are held until they are whole, as everywhere.
//! - All else is cosmetic: what cannot be read passes as it came.
//!
//! Optional is a [text](TextFallback) for tool results that have none.
//!
//! # Example
//!
//! ```
//! use bytes::Bytes;
//! use http::{Request, Response};
//! use http_body_util::{BodyExt, Full};
//! use tower::{Service, ServiceBuilder, ServiceExt, service_fn};
//! use tower_mcp_apps::negotiate::NegotiateLayer;
//! use tower_mcp_apps::serve::{App, ServeLayer};
//! use tower_mcp_apps::ui::Html;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! async fn server<B>(_: Request<B>) -> Result<Response<Full<Bytes>>, std::convert::Infallible> {
//!     let list = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"balance"}]}}"#;
//!     let response = Response::builder().header("content-type", "application/json");
//!     Ok(response.body(Full::from(list)).unwrap_or_default())
//! }
//!
//! let html = Html::try_from("<!doctype html><html><title>Balance</title></html>")?;
//! let app = App::new("ui://accounts/balance".parse()?, html).link("balance");
//! let mut service = ServiceBuilder::new()
//!     .layer(NegotiateLayer::new())
//!     .layer(ServeLayer::new().app(app))
//!     .service(service_fn(server));
//!
//! let mut ask = async |method: &str, param: &str| {
//!     let message = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"uri": param, "_meta": {
//!         "io.modelcontextprotocol/protocolVersion": "2026-07-28",
//!         "io.modelcontextprotocol/clientCapabilities": {"extensions": {
//!             "io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]},
//!         }},
//!     }}});
//!     let request = Request::post("/mcp").header("content-type", "application/json");
//!     let request = request.body(Full::<Bytes>::from(message.to_string()))?;
//!     let answer = service.ready().await?.call(request).await?.into_body().collect().await?.to_bytes();
//!     serde_json::from_slice::<serde_json::Value>(&answer).map_err(Box::<dyn std::error::Error>::from)
//! };
//! let tools = ask("tools/list", "").await?;
//! assert_eq!(tools["result"]["tools"][0]["_meta"]["ui"]["resourceUri"], "ui://accounts/balance");
//! let read = ask("resources/read", "ui://accounts/balance").await?;
//! assert_eq!(read["result"]["contents"][0]["mimeType"], "text/html;profile=mcp-app");
//! # Ok(())
//! # }
//! ```

mod app;
mod concern;
mod layer;
mod link;
mod options;
mod page;
mod served;
#[cfg(test)]
mod tests;

pub use app::{App, InvalidApp};
pub use concern::Serve;
pub use layer::ServeLayer;
pub use options::{CacheScope, TextFallback};
