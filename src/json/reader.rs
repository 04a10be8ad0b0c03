//! `Reader`: pulls values out of a source and checks them on the way.

use super::depth::Depth;
use super::error::{Error, ErrorKind};
use super::scan::{self, Scanned};
use super::span::Span;
use super::string::Str;
use super::value::Value;

/// What kind of value stands somewhere.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    String,
    /// A number.
    Number,
    /// `true`
    True,
    /// `false`
    False,
    /// `null`
    Null,
}

impl Kind {
    /// The kind of the value that starts with `byte`.
    #[inline]
    pub(super) fn of(byte: u8) -> Option<Self> {
        Some(match byte {
            b'{' => Self::Object,
            b'[' => Self::Array,
            b'"' => Self::String,
            b'-' | b'0'..=b'9' => Self::Number,
            b't' => Self::True,
            b'f' => Self::False,
            b'n' => Self::Null,
            _ => return None,
        })
    }
}

/// What must come next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Turn {
    /// A value.
    Value,
    /// The first member or element, or the end of the container just entered.
    First,
    /// A comma, or the end of the container or the source.
    After,
}

/// A pull reader that accepts exactly RFC 8259 in UTF-8 without a byte order mark.
///
/// It goes over the source once, neither allocates nor recurses, and holds nothing but a place in the source. What
/// it has passed has been checked: a value that [`skip`](Reader::skip) gave is valid JSON text. A `\u` escape may be
/// a lone surrogate, as the grammar allows; [`Str::decode`] tells.
///
/// Members are read with [`member`](Reader::member), elements with [`element`](Reader::element), until they say that
/// the container ends; between two such calls the value is read with any other method. Another order is
/// [`ErrorKind::OutOfTurn`]. Reading an array as if it were an object, however, is not noticed before the source
/// differs. After an error other than [`ErrorKind::UnexpectedKind`] the reader is of no use but to
/// [`rewind`](Reader::rewind).
///
/// ```
/// # use tower_mcp_apps::json::{Error, Reader, Span};
/// # fn main() -> Result<(), Error> {
/// let mut reader = Reader::new(br#"{"id": 7, "tools": [1.0, {}]}"#);
/// let mut elements = Vec::new();
/// reader.enter_object()?;
/// while let Some(key) = reader.member()? {
///     if key.is("tools") {
///         reader.enter_array()?;
///         while reader.element()? {
///             elements.push(reader.skip()?);
///         }
///     } else {
///         reader.skip()?;
///     }
/// }
/// reader.end()?;
/// assert_eq!(elements, [Span::new(20, 23), Span::new(25, 27)]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    /// What is still to be read.
    rest: &'a [u8],
    depth: usize,
    limit: Depth,
    turn: Turn,
}

/// A place in the source that a [`Reader`] can go back to.
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint {
    at: usize,
    depth: usize,
    turn: Turn,
}

impl<'a> Reader<'a> {
    /// A reader at the start of `bytes` with the default depth.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self::with_depth(bytes, Depth::default())
    }

    /// A reader at the start of `bytes` that goes `limit` levels deep.
    pub fn with_depth(bytes: &'a [u8], limit: Depth) -> Self {
        Self { bytes, rest: bytes, depth: 0, limit, turn: Turn::Value }
    }

    /// A reader of the value that stands at `span` in `source`, for a second look at a value that was skipped. Its
    /// offsets are those of `source`; for it, the source ends with the span.
    pub fn within(source: &'a [u8], span: Span) -> Self {
        let mut reader = Self::with_depth(source.get(..span.end).unwrap_or(source), Depth::MAX);
        reader.rest = reader.bytes.get(span.start..).unwrap_or_default();
        reader
    }

    /// What it reads.
    #[inline]
    pub fn source(&self) -> &'a [u8] {
        self.bytes
    }

    /// Offset of the next byte to be read.
    #[inline]
    pub fn position(&self) -> usize {
        self.bytes.len() - self.rest.len()
    }

    /// The present place, to go back to with [`rewind`](Reader::rewind).
    #[inline]
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint { at: self.position(), depth: self.depth, turn: self.turn }
    }

    /// Goes back to a place that this reader has been at.
    #[inline]
    pub fn rewind(&mut self, to: Checkpoint) {
        self.rest = self.bytes.get(to.at..).unwrap_or_default();
        self.depth = to.depth;
        self.turn = to.turn;
    }

    /// The kind of the next value, told by its first byte.
    ///
    /// # Errors
    /// No value can start with the next byte.
    #[inline]
    pub fn peek(&mut self) -> Result<Kind, Error> {
        self.expect(Turn::Value)?;
        self.rest = scan::space(self.rest);
        match self.rest.first().copied().and_then(Kind::of) {
            Some(kind) => Ok(kind),
            None => Err(self.missing(ErrorKind::ExpectedValue)),
        }
    }

    /// Passes the next value, whatever it is, and gives its span without the white space around it.
    ///
    /// # Errors
    /// The value is not valid JSON text or nests too deep.
    pub fn skip(&mut self) -> Result<Span, Error> {
        let kind = self.peek()?;
        let (bytes, rest, start) = (self.bytes, self.rest, self.position());
        self.rest = match kind {
            Kind::String => scan::string(bytes, rest.get(1..).unwrap_or_default())?.behind,
            Kind::Object | Kind::Array => scan::container(bytes, rest, self.limit.get() - self.depth)?,
            Kind::Number => scan::number(bytes, rest)?,
            Kind::True => scan::literal(bytes, rest, b"true")?,
            Kind::False => scan::literal(bytes, rest, b"false")?,
            Kind::Null => scan::literal(bytes, rest, b"null")?,
        };
        self.turn = Turn::After;
        Ok(Span::new(start, self.position()))
    }

    /// Passes the next value, whatever it is, and gives it.
    ///
    /// # Errors
    /// The value is not valid JSON text or nests too deep.
    pub fn value(&mut self) -> Result<Value<'a>, Error> {
        self.skip().map(|span| Value::in_source(self.bytes, span))
    }

    /// Reads the next value, which must be a string.
    ///
    /// # Errors
    /// The next value is of another kind, or not valid.
    pub fn string(&mut self) -> Result<Str<'a>, Error> {
        let text = self.expect_kind(b'"')?;
        let scanned = scan::string(self.bytes, text)?;
        self.rest = scanned.behind;
        self.turn = Turn::After;
        Ok(self.quoted(text, scanned))
    }

    /// Enters the next value, which must be an object.
    ///
    /// # Errors
    /// The next value is of another kind, or nests too deep.
    #[inline]
    pub fn enter_object(&mut self) -> Result<(), Error> {
        let behind = self.expect_kind(b'{')?;
        self.enter(behind)
    }

    /// Enters the next value, which must be an array.
    ///
    /// # Errors
    /// The next value is of another kind, or nests too deep.
    #[inline]
    pub fn enter_array(&mut self) -> Result<(), Error> {
        let behind = self.expect_kind(b'[')?;
        self.enter(behind)
    }

    /// In an object: the name of the next member, whose value is to be read next, or `None` where the object ends,
    /// which is thereby left.
    ///
    /// # Errors
    /// Neither a member nor the end stands here.
    pub fn member(&mut self) -> Result<Option<Str<'a>>, Error> {
        let Some(rest) = self.next(b'}')? else { return Ok(None) };
        let text = scan::token(self.bytes, rest, b'"', ErrorKind::ExpectedKey)?;
        let scanned = scan::string(self.bytes, text)?;
        self.rest = scan::token(self.bytes, scanned.behind, b':', ErrorKind::ExpectedColon)?;
        Ok(Some(self.quoted(text, scanned)))
    }

    /// In an object: passes the name of the next member where it is one of these, written without white space or escapes as nearly
    /// all are, and gives its place among them. Else it passes nothing. The names are ASCII without what must be escaped.
    // To compare what is known takes a fraction of what reading it takes.
    #[inline(always)]
    pub(crate) fn member_among<const N: usize>(&mut self, names: [&'static str; N]) -> Option<usize> {
        let text = match (self.turn, self.rest) {
            (Turn::First, [b'"', text @ ..]) | (Turn::After, [b',', b'"', text @ ..]) if self.depth > 0 => text,
            _ => return None,
        };
        let behind = |name: &str| match text.strip_prefix(name.as_bytes()) {
            Some([b'"', b':', behind @ ..]) => Some(behind),
            _ => None,
        };
        let (at, behind) = names.iter().enumerate().find_map(|(at, name)| Some((at, behind(name)?)))?;
        self.rest = behind;
        self.turn = Turn::Value;
        Some(at)
    }

    /// Passes the next value as [`skip`](Self::skip) does, sooner where it is written as `usual`: a string, or an array or object
    /// that nests `levels` deep.
    ///
    /// # Errors
    /// As of `skip`.
    pub(crate) fn skip_usual(&mut self, usual: &'static [u8], levels: usize) -> Result<Span, Error> {
        match self.rest.strip_prefix(usual) {
            Some(behind) if self.turn == Turn::Value && self.limit.get() - self.depth >= levels => {
                let start = self.position();
                self.rest = behind;
                self.turn = Turn::After;
                Ok(Span::new(start, self.position()))
            }
            _ => self.skip(),
        }
    }

    /// In an array: whether another element stands next. Where none does, the array ends and is thereby left.
    ///
    /// # Errors
    /// Neither an element nor the end stands here. That a comma is followed by an element shows when it is read.
    #[inline]
    pub fn element(&mut self) -> Result<bool, Error> {
        let Some(rest) = self.next(b']')? else { return Ok(false) };
        self.rest = rest;
        Ok(true)
    }

    /// Checks that the value was read whole and only white space follows.
    ///
    /// # Errors
    /// Something else follows, or a container is still open.
    pub fn end(&mut self) -> Result<(), Error> {
        self.expect(Turn::After)?;
        self.rest = scan::space(self.rest);
        if self.depth > 0 {
            return Err(self.missing(ErrorKind::OutOfTurn));
        }
        if !self.rest.is_empty() {
            return Err(self.wrong(ErrorKind::TrailingCharacters));
        }
        Ok(())
    }

    /// What is behind the comma, if one must stand here. Or passes `closing`, and there is no more.
    #[inline]
    fn next(&mut self, closing: u8) -> Result<Option<&'a [u8]>, Error> {
        let rest = scan::space(self.rest);
        if self.depth == 0 || self.turn == Turn::Value {
            return Err(scan::wrong(self.bytes, rest, ErrorKind::OutOfTurn));
        }
        let next = match rest {
            [first, behind @ ..] if *first == closing => {
                self.rest = behind;
                self.depth -= 1;
                self.turn = Turn::After;
                return Ok(None);
            }
            _ if self.turn == Turn::First => rest,
            [b',', behind @ ..] => behind,
            _ => return Err(scan::missing(self.bytes, rest, ErrorKind::ExpectedCommaOrEnd)),
        };
        self.turn = Turn::Value;
        Ok(Some(next))
    }

    /// The string that was scanned, of which `text` is what is behind the opening quote.
    #[inline(always)]
    fn quoted(&self, text: &'a [u8], scanned: Scanned<'_>) -> Str<'a> {
        // Without the quotes.
        let raw = text.get(..text.len() - scanned.behind.len() - 1).unwrap_or_default();
        Str::new(raw, self.bytes.len() - text.len() - 1, scanned.escaped)
    }

    /// Enters the container of which this is what is behind its bracket.
    #[inline]
    fn enter(&mut self, behind: &'a [u8]) -> Result<(), Error> {
        if self.depth >= self.limit.get() {
            return Err(self.wrong(ErrorKind::TooDeep));
        }
        self.rest = behind;
        self.depth += 1;
        self.turn = Turn::First;
        Ok(())
    }

    #[inline]
    fn expect(&self, turn: Turn) -> Result<(), Error> {
        if self.turn == turn { Ok(()) } else { Err(self.wrong(ErrorKind::OutOfTurn)) }
    }

    /// Passes white space up to a value that starts with `first`; gives what is behind that byte.
    #[inline]
    fn expect_kind(&mut self, first: u8) -> Result<&'a [u8], Error> {
        self.expect(Turn::Value)?;
        self.rest = scan::space(self.rest);
        match self.rest {
            [byte, behind @ ..] if *byte == first => Ok(behind),
            [byte, ..] if Kind::of(*byte).is_some() => Err(self.wrong(ErrorKind::UnexpectedKind)),
            _ => Err(self.missing(ErrorKind::ExpectedValue)),
        }
    }

    #[cold]
    fn wrong(&self, kind: ErrorKind) -> Error {
        scan::wrong(self.bytes, self.rest, kind)
    }

    #[cold]
    fn missing(&self, expected: ErrorKind) -> Error {
        scan::missing(self.bytes, self.rest, expected)
    }
}
