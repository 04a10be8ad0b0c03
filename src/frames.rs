//! The pieces of a body, in order.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

/// From this size on a piece is a frame of its own; smaller ones are worth a copy, to be one frame with their neighbours.
pub const FRAME: usize = 16 * 1024;

/// The pieces of a body, in order, none of them empty. One piece costs no memory of its own.
///
/// ```
/// use bytes::Bytes;
/// use tower_mcp_apps::json::Frames;
///
/// let mut frames = Frames::from(Bytes::from_static(b"[1,"));
/// frames.extend(["", "2]"].map(Bytes::from));
/// assert_eq!((frames.len(), frames.to_bytes()), (5, Bytes::from_static(b"[1,2]")));
/// assert_eq!(frames.collect::<Vec<_>>(), ["[1,", "2]"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Frames {
    // Beside `rest`, so that a body of one piece needs no queue.
    first: Option<Bytes>,
    rest: VecDeque<Bytes>,
    left: usize,
}

impl Frames {
    /// Adds a piece behind the others.
    #[inline]
    pub fn push(&mut self, piece: Bytes) {
        if piece.is_empty() {
            return;
        }
        self.left += piece.len();
        if self.first.is_none() && self.rest.is_empty() {
            self.first = Some(piece);
        } else {
            self.rest.push_back(piece);
        }
    }

    /// Copies the last pieces into one, as many of them as are behind the first.
    pub(crate) fn join_last(&mut self, pieces: usize) {
        let joined = self.rest.split_off(self.rest.len().saturating_sub(pieces));
        if !joined.is_empty() {
            self.rest.push_back(Vec::from(joined).concat().into());
        }
    }

    /// The next piece, left where it is.
    pub fn first(&self) -> Option<&Bytes> {
        self.first.as_ref().or_else(|| self.rest.front())
    }

    /// How many bytes, not pieces, are still to come.
    pub fn len(&self) -> usize {
        self.left
    }

    /// Whether nothing is still to come.
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// All that is still to come in one piece: the piece itself where there is one, else a copy.
    pub fn to_bytes(&self) -> Bytes {
        match (&self.first, self.rest.is_empty()) {
            (None, true) => Bytes::new(),
            (Some(piece), true) => piece.clone(),
            _ => {
                let mut whole = BytesMut::with_capacity(self.left);
                self.pieces().for_each(|piece| whole.extend_from_slice(piece));
                whole.freeze()
            }
        }
    }

    fn pieces(&self) -> impl Iterator<Item = &Bytes> {
        self.first.iter().chain(&self.rest)
    }
}

/// Frames are the same if their pieces are, wherever these are kept.
impl PartialEq for Frames {
    fn eq(&self, other: &Self) -> bool {
        self.left == other.left && self.pieces().eq(other.pieces())
    }
}

impl Eq for Frames {}

impl From<Bytes> for Frames {
    fn from(piece: Bytes) -> Self {
        let mut frames = Self::default();
        frames.push(piece);
        frames
    }
}

impl From<Vec<Bytes>> for Frames {
    fn from(pieces: Vec<Bytes>) -> Self {
        let left = pieces.iter().map(Bytes::len).sum();
        let mut rest = VecDeque::from(pieces);
        rest.retain(|piece| !piece.is_empty());
        Self { first: None, rest, left }
    }
}

impl Extend<Bytes> for Frames {
    fn extend<I: IntoIterator<Item = Bytes>>(&mut self, pieces: I) {
        pieces.into_iter().for_each(|piece| self.push(piece));
    }
}

impl Iterator for Frames {
    type Item = Bytes;

    #[inline]
    fn next(&mut self) -> Option<Bytes> {
        if self.left == 0 {
            return None;
        }
        let piece = self.first.take().or_else(|| self.rest.pop_front())?;
        self.left -= piece.len();
        Some(piece)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let pieces = usize::from(self.first.is_some()) + self.rest.len();
        (pieces, Some(pieces))
    }
}

impl ExactSizeIterator for Frames {}
impl std::iter::FusedIterator for Frames {}

/// Pieces that are looked at together, to be joined where they are below `TINY` bytes on average: each costs a handle
/// of four words, and those must not outweigh the bytes.
const MANY: usize = 1024;
const TINY: usize = 64;

/// Counts the pieces that are kept while more may come, and tells when to join them.
#[derive(Debug, Default)]
pub(crate) struct Loose {
    pieces: usize,
    bytes: usize,
}

impl Loose {
    /// Counts one more piece; if the last ones are to be joined now, how many.
    pub(crate) fn count(&mut self, piece: &Bytes) -> Option<usize> {
        self.pieces += 1;
        self.bytes += piece.len();
        if self.pieces < MANY {
            return None;
        }
        let Self { pieces, bytes } = std::mem::take(self);
        (bytes < pieces * TINY).then_some(pieces)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::Frames;

    #[test]
    fn frames_are_the_same_if_their_pieces_are() {
        let pieces = || ["a", "bc"].map(Bytes::from);
        let mut pushed = Frames::default();
        pushed.extend(pieces());
        assert_eq!(pushed, Frames::from(pieces().to_vec()));
        assert_eq!(pushed.next().as_deref(), Some(&b"a"[..]));
        assert_eq!(pushed, Frames::from(Bytes::from("bc")));
        assert_ne!(pushed, Frames::from(["b", "c"].map(Bytes::from).to_vec()));
        assert_ne!(pushed, Frames::default());
    }
}
