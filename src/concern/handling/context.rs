//! What a request says about itself and its sender.

use bytes::Bytes;
use http::request::Parts;

use crate::exchange::{CallInfo, Calls, Declared, KnownBy, McpContext, ResolvedAudience, SessionTag, Text};
use crate::message::Payload;
use crate::protocol::{Audience, Era, Method, header};

/// The revisions of MCP that there are: their names need not be copied.
const REVISIONS: [&str; 5] = [Era::FIRST_MODERN, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// What the request says. The audience is settled afterwards: until then it is the one that sees least.
pub(super) fn read_context(
    parts: &Parts,
    payload: Option<&Payload<'_>>,
    body: &Bytes,
    tag: Option<&SessionTag>,
) -> McpContext {
    let single = match payload {
        Some(Payload::Single(call)) => Some(call),
        Some(Payload::Batch(_)) | None => None,
    };
    let era = single.map_or(Era::Legacy, |call| call.era());
    let speaks_for_itself =
        single.filter(|call| call.era() == Era::Modern || call.method() == Some(Method::Initialize));
    let declared = match speaks_for_itself {
        // Where readers may differ about a message, nothing counts as declared.
        Some(call) => match call.extensions {
            Some(extensions) if call.fault.is_none() => Declared::read(body.slice_ref(extensions)),
            _ => Declared::NOTHING,
        },
        None => tag.map_or(Declared::NOTHING, SessionTag::declared),
    };
    let version = single
        .and_then(|call| call.version.as_deref())
        .or_else(|| parts.headers.get(header::PROTOCOL_VERSION)?.to_str().ok())
        .map(|version| match REVISIONS.into_iter().find(|known| *known == version) {
            Some(known) => Text::of_static(known),
            None => Text::new(version, body),
        });
    let calls = read_calls(payload, body);
    let audience = ResolvedAudience { audience: Audience::Model, known_by: KnownBy::Declaration };
    McpContext { calls, era, version, declared, audience }
}

pub(super) fn read_calls(payload: Option<&Payload<'_>>, body: &Bytes) -> Calls {
    match payload {
        Some(Payload::Single(call)) => Calls::One(CallInfo::new(call, body)),
        Some(Payload::Batch(calls)) => Calls::Batch(calls.iter().map(|call| CallInfo::new(call, body)).collect()),
        None => Calls::None,
    }
}
