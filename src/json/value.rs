//! `Value`: the text of one value.

use std::borrow::Cow;

use super::reader::{Kind, Reader};
use super::span::Span;
use super::string::Str;

/// The text of one value, as it stands or as an edit wrote it.
///
/// ```
/// # use tower_mcp_apps::json::{Object, Reader, Value};
/// let mut object = Object::default();
/// object.read(&mut Reader::new(br#"{"uri": "ui:\/\/a", "n": 1.0}"#)).unwrap();
/// assert_eq!(object.get("uri").and_then(|uri| uri.as_str()).as_deref(), Some("ui://a"));
/// assert_eq!(object.get("n").unwrap().bytes(), b"1.0");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Value<'v> {
    bytes: &'v [u8],
    /// Offset in the source, if it stands there.
    start: Option<usize>,
}

impl<'v> Value<'v> {
    #[inline]
    pub(super) fn in_source(source: &'v [u8], span: Span) -> Self {
        Self { bytes: span.of(source), start: Some(span.start) }
    }

    #[inline]
    pub(super) fn written(bytes: &'v [u8]) -> Self {
        Self { bytes, start: None }
    }

    /// Its text.
    pub fn bytes(&self) -> &'v [u8] {
        self.bytes
    }

    /// Where it stands in the source; `None` for a value that an edit wrote.
    pub fn span(&self) -> Option<Span> {
        self.start.map(|start| Span::new(start, start + self.bytes.len()))
    }

    /// What kind of value it is.
    pub fn kind(&self) -> Kind {
        // Only values that the reader has passed, or that an edit vouched for, get here.
        let first = self.bytes.first().copied();
        first.and_then(Kind::of).unwrap_or(Kind::Null)
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        self.kind() == Kind::Object
    }

    /// Whether it is an array.
    pub fn is_array(&self) -> bool {
        self.kind() == Kind::Array
    }

    /// The string that it is. Its span counts in the source, or within the value where an edit wrote it.
    pub fn string(&self) -> Option<Str<'v>> {
        let raw = self.bytes.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        let escaped = memchr::memchr(b'\\', raw).is_some();
        Some(Str::new(raw, self.start.unwrap_or(0), escaped))
    }

    /// The text of the string that it is; `None` for another kind or a lone surrogate.
    pub fn as_str(&self) -> Option<Cow<'v, str>> {
        self.string()?.decode().ok()
    }

    /// A reader of this value alone. Its offsets count from the value's start; for those of the source see
    /// [`Reader::within`].
    pub fn reader(&self) -> Reader<'v> {
        Reader::within(self.bytes, Span::new(0, self.bytes.len()))
    }
}
