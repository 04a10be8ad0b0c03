//! One concern each, one service for all: the [`Concern`] trait, and the Tower service that drives it.
//!
//! A concern decides about a request ([`Verdict`]) and about the sites of an answer; it sees neither bytes
//! nor HTTP framing. [`ConcernService`] does all the rest, so that every layer of this crate behaves alike:
//!
//! - Every JSON POST (and whatever else comes with a JSON body) is read whole, up to [`Limits`](crate::exchange::Limits),
//!   and passed on as the frames that came (thousands of tiny ones are joined).
//! - Where no concern wants anything of an answer, it is neither looked into nor buffered.
//! - A JSON answer is edited in one splice, a stream event by event as each is complete.
//! - A list that equals one which came before, but for its id, is not read again. See [`Settings::remembered_bytes`].
//! - What a filter could not read does not pass; what nobody filters passes as it came.
//! - A call that must be judged waits until the inner service told its tools. It is asked in the caller's name: see [`LookUp`].
//! - What a concern answers itself is shown to all concerns, as if the inner service had said it.
//! - Where a concern keeps records, an exchange is followed to its end: the last byte, an error, or the client's leaving.
//!
//! # The inner service
//!
//! It must accept `Request<RequestBody<B>>` for the body `B` that comes in, which services that are generic
//! over their request body do (axum, rmcp, hyper-util). Its answers must be `Response<R>` for any body `R` of
//! [`Bytes`], its errors pass as they are. It is cloned for each request, as Tower services are. A service
//! of one request body type needs `tower_http`'s `map_request_body` in between:
//!
//! ```
//! use axum::body::Body;
//! use http::{Request, Response};
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//! use tower_http::map_request_body::MapRequestBodyLayer;
//! use tower_mcp_apps::AppsLayer;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! async fn server(request: Request<Body>) -> Result<Response<Body>, std::convert::Infallible> {
//!     Ok(Response::new(request.into_body()))
//! }
//!
//! let service = ServiceBuilder::new()
//!     .layer(AppsLayer::new())
//!     .layer(MapRequestBodyLayer::new(Body::new))
//!     .service(service_fn(server));
//! let response = service.oneshot(Request::get("/mcp").body(Body::empty())?).await?;
//! # assert!(response.status().is_success());
//! # Ok(())
//! # }
//! ```

mod answers;
mod asked;
mod body;
mod catalogue;
mod chain;
mod collect;
mod future;
mod gate;
mod handling;
mod head;
mod held;
mod incoming;
mod layer;
mod mirrored;
mod prepared;
mod recorder;
mod redeclare;
mod remembered;
mod service;
mod settings;
mod stream;
#[cfg(test)]
mod tests;

pub use crate::message::{MetaRole, MetaTools, Unlisted};
pub use asked::{Asked, Unread};
pub use body::{RequestBody, ResponseBody};
pub(crate) use catalogue::Role;
pub use catalogue::{LookUp, Tool, Tools};
pub use chain::Chain;
pub use future::ResponseFuture;
pub use incoming::Incoming;
pub(crate) use layer::{layer_of, settings_of};
pub(crate) use mirrored::Mirrored;
pub use service::ConcernService;
pub use settings::Settings;

use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use http::request::Parts;

use crate::exchange::{CallInfo, Exchange, McpContext, Record};
use crate::frames::Frames;
use crate::json::Str;
use crate::message::{Answer, CallResult, Capabilities, Entry, EntryKind, Meta, Refusal, Wants};

pub(crate) mod sealed {
    /// Keeps [`Concern`](super::Concern) ours until 1.0.
    pub trait Sealed {}
}

/// What [`Concern::prepare`] asks to be waited for.
pub type Preparation = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What becomes of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on to the inner service, as it came.
    Forward,
    /// The caller gets this error with its own id.
    Refuse(Refusal),
    /// The caller gets this result, pieces of one JSON text, with its own id, and the inner service is not asked. What
    /// the result says is shown to all concerns as if the inner service had said it. Only an exchange with one message
    /// that has an id can be answered, and only before a look-up; any other goes on.
    Answer(Frames),
    /// It waits until the tools of the inner service are known; then [`Concern::call`] decides.
    LookUp,
}

/// One concern: what it looks at, and what it asks for. Sealed until 1.0.
///
/// Concerns hold no state of an exchange: everything is in the [`Exchange`], which is worked out of the request.
pub trait Concern: sealed::Sealed + Send + Sync + 'static {
    /// Whether concerns of this type can [rewrite](Self::rewrites) requests.
    const REWRITES: bool = false;

    /// Whether this concern goes by what requests and answers name: tools, prompts, URIs. Then it must stand inside of all that
    /// [rewrites](Self::REWRITES) these: it decides about what was rewritten, and would be told of other names in answers. A
    /// [`Chain`] in another order does not compile.
    const GOES_BY_NAMES: bool = true;

    /// Whether this concern rewrites requests. Without one that does, none is shown to [`incoming`](Self::incoming). Only those
    /// may that say so of their type ([`REWRITES`](Self::REWRITES)).
    fn rewrites(&self) -> bool {
        false
    }

    /// Rewrites what a request names, before anything is decided about it. Of several concerns the outermost is asked first;
    /// those further in, and the inner service, see what it wrote, while records and observers outside see what came.
    ///
    /// # Errors
    ///
    /// The refusal that the caller gets, with its own id.
    fn incoming(&self, context: &McpContext, incoming: &mut Incoming<'_>) -> Result<(), Refusal> {
        let _ = (context, incoming);
        Ok(())
    }

    /// What becomes of a request. Of several concerns the outermost is asked first, and the first that does not forward
    /// decides; where it asks for a look-up, those further in may refuse before.
    fn request(&self, exchange: &Exchange, asked: &Asked<'_>) -> Verdict {
        let _ = (exchange, asked);
        Verdict::Forward
    }

    /// Judges a request that waited until the tools of the inner service are known: it goes on, or is refused.
    ///
    /// # Errors
    ///
    /// The refusal that the caller gets, with its own id.
    fn call(&self, exchange: &Exchange, tools: &Tools) -> Result<(), Refusal> {
        let _ = (exchange, tools);
        Ok(())
    }

    /// Whether the inner service hears anything else of the client's capabilities than the client declares.
    fn redeclares(&self) -> bool {
        false
    }

    /// Edits what the inner service hears of the client's capabilities, wherever a message that goes on declares them; also
    /// what a look-up in the caller's name declares. Everything here goes by what the client declared all the same.
    fn redeclare(&self, exchange: &Exchange, capabilities: &mut Capabilities<'_>) {
        let _ = (exchange, capabilities);
    }

    /// What must be done before the inner service is asked, such as fetching what its answer is to be compared with. Asked
    /// only where something will be looked at, now or by a look-up. Must end: the request waits for it.
    fn prepare(&self, exchange: &mut Exchange, parts: &Parts) -> Option<Preparation> {
        let _ = (exchange, parts);
        None
    }

    /// What this concern looks at in such an answer. Nothing means that it does not need the answer to be read. Where
    /// what is wanted of [`Answer::Unknown`] has [`Wants::ENFORCED`], answers to requests that could not be read are read, too.
    fn wants(&self, exchange: &Exchange, answer: Answer) -> Wants;

    /// Whether equal lists are edited alike for all who ask alike: with the same method, from a cursor on or not, in the same era,
    /// for the same audience, and with the same [declaration](crate::exchange::Declared). Nothing else may decide, and nothing may
    /// come of being shown a list but its edits: one that is equal to an earlier one is not shown again.
    fn edits_alike(&self) -> bool {
        false
    }

    /// Adds entries, as JSON texts, to the end of such a list. Asked only of kinds that were wanted. All concerns see them
    /// as [entries](Self::entry), and that they were [added](Entry::is_added).
    fn add(&self, exchange: &Exchange, answer: Answer, list: EntryKind, entries: &mut Vec<Bytes>) {
        let _ = (exchange, answer, list, entries);
    }

    /// The JSON text of the result that the caller gets where the inner service does not know the method, if
    /// [`Wants::UNKNOWN_METHOD`] was wanted. All concerns then see what it says, and may add to it.
    fn instead(&self, exchange: &Exchange, answer: Answer) -> Option<Bytes> {
        let _ = (exchange, answer);
        None
    }

    /// The text of a whole message that answers this call, if this concern, or another beside it, wanted it. Called before any
    /// edit; the call is unknown on streams that answer others.
    fn whole(&self, exchange: &Exchange, answer: Answer, call: Option<&CallInfo>, message: &[u8]) {
        let _ = (exchange, answer, call, message);
    }

    /// An entry of a list or an item of contents, of a kind that this concern, or another beside it, wanted.
    fn entry(&self, exchange: &Exchange, entry: &mut Entry<'_>) {
        let _ = (exchange, entry);
    }

    /// The result of a call to a tool, if this concern, or another beside it, wanted it.
    fn call_result(&self, call: &CallInfo, result: &mut CallResult<'_>) {
        let _ = (call, result);
    }

    /// The capabilities of the server.
    fn capabilities(&self, exchange: &Exchange, capabilities: &mut Capabilities<'_>) {
        let _ = (exchange, capabilities);
    }

    /// A link or an embedded resource outside of lists, if this concern, or another beside it, wanted [`Wants::LINKS`].
    fn link(&self, exchange: &Exchange, link: &mut Entry<'_>) {
        let _ = (exchange, link);
    }

    /// The `_meta` of a result or of a content block, likewise.
    fn meta(&self, exchange: &Exchange, meta: &mut Meta<'_>) {
        let _ = (exchange, meta);
    }

    /// A URI in a notification or an error, if [`Wants::UPDATES`] or [`Wants::LINKS`] were wanted: the JSON string, with its
    /// quotes, that takes its place.
    fn uri(&self, uri: Str<'_>) -> Option<Vec<u8>> {
        let _ = uri;
        None
    }

    /// Whether this concern needs the [head](Exchange::head) of requests when it sees their answers.
    fn needs_head(&self) -> bool {
        false
    }

    /// Whether this concern keeps records. Without one that does, exchanges are not followed to their end.
    fn records(&self) -> bool {
        false
    }

    /// A call, a read or a refusal that is over. Must neither block nor panic: it runs where answers are sent.
    fn record(&self, record: &Record) {
        let _ = record;
    }
}
