//! A judged request on its way.

use bytes::Bytes;
use http::request::Parts;
use http_body::Body;

use super::handling::Handling;
use super::{Concern, RequestBody};
use crate::exchange::McpContext;

/// A judged request, which may wait for what a concern asked to be done first. It keeps its ready service: what is waited for must
/// not need the inner service.
pub(super) struct Prepared<S, C, B: Body> {
    pub(super) service: S,
    pub(super) parts: Parts,
    pub(super) body: RequestBody<B>,
    pub(super) handling: Handling<C>,
    pub(super) way: Way,
}

/// Where a judged request goes.
pub(super) enum Way {
    /// To the inner service.
    Forward,
    /// To a look-up, with the JSON texts of its `_meta` and of the capabilities that this declares.
    LookUp { meta: Option<Bytes>, capabilities: Option<Bytes> },
}

impl<S, C: Concern, B: Body> Prepared<S, C, B> {
    /// What was found out about the request.
    pub(super) fn context(&self) -> &McpContext {
        self.handling.outside()
    }
}
