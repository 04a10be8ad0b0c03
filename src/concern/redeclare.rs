//! What the inner service hears of the client's capabilities, where a concern edits it.

use bytes::Bytes;
use http::HeaderMap;

use super::{Concern, Unread, head};
use crate::exchange::Exchange;
use crate::frames::Frames;
use crate::json::Depth;
use crate::message::{Refusal, redeclare, redeclare_meta};

/// The body that the inner service gets in place of this one, if any, with a head that fits it.
pub(super) fn request<C: Concern>(
    concern: &C,
    exchange: &Exchange,
    headers: &mut HeaderMap,
    body: &Bytes,
    depth: Depth,
) -> Result<Option<Frames>, Refusal> {
    if !concern.redeclares() {
        return Ok(None);
    }
    match redeclare(body, depth, |capabilities| concern.redeclare(exchange, capabilities)) {
        Ok(edited) => {
            if let Some(edited) = &edited {
                head::settle(headers, edited.len());
            }
            Ok(edited)
        }
        // What could not be edited must not go on as it is.
        Err(error) => Err(Unread::Unreadable(error.into()).refusal()),
    }
}

/// The `_meta` with which the inner service is asked in the caller's name, out of the caller's own.
pub(super) fn look_up<C: Concern>(concern: &C, exchange: &Exchange, meta: Bytes) -> Option<Bytes> {
    if !concern.redeclares() {
        return Some(meta);
    }
    let edited = redeclare_meta(&meta, |capabilities| concern.redeclare(exchange, capabilities));
    edited.ok().map(|edited| edited.map_or(meta, |edited| edited.to_bytes()))
}
