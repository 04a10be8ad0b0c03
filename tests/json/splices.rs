//! A splice gives what naive string surgery gives, whatever the order in which it was asked.

use bytes::Bytes;
use proptest::prelude::*;
use tower_mcp_apps::json::{FRAME, Span, Splice};

/// What becomes of a part of the source.
type Part = (usize, Option<(usize, Vec<u8>)>);

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let length = prop_oneof![4 => 0..40usize, 1 => FRAME - 2..FRAME + 2, 1 => 0..3 * FRAME];
    let edit = (0..20usize, prop::collection::vec(any::<u8>(), 0..30));
    // Between two edits stands at least one byte, so that each order means the same.
    prop::collection::vec((length.prop_map(|length| length + 1), prop::option::of(edit)), 0..12)
}

proptest! {
    #[test]
    fn order_does_not_matter(parts in parts(), seed in any::<prop::sample::Index>(), last in 0..40usize) {
        let (mut length, mut edits, mut copied) = (0, Vec::new(), Vec::new());
        let byte = |at: usize| (at % 251) as u8;
        for (kept, edit) in &parts {
            copied.extend((length..length + kept).map(byte));
            length += kept;
            if let Some((removed, text)) = edit {
                edits.push((Span::new(length, length + removed), text));
                copied.extend(text);
                length += removed;
            }
        }
        copied.extend((length..length + last).map(byte));
        let source: Bytes = (0..length + last).map(byte).collect();

        let turn = if edits.is_empty() { 0 } else { seed.index(edits.len()) };
        edits.rotate_left(turn);
        if seed.index(2) == 1 {
            edits.reverse();
        }
        let mut splice = Splice::default();
        for (span, text) in &edits {
            splice.replace(*span, text);
        }
        let mut out = Vec::new();
        splice.apply_into(&source, &mut out);
        prop_assert!(out == copied);

        let mut frames = splice.apply(&source);
        let mut joined = Vec::new();
        prop_assert_eq!(frames.len(), copied.len());
        while let Some(frame) = frames.next() {
            prop_assert!(!frame.is_empty());
            joined.extend_from_slice(&frame);
            prop_assert_eq!(frames.len(), copied.len() - joined.len());
        }
        prop_assert!(joined == copied);
    }
}
