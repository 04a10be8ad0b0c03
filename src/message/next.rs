//! Whether a list in the result of a meta-tool goes on.

use bytes::Bytes;

use crate::json::{Error, Kind, Reader, write_string};

/// Where a list goes on, as far as a result says it: in one place, or in several the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nothing says that it does.
    #[default]
    Nowhere,
    /// Behind the cursor of this JSON text.
    At(Bytes),
    /// It says two things, or what cannot be said again.
    Unclear,
}

impl Next {
    /// Whether a member with this kind of value can be a cursor.
    pub(super) fn is_cursor(kind: Kind) -> bool {
        matches!(kind, Kind::String | Kind::Number)
    }

    /// Takes the next value, which is such a one.
    pub(super) fn note(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        let cursor = if reader.peek()? == Kind::String {
            reader.string()?.decode().ok().map(|text| {
                // Of two spellings of a text each is it.
                let mut cursor = Vec::new();
                write_string(&text, &mut cursor);
                Bytes::from(cursor)
            })
        } else {
            let span = reader.skip()?;
            Some(Bytes::copy_from_slice(span.of(reader.source())))
        };
        let next = cursor.map_or(Self::Unclear, Self::At);
        *self = if *self == Self::Nowhere || *self == next { next } else { Self::Unclear };
        Ok(())
    }
}
