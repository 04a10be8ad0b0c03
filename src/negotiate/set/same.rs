//! When two JSON texts mean the same: as one spelling of each value.

use crate::json::{Error, Kind, Reader, write_string};
use crate::protocol::MediaType;

use super::read::reader;

/// One spelling of a value: that of all values with the same meaning, and of no other. Members in the order of their
/// names, strings with as few escapes as can be, no white space. Numbers stay.
pub(super) fn spelling(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    match spell(&mut reader(value), &mut out) {
        Ok(()) => out,
        // It was read before, so this is never seen; and then it equals itself alone.
        Err(_) => value.to_vec(),
    }
}

/// The same of a media type, which is compared as one.
pub(super) fn media_type(value: &[u8]) -> Vec<u8> {
    let normal = |text: &str| Some(MediaType::parse(text)?.to_string().to_ascii_lowercase());
    let mut reader = reader(value);
    let normal = match reader.peek() {
        Ok(Kind::String) => reader.string().ok().and_then(|text| normal(&text.decode().ok()?)),
        _ => None,
    };
    normal.map_or_else(|| spelling(value), String::into_bytes)
}

// Recurses as deep as settings nest, which is bounded.
fn spell(reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
    match reader.peek()? {
        Kind::Object => {
            let mut members = Vec::new();
            reader.enter_object()?;
            while let Some(key) = reader.member()? {
                let mut name = Vec::new();
                match key.decode() {
                    Ok(text) => write_string(&text, &mut name),
                    Err(_) => name.extend_from_slice(key.raw().as_bytes()),
                }
                let mut value = Vec::new();
                spell(reader, &mut value)?;
                members.push((name, value));
            }
            // Doubles stay in their order, which may count.
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            list(out, b'{', b'}', members, |(name, value), out| {
                out.extend_from_slice(&name);
                out.push(b':');
                out.extend_from_slice(&value);
            });
        }
        Kind::Array => {
            let mut elements = Vec::new();
            reader.enter_array()?;
            while reader.element()? {
                let mut value = Vec::new();
                spell(reader, &mut value)?;
                elements.push(value);
            }
            list(out, b'[', b']', elements, |value, out| out.extend_from_slice(&value));
        }
        Kind::String => {
            let text = reader.string()?;
            match text.decode() {
                Ok(text) => write_string(&text, out),
                Err(_) => out.extend_from_slice(text.raw().as_bytes()),
            }
        }
        _ => {
            let span = reader.skip()?;
            out.extend_from_slice(span.of(reader.source()));
        }
    }
    Ok(())
}

/// Writes a list with its commas.
pub(super) fn list<T>(
    out: &mut Vec<u8>,
    open: u8,
    close: u8,
    items: impl IntoIterator<Item = T>,
    write: impl Fn(T, &mut Vec<u8>),
) {
    out.push(open);
    for (nth, item) in items.into_iter().enumerate() {
        if nth > 0 {
            out.push(b',');
        }
        write(item, out);
    }
    out.push(close);
}

/// The pointer to a member of what stands at this pointer (RFC 6901, section 3).
pub(super) fn below(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}
