//! `Removals`: takes elements out of an array, or members out of an object, with the commas that they leave over.

use super::span::Span;
use super::splice::Splice;

/// Takes elements out of one array. Told of each element in order whether it stays.
///
/// An element that goes takes the comma and the white space before it along. Where nothing before it stays, it takes
/// those behind it, up to the next element. So what stays has the text before it that it always had; the first one
/// stands where the first element stood.
///
/// ```
/// # use tower_mcp_apps::json::{Reader, Removals, Splice};
/// let source = b"[ 1, 2,3 , 4 ]";
/// let (mut removals, mut splice) = (Removals::default(), Splice::default());
/// let mut reader = Reader::new(source);
/// reader.enter_array().unwrap();
/// while reader.element().unwrap() {
///     let element = reader.skip().unwrap();
///     match element.of(source) {
///         b"1" | b"3" => removals.drop(element, &mut splice),
///         _ => removals.keep(element, &mut splice),
///     }
/// }
/// removals.finish(&mut splice);
/// let mut out = Vec::new();
/// splice.apply_into(source, &mut out);
/// assert_eq!(out, b"[ 2 , 4 ]");
/// ```
#[derive(Clone, Default, Debug)]
pub struct Removals {
    /// End of the last element that stays.
    kept: Option<usize>,
    /// What goes since then.
    going: Option<Span>,
}

impl Removals {
    /// `element` stays. Edits within it are the caller's.
    #[inline]
    pub fn keep(&mut self, element: Span, splice: &mut Splice) {
        if let Some(mut going) = self.going.take() {
            if self.kept.is_none() {
                going.end = element.start;
            }
            splice.remove(going);
        }
        self.kept = Some(element.end);
    }

    /// `element` goes. Edits within it must be forgotten, see [`Splice::rewind`].
    #[inline]
    pub fn drop(&mut self, element: Span, _splice: &mut Splice) {
        match &mut self.going {
            Some(going) => going.end = element.end,
            going => {
                let start = self.kept.unwrap_or(element.start);
                *going = Some(Span::new(start, element.end));
            }
        }
    }

    /// There are no more elements. It is then ready for another array.
    #[inline]
    pub fn finish(&mut self, splice: &mut Splice) {
        if let Some(going) = self.going.take() {
            splice.remove(going);
        }
        self.kept = None;
    }
}
