//! What the inner service hears of the client's capabilities, where a concern edits it.

use bytes::Bytes;
use http::HeaderMap;

use super::{Concern, Unread, head};
use crate::exchange::Exchange;
use crate::frames::Frames;
use crate::json::{Depth, Reader};
use crate::message::{Refusal, redeclare, redeclare_meta};
use crate::protocol::meta;

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

/// The `_meta` with which the inner service is asked in the caller's name, and the capabilities in it, out of the caller's own.
pub(super) fn look_up<C: Concern>(
    concern: &C,
    exchange: &Exchange,
    meta: Bytes,
    capabilities: Option<Bytes>,
) -> Option<(Bytes, Option<Bytes>)> {
    if !concern.redeclares() {
        return Some((meta, capabilities));
    }
    let edited = redeclare_meta(&meta, |capabilities| concern.redeclare(exchange, capabilities)).ok()?;
    let meta = edited.map_or(meta, |edited| edited.to_bytes());
    let capabilities = capabilities_in(&meta).map(|text| meta.slice_ref(text));
    Some((meta, capabilities))
}

/// The JSON text of the capabilities that a `_meta` declares.
fn capabilities_in(meta: &[u8]) -> Option<&[u8]> {
    let mut reader = Reader::with_depth(meta, Depth::MAX);
    let mut found = None;
    reader.enter_object().ok()?;
    while let Some(key) = reader.member().ok()? {
        let span = reader.skip().ok()?;
        if key.is(meta::CLIENT_CAPABILITIES) {
            found = Some(span);
        }
    }
    found.map(|span| &meta[span.start..span.end])
}
