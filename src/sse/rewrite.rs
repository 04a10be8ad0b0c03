//! Gives a block other data: every other byte is kept, and no line end is lost or won.

use bytes::{Buf, Bytes};
use memchr::memchr2;

use super::{
    CR, Frames, LF,
    joiner::Joiner,
    lines::{Cursor, Line, Lines},
};

/// The block of these pieces and lines with other data; see [`Block::with_data`](super::Block::with_data).
pub(super) fn with_data(
    pieces: &[Bytes],
    mut lines: Lines<'_>,
    ended: bool,
    data: impl IntoIterator<Item = Bytes>,
) -> Frames {
    let mut kept = Kept { cursor: Cursor::new(pieces), out: Joiner::default() };
    let mut last = None;
    while let Some(line) = lines.next() {
        let Some(field) = line.data() else {
            last = Some(line);
            continue;
        };
        kept.copy_to(field.value.start);
        if !field.has_colon() {
            kept.out.copy(b":");
        }
        write_data(&mut kept.out, field.has_space(), line.ending(), data);
        kept.cut_to(line.text_end);
        for line in lines.filter(|line| line.data().is_some()) {
            kept.copy_to(line.start);
            kept.cut_to(line.end);
        }
        return kept.finish();
    }
    kept.insert(last, ended, data)
}

/// The lines that stay, copied in order.
struct Kept<'a> {
    cursor: Cursor<'a>,
    out: Joiner,
}

impl Kept<'_> {
    fn copy_to(&mut self, until: usize) {
        while let Some(slice) = self.cursor.next_slice(until) {
            self.out.push(slice);
        }
    }

    /// Leaves bytes out. A CR before the cut and an LF after it were two line ends and must not become one CRLF.
    fn cut_to(&mut self, until: usize) {
        self.cursor.skip_to(until);
        if self.out.last() == Some(CR) && self.cursor.rest().first() == Some(&LF) {
            self.out.copy(&[LF]);
        }
    }

    fn finish(mut self) -> Frames {
        self.copy_to(usize::MAX);
        self.out.finish()
    }

    /// Adds data to a block that has none: before its blank line, which is `last` if the block is ended.
    fn insert(mut self, last: Option<Line>, ended: bool, data: impl IntoIterator<Item = Bytes>) -> Frames {
        let mut ending: &[u8] = &[LF];
        if let Some(line) = last {
            ending = line.ending();
            self.copy_to(if ended { line.start } else { line.end });
            if line.is_open() {
                self.out.copy(ending);
            }
        } else {
            // Nothing but a byte order mark.
            self.copy_to(usize::MAX);
        }
        self.out.copy(b"data: ");
        write_data(&mut self.out, true, ending, data);
        self.out.copy(ending);
        self.finish()
    }
}

/// Writes data after the prefix of their first line, up to the end of their last.
fn write_data(out: &mut Joiner, spaced: bool, ending: &[u8], data: impl IntoIterator<Item = Bytes>) {
    let mut line_start = true;
    let mut after_cr = false;
    for mut piece in data {
        while !piece.is_empty() {
            if std::mem::take(&mut after_cr) && piece[0] == LF {
                piece.advance(1);
                continue;
            }
            let text = memchr2(CR, LF, &piece).unwrap_or(piece.len());
            if text > 0 {
                if line_start && !spaced && piece[0] == b' ' {
                    out.copy(b" ");
                }
                line_start = false;
                out.push(piece.split_to(text));
            }
            if !piece.is_empty() {
                after_cr = piece.get_u8() == CR;
                out.copy(ending);
                out.copy(if spaced { b"data: " } else { b"data:" });
                line_start = true;
            }
        }
    }
}
