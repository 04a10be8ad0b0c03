//! Middleware that repairs how tools point at their UI.
//!
//! A tool names its UI in `_meta.ui.resourceUri`. Many servers still write the deprecated flat key
//! `_meta["ui/resourceUri"]` instead, or both, or both with different values (MCP Apps, "Resource
//! Discovery"). Hosts that read only the nested key then see no UI.
//!
//! - The nested key wins where both are there. What becomes of the two is [`FlatKey`]'s choice.
//! - Only strings that begin with `ui://` count; a value that is anything else is left as it is, and so is
//!   a `_meta` or a `ui` that is no object, and an entry in which a name stands twice.
//! - OpenAI's keys are read only on request ([`OpenAiKeys`]). They add what is missing, are never removed,
//!   and no resource is relabelled: a page made for another bridge would not run as an MCP App.
//! - On request, clients that cannot render UIs do not hear of them ([`Degradation`]), nor of pages whose
//!   media type they did not declare ([`Pages`]). Results of calls are read for that, and for nothing else.
//!
//! This is cosmetic: what cannot be read passes as it came.
//!
//! # Example
//!
//! ```
//! use bytes::Bytes;
//! use http::{Request, Response};
//! use http_body_util::{BodyExt, Full};
//! use tower::{Service, ServiceBuilder, ServiceExt, service_fn};
//! use tower_mcp_apps::normalize::NormalizeLayer;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! async fn server<B>(_: Request<B>) -> Result<Response<Full<Bytes>>, std::convert::Infallible> {
//!     let list = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t","_meta":{"ui/resourceUri":"ui://s/t"}}]}}"#;
//!     let response = Response::builder().header("content-type", "application/json");
//!     Ok(response.body(Full::from(list)).unwrap_or_default())
//! }
//!
//! let service = ServiceBuilder::new().layer(NormalizeLayer::new()).service(service_fn(server));
//!
//! let request = Request::post("/mcp")
//!     .header("content-type", "application/json")
//!     .body(Full::<Bytes>::from(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#))?;
//! let answer = service.oneshot(request).await?.into_body().collect().await?.to_bytes();
//! let answer = String::from_utf8(answer.to_vec())?;
//! assert!(answer.contains(r#"{"ui/resourceUri":"ui://s/t","ui":{"resourceUri":"ui://s/t"}}"#));
//! # Ok(())
//! # }
//! ```

mod concern;
mod degrade;
mod layer;
mod options;
mod pages;
#[cfg(test)]
mod tests;

pub use concern::Normalize;
pub use layer::NormalizeLayer;
pub use options::{Degradation, FlatKey, OpenAiKeys};
pub use pages::Pages;
