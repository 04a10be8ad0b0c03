//! Middleware that puts a prefix in front of what a server's tools, prompts and resources are called, for gateways that put
//! several servers behind one endpoint.
//!
//! Two servers may both have a tool `search` and a page `ui://app/main`. Behind a [`NamespaceLayer`] each, they have
//! `maps__search` and `ui://maps+app/main`, and so on; what the client sends goes on under the server's own names. The
//! scheme of a `ui://` URI stays, since hosts know a page by it (MCP Apps, "UI Resource Format"); that of any other URI gets
//! the name in front: `maps+file:///x`. See [`Namespace`] for the choices.
//!
//! # Where
//!
//! | in answers and notifications | what |
//! |---|---|
//! | `tools/list` | `name`; `_meta.ui.resourceUri`, `_meta["ui/resourceUri"]`, `_meta["openai/outputTemplate"]` |
//! | `prompts/list` | `name` |
//! | `resources/list`, `resources/templates/list` | `uri`, `uriTemplate`; a `name` that is itself a `ui://` URI |
//! | `resources/read` | `contents[].uri` |
//! | `tools/call`, `prompts/get`, results of tasks (`tasks/result`, `tasks/get`, `notifications/tasks`) | `uri` of `resource_link` blocks and of embedded resources; `_meta` of the result and of blocks, as on tools |
//! | `notifications/resources/updated`, `notifications/subscriptions/acknowledged` | `uri`, `resourceSubscriptions` |
//! | errors | `error.data.uri` (MCP 2025-11-25, "Resources", Error Handling) |
//! | a call of a [meta-tool](crate::concern::MetaTools) that is declared | what a list has, in its texts and `structuredContent` |
//!
//! | in requests | what |
//! |---|---|
//! | `tools/call`, `prompts/get` | `params.name`, `Mcp-Name` |
//! | `resources/read`, `resources/subscribe`, `resources/unsubscribe` | `params.uri`, `Mcp-Name` |
//! | `completion/complete` | `params.ref.name`, `params.ref.uri` |
//! | `subscriptions/listen` | `params.notifications.resourceSubscriptions` |
//! | a call of a meta-tool | the argument that names a tool or resource, too |
//!
//! All else stays: other arguments, `structuredContent` and texts are data, whatever URIs are in them; so do `icons`,
//! roots, and what a server says to a model in sampling. Nothing is parsed: exactly one prefix is put in front, with
//! the JSON escapes that stand there, and exactly one is taken off. The message of an error is such a text, so that of a hidden
//! tool, which [`visibility`](crate::visibility) refuses further in, names it without the prefix, as the server's own would.
//!
//! # What bad input gets
//!
//! What does not carry the prefix is another server's: a call gets the error of an unknown tool (`-32602`), a read that
//! of an unknown resource (`-32602`, in the legacy era `-32002`), and the inner service sees nothing of it. So does a
//! request that readers may understand differently or that is no message (400, `-32600`), and one whose `Mcp-Name` lacks
//! the prefix (400, `-32020`); a batch with such a message goes no further as a whole. Other answers that cannot be read
//! pass as they came: a prefix protects nobody. For that, put a filter inside.
//!
//! # Example
//!
//! ```
//! use bytes::Bytes;
//! use http::{Request, Response};
//! use http_body_util::{BodyExt, Full};
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//! use tower_mcp_apps::namespace::{Namespace, NamespaceLayer};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Says what it was asked.
//! async fn server<B>(request: Request<B>) -> Result<Response<B>, std::convert::Infallible> {
//!     Ok(Response::new(request.into_body()))
//! }
//!
//! let maps = NamespaceLayer::new(Namespace::new("maps")?);
//! let service = ServiceBuilder::new().layer(maps).service(service_fn(server));
//!
//! let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"maps__show"}}"#;
//! let request = Request::post("/mcp").header("content-type", "application/json").body(Full::<Bytes>::from(call))?;
//! let asked = service.oneshot(request).await?.into_body().collect().await?.to_bytes();
//! assert_eq!(asked, call.replace("maps__show", "show"));
//! # Ok(())
//! # }
//! ```

mod concern;
mod layer;
#[cfg(test)]
mod tests;

pub use crate::protocol::{InvalidNamespace, Namespace, UiShape};
pub use layer::NamespaceLayer;
