//! Values of the body that the modern era mirrors into headers, and their base64 form.

use std::borrow::Cow;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const PREFIX: &[u8] = b"=?base64?";
const SUFFIX: &[u8] = b"?=";

/// A mirrored header value that cannot be read: not visible ASCII, or a base64 form that does not decode to UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidMirror;

impl fmt::Display for InvalidMirror {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the mirrored header value is neither plain ASCII nor base64 of UTF-8 between =?base64? and ?=")
    }
}

impl std::error::Error for InvalidMirror {}

/// The body's value that a header such as `Mcp-Name` stands for (MCP 2026-07-28, "Value Encoding").
///
/// # Errors
///
/// [`InvalidMirror`] where the value has bytes outside ASCII or control characters, or where the base64 form is malformed.
///
/// ```
/// use tower_mcp_apps::protocol::decode_mirrored;
///
/// assert_eq!(decode_mirrored(b"us-west1").unwrap(), "us-west1");
/// assert_eq!(decode_mirrored(b"=?base64?Z3LDtsOfZQ==?=").unwrap(), "größe");
/// assert!(decode_mirrored(b"=?base64?@?=").is_err());
/// ```
pub fn decode_mirrored(value: &[u8]) -> Result<Cow<'_, str>, InvalidMirror> {
    if let Some(encoded) = value.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX)) {
        let decoded = STANDARD.decode(encoded).map_err(|_| InvalidMirror)?;
        return String::from_utf8(decoded).map(Cow::Owned).map_err(|_| InvalidMirror);
    }
    match std::str::from_utf8(value) {
        Ok(text) if value.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~')) => Ok(Cow::Borrowed(text)),
        _ => Err(InvalidMirror),
    }
}
