//! Whose word something is: the upstream, and the credentials with which it was asked.

use std::fmt;
use std::sync::Arc;

use http::HeaderName;
use http::request::Parts;
use sha2::{Digest, Sha256};

use crate::concern::Role;
use crate::protocol::header::SESSION_ID;

type Name = dyn Fn(&Parts) -> Option<Vec<u8>> + Send + Sync;

/// With whose credentials an upstream is asked: what it said to one caller is put back for no other.
///
/// Both sides must come to the same: the [`CaptureLayer`](super::CaptureLayer) of an upstream sees the aggregator's request, the
/// [`RestoreLayer`](super::RestoreLayer) the client's.
#[derive(Clone)]
pub struct Credentials(Kind);

#[derive(Clone)]
enum Kind {
    Headers,
    Shared,
    Named(Arc<Name>),
}

impl Credentials {
    /// Those in the headers of the request itself. The default.
    ///
    /// For aggregators that hand them through as they came: only where both requests have the same is anything restored.
    /// `Authorization`, `Cookie`, the usual headers of API keys, and every header count that has one of the words `account`,
    /// `assertion`, `auth`, `cert`, `credential`, `email`, `group`, `identity`, `jwt`, `key`, `login`, `principal`, `scope`,
    /// `secret`, `tenant`, `token` or `user` in its name, or a part of it that begins with `org` or `role`, or that is `dn`
    /// (`X-Scope-OrgID`, `X-SSL-Client-S-DN`); the session id does not, since it is another one on either side and is no credential (MCP 2025-11-25, "Security Best
    /// Practices", Session Hijacking). Of requests that are signed (`Signature*`) no two are one caller's, so nothing is
    /// remembered.
    pub fn of_request() -> Self {
        Self(Kind::Headers)
    }

    /// One that the aggregator has of its own, or none: what the upstream said is for all clients alike.
    ///
    /// **Only for an upstream that tells all clients of the aggregator the same.**
    pub fn shared() -> Self {
        Self(Kind::Shared)
    }

    /// Those of the caller of this name: for aggregators that exchange tokens, and for callers who are told apart by no header.
    /// Where there is none, nothing is remembered and nothing restored. The name is hashed, never kept.
    ///
    /// ```
    /// use http::request::Parts;
    /// use tower_mcp_apps::restore::Credentials;
    ///
    /// #[derive(Clone)]
    /// struct User(u64);
    ///
    /// let by_user = Credentials::named(|request: &Parts| Some(request.extensions.get::<User>()?.0.to_be_bytes().to_vec()));
    /// # drop(by_user);
    /// ```
    pub fn named(name: impl Fn(&Parts) -> Option<Vec<u8>> + Send + Sync + 'static) -> Self {
        Self(Kind::Named(Arc::new(name)))
    }

    /// Whether what is restored depends on who asks.
    pub(super) fn vary(&self) -> bool {
        !matches!(self.0, Kind::Shared)
    }

    /// A hash that stands for the upstream and the credentials of this request; `None` where no other request is known to have them.
    pub(super) fn whose(&self, upstream: &str, request: &Parts) -> Option<[u8; 32]> {
        let mut hash = Parted(Sha256::new());
        hash.part(upstream.as_bytes());
        match &self.0 {
            Kind::Shared => hash.part(b"shared"),
            Kind::Named(name) => {
                hash.part(b"named");
                hash.part(&name(request)?);
            }
            Kind::Headers => {
                hash.part(b"headers");
                for (name, value) in told_by(request)? {
                    hash.part(name.as_str().as_bytes());
                    hash.part(value);
                }
            }
        }
        Some(hash.0.finalize().into())
    }
}

impl Default for Credentials {
    fn default() -> Self {
        Self::of_request()
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Headers => "Credentials::of_request()",
            Kind::Shared => "Credentials::shared()",
            Kind::Named(_) => "Credentials::named(..)",
        })
    }
}

/// The headers that say who asks, in an order that does not depend on theirs; `None` where the request is signed.
fn told_by(request: &Parts) -> Option<Vec<(&HeaderName, &[u8])>> {
    let mut headers = Vec::new();
    for (name, value) in &request.headers {
        match Role::of(name) {
            Role::Proof => return None,
            Role::Deciding if !sounds_like_one(name) => {}
            role if role.tells_answers_apart() => headers.push((name, value.as_bytes())),
            _ => {}
        }
    }
    headers.retain(|(name, _)| *name != SESSION_ID);
    // Values of one name stay in their order, which may count.
    headers.sort_by_key(|(name, _)| name.as_str());
    Some(headers)
}

/// Whether a header that nobody knows may say who asks. Where this is wrong, less is restored; never what is another's.
fn sounds_like_one(name: &HeaderName) -> bool {
    const WORDS: [&str; 17] = [
        "account",
        "assertion",
        "auth",
        "cert",
        "credential",
        "email",
        "group",
        "identity",
        "jwt",
        "key",
        "login",
        "principal",
        "scope",
        "secret",
        "tenant",
        "token",
        "user",
    ];
    let name = name.as_str();
    // Too short to be looked for anywhere: a `CDN-Loop` is nobody's distinguished name.
    let is_one = |part: &str| part == "dn" || part.starts_with("org") || part.starts_with("role");
    name != "user-agent"
        && !name.starts_with("sec-")
        && (WORDS.iter().any(|word| name.contains(word)) || name.split(['-', '_']).any(is_one))
}

/// Hashes parts so that they could be told again.
pub(super) struct Parted(pub(super) Sha256);

impl Parted {
    pub(super) fn part(&mut self, part: &[u8]) {
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
    }
}

#[cfg(test)]
mod tests;
