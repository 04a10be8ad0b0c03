//! Under what a catalogue is kept: everything about a request that its answer may depend on.

use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use http::HeaderName;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, COOKIE, DATE, EXPECT, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::request::Parts;

use super::LookUp;
use crate::exchange::McpContext;
use crate::json::{Object, Reader};
use crate::protocol::header::{METHOD, NAME, SESSION_ID};
use crate::protocol::meta;

/// What a header means for a look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::concern) enum Role {
    /// It belongs to the one request, or the one connection, that it came with, so a look-up must not repeat it.
    Bound,
    /// The same; and it may be all that tells who sent the request, so that no other request is known to be the same caller's.
    Proof,
    /// It says nothing about who asks, or about what is answered.
    Neutral,
    /// It says who asks.
    Credential,
    /// It may decide what is answered.
    Deciding,
}

impl Role {
    /// What this header means. Everything unknown may decide.
    pub(in crate::concern) fn of(name: &HeaderName) -> Self {
        const CONNECTIONS: [&HeaderName; 6] = [&CONNECTION, &EXPECT, &TE, &TRAILER, &TRANSFER_ENCODING, &UPGRADE];
        const BOUND: [&str; 7] = [
            "dpop",
            "idempotency-key",
            "keep-alive",
            "last-event-id",
            "payment-signature",
            "proxy-connection",
            "x-payment",
        ];
        // Most are written anew for each request by tracers and by the edge.
        const NEUTRAL: [&str; 11] = [
            "b3",
            "baggage",
            "cf-ray",
            "sentry-trace",
            "traceparent",
            "tracestate",
            "uber-trace-id",
            "x-amzn-trace-id",
            "x-cloud-trace-context",
            "x-correlation-id",
            "x-request-id",
        ];
        const CREDENTIALS: [&str; 4] = ["api-key", "x-access-token", "x-api-key", "x-auth-token"];
        let text = name.as_str();
        let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| text.starts_with(prefix));
        if begins(&["signature"]) {
            Self::Proof
        } else if [&NAME, &METHOD].contains(&name)
            || CONNECTIONS.contains(&name)
            || BOUND.contains(&text)
            || begins(&["content-", "mcp-param-"])
        {
            Self::Bound
        } else if [&ACCEPT, &ACCEPT_ENCODING, &DATE].contains(&name)
            || NEUTRAL.contains(&text)
            || begins(&["x-b3-", "x-datadog-"])
        {
            Self::Neutral
        } else if [&AUTHORIZATION, &COOKIE, &SESSION_ID].contains(&name) || CREDENTIALS.contains(&text) {
            Self::Credential
        } else {
            Self::Deciding
        }
    }

    /// Whether a look-up has it as the call has it.
    pub(in crate::concern) fn is_repeated(self) -> bool {
        !matches!(self, Self::Bound | Self::Proof)
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

    /// The keys of a request whose first call has this `_meta` (its JSON text).
    pub(super) fn keys(&self, parts: &Parts, context: &McpContext, meta: Option<&[u8]>, options: &LookUp) -> Keys {
        let mut hashers = (self.first.build_hasher(), self.second.build_hasher());
        let mut write = |part: &[u8]| {
            part.hash(&mut hashers.0);
            part.hash(&mut hashers.1);
        };
        write(context.audience().as_str().as_bytes());
        write(&[context.era() as u8]);
        write(context.protocol_version().unwrap_or_default().as_bytes());
        write(context.declared().extensions().unwrap_or_default());
        write(&meta.map(capabilities).unwrap_or_default());
        let uri = &parts.uri;
        write(uri.authority().map(|authority| authority.as_str()).unwrap_or_default().as_bytes());
        write(uri.path_and_query().map(|path| path.as_str()).unwrap_or_default().as_bytes());
        // Headers are in no order that counts, so those with names of their own are combined by one that does not matter.
        let mut public = (0_u64, 0_u64);
        let mut private = (0_u64, 0_u64);
        if let Some(caller) = options.name_caller(parts) {
            private = (self.first.hash_one(&caller), self.second.hash_one(&caller));
        }
        for name in parts.headers.keys() {
            let sum = match Role::of(name) {
                Role::Bound | Role::Neutral => continue,
                Role::Credential | Role::Proof => &mut private,
                Role::Deciding => &mut public,
            };
            let hash = |secret: &RandomState| {
                let mut hasher = secret.build_hasher();
                name.as_str().hash(&mut hasher);
                parts.headers.get_all(name).iter().for_each(|value| value.as_bytes().hash(&mut hasher));
                hasher.finish()
            };
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

/// The JSON text of the capabilities that a `_meta` declares: all of them, since a server may go by more than extensions.
fn capabilities(meta: &[u8]) -> Vec<u8> {
    let mut object = Object::default();
    let found = object.read(&mut Reader::new(meta)).ok().and_then(|_| object.get(meta::CLIENT_CAPABILITIES));
    found.map(|capabilities| capabilities.bytes().to_vec()).unwrap_or_default()
}
