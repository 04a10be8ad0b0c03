//! The scanner: checks one token or one whole value of RFC 8259 and says what is behind it.
//!
//! Functions take the whole source, by which errors tell places, and the rest of it that is still to be read; they give the
//! rest behind what they passed. None allocates or recurses.

use super::depth::Depth;
use super::error::{Error, ErrorKind};
use super::string::hex4;

/// Passes white space (RFC 8259, section 2).
#[inline(always)]
pub(super) fn space(rest: &[u8]) -> &[u8] {
    // In compact text, which is nearly all there is on the wire, the next token follows directly.
    match rest {
        [0..=b' ', ..] => long_space(rest),
        _ => rest,
    }
}

// Out of line, so that the loop over compact text stays small.
#[inline(never)]
fn long_space(mut rest: &[u8]) -> &[u8] {
    // Indentation is a line break and some words of spaces.
    while let Some((word, behind)) = rest.split_first_chunk::<8>() {
        let others = u64::from_le_bytes(*word) ^ (LOW_BITS * 0x20);
        if others == 0 {
            rest = behind;
            continue;
        }
        rest = match rest.get(others.trailing_zeros() as usize / 8..) {
            Some([b'\n' | b'\r' | b'\t', behind @ ..]) => behind,
            rest => return rest.unwrap_or_default(),
        }
    }
    while let [b' ' | b'\n' | b'\r' | b'\t', behind @ ..] = rest {
        rest = behind;
    }
    rest
}

/// Passes `token`, which must stand next, perhaps behind white space.
#[inline(always)]
pub(super) fn token<'a>(bytes: &[u8], rest: &'a [u8], token: u8, expected: ErrorKind) -> Result<&'a [u8], Error> {
    match rest {
        [first, behind @ ..] if *first == token => Ok(behind),
        _ => spaced_token(bytes, rest, token, expected),
    }
}

/// Passes white space where something else than `expected` stands: that, or nothing right.
#[inline(never)]
fn spaced<'a>(bytes: &[u8], rest: &'a [u8], expected: ErrorKind) -> Result<&'a [u8], Error> {
    match rest {
        [b' ' | b'\n' | b'\r' | b'\t', ..] => Ok(long_space(rest)),
        _ => Err(missing(bytes, rest, expected)),
    }
}

#[inline(never)]
fn spaced_token<'a>(bytes: &[u8], rest: &'a [u8], token: u8, expected: ErrorKind) -> Result<&'a [u8], Error> {
    match long_space(rest) {
        [first, behind @ ..] if *first == token => Ok(behind),
        rest => Err(missing(bytes, rest, expected)),
    }
}

/// An error about what stands next.
#[cold]
pub(super) fn wrong(bytes: &[u8], rest: &[u8], kind: ErrorKind) -> Error {
    Error::new(kind, bytes.len() - rest.len())
}

/// `expected`, or [`ErrorKind::Eof`] where nothing is left.
#[cold]
pub(super) fn missing(bytes: &[u8], rest: &[u8], expected: ErrorKind) -> Error {
    wrong(bytes, rest, if rest.is_empty() { ErrorKind::Eof } else { expected })
}

/// What was found out about a string.
pub(super) struct Scanned<'a> {
    /// What is behind its closing quote.
    pub(super) behind: &'a [u8],
    /// Whether it has escapes.
    pub(super) escaped: bool,
}

const LOW_BITS: u64 = u64::from_le_bytes([0x01; 8]);
const HIGH_BITS: u64 = u64::from_le_bytes([0x80; 8]);

/// How many words are tried one by one before a string counts as long, and before a long one is tried in blocks.
const SHORT_WORDS: usize = 6;
const LONG_WORDS: usize = 16;

/// What is looked at together in a long string. The compiler uses the vector unit for a fold over so many bytes.
const BLOCK: usize = 64;

/// Whether a block is plain text: neither a quote, nor a backslash, nor a control character.
#[inline(always)]
fn is_plain(block: &[u8; BLOCK]) -> bool {
    let is_special = |byte: &u8| (*byte < b' ') | (*byte == b'"') | (*byte == b'\\');
    !block.iter().fold(false, |any, byte| any | is_special(byte))
}

/// Passes a block of plain text and of escapes of two bytes but for that of a backslash, as markup is. Such escapes can be told by
/// what stands before each byte alone, so the block needs no branch for each of them. `None` where something else is in it.
#[inline(always)]
fn behind_markup(rest: &[u8]) -> Option<&[u8]> {
    let before = rest.first_chunk::<BLOCK>()?;
    let bytes = rest.get(1..)?.first_chunk::<BLOCK>()?;
    if matches!(before[0], 0..b' ' | b'"') {
        return None;
    }
    let is_wrong = |before: u8, byte: u8| {
        let is_escaped = before == b'\\';
        let may_be = (byte == b'"')
            | (byte == b'n')
            | (byte == b't')
            | (byte == b'r')
            | (byte == b'/')
            | (byte == b'b')
            | (byte == b'f');
        (byte < b' ') | ((byte == b'"') & !is_escaped) | (is_escaped & !may_be)
    };
    if before.iter().zip(bytes).fold(false, |any, (before, byte)| any | is_wrong(*before, *byte)) {
        return None;
    }
    // An escape may end behind the block.
    rest.get(BLOCK + usize::from(before[BLOCK - 1] == b'\\')..)
}

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

/// Checks a string; `text` is what is behind its opening quote.
#[inline(always)]
pub(super) fn string<'a>(bytes: &[u8], text: &'a [u8]) -> Result<Scanned<'a>, Error> {
    let mut rest = text;
    for _ in 0..SHORT_WORDS {
        let Some((word, behind)) = rest.split_first_chunk::<8>() else { break };
        let word = u64::from_le_bytes(*word);
        // Left to the long scan. Not told by the same comparison as the marks, since the next token waits for those.
        if word & HIGH_BITS != 0 {
            break;
        }
        let stops = marks(word) & HIGH_BITS;
        if stops != 0 {
            if let Some([b'"', behind @ ..]) = rest.get(stops.trailing_zeros() as usize / 8..) {
                return Ok(Scanned { behind, escaped: false });
            }
            break;
        }
        rest = behind;
    }
    long_string(bytes, text, rest)
}

/// The rest of a string that is long, has escapes or non-ASCII characters, or stands near the end of the source.
/// What of `text` is before `rest` is known to be plain ASCII.
#[inline(never)]
fn long_string<'a>(bytes: &[u8], text: &'a [u8], mut rest: &'a [u8]) -> Result<Scanned<'a>, Error> {
    let mut escaped = false;
    // Bits of all words, for the high ones. Those behind the end of the string do no harm: it is then checked for nothing.
    let mut wide = 0;
    // The end of a short string is found by words alone. What is neither plain nor markup is not tried as such again soon.
    let mut words = if text.len() - rest.len() < 8 * SHORT_WORDS { 0 } else { LONG_WORDS };
    let mut is_markup = false;
    let behind = loop {
        while let Some((word, behind)) = rest.split_first_chunk::<8>() {
            let word = u64::from_le_bytes(*word);
            wide |= word;
            words += 1;
            let stops = marks(word) & !word & HIGH_BITS;
            if stops != 0 {
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
            if words < LONG_WORDS {
                continue;
            }
            words = 0;
            while let Some(block) = rest.first_chunk::<BLOCK>() {
                let behind = if !is_markup && is_plain(block) {
                    rest.get(BLOCK..)
                } else {
                    // From here on the string has an escape, if it does not end.
                    is_markup = true;
                    behind_markup(rest)
                };
                let Some(behind) = behind else { break };
                escaped |= is_markup;
                wide |= if block.is_ascii() { 0 } else { HIGH_BITS };
                rest = behind;
            }
        }
        rest = match rest {
            [b'"', behind @ ..] => break behind,
            [b'\\', ..] => {
                escaped = true;
                escape(bytes, rest)?
            }
            [0..b' ', ..] => return Err(wrong(bytes, rest, ErrorKind::ControlCharacter)),
            // Fewer bytes than a word are left.
            [byte, behind @ ..] => {
                wide |= u64::from(*byte);
                behind
            }
            [] => return Err(wrong(bytes, rest, ErrorKind::Eof)),
        };
    };
    if wide & HIGH_BITS != 0 {
        // Without the closing quote.
        let whole = text.get(..text.len() - behind.len() - 1).unwrap_or_default();
        if let Err(error) = std::str::from_utf8(whole) {
            let from = text.get(error.valid_up_to()..).unwrap_or_default();
            return Err(wrong(bytes, from, ErrorKind::Utf8));
        }
    }
    Ok(Scanned { behind, escaped })
}

/// Checks an escape (RFC 8259, section 7), whose backslash stands next.
fn escape<'a>(bytes: &[u8], rest: &'a [u8]) -> Result<&'a [u8], Error> {
    match rest {
        [_, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', behind @ ..] => Ok(behind),
        [_, b'u', behind @ ..] => match behind.split_at_checked(4) {
            Some((digits, behind)) if hex4(digits).is_some() => Ok(behind),
            Some(_) => Err(wrong(bytes, rest, ErrorKind::InvalidEscape)),
            None => Err(wrong(bytes, &[], ErrorKind::Eof)),
        },
        [_, behind @ ..] => Err(missing(bytes, behind, ErrorKind::InvalidEscape)),
        [] => Err(wrong(bytes, rest, ErrorKind::Eof)),
    }
}

#[inline(always)]
fn digits<'a>(bytes: &[u8], rest: &'a [u8]) -> Result<&'a [u8], Error> {
    let [b'0'..=b'9', behind @ ..] = rest else {
        return Err(missing(bytes, rest, ErrorKind::InvalidNumber));
    };
    let mut rest = behind;
    while let [b'0'..=b'9', behind @ ..] = rest {
        rest = behind;
    }
    Ok(rest)
}

/// Checks a number (RFC 8259, section 6).
#[inline(always)]
pub(super) fn number<'a>(bytes: &[u8], rest: &'a [u8]) -> Result<&'a [u8], Error> {
    let unsigned = rest.strip_prefix(b"-").unwrap_or(rest);
    let behind = match unsigned {
        [b'0', behind @ ..] if behind.first().is_some_and(u8::is_ascii_digit) => {
            return Err(wrong(bytes, behind, ErrorKind::InvalidNumber));
        }
        [b'0', behind @ ..] => behind,
        _ => digits(bytes, unsigned)?,
    };
    // Most numbers are integers.
    match behind {
        [b'.' | b'e' | b'E', ..] => fraction(bytes, behind),
        _ => Ok(behind),
    }
}

/// Checks what is behind the integer of a number.
#[inline(never)]
fn fraction<'a>(bytes: &[u8], mut rest: &'a [u8]) -> Result<&'a [u8], Error> {
    if let [b'.', behind @ ..] = rest {
        rest = digits(bytes, behind)?;
    }
    if let [b'e' | b'E', b'+' | b'-', behind @ ..] | [b'e' | b'E', behind @ ..] = rest {
        rest = digits(bytes, behind)?;
    }
    Ok(rest)
}

/// Checks `true`, `false` or `null`.
#[inline(always)]
pub(super) fn literal<'a>(bytes: &[u8], rest: &'a [u8], word: &'static [u8]) -> Result<&'a [u8], Error> {
    match rest.strip_prefix(word) {
        Some(behind) => Ok(behind),
        None if word.starts_with(rest) => Err(wrong(bytes, &[], ErrorKind::Eof)),
        None => Err(wrong(bytes, rest, ErrorKind::InvalidLiteral)),
    }
}

/// Checks the name of a member and its colon.
#[inline(always)]
fn key<'a>(bytes: &[u8], rest: &'a [u8]) -> Result<&'a [u8], Error> {
    let text = token(bytes, rest, b'"', ErrorKind::ExpectedKey)?;
    let behind = string(bytes, text)?.behind;
    token(bytes, behind, b':', ErrorKind::ExpectedColon)
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

/// Checks an array or object, `room` levels deep at most, whose bracket stands next.
pub(super) fn container<'a>(bytes: &[u8], mut rest: &'a [u8], room: usize) -> Result<&'a [u8], Error> {
    let mut stack = Stack::default();
    // Levels that are open, and whether the innermost of them is an object.
    let mut depth = 0;
    let mut object = false;
    loop {
        // A value comes.
        rest = match rest {
            [b'"', text @ ..] => string(bytes, text)?.behind,
            [b'{' | b'[', ..] if depth >= room => return Err(wrong(bytes, rest, ErrorKind::TooDeep)),
            [b'{', behind @ ..] => {
                stack.set(depth, object);
                depth += 1;
                object = true;
                match space(behind) {
                    empty @ [b'}', ..] => empty,
                    first => {
                        rest = key(bytes, first)?;
                        continue;
                    }
                }
            }
            [b'[', behind @ ..] => {
                stack.set(depth, object);
                depth += 1;
                object = false;
                match space(behind) {
                    empty @ [b']', ..] => empty,
                    first => {
                        rest = first;
                        continue;
                    }
                }
            }
            [b'-' | b'0'..=b'9', ..] => number(bytes, rest)?,
            [b't', ..] => literal(bytes, rest, b"true")?,
            [b'f', ..] => literal(bytes, rest, b"false")?,
            [b'n', ..] => literal(bytes, rest, b"null")?,
            _ => {
                rest = spaced(bytes, rest, ErrorKind::ExpectedValue)?;
                continue;
            }
        };
        // A value has ended; with it may end the containers around it.
        loop {
            match rest {
                [b',', behind @ ..] => {
                    rest = if object { key(bytes, behind)? } else { behind };
                    break;
                }
                [b'}', behind @ ..] if object => rest = behind,
                [b']', behind @ ..] if !object => rest = behind,
                _ => {
                    rest = spaced(bytes, rest, ErrorKind::ExpectedCommaOrEnd)?;
                    continue;
                }
            }
            depth -= 1;
            if depth == 0 {
                return Ok(rest);
            }
            object = stack.get(depth);
        }
    }
}
