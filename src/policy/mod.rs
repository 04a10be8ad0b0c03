//! Middleware that holds what UIs declare to a policy.
//!
//! A UI resource declares which origins its page needs, what it wants of the browser, and which domain it would
//! like to have (MCP Apps, "UI Resource Format"); hosts build the sandbox and its Content Security Policy from
//! that. A [`Policy`] says what of it may reach hosts at all. What comes out is never more than what came in:
//! entries and members go, nothing is added, and what stays keeps its bytes.
//!
//! # What is judged
//! - `csp` with `connectDomains`, `resourceDomains`, `frameDomains` and `baseUriDomains`; `permissions`; `domain`;
//!   `linkTrustedDomains`: in the `_meta.ui` of list entries, of templates and of read content alike. A host may
//!   use either, the content's as a whole where both are there (MCP Apps, "Metadata Location"), so each is within
//!   the policy by itself, and `ui` itself is never taken out: no host falls back to the other for it.
//! - The same on tools, where it does not belong but a lenient host may find it.
//! - `_meta["openai/widgetCSP"]` and `_meta["openai/widgetDomain"]`, which hosts of OpenAI's Apps SDK obey.
//! - The media type of resources whose URI begins with `ui://`, and [pinned](Policy::pin) content.
//!
//! Only what there are rules for: without an [allowed](Policy::allow) and a [denied](Policy::deny) entry a list
//! passes as it is. `null` states nothing. Resources that are embedded in the result of a tool are not judged:
//! hosts fetch UIs by `resources/read` (MCP Apps, "Resource Discovery", Behavior).
//!
//! # Which entries of a list stay
//! An entry stays if everything that it matches is allowed and nothing of it is denied.
//!
//! | entry | treatment |
//! |---|---|
//! | `https://api.example`, `http://localhost:5077`, `wss://live.example` | allowed by the same scheme, host and port; letters' case and the scheme's own port do not matter |
//! | `https://*.example` | needs a rule for all of it, such as `https://*.example` or `https:`; rules for single hosts are not enough |
//! | `https://cdn.example/npm/` | as its origin: a path only narrows |
//! | `data:`, `blob:`, `https:` | allowed by a rule that is this very word |
//! | `*`, `https://*`, `https://a.example:*` | never: no rule is as wide |
//! | `'self'`, `'unsafe-eval'` and other keywords in quotes | never: they are about the page, not about an origin |
//! | `a.example`, IPv6 and odd IPv4 addresses, `https://a.example.`, names outside ASCII, credentials, a query, white space, `;`, `,` | never: readers may differ about them, or they could end the directive |
//! | anything but a string | never |
//!
//! A list that cannot be read (no array, a directive that stands twice, a `csp` that is no object) goes as a whole.
//! A permission is asked for by its name, whatever its value. An entry that says two things about itself is not shown.
//!
//! # What becomes of a violation
//! See [`OnViolation`]. Restricting and refusing are filters: an answer that cannot be read does not pass. An error
//! keeps the HTTP status of the answer that it stands for, and has its id. Each violation is told of as a
//! `tracing` event at the level `WARN` with the target `tower_mcp_apps::policy`, and a [record](crate::audit) of a read
//! that was refused says [`OutsidePolicy`](crate::exchange::Reason::OutsidePolicy), unless the answer is a stream, whose
//! head has gone by then.
//!
//! # Limits
//! A policy is about declarations. That a page gets no more than they say is the host's duty. A pin is about a
//! URI: a server can link a tool to another one, unless [only pinned](Policy::only_pinned) templates pass. On a GET
//! stream, where the request behind an answer is not known, a template without a pin of its own does not pass
//! a policy that has pins.
//!
//! # Example
//!
//! ```
//! use bytes::Bytes;
//! use http::{Request, Response};
//! use http_body_util::{BodyExt, Full};
//! use tower::{Service, ServiceBuilder, ServiceExt, service_fn};
//! use tower_mcp_apps::policy::{List, Policy, PolicyLayer};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! async fn server<B>(_: Request<B>) -> Result<Response<Full<Bytes>>, std::convert::Infallible> {
//!     let read = r#"{"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"ui://s/t","text":"<!doctype html>",
//!         "_meta":{"ui":{"csp":{"connectDomains":["https://api.example.com","https://ads.example.net"]}}}}]}}"#;
//!     let response = Response::builder().header("content-type", "application/json");
//!     Ok(response.body(Full::from(read)).unwrap_or_default())
//! }
//!
//! let policy = Policy::new().allow(List::Connect, "https://api.example.com")?;
//! let service = ServiceBuilder::new().layer(PolicyLayer::new(policy)).service(service_fn(server));
//!
//! let request = Request::post("/mcp")
//!     .header("content-type", "application/json")
//!     .body(Full::<Bytes>::from(r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"ui://s/t"}}"#))?;
//! let answer = service.oneshot(request).await?.into_body().collect().await?.to_bytes();
//! let answer = String::from_utf8(answer.to_vec())?;
//! assert!(answer.contains(r#"{"connectDomains":["https://api.example.com"]}"#));
//! # Ok(())
//! # }
//! ```

mod concern;
mod judge;
mod layer;
mod options;
mod pattern;
mod pins;
mod rules;
#[cfg(test)]
mod tests;

pub use layer::PolicyLayer;
pub use options::{InvalidRule, List, OnViolation, UnknownDirectives};
pub use pins::{Digest, InvalidDigest};
pub use rules::Policy;
