//! Middleware that tells what is wrong with what a server says about its UIs.
//!
//! Hosts pass over what they cannot use in silence: a UI does not come up, or comes up without its network, and nobody
//! says why. This layer looks at what passes and says it. It changes nothing, whatever it finds.
//!
//! - **What.** [`Rule`] has the list: metadata in the wrong place (`csp` on a tool, the name of the extension in the place
//!   of `ui`), the deprecated flat key, sources, domains and links that are none, `text/html` under `ui://` without its
//!   profile, and results of calls whose `content` is empty. They are those of MCP Apps, "UI Resource Format" and "Resource
//!   Discovery"; what [`ui`](crate::ui) builds has none of them.
//! - **Who is told.** `tracing` by default, or whoever implements [`Findings`]; inside [`AppsLayer`](crate::AppsLayer)
//!   also the [sink of the audit](crate::audit::Sink::finding).
//! - **How often.** Each finding once a day for each service, however often it passes, and a thousand at most.
//! - **Where.** Innermost: it then sees what the server wrote, not what other layers made of it.
//! - **Not seen.** What nobody asks for; and what takes a comparison of lists, such as a link to a resource that is not
//!   there. The feature `testing` has a function that asks for everything and compares: `testing::lint`, for the tests of a
//!   server.
//!
//! This is cosmetic: what cannot be read passes as it came. But it is not free. Lists, reads and calls are read that
//! would else pass unread: a JSON answer waits until it is whole, an event stream loses its `Content-Length`, and the server
//! is asked for `Accept-Encoding: identity`. [`LintLayer::allow`] with [`Rule::EmptyContent`] leaves the calls alone.
//!
//! # Example
//!
//! ```
//! use std::sync::mpsc;
//!
//! use bytes::Bytes;
//! use http::{Request, Response};
//! use http_body_util::{BodyExt, Full};
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//! use tower_mcp_apps::lint::{Finding, LintLayer};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"usage","_meta":{"ui":{
//!     "resourceUri":"ui://accounts/usage","csp":{"connectDomains":["https://api.example.com"]}}}}]}}"#;
//!
//! async fn server<B>(_: Request<B>) -> Result<Response<Full<Bytes>>, std::convert::Infallible> {
//!     Ok(Response::new(Full::from(LIST)))
//! }
//!
//! // Who is told may be a closure.
//! let (told, findings) = mpsc::channel();
//! let layer = LintLayer::new(move |finding: &Finding| drop(told.send(finding.to_string())));
//! let service = ServiceBuilder::new().layer(layer).service(service_fn(server));
//!
//! for _ in 0..2 {
//!     let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
//!     let request = Request::post("/mcp").header("content-type", "application/json").body(Full::<Bytes>::from(list))?;
//!     let answer = service.clone().oneshot(request).await?.into_body().collect().await?.to_bytes();
//!     assert_eq!(answer, LIST);
//! }
//! let findings: Vec<_> = findings.try_iter().collect();
//! assert_eq!(findings, ["tools/list of tool \"usage\", _meta.ui.csp: has no meaning here: \
//!     links and visibility belong to tools, all else to resources (misplaced)"]);
//! # Ok(())
//! # }
//! ```

mod concern;
mod finding;
mod findings;
mod judge;
mod layer;
mod rule;
mod told;

pub use concern::Lint;
pub use finding::Finding;
pub(crate) use finding::Place;
pub use findings::{Findings, TRACING_TARGET, TracingFindings};
pub use layer::LintLayer;
pub use rule::Rule;
