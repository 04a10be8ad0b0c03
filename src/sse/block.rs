//! One block of an event stream: the bytes as they came, and what they say.

use std::ops::Range;
use std::slice;

use bytes::{Bytes, BytesMut};

use super::{
    BOM, Frames, LF,
    lines::{Cursor, Lines},
    rewrite,
};

/// One block of the stream, as it came: the lines of an event or comments, with the blank line that ends them.
///
/// See the [module docs](super).
#[derive(Clone, Debug)]
pub struct Block {
    pieces: Pieces,
    /// Where the value of the only data field lies, if that was seen.
    value: Option<Range<usize>>,
    bom: bool,
    ended: bool,
}

#[derive(Clone, Debug)]
enum Pieces {
    One(Bytes),
    Many(Vec<Bytes>),
}

impl Block {
    #[inline]
    pub(super) fn one(piece: Bytes, value: Option<Range<usize>>, bom: bool, ended: bool) -> Self {
        Self { pieces: Pieces::One(piece), value, bom, ended }
    }

    pub(super) fn many(pieces: Vec<Bytes>, bom: bool, ended: bool) -> Self {
        Self { pieces: Pieces::Many(pieces), value: None, bom, ended }
    }

    /// The bytes as they came: slices of the chunks that were pushed, one for each chunk that has a part in the block
    /// (thousands of tiny chunks are [joined](super::Splitter#limits)).
    pub fn frames(self) -> Frames {
        match self.pieces {
            Pieces::One(piece) => Frames::from(piece),
            Pieces::Many(pieces) => Frames::from(pieces),
        }
    }

    /// How many bytes the block has, its blank line included.
    #[inline]
    pub fn len(&self) -> usize {
        match &self.pieces {
            Pieces::One(piece) => piece.len(),
            Pieces::Many(pieces) => pieces.iter().map(Bytes::len).sum(),
        }
    }

    /// Whether there are no bytes; a [`Splitter`](super::Splitter) gives no such block.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the blank line came; `false` if the stream ended before it.
    pub fn is_ended(&self) -> bool {
        self.ended
    }

    /// Hands the bytes on as they came.
    #[inline]
    pub(crate) fn push_to(self, frames: &mut Frames) {
        match self.pieces {
            Pieces::One(piece) => frames.push(piece),
            Pieces::Many(pieces) => frames.extend(pieces),
        }
    }

    /// Whether there is a data field, be it empty. Without one, a client dispatches no event.
    pub fn has_data(&self) -> bool {
        self.value.is_some() || self.lines().any(|line| line.data().is_some())
    }

    /// The event's data: the values of its data fields, joined by LF, each without the one space that may lead it. Empty
    /// without data fields.
    ///
    /// A single value within a single chunk is a slice of that chunk; anything else is one copy. Bytes that are no
    /// UTF-8 stay as they are. In a block that is not [ended](Self::is_ended), the last line counts as if it were whole.
    pub fn data(&self) -> Bytes {
        if let Some((piece, value)) = self.value() {
            return piece.slice(value);
        }
        let mut values = self.lines().filter_map(|line| line.data()).map(|data| data.value);
        let mut cursor = Cursor::new(self.pieces());
        let Some(first) = values.next() else {
            return Bytes::new();
        };
        let Some(second) = values.next() else {
            return cursor.read(first);
        };
        let mut joined = BytesMut::with_capacity(self.len());
        cursor.read_into(first, &mut joined);
        for value in [second].into_iter().chain(values) {
            joined.extend_from_slice(&[LF]);
            cursor.read_into(value, &mut joined);
        }
        joined.freeze()
    }

    /// The event's data where they lie, if that was seen.
    #[inline]
    pub(crate) fn data_in_place(&self) -> Option<&[u8]> {
        self.value().and_then(|(piece, value)| piece.get(value))
    }

    #[inline]
    fn value(&self) -> Option<(&Bytes, Range<usize>)> {
        match &self.pieces {
            Pieces::One(piece) => Some((piece, self.value.clone()?)),
            Pieces::Many(_) => None,
        }
    }

    /// The block with other data, given in pieces.
    ///
    /// All other lines keep their bytes and order. The new data stand where the first data line stood, written as that
    /// line was (`data:` or `data: `, and its line end); further data lines go. Without a data line they stand before
    /// the blank line.
    ///
    /// A line end in the new data (LF, CR or CRLF) starts another data line, so that clients see LF for it: the framing
    /// knows no other. Where a line begins with a space, `data:` becomes `data: `, or that space would be dropped.
    ///
    /// Neighbouring pieces below 16 KiB are copied into one frame; larger ones stay slices.
    pub fn with_data(&self, data: impl IntoIterator<Item = Bytes>) -> Frames {
        rewrite::with_data(self.pieces(), self.lines(), self.ended, data)
    }

    fn pieces(&self) -> &[Bytes] {
        match &self.pieces {
            Pieces::One(piece) => slice::from_ref(piece),
            Pieces::Many(pieces) => pieces,
        }
    }

    fn lines(&self) -> Lines<'_> {
        let mut cursor = Cursor::new(self.pieces());
        if self.bom {
            cursor.skip_to(BOM.len());
        }
        Lines(cursor)
    }
}
