//! Where something is remembered: whose word it is, and in which list it stood.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;

use crate::json::{Depth, Object, Reader, Value};
use crate::message::EntryKind;
use crate::protocol::meta;

/// Where something is remembered: whose word it is, and in which list or content it stood.
///
/// No credential can be read out of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    pub(super) whose: [u8; 32],
    pub(super) kind: EntryKind,
    /// The URI that was read, of contents.
    pub(super) of: Option<Arc<str>>,
}

impl Place {
    pub(super) fn list(whose: [u8; 32], kind: EntryKind) -> Self {
        Self { whose, kind, of: None }
    }

    pub(super) fn contents(whose: [u8; 32], uri: &str) -> Self {
        Self { whose, kind: EntryKind::Contents, of: Some(uri.into()) }
    }

    /// Bytes that differ for different places.
    pub fn to_bytes(&self) -> Vec<u8> {
        let kind = match self.kind {
            EntryKind::Tool => b't',
            EntryKind::Resource => b'r',
            EntryKind::Template => b'm',
            _ => b'c',
        };
        [&self.whose[..], &[kind], self.of.as_deref().unwrap_or_default().as_bytes()].concat()
    }
}

/// What an upstream said about one entry, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The entry as JSON text, without what tells it from others and without its content.
    pub text: Bytes,
    /// When it was said, in milliseconds since 1970.
    pub at: u64,
    /// For how many milliseconds it is fresh.
    pub fresh_for: u64,
}

/// The longest text that is remembered of an entry.
const MOST_BYTES: usize = 256 << 10;

/// The most members that an entry, its `_meta` and its `ui` may have, each: putting them back compares each with each.
const MOST_MEMBERS: usize = 256;

impl Said {
    /// Whether the text is an object that can be put back: 256 KiB, and 256 members at each level, at most.
    pub fn can_be_put_back(&self) -> bool {
        let mut entry = Object::default();
        let mut reader = Reader::with_depth(&self.text, Depth::MAX);
        if self.text.len() > MOST_BYTES || entry.read(&mut reader).is_err() || reader.end().is_err() {
            return false;
        }
        entry.members().count() <= MOST_MEMBERS
            && entry.get("_meta").filter(Value::is_object).is_none_or(|value| is_small(value, Some(meta::UI)))
    }

    /// Whether it is fresh for a request that came at this time. What is said while the request is handled always is.
    pub fn is_fresh(&self, asked: u64) -> bool {
        self.at.saturating_add(self.fresh_for) >= asked
    }
}

/// Whether an object has few members, and the object in this one, too.
fn is_small(object: Value<'_>, inner: Option<&str>) -> bool {
    let mut members = Object::default();
    members.read(&mut object.reader()).is_ok()
        && members.members().count() <= MOST_MEMBERS
        && inner.and_then(|key| members.get(key)).filter(Value::is_object).is_none_or(|inner| is_small(inner, None))
}

/// Milliseconds since 1970, by the clock of this machine.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
