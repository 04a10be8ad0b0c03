//! Middleware that keeps each tool to those it is for.
//!
//! A tool says in `_meta.ui.visibility` whether the model, an app, or both may see and call it (MCP Apps,
//! "Resource Discovery", Visibility). A host that knows MCP Apps filters for its own agent; a client that
//! does not would hand app-only tools to its model. So the answer depends on who asks, the [`Audience`]:
//!
//! | audience | `tools/list` | `tools/call` and other methods |
//! |---|---|---|
//! | `Host` | everything, and for whom it is by the deployer's word | everything |
//! | `Model` | tools with `"model"` | tools with `"model"`; messages that two readers could understand differently are refused |
//! | `App` | tools with `"app"` | tools with `"app"`; the same, and only the methods that an app may use |
//!
//! By default the audience is known from what the client declared ([`Auto`](crate::exchange::Auto)); see
//! [`AudienceSource`](crate::exchange::AudienceSource) for the other ways, and for what must never be trusted.
//!
//! - `visibility` absent means both; an array means its members; anything else means nobody. A tool that
//!   says two things about itself is for nobody. A `_meta` or `ui` that is no object says nothing; an entry
//!   that is no object is left out.
//! - A call of a hidden tool is answered as one of a tool that does not exist, and never reaches the inner service.
//!   To know, the inner service is asked for `tools/list` in the caller's name, all pages, and the answer kept for a
//!   short time: [`LookUp`](crate::concern::LookUp). A name that is not in it goes on, since servers run tools that they do not list.
//! - A tool that is called through another one is judged where such [`MetaTools`](crate::concern::MetaTools) are declared.
//! - An app may use lifecycle methods, `ping`, notifications, `tools/list` and `tools/call`, `resources/list`,
//!   `resources/templates/list` and `resources/read` ([`AppResources`] narrows it), GET and DELETE.
//! - This is a filter: a list that cannot be read does not pass, the caller gets an error with its own id.
//! - Where another caller could get another list, results say `"cacheScope":"private"` (MCP 2026-07-28, "Caching").
//! - Session ids of the legacy era carry a tag. A browser client needs `Mcp-Session-Id` in
//!   `Access-Control-Expose-Headers`, as without this layer.
//!
//! Visibility is **not authorisation**: whoever reaches the service can declare any capability.
//!
//! # Example
//!
//! ```
//! use bytes::Bytes;
//! use http::{Request, Response};
//! use http_body_util::{BodyExt, Full};
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//! use tower_mcp_apps::visibility::VisibilityLayer;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! async fn server<B>(_: Request<B>) -> Result<Response<Full<Bytes>>, std::convert::Infallible> {
//!     let list = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[
//!         {"name":"open"}, {"name":"poll","_meta":{"ui":{"visibility":["app"]}}}]}}"#;
//!     let response = Response::builder().header("content-type", "application/json");
//!     Ok(response.body(Full::from(list)).unwrap_or_default())
//! }
//!
//! let service = ServiceBuilder::new().layer(VisibilityLayer::new()).service(service_fn(server));
//!
//! // A client that declared nothing: its model would get every tool.
//! let request = Request::post("/mcp")
//!     .header("content-type", "application/json")
//!     .body(Full::<Bytes>::from(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#))?;
//! let answer = service.oneshot(request).await?.into_body().collect().await?.to_bytes();
//! let answer = String::from_utf8(answer.to_vec())?;
//! assert!(answer.contains("open") && !answer.contains("poll"));
//! # Ok(())
//! # }
//! ```
//!
//! [`Audience`]: crate::protocol::Audience

mod concern;
mod judge;
mod layer;
#[cfg(test)]
mod tests;

pub use concern::{AppResources, Visibility};
pub use layer::VisibilityLayer;
