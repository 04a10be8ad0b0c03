//! Ids of messages, as far as two of them may be taken for the same.

use std::borrow::Cow;

use crate::json::Reader;

/// What an id is to the laxest reader: the answers to two ids with the same key may come back under one id.
///
/// `1`, `1.0` and `10e-1` are one number, and so are two integers that a double cannot tell apart. `"a"` and
/// `"\u0061"` are one text. The number `1` and the text `"1"` are two ids.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum IdKey<'a> {
    Text(Cow<'a, str>),
    Number(u64),
}

impl<'a> IdKey<'a> {
    /// The key of an id, given as JSON text.
    pub(crate) fn of(id: &'a [u8]) -> Option<Self> {
        if id.starts_with(b"\"") {
            return Reader::new(id).string().ok()?.decode().ok().map(Self::Text);
        }
        // JSON's numbers are among those that Rust reads. Adding zero takes the sign off a negative one.
        let number: f64 = std::str::from_utf8(id).ok()?.parse().ok()?;
        Some(Self::Number((number + 0.0).to_bits()))
    }

    /// Whether the id with this key, and this one (its JSON text), may be taken for the same.
    pub(crate) fn is(&self, id: &[u8]) -> bool {
        IdKey::of(id).as_ref() == Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::IdKey;

    fn same(one: &str, other: &str) -> bool {
        IdKey::of(one.as_bytes()).expect("an id").is(other.as_bytes())
    }

    #[test]
    fn spellings_of_one_id() {
        for (one, other) in [
            ("1", "1.0"),
            ("1", "10e-1"),
            ("0", "-0"),
            ("1e999", "2E+999"),
            ("9007199254740993", "9007199254740992"),
            (r#""a""#, r#""\u0061""#),
        ] {
            assert!(same(one, other), "{one} {other}");
        }
    }

    #[test]
    fn different_ids() {
        for (one, other) in [("1", "2"), ("1", "-1"), ("1", r#""1""#), (r#""a""#, r#""A""#), ("1", "1.5")] {
            assert!(!same(one, other), "{one} {other}");
        }
    }
}
