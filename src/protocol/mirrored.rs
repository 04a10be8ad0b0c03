//! Values of the body that the modern era mirrors into headers, and their base64 form.

use std::borrow::Cow;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;

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

/// The header value that stands for a value of the body, the way back from [`decode_mirrored`]: as it is where it is plain
/// ASCII without spaces around it and could not be taken for the base64 form, else in that form.
///
/// ```
/// use tower_mcp_apps::protocol::encode_mirrored;
///
/// assert_eq!(encode_mirrored("us-west1"), "us-west1");
/// assert_eq!(encode_mirrored("größe"), "=?base64?Z3LDtsOfZQ==?=");
/// ```
pub fn encode_mirrored(value: &str) -> HeaderValue {
    let bytes = value.as_bytes();
    let is_plain = bytes.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~'))
        && bytes.trim_ascii().len() == bytes.len()
        && !bytes.is_empty()
        && !(bytes.starts_with(PREFIX) && bytes.ends_with(SUFFIX));
    if is_plain && let Ok(value) = HeaderValue::from_bytes(bytes) {
        return value;
    }
    let encoded = [PREFIX, STANDARD.encode(bytes).as_bytes(), SUFFIX].concat();
    // Base64 between two marks of ASCII is always a header value.
    HeaderValue::from_bytes(&encoded).unwrap_or_else(|_| HeaderValue::from_static("=?base64??="))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{decode_mirrored, encode_mirrored};

    proptest! {
        #[test]
        fn the_way_back_is_the_inverse(value in "(=\\?base64\\?)?[ \t]?\\PC{0,8}[ \n]?(\\?=)?") {
            let header = encode_mirrored(&value);
            prop_assert_eq!(decode_mirrored(header.as_bytes()).unwrap(), value);
        }
    }
}
