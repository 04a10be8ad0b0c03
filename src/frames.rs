//! The pieces of a body, in order.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

/// The pieces of a body, in order, none of them empty. One piece costs no memory of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frames {
    // Beside `rest`, so that a body of one piece needs no queue.
    first: Option<Bytes>,
    rest: VecDeque<Bytes>,
    left: usize,
}

impl Frames {
    /// Adds a piece behind the others.
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
            let mut whole = BytesMut::with_capacity(joined.iter().map(Bytes::len).sum());
            joined.iter().for_each(|piece| whole.extend_from_slice(piece));
            self.rest.push_back(whole.freeze());
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
                self.first.iter().chain(&self.rest).for_each(|piece| whole.extend_from_slice(piece));
                whole.freeze()
            }
        }
    }
}

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

    fn next(&mut self) -> Option<Bytes> {
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
