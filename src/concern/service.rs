//! The one Tower service that drives every concern.

use std::fmt;
use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::TRANSFER_ENCODING;
use http::request::Parts;
use http::{Method, Request, Response};
use http_body::Body;
use tower_service::Service;

use super::catalogue::Store;
use super::future::{ResponseFuture, Start};
use super::recorder::Recorder;
use super::remembered::Remembered;
use super::{Concern, RequestBody, ResponseBody, Settings, Unread};
use crate::exchange::{Content, Encoding, RequestHead};

/// The service that every layer of this crate makes: an inner service, and a concern about its exchanges.
///
/// See the [module docs](super).
pub struct ConcernService<S, C> {
    inner: S,
    shared: Arc<Shared<C>>,
}

/// What all clones of a service share.
pub(super) struct Shared<C> {
    pub(super) concern: C,
    pub(super) settings: Settings,
    pub(super) store: Store,
    pub(super) remembered: Remembered,
}

impl<S, C> ConcernService<S, C> {
    /// Puts a concern around a service.
    pub fn new(inner: S, concern: C, settings: Settings) -> Self {
        let remembered = Remembered::new(settings.remembered_bytes);
        Self { inner, shared: Arc::new(Shared { concern, settings, store: Store::new(), remembered }) }
    }

    /// The inner service.
    pub fn get_ref(&self) -> &S {
        &self.inner
    }

    /// The inner service, to change.
    pub fn get_mut(&mut self) -> &mut S {
        &mut self.inner
    }

    /// The inner service alone.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S: Clone, C> Clone for ConcernService<S, C> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), shared: Arc::clone(&self.shared) }
    }
}

impl<S: fmt::Debug, C> fmt::Debug for ConcernService<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConcernService").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl<S, C, B, R> Service<Request<B>> for ConcernService<S, C>
where
    S: Service<Request<RequestBody<B>>, Response = Response<R>> + Clone,
    C: Concern,
    B: Body<Data = Bytes>,
    R: Body<Data = Bytes>,
{
    type Response = Response<ResponseBody<R, C>>;
    type Error = S::Error;
    type Future = ResponseFuture<S, C, B, R>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (mut parts, body) = request.into_parts();
        // The service that was polled ready is the one to call; its clone need not be.
        let clone = self.inner.clone();
        let mut ready = mem::replace(&mut self.inner, clone);
        if !self.shared.settings.predicate.is_mcp(&parts) {
            return ResponseFuture::through(ready.call(Request::from_parts(parts, RequestBody::through(body))));
        }
        let shared = Arc::clone(&self.shared);
        let recorder = Recorder::begin(&shared, &parts);
        let head = RequestHead::read(&mut parts.headers, shared.settings.tags);
        let has_no_message = has_no_message(&parts.method);
        let (tag, version) = (head.tag, head.version);
        let start = Start { service: ready, shared, parts, tag, version, foreign: None };
        let reason = match (head.content, head.encoding) {
            _ if has_no_message && body.is_end_stream() => None,
            (Content::Json, Encoding::Identity) => return ResponseFuture::asking(start, body, recorder),
            (Content::ForeignJson, Encoding::Identity) => Some(Unread::Charset),
            _ => Some(Unread::Foreign),
        };
        if has_no_message && reason.is_some() && !brings_a_body(&start.parts, &body) {
            // Only its end tells that it has none.
            return ResponseFuture::asking(Start { foreign: reason, ..start }, body, recorder);
        }
        ResponseFuture::unread(start, body, reason, recorder)
    }
}

/// Whether requests with this HTTP method carry no message. One with any other is taken for a POST, as a service takes it that
/// does not look at the method.
pub(super) fn has_no_message(method: &Method) -> bool {
    [Method::GET, Method::HEAD, Method::DELETE, Method::OPTIONS, Method::TRACE, Method::CONNECT].contains(method)
}

/// Whether a request brings a body for sure. One that is no JSON is then refused where a filter applies, as that of a POST is.
fn brings_a_body<B: Body>(parts: &Parts, body: &B) -> bool {
    !body.is_end_stream() && (body.size_hint().lower() > 0 || parts.headers.contains_key(TRANSFER_ENCODING))
}
