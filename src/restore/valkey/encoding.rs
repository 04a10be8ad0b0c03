//! What stands in Valkey for what was said.

use std::sync::Arc;

use bytes::Bytes;

use crate::restore::Said;

/// What fields of entries begin with, so that no entry is taken for anything else.
const ENTRY: u8 = b':';

/// The form of values; another one is passed over.
const FORM: u8 = 1;

/// Form, time and freshness.
const HEAD: usize = 1 + 8 + 8;

/// The field and value of an entry.
pub(super) fn encode(entry: &Arc<str>, said: &Said) -> (Vec<u8>, Vec<u8>) {
    let field = [&[ENTRY], entry.as_bytes()].concat();
    let value = [&[FORM][..], &said.at.to_le_bytes(), &said.fresh_for.to_le_bytes(), &said.text].concat();
    (field, value)
}

/// The entry of a field and value, if they are one.
pub(super) fn decode(field: &[u8], value: &[u8]) -> Option<(String, Said)> {
    let entry = std::str::from_utf8(field.strip_prefix(&[ENTRY])?).ok()?;
    let (head, text) = value.split_at_checked(HEAD)?;
    let (form, times) = head.split_first()?;
    let (at, fresh_for) = times.split_at_checked(8)?;
    let number = |bytes: &[u8]| Some(u64::from_le_bytes(bytes.try_into().ok()?));
    let said = Said { text: Bytes::copy_from_slice(text), at: number(at)?, fresh_for: number(fresh_for)? };
    (*form == FORM && said.can_be_put_back()).then(|| (entry.to_owned(), said))
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};
    use crate::restore::Said;

    #[test]
    fn what_is_written_is_read() {
        let said = Said { text: r#"{"title":"é","n":1.0}"#.into(), at: 1_764_538_000_123, fresh_for: u64::MAX };
        let (field, value) = encode(&"r".into(), &said);
        assert_ne!(field, b"r", "an entry is not taken for the revision");
        assert_eq!(decode(&field, &value), Some(("r".to_owned(), said)));
    }

    #[test]
    fn what_is_no_entry_is_passed_over() {
        let said = Said { text: "{}".into(), at: 1, fresh_for: 1 };
        let (field, value) = encode(&"a".into(), &said);
        let broken = encode(&"a".into(), &Said { text: r#"{"a":"#.into(), ..said.clone() }).1;
        let no_object = encode(&"a".into(), &Said { text: "[]".into(), ..said }).1;
        let other_form = [&[2], &value[1..]].concat();
        for (field, value) in [
            (&b"r"[..], &b"7"[..]),
            (&field, b""),
            (&field, &value[..10]),
            (&field, &broken),
            (&field, &no_object),
            (&field, &other_form),
            (b":\xff", &value),
        ] {
            assert_eq!(decode(field, value), None);
        }
    }
}
