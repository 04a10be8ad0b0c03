//! `Error`: what is wrong with a text, and where.

use std::fmt;

/// What the reader found wrong, and at which byte.
///
/// ```
/// # use tower_mcp_apps::json::{ErrorKind, Reader};
/// let source = b"[1,\n  x]";
/// let error = Reader::new(source).skip().unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::ExpectedValue);
/// assert_eq!(error.locate(source), (2, 3));
/// assert_eq!(error.to_string(), "expected a value at byte 6");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Error {
    kind: ErrorKind,
    offset: usize,
}

impl Error {
    #[cold]
    pub(super) const fn new(kind: ErrorKind, offset: usize) -> Self {
        Self { kind, offset }
    }

    /// What is wrong.
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Offset in the source of the first byte that cannot be right.
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Line and column of the offset in `source`, both counted from 1, the column in bytes.
    pub fn locate(&self, source: &[u8]) -> (usize, usize) {
        let before = source.get(..self.offset).unwrap_or(source);
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        (line, before.len() - start + 1)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.kind, self.offset)
    }
}

impl std::error::Error for Error {}

/// What can be wrong with a text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The source ends where more must come.
    Eof,
    /// Here a value must stand.
    ExpectedValue,
    /// Here the name of a member must stand.
    ExpectedKey,
    /// Here the colon behind a name must stand.
    ExpectedColon,
    /// Here a comma or the end of the array or object must stand.
    ExpectedCommaOrEnd,
    /// A backslash that starts no escape of RFC 8259, section 7.
    InvalidEscape,
    /// A number that does not follow RFC 8259, section 6.
    InvalidNumber,
    /// A word that is not `true`, `false` or `null`.
    InvalidLiteral,
    /// A control character in a string that is not escaped.
    ControlCharacter,
    /// A string that is not UTF-8.
    Utf8,
    /// More nesting than the [`Depth`](super::Depth) allows.
    TooDeep,
    /// Something other than white space behind the value.
    TrailingCharacters,
    /// A value stands here, but not of the kind that was asked for. Nothing but white space was passed,
    /// so the reader can be asked for another kind.
    UnexpectedKind,
    /// The reader was asked for something that cannot come now, such as a second value without
    /// [`element`](super::Reader::element): a bug of the caller.
    OutOfTurn,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Eof => "unexpected end",
            Self::ExpectedValue => "expected a value",
            Self::ExpectedKey => "expected the name of a member",
            Self::ExpectedColon => "expected a colon",
            Self::ExpectedCommaOrEnd => "expected a comma or the end of the array or object",
            Self::InvalidEscape => "invalid escape",
            Self::InvalidNumber => "invalid number",
            Self::InvalidLiteral => "invalid literal",
            Self::ControlCharacter => "control character in a string",
            Self::Utf8 => "invalid UTF-8",
            Self::TooDeep => "nested too deep",
            Self::TrailingCharacters => "trailing characters",
            Self::UnexpectedKind => "a value of another kind",
            Self::OutOfTurn => "read out of turn",
        })
    }
}
