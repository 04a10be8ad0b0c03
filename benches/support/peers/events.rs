//! An event stream as a user would edit it: cut at blank lines, each event parsed to a `Value`, edited and serialised.

use bytes::Bytes;
use memchr::memmem;
use serde_json::Value;

use super::value;

/// Edits the stream in these chunks; gives how many bytes go out.
pub fn by_values(chunks: &[Bytes]) -> usize {
    let mut held: Vec<u8> = Vec::new();
    let mut sent = 0;
    for chunk in chunks {
        let mut from = held.len().saturating_sub(1);
        held.extend_from_slice(chunk);
        while let Some(end) = memmem::find(&held[from..], b"\n\n").map(|at| from + at + 2) {
            let event: Vec<u8> = held.drain(..end).collect();
            from = 0;
            sent += edit(&event).len();
        }
    }
    sent + held.len()
}

fn edit(event: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(event.len());
    let mut data = Vec::new();
    for line in event.split(|byte| *byte == b'\n') {
        match line.strip_prefix(b"data:") {
            Some(value) => data.extend_from_slice(value.trim_ascii_start()),
            None if line.is_empty() => {}
            None => {
                out.extend_from_slice(line);
                out.push(b'\n');
            }
        }
    }
    let mut message: Value = serde_json::from_slice(&data).unwrap();
    value::edit(&mut message);
    out.extend_from_slice(b"data: ");
    serde_json::to_writer(&mut out, &message).unwrap();
    out.extend_from_slice(b"\n\n");
    out.into()
}
