//! All the ways in which a body can be cut into frames.

use bytes::Bytes;

/// Ways to cut a body into frames; for [`assert_same_however_cut`](super::assert_same_however_cut).
///
/// ```
/// use tower_mcp_apps::testing::Cuts;
///
/// assert_eq!(Cuts::Once.of(3), [[1], [2]]);
/// assert_eq!(Cuts::Twice.of(4), [[1, 2], [1, 3], [2, 3]]);
/// assert_eq!(Cuts::Bytes.of(4), [[1, 2, 3]]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cuts {
    /// In two, at every place: as many ways as there are bytes.
    Once,
    /// In three, at every pair of places. Their number grows as the square of the length: for short bodies.
    Twice,
    /// In single bytes: one way.
    Bytes,
    /// In single bytes with an empty frame between any two: one way.
    BytesAndEmpty,
}

impl Cuts {
    /// Each way, as the places where a body of this length is cut.
    pub fn of(self, length: usize) -> Vec<Vec<usize>> {
        let inner = 1..length;
        match self {
            Self::Once => inner.map(|at| vec![at]).collect(),
            Self::Twice => inner.flat_map(|first| (first + 1..length).map(move |second| vec![first, second])).collect(),
            Self::Bytes => vec![inner.collect()],
            Self::BytesAndEmpty => vec![inner.flat_map(|at| [at, at]).collect()],
        }
    }
}

/// The frames of a body that is cut at these places, in order. A place twice gives an empty frame; places behind the
/// end are passed over.
pub(super) fn cut_at(body: &Bytes, places: &[usize]) -> Vec<Bytes> {
    let mut frames = Vec::with_capacity(places.len() + 1);
    let mut start = 0;
    for &end in places.iter().filter(|place| **place <= body.len()) {
        if end >= start {
            frames.push(body.slice(start..end));
            start = end;
        }
    }
    frames.push(body.slice(start..));
    frames
}
