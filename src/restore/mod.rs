//! Middleware that puts back what an aggregator loses of its upstreams' metadata.
//!
//! An aggregator offers the tools and resources of many servers as its own. Most decode what the servers say into types of their own, and
//! encode those again: `_meta` and with it the UIs and for whom a tool is, hints, `mimeType`, what a newer revision added, the
//! digits of numbers: what the types have no room for is gone. The aggregator itself need not change. A [`CaptureLayer`] around
//! its client of each upstream remembers what that said; a [`RestoreLayer`] in front of the aggregator puts back what is missing, under
//! the aggregator's names.
//!
//! ```text
//!                 client: MCP Apps' host, model, app
//!                     │                    ▲
//!    ┌────────────────▼────────────────────┴─────────────────┐
//!    │  AppsLayer with its Restore, or RestoreLayer          │ ◄──┐
//!    ├───────────────────────────────────────────────────────┤    │
//!    │  the aggregator: typed, renaming, any SDK             │  Memory, or
//!    ├───────────────────────────┬───────────────────────────┤  Valkey for
//!    │  CaptureLayer("maps")     │  CaptureLayer("air")      │  replicas
//!    │  its HTTP client          │  its HTTP client          │    ▲
//!    └───────────────┬───────────┴───────────────┬───────────┘ ───┘
//!                    ▼                           ▼
//!             upstream `maps`             upstream `air`
//! ```
//!
//! # What is put back
//!
//! | answer to | by | what |
//! |---|---|---|
//! | `tools/list` | name | all members but `inputSchema`, `outputSchema` and `execution` |
//! | `resources/list`, `resources/templates/list` | URI | all members |
//! | `resources/read` | URI | all members but `text` and `blob` |
//! | a call of a [meta-tool](crate::concern::MetaTools) that is declared | the same | the same, in its texts and `structuredContent` |
//!
//! - **Only what an upstream said**, in its very bytes, and only where it is missing: in the entry, in its `annotations`, in `_meta`
//!   and in `_meta.ui`. A member that is `null` is missing. What is there stays, whatever the upstream said.
//! - **Links** (`_meta.ui.resourceUri`, `_meta["ui/resourceUri"]`, `_meta["openai/outputTemplate"]`) lead where the aggregator has the page:
//!   see [`Renaming`].
//! - **Never wider.** `visibility` is put back always. What a UI asks for (`csp`, `permissions`, `domain`, `linkTrustedDomains`) comes back only
//!   where all of `ui` was lost: an aggregator that kept `ui` without them may have taken them away on purpose. A
//!   [`policy`](crate::policy) belongs outside of this layer, as in [`AppsLayer`](crate::AppsLayer): within the aggregator it would be undone.
//! - **Not what an aggregator promises itself**: a client refuses results that do not fit an `outputSchema`, which the aggregator may have
//!   dropped together with `structuredContent`. [`RestoreLayer::members`] chooses otherwise.
//! - **Not** prompts, results of calls, capabilities, or what was replaced rather than dropped.
//! - So a page that became **`text/plain`** stays that, though some SDKs write it where nobody gave a type (rmcp's
//!   `ResourceContents::text`): it is a type like any other, and hosts show such a page as text instead of running it, which may have been
//!   the point. An aggregator that did not mean it hands on the type that it was given, or leaves it out.
//!
//! # What is not known
//!
//! A tool of which nothing is remembered may have been for apps alone. It is [hidden](Unknown::Hide) by default, so that a
//! [`visibility`](crate::visibility) outside fails closed: it is in no list, and its calls are refused. That happens after a restart of an
//! aggregator that kept its lists, where what is remembered had to make room, or where [`Credentials`] do not fit: then *all* tools are
//! hidden, and a warning under `tower_mcp_apps::restore` says so. With [`Unknown::Pass`] such a tool is everybody's. Two upstreams that say
//! different things about what may be either's are not known, too.
//!
//! # For whom
//!
//! What was said with one caller's credentials is put back for no other. By default both requests must carry the same ones: that fits
//! aggregators that hand them through. For one with a credential of its own, or none, say [`Credentials::shared`] *on both sides*;
//! for one that exchanges tokens, name the caller with [`Credentials::named`]. Modern results that depend on it say `cacheScope: "private"`.
//!
//! # How long
//!
//! What was said is put back as long as it is fresh: for the `ttlMs` of the result that said it, and for a day where the
//! result says nothing, as in the legacy era, where lists hold until further word. `ttlMs: 0` means the very request
//! during which it was said. For aggregators that keep lists for longer there is [`CaptureLayer::at_least`].
//!
//! Whom a tool is *not* for is remembered for longer: until the upstream says otherwise, for a day at most ([`Memory::keep`]), or it has to
//! make room. So a tool whose link is forgotten is not everybody's.
//!
//! # Replicas
//!
//! A replica that asks its upstreams hears for itself what it must put back, so no store is shared by default. Where one answers from what
//! another one asked, the feature `valkey` has a store for all of them: `Valkey`. Writes happen behind the answers' backs; what a replica has not
//! heard of yet, it does not know.
//!
//! # What bad input gets
//!
//! A message of an upstream that cannot be read, is not complete or says two things at once says nothing; a tool that says two things about
//! itself is for nobody. An entry of more than 256 KiB or 256 members is not remembered. An answer of the aggregator that cannot be read passes as
//! it came, but for lists of tools where unknown ones are hidden: those become an error (`-32603`).
//!
//! # Example
//!
//! ```
//! use bytes::Bytes;
//! use http::{Request, Response};
//! use http_body_util::{BodyExt, Full};
//! use tower::{Layer, ServiceExt, service_fn};
//! use tower_mcp_apps::protocol::Namespace;
//! use tower_mcp_apps::restore::{CaptureLayer, Memory, RestoreLayer};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // What the upstream says, and what the aggregator makes of it.
//! const SAID: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"show","inputSchema":{},"title":"Show",
//!     "_meta":{"ui":{"resourceUri":"ui://view"}}}]}}"#;
//! const KEPT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"maps__show","inputSchema":{}}]}}"#;
//!
//! fn answer(text: &'static str) -> Result<Response<Full<Bytes>>, std::convert::Infallible> {
//!     Ok(Response::new(Full::from(text)))
//! }
//!
//! fn list() -> Result<Request<Full<Bytes>>, http::Error> {
//!     let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
//!     Request::post("/mcp").header("content-type", "application/json").body(Full::from(list))
//! }
//!
//! let store = Memory::new();
//! // In the place of a client, such as hyper-util's.
//! let upstream = CaptureLayer::new("maps", store.clone()).layer(service_fn(async |_: Request<_>| answer(SAID)));
//! let aggregator = service_fn(move |_: Request<_>| {
//!     let upstream = upstream.clone();
//!     async move {
//!         let _said = upstream.oneshot(list().expect("a request")).await?.into_body().collect().await;
//!         answer(KEPT)
//!     }
//! });
//!
//! let layer = RestoreLayer::new(store).upstream("maps", Namespace::new("maps")?);
//! let restored = layer.layer(aggregator).oneshot(list()?).await?.into_body().collect().await?.to_bytes();
//! assert_eq!(restored, KEPT.replace(
//!     r#""inputSchema":{}"#,
//!     r#""inputSchema":{},"title":"Show","_meta":{"ui":{"resourceUri":"ui://maps+view"}}"#,
//! ));
//! # Ok(())
//! # }
//! ```

mod capture;
mod concern;
mod credentials;
mod fill;
mod hear;
mod layer;
mod memory;
mod options;
mod place;
mod renaming;
mod store;
#[cfg(feature = "valkey")]
mod valkey;

pub use capture::Capture;
pub use concern::Restore;
pub use credentials::Credentials;
pub use layer::{CaptureLayer, RestoreLayer};
pub use memory::Memory;
pub use options::Unknown;
pub use place::{Place, Said};
pub use renaming::{NamesOnly, Renaming, Unchanged};
pub use store::Store;
#[cfg(feature = "valkey")]
#[cfg_attr(docsrs, doc(cfg(feature = "valkey")))]
pub use valkey::{InvalidValkey, Valkey};
