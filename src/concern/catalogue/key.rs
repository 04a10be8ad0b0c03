//! Under what a catalogue is kept: everything about a request that its answer may depend on.

use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use http::HeaderName;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, COOKIE, DATE, EXPECT, TE, TRAILER, TRANSFER_ENCODING,
};
use http::request::Parts;

use crate::exchange::McpContext;
use crate::protocol::header::{METHOD, NAME, SESSION_ID};

/// What a header means for a look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::concern) enum Neutral {
    /// It belongs to the one request that it came with, so a look-up must not repeat it.
    Bound,
    /// It says nothing about who asks, or about what is answered.
    Yes,
    /// It may decide what is answered.
    No,
}

impl Neutral {
    /// What this header means. Everything unknown may decide.
    pub(in crate::concern) fn of(name: &HeaderName) -> Self {
        const BOUND: [&str; 5] = ["idempotency-key", "dpop", "x-payment", "payment-signature", "last-event-id"];
        const NEUTRAL: [&str; 6] =
            ["traceparent", "tracestate", "baggage", "x-request-id", "x-correlation-id", "keep-alive"];
        let text = name.as_str();
        let is_bound = *name == NAME
            || *name == METHOD
            || ["content-", "mcp-param-", "signature"].iter().any(|prefix| text.starts_with(prefix))
            || BOUND.contains(&text);
        let is_neutral = [&ACCEPT, &ACCEPT_ENCODING, &CONNECTION, &DATE, &EXPECT, &TE, &TRAILER, &TRANSFER_ENCODING]
            .contains(&name)
            || NEUTRAL.contains(&text);
        match (is_bound, is_neutral) {
            (true, _) => Self::Bound,
            (false, true) => Self::Yes,
            (false, false) => Self::No,
        }
    }
}

/// The secrets of one store. A hash of 128 bits by two of them stands for a request; without them it says nothing about it.
#[derive(Debug)]
pub(in crate::concern) struct Secrets {
    first: RandomState,
    second: RandomState,
}

/// A hash that stands for all requests with the same answer.
pub(in crate::concern) type Key = (u64, u64);

/// The two keys under which a request's catalogue may be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::concern) struct Keys {
    /// This caller's.
    pub(super) private: Key,
    /// That of all callers who differ in their credentials only.
    pub(super) public: Key,
}

impl Secrets {
    pub(super) fn new() -> Self {
        Self { first: RandomState::new(), second: RandomState::new() }
    }

    pub(super) fn keys(&self, parts: &Parts, context: &McpContext) -> Keys {
        let mut hashers = (self.first.build_hasher(), self.second.build_hasher());
        let mut write = |part: &[u8]| {
            part.hash(&mut hashers.0);
            part.hash(&mut hashers.1);
        };
        write(context.audience().as_str().as_bytes());
        write(&[context.era() as u8]);
        write(context.protocol_version().unwrap_or_default().as_bytes());
        write(context.declared().extensions().unwrap_or_default());
        let uri = &parts.uri;
        write(uri.authority().map(|authority| authority.as_str()).unwrap_or_default().as_bytes());
        write(uri.path_and_query().map(|path| path.as_str()).unwrap_or_default().as_bytes());
        // Headers are in no order that counts, so those with names of their own are combined by one that does not matter.
        let mut public = (0_u64, 0_u64);
        let mut private = (0_u64, 0_u64);
        for name in parts.headers.keys().filter(|name| Neutral::of(name) == Neutral::No) {
            let hash = |secret: &RandomState| {
                let mut hasher = secret.build_hasher();
                name.as_str().hash(&mut hasher);
                parts.headers.get_all(name).iter().for_each(|value| value.as_bytes().hash(&mut hasher));
                hasher.finish()
            };
            let sum = if is_credential(name) { &mut private } else { &mut public };
            sum.0 = sum.0.wrapping_add(hash(&self.first));
            sum.1 = sum.1.wrapping_add(hash(&self.second));
        }
        let finish = |kind: u8, private: (u64, u64)| {
            let (mut first, mut second) = hashers.clone();
            (kind, public.0, private.0).hash(&mut first);
            (kind, public.1, private.1).hash(&mut second);
            (first.finish(), second.finish())
        };
        Keys { private: finish(0, private), public: finish(1, (0, 0)) }
    }
}

/// Whether a header says who the caller is.
fn is_credential(name: &HeaderName) -> bool {
    const NAMES: [&str; 4] = ["x-api-key", "api-key", "x-auth-token", "x-access-token"];
    [&AUTHORIZATION, &COOKIE, &SESSION_ID].contains(&name) || NAMES.contains(&name.as_str())
}
