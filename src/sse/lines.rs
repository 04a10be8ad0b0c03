//! Lines of a block whose bytes lie in several pieces, found without joining the pieces.

use std::ops::Range;

use bytes::{Bytes, BytesMut};
use memchr::memchr2;

use super::{CR, LF};

const LOW_BITS: u64 = u64::from_le_bytes([0x01; 8]);
const HIGH_BITS: u64 = u64::from_le_bytes([0x80; 8]);

/// Where the first line end begins. Fields but for data are short: two words cost less than the call of a search.
#[inline(always)]
pub(super) fn line_end(text: &[u8]) -> Option<usize> {
    let mut passed = 0;
    if let Some(words) = text.first_chunk::<16>() {
        let (words, _) = words.as_chunks();
        for word in words {
            let word = u64::from_le_bytes(*word);
            // Marks bytes below 16 in their high bits; perhaps also bytes behind the first of them, never before.
            let controls = word.wrapping_sub(LOW_BITS * 16) & !word & HIGH_BITS;
            if controls != 0 {
                passed += controls.trailing_zeros() as usize / 8;
                if matches!(text.get(passed), Some(&(LF | CR))) {
                    return Some(passed);
                }
                break;
            }
            passed += 8;
        }
    }
    memchr2(CR, LF, text.get(passed..)?).map(|end| passed + end)
}

/// How many bytes stand before the value, if a line that begins so is a data field. Names are compared exactly: the standard
/// folds no case.
#[inline(always)]
pub(super) fn data_prefix(line: &[u8]) -> Option<usize> {
    match line.strip_prefix(b"data")? {
        [] => Some(4),
        [b':', b' ', ..] => Some(6),
        [b':', ..] => Some(5),
        _ => None,
    }
}

/// A position in the pieces of a block. It only moves on, so a walk over all of a block is linear.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    pieces: &'a [Bytes],
    /// Position in the first of `pieces`.
    at: usize,
    /// Position in the block.
    offset: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(pieces: &'a [Bytes]) -> Self {
        Self { pieces, at: 0, offset: 0 }
    }

    /// What is left of the piece at the position; empty at the end of the block only.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.pieces.first().map_or(&[], |piece| &piece[self.at..])
    }

    /// Moves on by at most what is left of the piece.
    fn advance(&mut self, by: usize) {
        self.at += by;
        self.offset += by;
        while let [piece, others @ ..] = self.pieces
            && self.at >= piece.len()
        {
            self.pieces = others;
            self.at = 0;
        }
    }

    pub(super) fn skip_to(&mut self, offset: usize) {
        while self.take_slice(offset).is_some() {}
    }

    /// The next slice that lies in one piece and ends at `until` or before.
    pub(super) fn next_slice(&mut self, until: usize) -> Option<Bytes> {
        let (piece, range) = self.take_slice(until)?;
        Some(piece.slice(range))
    }

    /// The bytes of a range: a slice where they lie in one piece, else a copy.
    pub(super) fn read(&mut self, range: Range<usize>) -> Bytes {
        self.skip_to(range.start);
        let first = self.next_slice(range.end).unwrap_or_default();
        if first.len() == range.len() {
            return first;
        }
        let mut joined = BytesMut::with_capacity(range.len());
        joined.extend_from_slice(&first);
        self.read_into(range, &mut joined);
        joined.freeze()
    }

    /// Adds the bytes of a range to `joined`, from the position on.
    pub(super) fn read_into(&mut self, range: Range<usize>, joined: &mut BytesMut) {
        self.skip_to(range.start);
        while let Some((piece, part)) = self.take_slice(range.end) {
            joined.extend_from_slice(&piece[part]);
        }
    }

    fn take_slice(&mut self, until: usize) -> Option<(&'a Bytes, Range<usize>)> {
        let piece = self.pieces.first()?;
        let start = self.at;
        let len = until.saturating_sub(self.offset).min(piece.len() - start);
        self.advance(len);
        (len > 0).then_some((piece, start..start + len))
    }
}

/// One line, by positions in the block.
#[derive(Clone, Copy)]
pub(super) struct Line {
    pub(super) start: usize,
    /// End of the text, where the line's end begins.
    pub(super) text_end: usize,
    pub(super) end: usize,
    head: Head,
    cr: bool,
}

impl Line {
    /// Where the value begins, if this is a data field.
    pub(super) fn data(&self) -> Option<Data> {
        let prefix = data_prefix(self.head.bytes())?;
        Some(Data { value: self.start + prefix..self.text_end, prefix })
    }

    /// The bytes that end the line; LF where the stream ended first.
    pub(super) fn ending(&self) -> &'static [u8] {
        match (self.cr, self.end - self.text_end) {
            (true, 1) => b"\r",
            (true, _) => b"\r\n",
            (false, _) => b"\n",
        }
    }

    /// Whether the stream ended before the line did.
    pub(super) fn is_open(&self) -> bool {
        self.text_end == self.end
    }
}

/// A data field.
pub(super) struct Data {
    pub(super) value: Range<usize>,
    prefix: usize,
}

impl Data {
    pub(super) fn has_colon(&self) -> bool {
        self.prefix > 4
    }

    /// Whether the space that the standard drops is there.
    pub(super) fn has_space(&self) -> bool {
        self.prefix > 5
    }
}

/// The first bytes of a line: as many as tell a data field and how it is written.
#[derive(Clone, Copy, Default)]
struct Head {
    bytes: [u8; 6],
    len: usize,
}

impl Head {
    fn add(&mut self, text: &[u8]) {
        for (free, &byte) in self.bytes[self.len..].iter_mut().zip(text) {
            *free = byte;
            self.len += 1;
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// The lines of a block, from a position on.
pub(super) struct Lines<'a>(pub(super) Cursor<'a>);

impl Iterator for Lines<'_> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        let cursor = &mut self.0;
        let start = cursor.offset;
        let mut head = Head::default();
        loop {
            let rest = cursor.rest();
            if rest.is_empty() {
                let end = cursor.offset;
                return (end > start).then_some(Line { start, text_end: end, end, head, cr: false });
            }
            let Some(text) = line_end(rest) else {
                head.add(rest);
                cursor.advance(rest.len());
                continue;
            };
            head.add(&rest[..text]);
            let cr = rest[text] == CR;
            cursor.advance(text + 1);
            let text_end = cursor.offset - 1;
            if cr && cursor.rest().first() == Some(&LF) {
                cursor.advance(1);
            }
            return Some(Line { start, text_end, end: cursor.offset, head, cr });
        }
    }
}
