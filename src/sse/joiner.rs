//! The joiner, which keeps the pieces of a rewritten block from being many and small.

use std::mem;

use bytes::{Bytes, BytesMut};

use crate::frames::{FRAME, Frames};

/// Collects pieces into frames: small neighbours are copied into one, large pieces stay the slices that they are.
#[derive(Default)]
pub(super) struct Joiner {
    frames: Vec<Bytes>,
    small: BytesMut,
    last: Option<u8>,
}

impl Joiner {
    pub(super) fn push(&mut self, piece: Bytes) {
        if piece.len() < FRAME {
            self.copy(&piece);
        } else {
            self.last = piece.last().copied();
            self.flush();
            self.frames.push(piece);
        }
    }

    /// Adds a piece that is known to be small.
    pub(super) fn copy(&mut self, piece: &[u8]) {
        let Some(&last) = piece.last() else { return };
        self.last = Some(last);
        self.small.extend_from_slice(piece);
        if self.small.len() >= FRAME {
            self.flush();
        }
    }

    /// The last byte so far.
    pub(super) fn last(&self) -> Option<u8> {
        self.last
    }

    pub(super) fn finish(mut self) -> Frames {
        self.flush();
        Frames::from(self.frames)
    }

    fn flush(&mut self) {
        if !self.small.is_empty() {
            self.frames.push(mem::take(&mut self.small).freeze());
        }
    }
}
