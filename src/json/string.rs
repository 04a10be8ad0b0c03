//! `Str`: a JSON string where it stands, compared and decoded without losing its text.

use std::borrow::Cow;
use std::fmt;

use super::span::Span;

/// A JSON string where it stands in the source: the text between its quotes, which the reader has checked.
///
/// Comparisons see the decoded text, so `"\u0075i"` [`is`](Str::is) `ui`; they do not allocate.
///
/// ```
/// # use tower_mcp_apps::json::Reader;
/// let key = Reader::new(br#""\u0075i""#).string().unwrap();
/// assert!(key.is("ui"));
/// assert_eq!(key.raw(), r"\u0075i");
/// ```
#[derive(Clone, Copy)]
pub struct Str<'a> {
    /// Between the quotes; valid UTF-8 and valid escapes.
    raw: &'a [u8],
    /// Offset of the opening quote.
    start: usize,
    escaped: bool,
}

impl<'a> Str<'a> {
    #[inline]
    pub(super) fn new(raw: &'a [u8], start: usize, escaped: bool) -> Self {
        Self { raw, start, escaped }
    }

    /// Where it stands, with its quotes.
    #[inline]
    pub fn span(&self) -> Span {
        Span::new(self.start, self.start + self.raw.len() + 2)
    }

    /// The text between the quotes, escapes as they stand.
    pub fn raw(&self) -> &'a str {
        // The reader has checked it; without `unsafe` a second check is what the type costs.
        std::str::from_utf8(self.raw).unwrap_or_default()
    }

    /// Whether it has escapes, so that [`raw`](Str::raw) is not the decoded text.
    pub fn has_escapes(&self) -> bool {
        self.escaped
    }

    /// The text it stands for, borrowed where there are no escapes.
    ///
    /// # Errors
    /// An escaped surrogate without its other half has no text (RFC 8259, section 8.2).
    pub fn decode(&self) -> Result<Cow<'a, str>, LoneSurrogate> {
        let mut rest = self.raw();
        if !self.escaped {
            return Ok(Cow::Borrowed(rest));
        }
        let mut text = String::with_capacity(rest.len());
        while let Some((run, escape)) = rest.split_once('\\') {
            text.push_str(run);
            let (code, used) = unescape(escape.as_bytes());
            let Some(character) = char::from_u32(code) else {
                let offset = self.start + self.raw.len() - escape.len();
                return Err(LoneSurrogate { offset });
            };
            text.push(character);
            rest = escape.get(used..).unwrap_or_default();
        }
        text.push_str(rest);
        Ok(Cow::Owned(text))
    }

    /// Whether it stands for `text`. Never where it has a lone surrogate.
    #[inline]
    pub fn is(&self, text: &str) -> bool {
        if self.escaped { self.decoded().eq(text.bytes()) } else { self.raw == text.as_bytes() }
    }

    /// Whether it stands for `text` but for the case of ASCII letters. Never where it has a lone surrogate.
    pub fn is_ignoring_ascii_case(&self, text: &str) -> bool {
        if self.escaped {
            let lower = |byte: u8| byte.to_ascii_lowercase();
            self.decoded().map(lower).eq(text.bytes().map(lower))
        } else {
            self.raw.eq_ignore_ascii_case(text.as_bytes())
        }
    }

    /// The bytes that it stands for, where they stand here without escapes.
    #[inline]
    pub(crate) fn unescaped(&self) -> Option<&'a [u8]> {
        (!self.escaped).then_some(self.raw)
    }

    /// The text, where it is ASCII without escapes: then its bytes are what it stands for.
    #[inline]
    pub(crate) fn plain(&self) -> Option<&'a [u8]> {
        (!self.escaped && self.raw.is_ascii()).then_some(self.raw)
    }

    /// Whether what it stands for starts with `text`. What comes behind that is not looked at.
    pub fn starts_with(&self, text: &str) -> bool {
        if self.escaped {
            let mut decoded = self.decoded();
            text.bytes().all(|byte| decoded.next() == Some(byte))
        } else {
            self.raw.starts_with(text.as_bytes())
        }
    }

    /// The text between the quotes behind what stands for `text`, escapes as they stand; `None` where it does not start with it,
    /// or `text` ends within one escape.
    ///
    /// ```
    /// # use tower_mcp_apps::json::Reader;
    /// let uri = Reader::new(br#""ui:\/\/a\u0062""#).string().unwrap();
    /// assert_eq!(uri.raw_behind("ui://"), Some(r"a\u0062"));
    /// ```
    pub fn raw_behind(&self, text: &str) -> Option<&'a str> {
        if !self.escaped {
            return self.raw().strip_prefix(text);
        }
        let mut decoded = self.decoded();
        let starts = text.bytes().all(|byte| decoded.next() == Some(byte));
        let is_between_escapes = decoded.at == decoded.character.len();
        (starts && is_between_escapes).then(|| std::str::from_utf8(decoded.rest).ok()).flatten()
    }

    /// Whether both stand for the same UTF-16 code units; so lone surrogates can be compared too.
    pub fn same(&self, other: &Str<'_>) -> bool {
        if self.escaped || other.escaped { self.decoded().eq(other.decoded()) } else { self.raw == other.raw }
    }

    /// Bytes that are the same for two strings exactly where those are the [`same`](Str::same).
    pub(super) fn identity(&self) -> Cow<'a, [u8]> {
        if self.escaped { Cow::Owned(self.decoded().collect()) } else { Cow::Borrowed(self.raw) }
    }

    /// What it stands for as UTF-8, a lone surrogate as the three bytes that UTF-8 would have for it if it had any.
    /// No `str` holds such bytes, and they differ where the code units differ: byte equality is text equality.
    fn decoded(&self) -> Decoded<'a> {
        Decoded { rest: self.raw, character: [0; 4], at: 4 }
    }
}

impl fmt::Debug for Str<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Str({}: \"{}\")", self.start, self.raw())
    }
}

/// Bytes of [`Str::decoded`].
struct Decoded<'a> {
    rest: &'a [u8],
    /// The last bytes of an escaped character that is being given out, from `at` to the end.
    character: [u8; 4],
    at: usize,
}

impl Iterator for Decoded<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        if let Some(byte) = self.character.get(self.at) {
            self.at += 1;
            return Some(*byte);
        }
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        if *first != b'\\' {
            return Some(*first);
        }
        let (code, used) = unescape(rest);
        self.rest = rest.get(used..).unwrap_or_default();
        let (bytes, length) = generalised_utf8(code);
        self.character = bytes;
        self.at = self.character.len() - length;
        self.next()
    }
}

/// The bytes of a code point, surrogates included, at the end of the array, and how many they are.
fn generalised_utf8(code: u32) -> ([u8; 4], usize) {
    let tail = |shift: u32| 0x80 | (code >> shift & 0x3f) as u8;
    match code {
        0..0x80 => ([0, 0, 0, code as u8], 1),
        0x80..0x800 => ([0, 0, 0xc0 | (code >> 6) as u8, tail(0)], 2),
        0x800..0x1_0000 => ([0, 0xe0 | (code >> 12) as u8, tail(6), tail(0)], 3),
        _ => ([0xf0 | (code >> 18) as u8, tail(12), tail(6), tail(0)], 4),
    }
}

/// The code point of the escape whose backslash stands before `rest` (a lone surrogate is its own), and the bytes it
/// takes of `rest`.
pub(super) fn unescape(rest: &[u8]) -> (u32, usize) {
    let unit = |from: usize| rest.get(from..from + 4).and_then(hex4).map(u32::from);
    match rest.first() {
        Some(b'b') => (0x08, 1),
        Some(b'f') => (0x0c, 1),
        Some(b'n') => (0x0a, 1),
        Some(b'r') => (0x0d, 1),
        Some(b't') => (0x09, 1),
        Some(b'u') => match unit(1) {
            Some(high @ 0xd800..0xdc00) if rest.get(5..7) == Some(br"\u") => match unit(7) {
                Some(low @ 0xdc00..0xe000) => (0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00), 11),
                _ => (high, 5),
            },
            // The reader lets no other text pass than four hex digits.
            code => (code.unwrap_or(0xfffd), 5),
        },
        Some(quoted) => (u32::from(*quoted), 1),
        None => (0xfffd, 0),
    }
}

/// The number that four hex digits stand for.
pub(super) fn hex4(digits: &[u8]) -> Option<u16> {
    digits.iter().try_fold(0, |number, digit| {
        let value = char::from(*digit).to_digit(16)?;
        Some(number << 4 | value as u16)
    })
}

/// A string has an escaped surrogate without its other half and so stands for no text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoneSurrogate {
    offset: usize,
}

impl LoneSurrogate {
    /// Offset in the source of its backslash.
    pub const fn offset(&self) -> usize {
        self.offset
    }
}

impl fmt::Display for LoneSurrogate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lone surrogate at byte {}", self.offset)
    }
}

impl std::error::Error for LoneSurrogate {}

/// Writes `text` as a JSON string with its quotes. Only what RFC 8259, section 7, wants escaped is escaped.
///
/// ```
/// # use tower_mcp_apps::json::write_string;
/// let mut out = Vec::new();
/// write_string("a \"b\"\n\u{1}é", &mut out);
/// assert_eq!(out, "\"a \\\"b\\\"\\n\\u0001é\"".as_bytes());
/// ```
pub fn write_string(text: &str, out: &mut Vec<u8>) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    write_escaped(text, out);
    out.push(b'"');
}

/// The same without the quotes.
pub(super) fn write_escaped(text: &str, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut rest = text.as_bytes();
    let special = |byte: &u8| *byte < b' ' || *byte == b'"' || *byte == b'\\';
    while let Some((run, byte, tail)) =
        rest.iter().position(special).and_then(|at| Some((rest.get(..at)?, *rest.get(at)?, rest.get(at + 1..)?)))
    {
        out.extend_from_slice(run);
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            0x08 => out.extend_from_slice(br"\b"),
            0x0c => out.extend_from_slice(br"\f"),
            b'\n' => out.extend_from_slice(br"\n"),
            b'\r' => out.extend_from_slice(br"\r"),
            b'\t' => out.extend_from_slice(br"\t"),
            _ => {
                out.extend_from_slice(br"\u00");
                out.extend([HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            }
        }
        rest = tail;
    }
    out.extend_from_slice(rest);
}
