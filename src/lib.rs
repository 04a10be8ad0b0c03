//! Tower layers that make any HTTP service speaking MCP aware of MCP Apps, on the wire.
//!
//! [MCP Apps] lets a server give its tools a user interface: an HTML page under a `ui://` URI, which a host shows
//! in a sandbox and which may call the server's tools itself. Three things stand between a server and that:
//! the extension must be negotiated, links must be where hosts look for them, and tools that are for the page
//! alone must not reach a model. The layers of this crate do these on the HTTP messages that pass, so the
//! service behind them needs no change and no particular SDK. It may be an axum route, a hyper service, rmcp's
//! `StreamableHttpService`, tower-mcp's router, or the client side of a reverse proxy.
//!
//! They speak all revisions of MCP from 2024-11-05 to 2026-07-28, over JSON and over event streams.
//!
//! # Example
//!
//! ```
//! use axum::Router;
//! use rmcp::{ServerHandler, transport::streamable_http_server::*};
//! use session::local::LocalSessionManager;
//! use std::sync::Arc;
//! use tower_mcp_apps::AppsLayer;
//!
//! struct Account; // The server that you have.
//! impl ServerHandler for Account {}
//!
//! let sessions = Arc::<LocalSessionManager>::default();
//! let account = StreamableHttpService::new(|| Ok(Account), sessions, StreamableHttpServerConfig::default());
//! let app: Router = Router::new().nest_service("/mcp", account).layer(AppsLayer::new());
//! ```
//!
//! Put the layers on the MCP route only, or give them a [`Predicate`](exchange::Predicate): on other routes any JSON
//! would be taken for MCP. `cargo run --example wrap_server` shows in a browser what the layers do to a plain server;
//! `examples/reverse_proxy` is a whole proxy for servers that are out of reach, `examples/gateway` one for many of them.
//!
//! # Layers
//!
//! | layer | what it does | what it could not read |
//! |---|---|---|
//! | [`AppsLayer`] | all of these in one pass | as below |
//! | [`LintLayer`](lint::LintLayer) | tells what is wrong with what the server says about its UIs; changes nothing | passes |
//! | [`RestoreLayer`](restore::RestoreLayer) | puts back what an aggregator lost of what its upstreams said | passes; [lists of tools](restore#what-is-not-known) are refused |
//! | [`ServeLayer`](serve::ServeLayer) | gives UIs to a server that has none | passes |
//! | [`NegotiateLayer`](negotiate::NegotiateLayer) | advertises MCP Apps in the server's capabilities; on request advertises, withholds or [requires](negotiate#required-extensions) any extension, and chooses what the server hears of its client | passes; is refused where something is withheld or required |
//! | [`NormalizeLayer`](normalize::NormalizeLayer) | puts links to a UI where hosts look for them; on request takes from clients what they cannot use | passes |
//! | [`PolicyLayer`](policy::PolicyLayer) | holds what UIs declare (CSP, permissions, domains) to a policy, and templates to pins | is refused |
//! | [`VisibilityLayer`](visibility::VisibilityLayer) | shows each tool only to those it is for, and lets nobody else call it | is refused |
//! | [`NamespaceLayer`](namespace::NamespaceLayer) | puts a prefix in front of a server's names and URIs, for gateways | passes; [ambiguous requests](namespace#what-bad-input-gets) are refused |
//! | [`AuditLayer`](audit::AuditLayer) | records who called what, and what was decided about it | is recorded as such |
//!
//! What [`RestoreLayer`](restore::RestoreLayer) puts back, a [`CaptureLayer`](restore::CaptureLayer) around the aggregator's client
//! of each upstream has remembered. Each of the others can be used alone. All of them tell the inner service, and observers
//! outside, what they found out about an exchange: see [`McpContext`]. Those who write a server declare its UI with the
//! builders in [`ui`].
//!
//! Two features, neither on by default: `testing` has what tests of a stack need, and tells how to test one ([`testing`]);
//! `valkey` has a store for [`restore`] that replicas share.
//!
//! # Stacking
//!
//! An answer passes the layers from the inner service outwards, a request the other way round. In this order
//! single layers do the same as [`AppsLayer`]; with `ServiceBuilder`, the outermost is written first:
//!
//! ```text
//!             request                                        answer
//!    ┌───────────▼──────────────────────────────────────────────┴──────────┐
//!    │  TraceLayer · CorsLayer · TimeoutLayer · RequestBodyLimitLayer      │
//!    │  authentication · CompressionLayer · RequestDecompressionLayer      │
//!    ├── this crate ───────────────────────────────────────────────────────┤
//!    │  AuditLayer          who called what                                │
//!    │  NamespaceLayer      names and URIs of several servers, told apart  │
//!    │  VisibilityLayer     each tool to those it is for                   │
//!    │  PolicyLayer         UIs declare no more than is allowed            │
//!    │  NormalizeLayer      links in their one right place                 │
//!    │  NegotiateLayer      the server advertises MCP Apps                 │
//!    │  ServeLayer          the server has a UI                            │
//!    │  RestoreLayer        what an aggregator lost is there again         │
//!    │  LintLayer           what is wrong with the server's own UIs        │
//!    ├─────────────────────────────────────────────────────────────────────┤
//!    │  DecompressionLayer, before a client of an upstream · your service  │
//!    └─────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! ```
//! use bytes::Bytes;
//! use http::{Request, Response};
//! use http_body_util::Full;
//! use tower::{ServiceBuilder, service_fn};
//! use tower_http::{compression::CompressionLayer, trace::TraceLayer};
//! use tower_mcp_apps::audit::{AuditLayer, TracingSink};
//! use tower_mcp_apps::{negotiate::NegotiateLayer, normalize::NormalizeLayer, visibility::VisibilityLayer};
//!
//! # async fn server<B>(_: Request<B>) -> Result<Response<Full<Bytes>>, std::convert::Infallible> {
//! #     Ok(Response::new(Full::default()))
//! # }
//! let service = ServiceBuilder::new()
//!     .layer(TraceLayer::new_for_http())
//!     .layer(CompressionLayer::new())
//!     .layer(AuditLayer::new(TracingSink))
//!     .layer(VisibilityLayer::new())
//!     .layer(NormalizeLayer::new())
//!     .layer(NegotiateLayer::new())
//!     .service(service_fn(server));
//! # fn is_service<S: tower::Service<Request<Full<Bytes>>>>(_: &S) {}
//! # is_service(&service);
//! ```
//!
//! Where the layers of others belong, and what happens on the other side of ours:
//!
//! | layer | belongs | because |
//! |---|---|---|
//! | `CompressionLayer` | outside | Answers that may be edited are asked for with `Accept-Encoding: identity`, so inside it leaves exactly those uncompressed. Its default predicate leaves event streams alone, as it should. |
//! | `DecompressionLayer` | inside, before an upstream's client | An upstream may encode although `identity` was asked for. Without it a filter answers 502, and the rest passes unedited. |
//! | `RequestDecompressionLayer` | outside | An encoded request cannot be read: where a filter applies it gets 415. |
//! | `CorsLayer` | outside | Refusals need its headers, too. It must expose `Mcp-Session-Id`, which these layers issue even for servers without sessions, and allow `Mcp-Session-Id`, `Mcp-Protocol-Version`, `Mcp-Method` and `Mcp-Name`. |
//! | `TraceLayer` | either | Outside it sees what the client sees, with [`McpContext`] among the answer's extensions; inside what the server sees, with [`McpContext`] among the request's. |
//! | `TimeoutLayer` | outside | It bounds the time to the head. Outside that is also the reading of a JSON answer that may be edited, whose head waits for its body, and the [look-up](concern::LookUp#how-long-it-may-take) that a call waits for; inside it is the server's head alone. Streams are not ended: their head goes out at once. |
//! | `ResponseBodyTimeoutLayer` | neither | It ends streams on which nothing happens, which is what open GET streams are like. |
//! | `RequestBodyLimitLayer` | outside | Inside, the body was read already, up to [`Limits`](exchange::Limits). Those refuse with a JSON-RPC error, and are enough alone: of a body without a length that this layer breaks off, a filter says only that it broke off (400). |
//! | authentication | outside | Nothing is refused, and no audience worked out, for a caller who may not be here at all. It can hand in what it knows: [`ByExtension`](exchange::ByExtension). Look-ups repeat the caller's credentials, so it may stand inside as well. |
//! | `ConcurrencyLimitLayer`, `RateLimitLayer` | either | Inside, the [look-ups](visibility) count, too. A call that waits for one that is under way holds no permit. |
//! | `map_request_body` | inside | Only for services of one request body type: see [`concern`]. |
//!
//! # Gateways
//!
//! Where many servers are behind one endpoint, the layers stand before each of them, or before the aggregator:
//!
//! ```text
//!     your gateway, on bytes                an aggregator, on types of its own
//!    ┌────────────────────────────────┐    ┌────────────────────────────────┐
//!    │  asks one upstream or all      │    │  AppsLayer: restore, meta-tools│
//!    ├────────────────┬───────────────┤    ├────────────────────────────────┤
//!    │ NamespaceLayer │ NamespaceLayer│    │  the aggregator, which renames │
//!    │ AppsLayer      │ AppsLayer     │    ├────────────────┬───────────────┤
//!    │ HTTP client    │ HTTP client   │    │ CaptureLayer   │ CaptureLayer  │
//!    └───────┬────────┴───────┬───────┘    │ HTTP client    │ HTTP client   │
//!            ▼                ▼            └───────┬────────┴───────┬───────┘
//!     upstream `maps`  upstream `air`              ▼                ▼
//! ```
//!
//! - **Before each upstream** of a gateway that passes bytes on. Tools are judged under the upstream's own names and looked up
//!   there alone; clients, and an audit outside, see `maps__show` and `ui://maps+…`. What the upstreams advertise becomes one
//!   [`ExtensionSet`](negotiate::ExtensionSet). `examples/gateway` is such a gateway, without state.
//! - **Before an aggregator** that decodes and encodes. It renames by itself, so there is no [`namespace`]; [`restore`] is told
//!   [how](restore::Renaming). Policy and visibility belong outside of it, and see what it put back.
//! - **Meta-tools.** An aggregator that hides its catalogue behind tools of its own is declared to each layer:
//!   [`MetaTools`](concern::MetaTools). What their results list is then filtered, restored and renamed as a list is, and a
//!   call through them is judged by the tool that it names.
//!
//! ```
//! use tower_mcp_apps::AppsLayer;
//! use tower_mcp_apps::concern::MetaTools;
//! use tower_mcp_apps::protocol::Namespace;
//! use tower_mcp_apps::restore::{CaptureLayer, Memory, Restore};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Before one upstream of a gateway: the prefix is the outermost, but for the audit.
//! let upstream = AppsLayer::new().namespace(Namespace::new("maps")?);
//!
//! // Around an aggregator's client of that upstream, and before the aggregator.
//! let store = Memory::new();
//! let client = CaptureLayer::new("maps", store.clone());
//! let aggregator = AppsLayer::new()
//!     .restore(Restore::new(store).upstream("maps", Namespace::new("maps")?))
//!     .meta_tools(MetaTools::new().list_tools("find-tools").call_tool("mcp-exec", "name"));
//! # drop((upstream, client, aggregator));
//! # Ok(())
//! # }
//! ```
//!
//! # Promises
//!
//! 1. **Lossless.** A message that needs no edit leaves as the bytes that came. Of one that needs an edit only the
//!    members that the edit is about change: numbers keep their digits, members their order, unknown members and
//!    white space stay, at every level. Nothing is decoded and encoded again. See [`json`].
//! 2. **A filter fails closed, a cosmetic rewrite fails open.** What a filter could not read does not pass: the caller gets
//!    a JSON-RPC error with its own id. What the others could not read passes untouched. The table of [layers](#layers) says
//!    which is which.
//! 3. **Streaming stays streaming.** The head of an event stream goes out at once, each event as its blank line
//!    arrives; memory stays flat, and a client that hangs up closes the server's side. See [`sse`].
//! 4. **Stateless.** All that the handling of a request depends on is in that request, so any replica can answer it.
//!    What a legacy client declared at `initialize` travels in a tag on its `Mcp-Session-Id`. What is kept for a while
//!    can be asked of the inner service again. Only [`restore`] cannot ask: by default it hides a tool of which it has not heard.
//!
//! # Who asks
//!
//! What a client declared decides what it gets, unless an [`AudienceSource`](exchange::AudienceSource) says otherwise: one
//! with MCP Apps is a host, which gets everything and filters for its own agent; any other hands all it gets to a model.
//!
//! - From 2026-07-28 on, every request declares it in its `_meta`.
//! - Before, `initialize` declares it once. The session id of the answer is therefore tagged (`apps1-…`), and the tag
//!   is taken off again before the inner service sees it. Where the service has no sessions, the layer issues an id
//!   that is a tag alone. Stacked layers add one tag each. A request without a tag declares nothing.
//! - The HTTP+SSE transport of 2024-11-05 has no session header. Its answers, all on one GET stream, are judged by
//!   their shape, and its clients are models unless the audience is [fixed](exchange::Fixed).
//!
//! # What is read
//!
//! Every JSON POST, and whatever else comes with a JSON body, is read whole, up to [`Limits`](exchange::Limits), and passed
//! on as the frames that came. Its body alone decides what it is, never a header. From method and audience then follows
//! what has to be read of the answer:
//!
//! | answer to | is read |
//! |---|---|
//! | `initialize`, `server/discover` | to advertise or withhold, also that the server has resources where apps are [served](serve) |
//! | `tools/list` | to hide tools from models and apps, for links (unless [`FlatKey::Keep`](normalize::FlatKey)), also to apps that are served, for a policy, to [`restore`], and for a [`namespace`] |
//! | `resources/list`, `resources/templates/list`, `resources/read` | for a policy; for apps that are served, whose reads are answered here; for [OpenAI's keys](normalize::OpenAiKeys) or [degradation](normalize::Degradation), where asked for; to [`restore`], and for a [`namespace`] |
//! | the same four, `tools/call` | for a [`lint`], where there is one; of calls their `content` alone is looked at |
//! | `tools/call`, `prompts/get`, `tasks/get`, `tasks/result`, `subscriptions/listen` | for links, with [degradation](normalize::Degradation) or a [`namespace`] |
//! | everything else, with a [`namespace`] | for names, and for URIs in errors and notifications of updates |
//! | a GET | event by event, since it may replay any of these |
//! | a call of a [meta-tool](concern::MetaTools), where there are any | as the list, description or content that its result is |
//! | `tools/call` of a model or an app, `subscriptions/listen` | streams only, for word of changed tools: their events pass as they came |
//! | what is left, such as `tools/call` of a host | not at all: its frames are the inner service's own. An audit counts their bytes |
//!
//! Before a model or an app calls a tool, the inner service is asked for `tools/list` in its name, unless it was asked a
//! moment ago: see [`visibility`].
//!
//! A JSON answer that is read is held until it is complete; it then keeps `Content-Length` right and loses `ETag`
//! and digests if it was edited. An event stream that is read loses them always, and holds one event at most.
//!
//! # What bad input gets
//!
//! "Judged" means that a filter applies: the [audience](exchange::AudienceSource) is a model or an app. A request that
//! cannot be read declares nothing, so by default it is judged. Where an extension is
//! [required](negotiate#required-extensions), all messages are read as judged ones are; a [`namespace`] refuses those that
//! readers may understand differently, objects that are no message, and what names another server's. Of answers it also
//! means that there is a [`policy`], or that an extension is withheld.
//!
//! | input | not judged | judged |
//! |---|---|---|
//! | body that is no JSON, has a BOM or text after it, is too deep, or declares another charset | forwarded | 400, `-32700` |
//! | body that fails before its end | what came of it, then its error | 400, `-32700` |
//! | body that is JSON and no message: a scalar, `[]`, a batch of more than 1000, invalid UTF-8 in a string | forwarded | 400, `-32600` |
//! | POST with another `Content-Type`, or a `Content-Encoding` | forwarded | 415, `-32600` |
//! | object with no `method`, `result` or `error` | forwarded | 400, `-32600` |
//! | `method`, `id`, `params`, `params.name`, `params.uri` or `_meta` twice, or once more in another case | forwarded | 400, `-32600` |
//! | `tools/call` of a tool that is for others | forwarded | 200, `-32602`, as for a tool that does not exist |
//! | `tools/call` while the server does not say what tools it has | forwarded | its status or 502, `-32603` |
//! | a call through a [meta-tool](concern::MetaTools) that names its tool twice, in another case, or not at all | forwarded | 400, `-32600` |
//! | the same of a tool that the catalogue does not have | forwarded | 200, `-32602` |
//! | a method that an app may not use, by an app | forwarded | 200 or, modern, 404, `-32601` |
//! | `tools/call` without a readable name or id; two equal ids in a batch | forwarded | 400, `-32600` |
//! | modern `tools/call` whose mirrored header is missing, doubled, or differs from the body | forwarded | 400, `-32020` |
//! | a read of an app that a `ServeLayer` answers, whose mirrored header differs from the body | 400, `-32020` | 400, `-32020` |
//! | modern `MCP-Protocol-Version` on a `tools/call` without modern `_meta` | forwarded | 400, `-32602` |
//! | batch with one message that may not run | forwarded | 400, `-32600`, none runs |
//! | batch with a read of an app that is [served](serve), of a client with Apps | 400, `-32600`, none runs | the same |
//! | `resources/list` in which the server has the URI of such an app | error `-32603` in its place | the same |
//! | request longer than the limit | 413, `-32600` | 413, `-32600` |
//! | answer, or event, longer than the limit | streamed untouched | error `-32603` |
//! | answer that is encoded although `identity` was asked for | untouched | 502, `-32603` |
//! | result of a meta-tool in another shape than was declared | untouched | error `-32603` in its place |
//! | list or content that cannot be read, as an answer or as an event | untouched | error `-32603` in its place |
//! | JSON that says it is a stream, or the reverse | handled as what it is | handled as what it is |
//!
//! An error carries the id of its request; where that could not be read, it has none. Nothing panics or hangs, and no body is cut.
//!
//! # What is not ours
//!
//! - **Authorisation.** Visibility says for whom a tool is meant; whoever reaches the service can declare anything.
//! - Rendering, sandboxing and CSP headers, which are the host's duty, and fetching templates ahead for it.
//! - Messages between page and host (`ui/*`, tools that an app provides): they never reach a server.
//! - Sampling, elicitation and everything else that a server asks of its client: it passes.
//! - The MCP Registry.
//!
//! The threat model, with the test that holds each promise, is `SECURITY.md` in the repository.
//!
//! [MCP Apps]: https://github.com/modelcontextprotocol/ext-apps

#![cfg_attr(feature = "testing", doc = "[`testing`]: crate::testing")]
#![cfg_attr(
    not(feature = "testing"),
    doc = "[`testing`]: https://docs.rs/tower-mcp-apps/latest/tower_mcp_apps/testing/index.html"
)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![warn(unreachable_pub, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod frames;
#[cfg(test)]
mod tried;

pub mod apps;
pub mod audit;
pub mod concern;
pub mod exchange;
pub mod json;
pub mod lint;
pub mod message;
pub mod namespace;
pub mod negotiate;
pub mod normalize;
pub mod policy;
pub mod protocol;
pub mod restore;
pub mod serve;
pub mod sse;
#[cfg(feature = "testing")]
#[cfg_attr(docsrs, doc(cfg(feature = "testing")))]
pub mod testing;
pub mod ui;
pub mod visibility;

pub use apps::AppsLayer;
pub use exchange::McpContext;

/// Holds the examples of the README to what compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
