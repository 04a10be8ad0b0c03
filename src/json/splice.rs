//! `Splice`: edits to one source, collected, then applied in one go.

use std::borrow::Cow;

use bytes::{Bytes, BytesMut};

use super::span::Span;
use crate::frames::{FRAME, Frames};

/// Edits to one source: parts of it that go, and text that comes.
///
/// They may be asked for in any order. At one place an insertion stands before what a replacement writes, and
/// insertions stand in the order in which they were asked for. Edits that overlap are a bug of the caller: a panic
/// with debug assertions, else the one that stands later is ignored. It does not look at what it cuts: that the
/// result is JSON is the caller's duty.
///
/// ```
/// # use bytes::Bytes;
/// # use tower_mcp_apps::json::{Splice, Span};
/// let source = Bytes::from_static(b"[1, 2.50]");
/// let mut splice = Splice::default();
/// splice.insert(8, b",3");
/// splice.replace(Span::new(1, 2), b"true");
/// let mut out = Vec::new();
/// splice.apply_into(&source, &mut out);
/// assert_eq!(out, b"[true, 2.50,3]");
/// ```
#[derive(Clone, Default, Debug)]
pub struct Splice {
    edits: Vec<Edit>,
    /// What the edits write, one after the other as they were asked for.
    ink: Vec<u8>,
}

/// `span` of the source gives way to `ink` of the ink.
#[derive(Clone, Copy, Debug)]
struct Edit {
    span: Span,
    ink: Span,
}

impl Edit {
    fn place(&self) -> (usize, usize) {
        (self.span.start, self.span.end)
    }
}

/// A state of a [`Splice`] to go back to.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    edits: usize,
    ink: usize,
}

/// A part of the result.
enum Piece<'s> {
    Kept(Span),
    New(&'s [u8]),
}

impl Splice {
    /// Whether nothing is to be edited.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Forgets all edits, but keeps its memory for the next ones.
    pub fn clear(&mut self) {
        self.edits.clear();
        self.ink.clear();
    }

    /// The present state, to go back to with [`rewind`](Splice::rewind).
    pub fn mark(&self) -> Mark {
        Mark { edits: self.edits.len(), ink: self.ink.len() }
    }

    /// Forgets the edits that were asked for since `mark`.
    pub fn rewind(&mut self, mark: Mark) {
        self.edits.truncate(mark.edits);
        self.ink.truncate(mark.ink);
    }

    /// Takes `span` out.
    pub fn remove(&mut self, span: Span) {
        self.replace(span, b"");
    }

    /// Puts `text` in the place of `span`.
    pub fn replace(&mut self, span: Span, text: &[u8]) {
        self.replace_with(span, |ink| ink.extend_from_slice(text));
    }

    /// Puts what `write` appends in the place of `span`. `write` must only append.
    pub fn replace_with(&mut self, span: Span, write: impl FnOnce(&mut Vec<u8>)) {
        if self.edits.is_empty() {
            // Spares the first steps of growth; no more than a cleared splice has already.
            self.edits.reserve(16);
            self.ink.reserve(512);
        }
        let start = self.ink.len();
        write(&mut self.ink);
        let ink = Span::new(start, self.ink.len());
        self.edits.push(Edit { span, ink });
    }

    /// Puts `text` before the byte at `at`.
    pub fn insert(&mut self, at: usize, text: &[u8]) {
        self.replace(Span::new(at, at), text);
    }

    /// Puts what `write` appends before the byte at `at`. `write` must only append.
    pub fn insert_with(&mut self, at: usize, write: impl FnOnce(&mut Vec<u8>)) {
        self.replace_with(Span::new(at, at), write);
    }

    /// The edited source. With no edit it is one frame, `source` itself; else untouched runs of 16 KiB and more are
    /// slices of `source`, and the rest is copied, once, into memory of its exact size.
    pub fn apply(mut self, source: &Bytes) -> Frames {
        if self.edits.is_empty() {
            return Frames::from(source.clone());
        }
        if !self.edits.is_sorted_by_key(Edit::place) {
            self.edits.sort_by_key(Edit::place);
        }
        let whole = Span::new(0, source.len());
        let mut copied = 0;
        walk(&self.edits, &self.ink, whole, |piece| match piece {
            Piece::Kept(span) if span.len() >= FRAME => {}
            Piece::Kept(span) => copied += span.len(),
            Piece::New(text) => copied += text.len(),
        });
        let mut merged = BytesMut::with_capacity(copied);
        let mut frames = Vec::new();
        walk(&self.edits, &self.ink, whole, |piece| match piece {
            Piece::Kept(span) if span.len() >= FRAME => {
                if !merged.is_empty() {
                    frames.push(merged.split().freeze());
                }
                frames.push(source.slice(span.start..span.end));
            }
            Piece::Kept(span) => merged.extend_from_slice(span.of(source)),
            Piece::New(text) => merged.extend_from_slice(text),
        });
        if frames.is_empty() {
            return Frames::from(merged.freeze());
        }
        if !merged.is_empty() {
            frames.push(merged.freeze());
        }
        Frames::from(frames)
    }

    /// Appends the edited source to `out`.
    pub fn apply_into(&self, source: &[u8], out: &mut Vec<u8>) {
        self.apply_within(source, Span::new(0, source.len()), out);
    }

    /// Appends `window` of the source, edited, to `out`. All edits must lie in it.
    pub(super) fn apply_within(&self, source: &[u8], window: Span, out: &mut Vec<u8>) {
        walk(&self.sorted(), &self.ink, window, |piece| match piece {
            Piece::Kept(span) => out.extend_from_slice(span.of(source)),
            Piece::New(text) => out.extend_from_slice(text),
        });
    }

    /// The edits as they stand in the source, none over another: what goes, and what comes.
    pub(super) fn ordered(&self) -> impl Iterator<Item = (Span, &[u8])> {
        let edits = self.sorted().into_owned();
        edits.into_iter().map(|Edit { span, ink }| (span, ink.of(&self.ink)))
    }

    fn sorted(&self) -> Cow<'_, [Edit]> {
        if self.edits.is_sorted_by_key(Edit::place) {
            return Cow::Borrowed(&self.edits);
        }
        let mut edits = self.edits.clone();
        edits.sort_by_key(Edit::place);
        Cow::Owned(edits)
    }
}

/// Gives the parts of the edited `window` in order, none of them empty.
fn walk<'s>(edits: &[Edit], ink: &'s [u8], window: Span, mut give: impl FnMut(Piece<'s>)) {
    let mut at = window.start;
    for Edit { span, ink: text } in edits {
        let fits = at <= span.start && span.start <= span.end && span.end <= window.end;
        debug_assert!(fits, "{span:?} overlaps another edit or leaves {window:?}");
        if !fits {
            continue;
        }
        if at < span.start {
            give(Piece::Kept(Span::new(at, span.start)));
        }
        if !text.is_empty() {
            give(Piece::New(text.of(ink)));
        }
        at = span.end;
    }
    if at < window.end {
        give(Piece::Kept(Span::new(at, window.end)));
    }
}
