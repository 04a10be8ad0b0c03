//! Under what a catalogue is kept: everything about a request that its answer may depend on.

use std::hash::{BuildHasher, Hasher, RandomState};

use http::request::Parts;
use http::{HeaderName, HeaderValue};

use super::LookUp;
use crate::exchange::{McpContext, Text};

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
        match name.as_str() {
            // The usual ones first, since names are compared one by one.
            "host" | "user-agent" | "mcp-protocol-version" => Self::Deciding,
            "content-type" | "content-length" => Self::Bound,
            "accept" | "accept-encoding" | "date" => Self::Neutral,
            "authorization" | "cookie" | "mcp-session-id" => Self::Credential,
            // Not `connection`: the headers that it names reach no further than the next server, of a look-up as of the call.
            "mcp-method" | "mcp-name" => Self::Bound,
            "expect" | "keep-alive" | "proxy-connection" | "te" | "trailer" | "transfer-encoding" | "upgrade" => {
                Self::Bound
            }
            "dpop" | "idempotency-key" | "last-event-id" | "payment-signature" | "x-payment" => Self::Bound,
            // About the body of the call, or about an answer to it that the caller has already.
            "digest" | "range" | "repr-digest" => Self::Bound,
            // Written anew for each request by tracers and by the edge.
            "b3" | "baggage" | "sentry-trace" | "traceparent" | "tracestate" | "uber-trace-id" => Self::Neutral,
            "cf-ray" | "x-amzn-trace-id" | "x-cloud-trace-context" | "x-correlation-id" | "x-request-id" => {
                Self::Neutral
            }
            "api-key" | "x-access-token" | "x-api-key" | "x-auth-token" => Self::Credential,
            name if ["content-", "if-", "mcp-param-"].iter().any(|start| name.starts_with(start)) => Self::Bound,
            name if name.starts_with("signature") => Self::Proof,
            name if name.starts_with("x-b3-") || name.starts_with("x-datadog-") => Self::Neutral,
            _ => Self::Deciding,
        }
    }

    /// Whether it says, or proves, who asks.
    pub(crate) fn tells_who_asks(self) -> bool {
        matches!(self, Self::Credential | Self::Proof)
    }

    /// Whether requests that differ in it may get different answers.
    pub(crate) fn tells_answers_apart(self) -> bool {
        self == Self::Deciding || self.tells_who_asks()
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

/// Maps whose keys are such hashes need not hash them again: nobody outside can choose them.
#[derive(Debug, Default)]
pub(super) struct Hashed(u64);

impl Hasher for Hashed {
    fn write_u64(&mut self, half: u64) {
        self.0 ^= half;
    }

    // Keys are two numbers, and nothing else is hashed.
    fn write(&mut self, _: &[u8]) {}

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The keys under which a request's catalogue may be kept and asked for.
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

    /// The keys of a request whose first call declares these capabilities in its `_meta`: all of their JSON text counts, since a
    /// server may go by more than extensions.
    pub(super) fn keys(
        &self,
        parts: &Parts,
        context: &McpContext,
        capabilities: Option<&[u8]>,
        options: &LookUp,
    ) -> Keys {
        // Put together first: a keyed hash of one long text costs a fraction of that of its parts. What there may be any number
        // of comes last, so that no text stands for two requests.
        let mut text = Joined(Vec::with_capacity(USUAL_TEXT));
        text.part(context.audience().as_str().as_bytes());
        text.part(&[context.era() as u8]);
        text.part(context.version.as_ref().map(Text::as_bytes).unwrap_or_default());
        text.part(context.declared().extensions().unwrap_or_default());
        text.part(capabilities.unwrap_or_default());
        let uri = &parts.uri;
        text.part(uri.authority().map(|authority| authority.as_str()).unwrap_or_default().as_bytes());
        text.part(uri.path_and_query().map(|path| path.as_str()).unwrap_or_default().as_bytes());
        let mut headers = Vec::with_capacity(parts.headers.len());
        for (name, value) in &parts.headers {
            let role = Role::of(name);
            if role.tells_answers_apart() {
                headers.push((name.as_str(), value, role.tells_who_asks()));
            }
        }
        // They are in no order that counts, but the values of one name are.
        headers.sort_by_key(|(name, ..)| *name);
        headers.iter().filter(|(.., asks)| !asks).for_each(|(name, value, _)| text.header(name, value));
        let public = self.hash(&text.0);
        text.become_key(public);
        text.part(&options.name_caller(parts).unwrap_or_default());
        headers.iter().filter(|(.., asks)| *asks).for_each(|(name, value, _)| text.header(name, value));
        let private = self.hash(&text.0);
        let mut targets = context.called_through().peekable();
        if targets.peek().is_none() {
            return Keys { private, public, flight: private };
        }
        text.become_key(private);
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
struct Joined(Vec<u8>);

impl Joined {
    /// The same text anew: this key, which stands for what was there.
    fn become_key(&mut self, key: Key) {
        self.0.clear();
        self.0.extend_from_slice(&key.0.to_le_bytes());
        self.0.extend_from_slice(&key.1.to_le_bytes());
    }

    fn header(&mut self, name: &str, value: &HeaderValue) {
        self.part(name.as_bytes());
        self.part(value.as_bytes());
    }

    fn part(&mut self, part: &[u8]) {
        // Seven bits of the length in each byte, and whether more follow: nearly always one byte, since all of this is hashed.
        let mut length = part.len();
        while length >= 0x80 {
            self.0.push(length as u8 | 0x80);
            length >>= 7;
        }
        self.0.push(length as u8);
        self.0.extend_from_slice(part);
    }
}
