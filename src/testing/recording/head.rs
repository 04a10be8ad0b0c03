//! The head of an answer as HTTP/1.1 writes it.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

/// Reads a status line, headers and the body behind them; tells what is wrong.
pub(super) fn read(text: &[u8]) -> Result<(StatusCode, HeaderMap, Bytes), String> {
    let mut lines = Lines(text);
    let status = lines.next().and_then(|line| {
        let mut words = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
        words.next().filter(|version| version.starts_with(b"HTTP/"))?;
        StatusCode::from_bytes(words.next()?).ok()
    });
    let status = status.ok_or("it does not start with a status line")?;
    let mut headers = HeaderMap::new();
    loop {
        let line = lines.next().ok_or("there is no blank line behind the headers")?;
        if line.is_empty() {
            return Ok((status, headers, Bytes::copy_from_slice(lines.0)));
        }
        let header = line.iter().position(|byte| *byte == b':').and_then(|colon| {
            let name = HeaderName::from_bytes(line[..colon].trim_ascii()).ok()?;
            Some((name, HeaderValue::from_bytes(line[colon + 1..].trim_ascii()).ok()?))
        });
        let (name, value) = header.ok_or_else(|| format!("{:?} is no header", String::from_utf8_lossy(line)))?;
        headers.append(name, value);
    }
}

/// Writes them.
pub(super) fn write(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Vec<u8> {
    let reason = status.canonical_reason().unwrap_or_default();
    let mut out = format!("HTTP/1.1 {} {reason}\r\n", status.as_str()).into_bytes();
    for (name, value) in headers {
        out.extend_from_slice(name.as_str().as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(body);
    out
}

/// Lines that end with CRLF or LF; what is left is behind the last one.
struct Lines<'t>(&'t [u8]);

impl<'t> Iterator for Lines<'t> {
    type Item = &'t [u8];

    fn next(&mut self) -> Option<&'t [u8]> {
        let end = memchr::memchr(b'\n', self.0)?;
        let line = &self.0[..end];
        self.0 = &self.0[end + 1..];
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}
