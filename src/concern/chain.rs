//! Several concerns as one.

use std::mem;

use bytes::Bytes;
use http::request::Parts;

use super::{Asked, Concern, Incoming, Preparation, Tools, Verdict, sealed::Sealed};
use crate::exchange::{CallInfo, Exchange, McpContext, Record};
use crate::json::{Reader, Str};
use crate::message::{Answer, CallResult, Capabilities, Entry, EntryKind, Meta, Refusal, Wants};

/// Two concerns as one, so that a message is read once for both.
///
/// `inner` stands nearer to the inner service: it sees answers first and requests last, as in a stack of layers.
///
/// What [rewrites](Concern::REWRITES) what requests name, a namespace, must stand outside of all that
/// [goes by names](Concern::GOES_BY_NAMES): before any concern decides, all have rewritten, so a filter outside would hold lists under
/// one name to be what it judges calls by under another. Such a chain does not compile. What must stand the other way round can be
/// stacked as layers of their own.
///
/// ```
/// use tower::{ServiceBuilder, layer::layer_fn};
/// use tower_mcp_apps::concern::{Chain, ConcernService, Settings};
/// use tower_mcp_apps::{negotiate::Negotiate, visibility::Visibility};
///
/// // AppsLayer without rewriting links.
/// let concern = Chain::new(Negotiate::new(), Visibility::new());
/// let layer = layer_fn(move |inner| ConcernService::new(inner, concern.clone(), Settings::new()));
/// # drop(ServiceBuilder::new().layer(layer).service(axum::Router::<()>::new()));
/// ```
///
/// ```compile_fail,E0080
/// use tower_mcp_apps::concern::Chain;
/// use tower_mcp_apps::{protocol::Namespace, visibility::Visibility};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // The filter outside of the prefix.
/// let concern = Chain::new(Namespace::new("maps")?, Visibility::new());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Chain<I, O> {
    inner: I,
    outer: O,
}

impl<I: Concern, O: Concern> Chain<I, O> {
    /// Both concerns as one.
    pub fn new(inner: I, outer: O) -> Self {
        const { assert!(!(I::REWRITES && O::GOES_BY_NAMES), "what rewrites names must stand outside of what goes by them") };
        Self { inner, outer }
    }

    /// These and one more, outside of them.
    pub fn then<N: Concern>(self, next: N) -> Chain<Self, N> {
        Chain::new(self, next)
    }
}

impl<I, O> Sealed for Chain<I, O> {}

impl<I: Concern, O: Concern> Concern for Chain<I, O> {
    const REWRITES: bool = I::REWRITES || O::REWRITES;
    const GOES_BY_NAMES: bool = I::GOES_BY_NAMES || O::GOES_BY_NAMES;

    fn rewrites(&self) -> bool {
        self.inner.rewrites() || self.outer.rewrites()
    }

    fn incoming(&self, context: &McpContext, incoming: &mut Incoming<'_>) -> Result<(), Refusal> {
        self.outer.incoming(context, incoming)?;
        self.inner.incoming(context, incoming)
    }

    // Into its caller, as what the concerns want: most forward, and then nothing is left of the chain.
    #[inline(always)]
    fn request(&self, exchange: &Exchange, asked: &Asked<'_>) -> Verdict {
        let looks_up = match self.outer.request(exchange, asked) {
            forward @ Verdict::Forward => {
                // Nothing is in it to be dropped, which the compiler does not see.
                mem::forget(forward);
                false
            }
            Verdict::LookUp => true,
            verdict => return verdict,
        };
        let verdict = self.inner.request(exchange, asked);
        // The inner one may refuse without a look-up. Nothing that must be judged is answered unjudged.
        if looks_up && !matches!(verdict, Verdict::Refuse(_)) { Verdict::LookUp } else { verdict }
    }

    fn call(&self, exchange: &Exchange, tools: &Tools) -> Result<(), Refusal> {
        self.outer.call(exchange, tools)?;
        self.inner.call(exchange, tools)
    }

    fn redeclares(&self) -> bool {
        self.inner.redeclares() || self.outer.redeclares()
    }

    fn redeclare(&self, exchange: &Exchange, capabilities: &mut Capabilities<'_>) {
        self.outer.redeclare(exchange, capabilities);
        self.inner.redeclare(exchange, capabilities);
    }

    fn prepare(&self, exchange: &mut Exchange, parts: &Parts) -> Option<Preparation> {
        match (self.outer.prepare(exchange, parts), self.inner.prepare(exchange, parts)) {
            (Some(outer), Some(inner)) => Some(Box::pin(async move {
                outer.await;
                inner.await;
            })),
            (outer, inner) => outer.or(inner),
        }
    }

    #[inline(always)]
    fn wants(&self, exchange: &Exchange, answer: Answer) -> Wants {
        self.inner.wants(exchange, answer) | self.outer.wants(exchange, answer)
    }

    fn edits_alike(&self) -> bool {
        self.inner.edits_alike() && self.outer.edits_alike()
    }

    fn add(&self, exchange: &Exchange, answer: Answer, list: EntryKind, entries: &mut Vec<Bytes>) {
        self.inner.add(exchange, answer, list, entries);
        self.outer.add(exchange, answer, list, entries);
    }

    fn instead(&self, exchange: &Exchange, answer: Answer) -> Option<Bytes> {
        self.inner.instead(exchange, answer).or_else(|| self.outer.instead(exchange, answer))
    }

    fn whole(&self, exchange: &Exchange, answer: Answer, call: Option<&CallInfo>, message: &[u8]) {
        self.inner.whole(exchange, answer, call, message);
        self.outer.whole(exchange, answer, call, message);
    }

    fn entry(&self, exchange: &Exchange, entry: &mut Entry<'_>) {
        self.inner.entry(exchange, entry);
        if !entry.is_removed() {
            self.outer.entry(exchange, entry);
        }
    }

    fn call_result(&self, call: &CallInfo, result: &mut CallResult<'_>) {
        self.inner.call_result(call, result);
        self.outer.call_result(call, result);
    }

    fn capabilities(&self, exchange: &Exchange, capabilities: &mut Capabilities<'_>) {
        self.inner.capabilities(exchange, capabilities);
        self.outer.capabilities(exchange, capabilities);
    }

    fn link(&self, exchange: &Exchange, link: &mut Entry<'_>) {
        self.inner.link(exchange, link);
        if !link.is_removed() {
            self.outer.link(exchange, link);
        }
    }

    fn meta(&self, exchange: &Exchange, meta: &mut Meta<'_>) {
        self.inner.meta(exchange, meta);
        self.outer.meta(exchange, meta);
    }

    fn uri(&self, uri: Str<'_>) -> Option<Vec<u8>> {
        let Some(new) = self.inner.uri(uri) else { return self.outer.uri(uri) };
        let newer = Reader::new(&new).string().ok().and_then(|uri| self.outer.uri(uri));
        newer.or(Some(new))
    }

    fn needs_head(&self) -> bool {
        self.inner.needs_head() || self.outer.needs_head()
    }

    fn records(&self) -> bool {
        self.inner.records() || self.outer.records()
    }

    fn record(&self, record: &Record) {
        self.inner.record(record);
        self.outer.record(record);
    }
}

impl<C> Sealed for Option<C> {}

/// A concern that is switched off wants nothing and changes nothing.
impl<C: Concern> Concern for Option<C> {
    const REWRITES: bool = C::REWRITES;
    const GOES_BY_NAMES: bool = C::GOES_BY_NAMES;

    fn rewrites(&self) -> bool {
        self.as_ref().is_some_and(Concern::rewrites)
    }

    fn incoming(&self, context: &McpContext, incoming: &mut Incoming<'_>) -> Result<(), Refusal> {
        self.as_ref().map_or(Ok(()), |concern| concern.incoming(context, incoming))
    }

    #[inline(always)]
    fn request(&self, exchange: &Exchange, asked: &Asked<'_>) -> Verdict {
        match self {
            Some(concern) => concern.request(exchange, asked),
            None => Verdict::Forward,
        }
    }

    fn call(&self, exchange: &Exchange, tools: &Tools) -> Result<(), Refusal> {
        self.as_ref().map_or(Ok(()), |concern| concern.call(exchange, tools))
    }

    fn redeclares(&self) -> bool {
        self.as_ref().is_some_and(Concern::redeclares)
    }

    fn redeclare(&self, exchange: &Exchange, capabilities: &mut Capabilities<'_>) {
        if let Some(concern) = self {
            concern.redeclare(exchange, capabilities);
        }
    }

    fn prepare(&self, exchange: &mut Exchange, parts: &Parts) -> Option<Preparation> {
        self.as_ref().and_then(|concern| concern.prepare(exchange, parts))
    }

    #[inline(always)]
    fn wants(&self, exchange: &Exchange, answer: Answer) -> Wants {
        self.as_ref().map_or(Wants::NOTHING, |concern| concern.wants(exchange, answer))
    }

    fn edits_alike(&self) -> bool {
        self.as_ref().is_none_or(Concern::edits_alike)
    }

    fn add(&self, exchange: &Exchange, answer: Answer, list: EntryKind, entries: &mut Vec<Bytes>) {
        if let Some(concern) = self {
            concern.add(exchange, answer, list, entries);
        }
    }

    fn instead(&self, exchange: &Exchange, answer: Answer) -> Option<Bytes> {
        self.as_ref().and_then(|concern| concern.instead(exchange, answer))
    }

    fn whole(&self, exchange: &Exchange, answer: Answer, call: Option<&CallInfo>, message: &[u8]) {
        if let Some(concern) = self {
            concern.whole(exchange, answer, call, message);
        }
    }

    fn entry(&self, exchange: &Exchange, entry: &mut Entry<'_>) {
        if let Some(concern) = self {
            concern.entry(exchange, entry);
        }
    }

    fn call_result(&self, call: &CallInfo, result: &mut CallResult<'_>) {
        if let Some(concern) = self {
            concern.call_result(call, result);
        }
    }

    fn capabilities(&self, exchange: &Exchange, capabilities: &mut Capabilities<'_>) {
        if let Some(concern) = self {
            concern.capabilities(exchange, capabilities);
        }
    }

    fn link(&self, exchange: &Exchange, link: &mut Entry<'_>) {
        if let Some(concern) = self {
            concern.link(exchange, link);
        }
    }

    fn meta(&self, exchange: &Exchange, meta: &mut Meta<'_>) {
        if let Some(concern) = self {
            concern.meta(exchange, meta);
        }
    }

    fn uri(&self, uri: Str<'_>) -> Option<Vec<u8>> {
        self.as_ref().and_then(|concern| concern.uri(uri))
    }

    fn needs_head(&self) -> bool {
        self.as_ref().is_some_and(Concern::needs_head)
    }

    fn records(&self) -> bool {
        self.as_ref().is_some_and(Concern::records)
    }

    fn record(&self, record: &Record) {
        if let Some(concern) = self {
            concern.record(record);
        }
    }
}
