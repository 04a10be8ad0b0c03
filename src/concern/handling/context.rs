//! What a request says about itself and its sender.

use bytes::Bytes;

use crate::exchange::{CallInfo, Calls, Declared, KnownBy, McpContext, ResolvedAudience, SessionTag, Text};
use crate::message::Payload;
use crate::protocol::{Audience, Era, Method};

/// What the request says, in its body and by its session's tag; or else the version that its header names. The audience is settled
/// afterwards: until then it is the one that sees least.
pub(super) fn read_context(
    payload: Option<&Payload<'_>>,
    body: &Bytes,
    tag: Option<&SessionTag>,
    version: Option<Text>,
) -> McpContext {
    let single = match payload {
        Some(Payload::Single(call)) => Some(call),
        Some(Payload::Batch(_)) | None => None,
    };
    let era = single.map_or(Era::Legacy, |call| call.era());
    let speaks_for_itself = single.filter(|call| call.era() == Era::Modern || call.is(Method::Initialize));
    let declared = match speaks_for_itself {
        // Where readers may differ about a message, nothing counts as declared.
        Some(call) => match call.extensions {
            Some(extensions) if call.fault.is_none() => Declared::read(body.slice_ref(extensions)),
            _ => Declared::NOTHING,
        },
        None => tag.map_or(Declared::NOTHING, SessionTag::declared),
    };
    let own = single.and_then(|call| call.version.as_deref());
    let own = own.map(|own| Text::known_version(own.as_bytes()).unwrap_or_else(|| Text::new(own, body)));
    let version = own.or(version);
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
