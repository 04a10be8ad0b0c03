//! The scanner: checks one token or one whole value of RFC 8259 on a slice and says where it ends.
//!
//! Functions take the source and an offset and give the offset behind what they passed. None allocates or recurses.

use super::depth::Depth;
use super::error::{Error, ErrorKind};
use super::string::hex4;

/// Passes white space (RFC 8259, section 2).
#[inline(always)]
pub(super) fn space(bytes: &[u8], at: usize) -> usize {
    // In compact text, which is nearly all there is on the wire, the next token follows directly.
    match bytes.get(at) {
        Some(byte) if *byte <= b' ' => long_space(bytes, at),
        _ => at,
    }
}

// Out of line, so that the loop over compact text stays small.
#[inline(never)]
fn long_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// `expected`, or [`ErrorKind::Eof`] where the source ends at `at`.
#[cold]
pub(super) fn missing(bytes: &[u8], at: usize, expected: ErrorKind) -> Error {
    let kind = if at < bytes.len() { expected } else { ErrorKind::Eof };
    Error::new(kind, at.min(bytes.len()))
}

/// Where a string ends, and whether it has escapes.
pub(super) struct Scanned {
    /// Offset of the closing quote.
    pub(super) quote: usize,
    pub(super) escaped: bool,
}

const LOW_BITS: u64 = u64::from_le_bytes([0x01; 8]);
const HIGH_BITS: u64 = u64::from_le_bytes([0x80; 8]);

/// How many words are tried one by one before a string counts as long, and before a long one is tried in blocks.
const SHORT_WORDS: usize = 6;
const LONG_WORDS: usize = 16;

/// What is looked at together in a long run. The compiler uses the vector unit for a fold over so many bytes.
const BLOCK: usize = 64;

/// Marks, in their high bits, the bytes of `word` that are a quote, a backslash or a control character; perhaps also
/// bytes that are not ASCII. Only the lowest mark is exact: a borrow can run into the bytes above it, never below.
#[inline(always)]
fn marks(word: u64) -> u64 {
    // Xor with 2 moves the quote (0x22) to 0x20 and no other byte from above below 0x21, so that one comparison
    // finds quotes and control characters.
    let quote_or_control = (word ^ (LOW_BITS * 0x02)).wrapping_sub(LOW_BITS * 0x21);
    let backslash = (word ^ (LOW_BITS * 0x5c)).wrapping_sub(LOW_BITS);
    quote_or_control | backslash
}

/// Checks a string; `start` is the offset behind its opening quote.
#[inline(always)]
pub(super) fn string(bytes: &[u8], start: usize) -> Result<Scanned, Error> {
    let mut rest = bytes.get(start..).unwrap_or_default();
    for _ in 0..SHORT_WORDS {
        let Some((word, behind)) = rest.split_first_chunk::<8>() else { break };
        let word = u64::from_le_bytes(*word);
        // What is not ASCII is left to the long scan too.
        let stops = (marks(word) | word) & HIGH_BITS;
        if stops != 0 {
            let stop = stops.trailing_zeros() as usize / 8;
            if rest.get(stop) == Some(&b'"') {
                return Ok(Scanned { quote: bytes.len() - rest.len() + stop, escaped: false });
            }
            break;
        }
        rest = behind;
    }
    long_string(bytes, start, bytes.len() - rest.len())
}

/// The rest of a string that is long, has escapes or non-ASCII characters, or stands near the end of the source.
/// What lies between `start` and `at` is known to be plain ASCII.
#[inline(never)]
fn long_string(bytes: &[u8], start: usize, mut at: usize) -> Result<Scanned, Error> {
    let mut escaped = false;
    // Bits of all words, for the high ones. Those behind the end of the string do no harm: it is then checked for nothing.
    let mut wide = 0;
    // Text with escapes, such as markup, has one every few words: blocks are only tried where there was none for a while.
    let mut words = if at < start + 8 * SHORT_WORDS { 0 } else { LONG_WORDS };
    let quote = loop {
        let mut rest = bytes.get(at..).unwrap_or_default();
        while let Some((word, behind)) = rest.split_first_chunk::<8>() {
            let word = u64::from_le_bytes(*word);
            wide |= word;
            let stops = marks(word) & !word & HIGH_BITS;
            if stops != 0 {
                words = 0;
                rest = rest.get(stops.trailing_zeros() as usize / 8..).unwrap_or_default();
                // Nearly all stops in a long string are these.
                if let [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', behind @ ..] = rest {
                    escaped = true;
                    rest = behind;
                    continue;
                }
                break;
            }
            rest = behind;
            words += 1;
            if words < LONG_WORDS {
                continue;
            }
            words = 0;
            while let Some((block, behind)) = rest.split_first_chunk::<BLOCK>() {
                let is_special = |byte: &u8| (*byte < b' ') | (*byte == b'"') | (*byte == b'\\');
                if block.iter().fold(false, |stop, byte| stop | is_special(byte)) {
                    break;
                }
                wide |= if block.is_ascii() { 0 } else { HIGH_BITS };
                rest = behind;
            }
        }
        at = bytes.len() - rest.len();
        match bytes.get(at) {
            Some(b'"') => break at,
            Some(b'\\') => {
                escaped = true;
                at = escape(bytes, at)?;
            }
            Some(0..b' ') => return Err(Error::new(ErrorKind::ControlCharacter, at)),
            // Fewer bytes than a block are left.
            Some(byte) => {
                wide |= u64::from(*byte);
                at += 1;
            }
            None => return Err(Error::new(ErrorKind::Eof, bytes.len())),
        }
    };
    if wide & HIGH_BITS != 0 {
        let text = bytes.get(start..quote).unwrap_or_default();
        if let Err(error) = std::str::from_utf8(text) {
            return Err(Error::new(ErrorKind::Utf8, start + error.valid_up_to()));
        }
    }
    Ok(Scanned { quote, escaped })
}

/// Checks an escape (RFC 8259, section 7); `at` is the offset of its backslash.
fn escape(bytes: &[u8], at: usize) -> Result<usize, Error> {
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => match bytes.get(at + 2..at + 6) {
            Some(digits) if hex4(digits).is_some() => Ok(at + 6),
            Some(_) => Err(Error::new(ErrorKind::InvalidEscape, at)),
            None => Err(Error::new(ErrorKind::Eof, bytes.len())),
        },
        _ => Err(missing(bytes, at + 1, ErrorKind::InvalidEscape)),
    }
}

fn digits(bytes: &[u8], mut at: usize) -> Result<usize, Error> {
    let first = at;
    while bytes.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    if at == first {
        return Err(missing(bytes, at, ErrorKind::InvalidNumber));
    }
    Ok(at)
}

/// Checks a number (RFC 8259, section 6).
pub(super) fn number(bytes: &[u8], mut at: usize) -> Result<usize, Error> {
    if bytes.get(at) == Some(&b'-') {
        at += 1;
    }
    if bytes.get(at) == Some(&b'0') {
        at += 1;
        if bytes.get(at).is_some_and(u8::is_ascii_digit) {
            return Err(Error::new(ErrorKind::InvalidNumber, at));
        }
    } else {
        at = digits(bytes, at)?;
    }
    if bytes.get(at) == Some(&b'.') {
        at = digits(bytes, at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        at += 1;
        if let Some(b'+' | b'-') = bytes.get(at) {
            at += 1;
        }
        at = digits(bytes, at)?;
    }
    Ok(at)
}

/// Checks `true`, `false` or `null`.
pub(super) fn literal(bytes: &[u8], at: usize, word: &'static [u8]) -> Result<usize, Error> {
    let rest = bytes.get(at..).unwrap_or_default();
    if rest.starts_with(word) {
        return Ok(at + word.len());
    }
    if word.starts_with(rest) {
        return Err(Error::new(ErrorKind::Eof, bytes.len()));
    }
    Err(Error::new(ErrorKind::InvalidLiteral, at))
}

/// Checks the name of a member and its colon; gives the offset of the value.
#[inline(always)]
fn key(bytes: &[u8], at: usize) -> Result<usize, Error> {
    if bytes.get(at) != Some(&b'"') {
        return Err(missing(bytes, at, ErrorKind::ExpectedKey));
    }
    let at = space(bytes, string(bytes, at + 1)?.quote + 1);
    if bytes.get(at) != Some(&b':') {
        return Err(missing(bytes, at, ErrorKind::ExpectedColon));
    }
    Ok(space(bytes, at + 1))
}

/// The kinds of the containers around the one being read: one bit each, set for an object.
#[derive(Default)]
struct Stack([u64; Depth::MAX.get() / 64]);

impl Stack {
    #[inline(always)]
    fn set(&mut self, depth: usize, object: bool) {
        // The mask changes nothing, as a depth is below 1024 here; it spares the bounds check.
        let word = &mut self.0[(depth / 64) % (Depth::MAX.get() / 64)];
        let bit = 1 << (depth % 64);
        *word = if object { *word | bit } else { *word & !bit };
    }

    #[inline(always)]
    fn get(&self, depth: usize) -> bool {
        self.0[(depth / 64) % (Depth::MAX.get() / 64)] >> (depth % 64) & 1 == 1
    }
}

/// Checks an array or object, `room` levels deep at most; `at` is the offset of its bracket.
pub(super) fn container(bytes: &[u8], mut at: usize, room: usize) -> Result<usize, Error> {
    let mut stack = Stack::default();
    // Levels that are open, and whether the innermost of them is an object.
    let mut depth = 0;
    let mut object = false;
    loop {
        // A value stands at `at`.
        match bytes.get(at) {
            Some(b'"') => at = string(bytes, at + 1)?.quote + 1,
            Some(bracket @ (b'{' | b'[')) => {
                if depth >= room {
                    return Err(Error::new(ErrorKind::TooDeep, at));
                }
                let opens_object = *bracket == b'{';
                let closing = if opens_object { b'}' } else { b']' };
                at = space(bytes, at + 1);
                if bytes.get(at) == Some(&closing) {
                    at += 1;
                } else {
                    stack.set(depth, object);
                    depth += 1;
                    object = opens_object;
                    if object {
                        at = key(bytes, at)?;
                    }
                    continue;
                }
            }
            Some(b'-' | b'0'..=b'9') => at = number(bytes, at)?,
            Some(b't') => at = literal(bytes, at, b"true")?,
            Some(b'f') => at = literal(bytes, at, b"false")?,
            Some(b'n') => at = literal(bytes, at, b"null")?,
            _ => return Err(missing(bytes, at, ErrorKind::ExpectedValue)),
        }
        // A value ends at `at`; with it may end the containers around it.
        loop {
            if depth == 0 {
                return Ok(at);
            }
            at = space(bytes, at);
            match bytes.get(at) {
                Some(b',') => {
                    at = space(bytes, at + 1);
                    if object {
                        at = key(bytes, at)?;
                    }
                    break;
                }
                Some(b'}') if object => at += 1,
                Some(b']') if !object => at += 1,
                _ => return Err(missing(bytes, at, ErrorKind::ExpectedCommaOrEnd)),
            }
            depth -= 1;
            object = stack.get(depth);
        }
    }
}
