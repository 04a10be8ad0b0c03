//! Middleware that records who called what.
//!
//! One [`Record`] for every `tools/call`, every `resources/read` and every refusal of anything: the method, the tool or
//! URI, who made the call and how that is known, what was decided and why, the status, how long it took, how many bytes
//! of the answer went out, and how it ended. A batch gives one per message. Arguments and results are never in it, but
//! for the tool or resource that a call of a [meta-tool](crate::concern::MetaTools) names.
//!
//! - **When.** A record is made when its exchange is over: at the answer's last byte, when the inner service or its
//!   answer fails, or when the client goes away. A stream that is open for an hour is recorded after that hour. A client
//!   that goes away while it still sends its request leaves none, since nothing was called.
//! - **Who.** [`Record::audience`] says `model` or `app` where that is known. `host` means that a client which knows MCP
//!   Apps made the call, for its model or for an app: on the wire the two look alike. To tell them apart, have the edge
//!   say it (see [`AudienceSource`](crate::exchange::AudienceSource)). What is known by
//!   [`Declaration`](crate::exchange::KnownBy::Declaration) is the caller's own word.
//! - **Where.** Outermost: it then sees what the layers inside refused, and why ([`Decision`](crate::exchange::Decision)).
//!   A layer outside that answers by itself is not seen. Give the [`Settings`](crate::concern::Settings) of the layers
//!   inside to this one, too; where it knows the audience by declaration alone it takes over what they knew better.
//! - **Not seen.** Whether a tool succeeded: the answer's body is counted, not read. An event of a stream that a filter
//!   replaced by an error.
//! - **Findings.** A sink also gets what [`lint`](crate::lint) tells about the server: at once in
//!   [`AppsLayer`](crate::AppsLayer), in a stack by `LintLayer::default().also(Audit::new(sink))`.
//! - **Sinks** run where the answer is sent. A slow one belongs behind [`Background`]; one that panics loses its record,
//!   never the answer (unless the program is built to abort on panics).
//!
//! # Sessions
//!
//! A session id is a credential for those who have it, so a record has its hash: the first 16 bytes of the SHA-256 of the
//! id that the innermost service gave, in hexadecimal. It is the same on every replica, with any stack of layers, so
//! records can be joined. There is no key: an id that can be guessed can be guessed from its hash, too. MCP wants ids
//! that cannot (MCP 2025-11-25, "Session Management").
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
//! use tower_mcp_apps::audit::{AuditLayer, Record};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! async fn server<B>(_: Request<B>) -> Result<Response<Full<Bytes>>, std::convert::Infallible> {
//!     Ok(Response::new(Full::from(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#)))
//! }
//!
//! // A sink is a closure; this one keeps lines of JSON.
//! let (lines, kept) = mpsc::channel();
//! let sink = move |record: &Record| drop(lines.send(record.to_json()));
//! let service = ServiceBuilder::new().layer(AuditLayer::new(sink)).service(service_fn(server));
//!
//! let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{"to":"x"}}}"#;
//! let request = Request::post("/mcp").header("content-type", "application/json").body(Full::<Bytes>::from(call))?;
//! service.oneshot(request).await?.into_body().collect().await?;
//!
//! let line = String::from_utf8(kept.recv()?)?;
//! assert!(line.contains(r#""method":"tools/call","tool":"pay","id":1,"audience":"model","known_by":"declaration""#));
//! assert!(line.contains(r#""status":200"#) && line.contains(r#""bytes":48,"end":"complete""#));
//! # Ok(())
//! # }
//! ```

mod background;
mod concern;
mod layer;
mod lines;
mod sink;
#[cfg(test)]
mod tests;

pub use crate::exchange::{End, Reason, Record};
pub use background::Background;
pub use concern::Audit;
pub use layer::AuditLayer;
pub use sink::{Sink, TRACING_TARGET, TracingSink};
