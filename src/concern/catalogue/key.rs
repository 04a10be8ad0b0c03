//! Under what a catalogue is kept: everything about a request that its answer may depend on.

use std::hash::{BuildHasher, Hasher, RandomState};

use http::HeaderName;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, COOKIE, DATE, EXPECT, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::request::Parts;

use super::LookUp;
use crate::exchange::McpContext;
use crate::json::{Depth, Reader};
use crate::protocol::header::{METHOD, NAME, SESSION_ID};
use crate::protocol::meta;

/// What a header means for a look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
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
    pub(crate) fn of(name: &HeaderName) -> Self {
        // Not `Connection`: the headers that it names reach no further than the next server, of a look-up as of the call.
        const CONNECTIONS: [&HeaderName; 5] = [&EXPECT, &TE, &TRAILER, &TRANSFER_ENCODING, &UPGRADE];
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

    /// Whether it says, or proves, who asks.
    pub(crate) fn tells_who_asks(self) -> bool {
        matches!(self, Self::Credential | Self::Proof)
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
    /// Under which those wait for each other who ask for the same.
    pub(super) flight: Key,
}

impl Secrets {
    pub(super) fn new() -> Self {
        Self { first: RandomState::new(), second: RandomState::new() }
    }

    /// The keys of a request whose first call has this `_meta` (its JSON text).
    pub(super) fn keys(&self, parts: &Parts, context: &McpContext, meta: Option<&[u8]>, options: &LookUp) -> Keys {
        // Put together first: a keyed hash of one long text costs a fraction of that of its parts.
        let mut text = Text(Vec::with_capacity(USUAL_TEXT));
        // Headers are in no order that counts, so they are combined by one that does not matter.
        let mut public = (0_u64, 0_u64);
        let mut private = (0_u64, 0_u64);
        if let Some(caller) = options.name_caller(parts) {
            text.part(&caller);
            private = self.hash(&text.0);
        }
        let (mut before, mut nth) = (None, 0_u64);
        for (name, value) in &parts.headers {
            // Values of one name come in their order, which may count.
            nth = if before == Some(name) { nth + 1 } else { 0 };
            before = Some(name);
            let sum = match Role::of(name) {
                Role::Bound | Role::Neutral => continue,
                Role::Credential | Role::Proof => &mut private,
                Role::Deciding => &mut public,
            };
            text.clear();
            text.part(name.as_str().as_bytes());
            text.part(value.as_bytes());
            text.number(nth);
            let hash = self.hash(&text.0);
            *sum = (sum.0.wrapping_add(hash.0), sum.1.wrapping_add(hash.1));
        }
        text.clear();
        text.number(public.0);
        text.number(public.1);
        text.part(context.audience().as_str().as_bytes());
        text.number(context.era() as u64);
        text.part(context.protocol_version().unwrap_or_default().as_bytes());
        text.part(context.declared().extensions().unwrap_or_default());
        text.part(meta.and_then(capabilities).unwrap_or_default());
        let uri = &parts.uri;
        text.part(uri.authority().map(|authority| authority.as_str()).unwrap_or_default().as_bytes());
        text.part(uri.path_and_query().map(|path| path.as_str()).unwrap_or_default().as_bytes());
        let public = self.hash(&text.0);
        text.number(private.0);
        text.number(private.1);
        let private = self.hash(&text.0);
        let mut targets = context.called_through().peekable();
        if targets.peek().is_none() {
            return Keys { private, public, flight: private };
        }
        targets.for_each(|name| text.part(name.as_bytes()));
        Keys { private, public, flight: self.hash(&text.0) }
    }

    fn hash(&self, text: &[u8]) -> Key {
        let one = |secret: &RandomState| {
            let mut hasher = secret.build_hasher();
            hasher.write(text);
            hasher.finish()
        };
        (one(&self.first), one(&self.second))
    }
}

/// Room for what is hashed of a usual request.
const USUAL_TEXT: usize = 512;

/// Parts as one text, from which they could be told again.
struct Text(Vec<u8>);

impl Text {
    fn clear(&mut self) {
        self.0.clear();
    }

    fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn part(&mut self, part: &[u8]) {
        self.number(part.len() as u64);
        self.0.extend_from_slice(part);
    }
}

/// The JSON text of the capabilities that a `_meta` declares: all of them, since a server may go by more than extensions.
fn capabilities(meta: &[u8]) -> Option<&[u8]> {
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
