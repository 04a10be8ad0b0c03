//! JSON-RPC messages as texts: put together and changed without reading them as values.

use crate::json::{Object, Reader, Splice};

/// The text of one member of an object; `None` where there is none, or no object.
pub(super) fn member<'t>(text: &'t [u8], name: &str) -> Option<&'t [u8]> {
    let mut object = Object::default();
    object.read(&mut Reader::new(text)).ok()?;
    let span = object.original(name)?.span()?;
    text.get(span.start..span.end)
}

/// The text with one member set; as it is where it is no object.
pub(super) fn with_member(text: &str, name: &str, value: &str) -> String {
    edited(text, |object| object.set(name, value))
}

fn edited<'t>(text: &'t str, edit: impl FnOnce(&mut Object<'t>)) -> String {
    let mut object = Object::default();
    if object.read(&mut Reader::new(text.as_bytes())).is_err() {
        return text.to_owned();
    }
    edit(&mut object);
    let (mut splice, mut out) = (Splice::default(), Vec::new());
    object.emit(&mut splice);
    splice.apply_into(text.as_bytes(), &mut out);
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// The text with one member once more, at the end.
pub(super) fn with_double(text: &str, name: &str) -> String {
    let (Some(value), Some(end)) = (member(text.as_bytes(), name), text.rfind('}')) else { return text.to_owned() };
    let value = String::from_utf8_lossy(value);
    let (start, rest) = text.split_at(end);
    format!("{start},{}:{value}{rest}", quoted(name))
}

/// A JSON string.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// An answer with this result.
pub(super) fn result(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// An answer with this error; without an id where there is none.
pub(super) fn error(id: Option<&str>, code: i32, message: &str) -> String {
    let id = id.map(|id| format!(r#""id":{id},"#)).unwrap_or_default();
    format!(r#"{{"jsonrpc":"2.0",{id}"error":{{"code":{code},"message":{}}}}}"#, quoted(message))
}
