//! Tells an event stream from JSON by the first bytes, for bodies whose `Content-Type` lies.

use super::{BOM, CR, LF};

/// What a body is, by its first bytes. See [`sniff`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sniff {
    /// A JSON object or array.
    Json,
    /// An event stream.
    EventStream,
    /// Neither, whatever follows.
    Other,
    /// Not enough bytes yet.
    Unknown,
}

/// What a body that begins with these bytes is.
///
/// A byte order mark and white space (space, tab, CR, LF) are skipped. Then `{` or `[` is JSON. JSON scalars are
/// [`Other`](Sniff::Other): nothing that is worth a look consists of one, and plain text such as `404 not found` begins
/// like one. A line that begins with `:`, or with a field name of the standard (`data`, `event`, `id`, `retry`) followed by
/// `:` or a line end, is an event stream; one that begins with white space is not, since that would be part of the name.
///
/// [`Unknown`](Sniff::Unknown) lasts as long as white space does: put a limit on the bytes kept for another try.
///
/// ```
/// use tower_mcp_apps::sse::{Sniff, sniff};
///
/// assert_eq!(sniff(b"\r\n{"), Sniff::Json);
/// assert_eq!(sniff(b"eve"), Sniff::Unknown);
/// assert_eq!(sniff(b"event: message"), Sniff::EventStream);
/// assert_eq!(sniff(b"<html>"), Sniff::Other);
/// ```
pub fn sniff(start: &[u8]) -> Sniff {
    if start.len() < BOM.len() && BOM.starts_with(start) {
        return Sniff::Unknown;
    }
    let body = start.strip_prefix(BOM).unwrap_or(start);
    let space = body.iter().take_while(|&&byte| matches!(byte, b' ' | b'\t' | CR | LF)).count();
    let (space, text) = body.split_at(space);
    match text {
        [] => Sniff::Unknown,
        [b'{' | b'[', ..] => Sniff::Json,
        _ if matches!(space, [.., b' ' | b'\t']) => Sniff::Other,
        [b':', ..] => Sniff::EventStream,
        _ => sniff_field(text),
    }
}

fn sniff_field(line: &[u8]) -> Sniff {
    for name in [&b"data"[..], b"event", b"id", b"retry"] {
        if name.starts_with(line) {
            return Sniff::Unknown;
        }
        if let Some([b':' | CR | LF, ..]) = line.strip_prefix(name) {
            return Sniff::EventStream;
        }
    }
    Sniff::Other
}
