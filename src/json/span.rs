//! `Span`: where something stands in a source.

/// Byte offsets of a part of the source: from `start` up to, not including, `end`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset behind the last byte.
    pub end: usize,
}

impl Span {
    /// The span from `start` up to `end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// How many bytes it covers.
    pub const fn len(&self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Whether it covers no byte.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes it covers in `source`; none where it does not lie within it.
    #[inline]
    pub fn of<'a>(&self, source: &'a [u8]) -> &'a [u8] {
        source.get(self.start..self.end).unwrap_or_default()
    }
}
