//! Templates that were reviewed, known again by their SHA-256.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::Digest as _;

use crate::exchange::{CallInfo, Exchange};
use crate::json::Value;
use crate::message::{Entry, MetaRole};
use crate::protocol::{MediaType, Method, UI_SCHEME};

/// The SHA-256 of a template's bytes: of its `text` in UTF-8, or of what its `blob` decodes to.
///
/// ```
/// use tower_mcp_apps::policy::Digest;
///
/// let digest = Digest::of(b"<!doctype html><html></html>");
/// assert_eq!(digest.to_string(), "ad5141d367c05081f6f668a11f85655d6e5acbdf4bec269c9fe27017f6a89836");
/// assert_eq!(digest.to_string().parse(), Ok(digest));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha2::Sha256::digest(bytes).into())
    }
}

impl From<[u8; 32]> for Digest {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// The text is not 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidDigest;

impl fmt::Display for InvalidDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a SHA-256 is 64 hexadecimal digits")
    }
}

impl std::error::Error for InvalidDigest {}

impl FromStr for Digest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, InvalidDigest> {
        let mut digest = [0; 32];
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        if pairs.len() != digest.len() || !rest.is_empty() {
            return Err(InvalidDigest);
        }
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        for (byte, [high, low]) in digest.iter_mut().zip(pairs) {
            *byte = digit(*high).ok_or(InvalidDigest)? << 4 | digit(*low).ok_or(InvalidDigest)?;
        }
        Ok(Self(digest))
    }
}

/// The pinned templates.
#[derive(Clone, Debug, Default)]
pub(super) struct Pins {
    by_uri: BTreeMap<String, Vec<Digest>>,
    others: Others,
}

/// Templates that are not pinned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Others {
    #[default]
    Allowed,
    Refused,
}

impl Pins {
    pub(super) fn add(&mut self, uri: String, digest: Digest) {
        self.by_uri.entry(uri).or_default().push(digest);
    }

    pub(super) fn refuse_others(&mut self) {
        self.others = Others::Refused;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_uri.is_empty() && self.others == Others::Allowed
    }

    /// Whether an item of contents may pass.
    ///
    /// A host shows what it asked for, whatever URI the item claims. So an item that is not literally one that was
    /// asked for is held to the pins of all that were; and where that is not known (on a GET stream that replays an
    /// answer), a template that is not pinned does not pass.
    pub(super) fn allow(&self, exchange: &Exchange, entry: &Entry<'_>) -> bool {
        if self.is_empty() {
            return true;
        }
        let own = entry.uri().and_then(|uri| uri.decode().ok());
        let own = own.as_deref();
        let asked = asked_uris(exchange);
        let others = asked.iter().flatten().copied().filter(|_| !asked.iter().flatten().any(|uri| own == Some(*uri)));
        let mut pins = own.into_iter().chain(others).filter_map(|uri| self.by_uri.get(uri)).peekable();
        if pins.peek().is_none() {
            return (self.others == Others::Allowed && asked.is_some()) || !may_be_template(own, entry);
        }
        let Some(digests) = digests(entry) else { return false };
        pins.all(|pinned| digests.iter().flatten().all(|digest| pinned.contains(digest)))
    }
}

/// The resources that the exchange asks for; `None` where that is not known.
fn asked_uris(exchange: &Exchange) -> Option<Vec<&str>> {
    let calls = exchange.context().calls().iter();
    let uris: Option<Vec<_>> = calls.filter_map(asked_uri).collect();
    uris.filter(|uris| !uris.is_empty())
}

/// The resource that a message reads; where it reads one, but does not say which, there is none in it.
fn asked_uri(call: &CallInfo) -> Option<Option<&str>> {
    match (call.method(), call.role()) {
        (Some(Method::ResourcesRead), _) => Some(call.uri()),
        (_, Some(MetaRole::Read)) => Some(call.target()),
        _ => None,
    }
}

/// Whether a host may take this for a UI: by its scheme, or since it is HTML as far as one can tell.
fn may_be_template(uri: Option<&str>, entry: &Entry<'_>) -> bool {
    let is_other = |value: Value<'_>| {
        let text = value.as_str();
        text.as_deref().and_then(MediaType::parse).is_some_and(|media_type| !media_type.is("text/html"))
    };
    is_ui(uri) || !entry.mime_type().is_some_and(is_other)
}

/// Whether a URI is a UI's. One that cannot be read may be.
pub(super) fn is_ui(uri: Option<&str>) -> bool {
    uri.is_none_or(|uri| uri.get(..UI_SCHEME.len()).is_some_and(|scheme| scheme.eq_ignore_ascii_case(UI_SCHEME)))
}

/// The digests of `text` and `blob`, whichever are there; `None` where none is, or one cannot be read.
fn digests(entry: &Entry<'_>) -> Option<[Option<Digest>; 2]> {
    let text = entry.text().map(|text| text.as_str().map(|text| Digest::of(text.as_bytes())));
    let blob = entry.blob().map(|blob| {
        let decoded = blob.as_str().map(|blob: Cow<'_, str>| STANDARD.decode(&*blob));
        decoded?.ok().map(|bytes| Digest::of(&bytes))
    });
    match (text, blob) {
        (None, None) | (Some(None), _) | (_, Some(None)) => None,
        (text, blob) => Some([text.flatten(), blob.flatten()]),
    }
}
