//! What cannot be beaten: to copy, and to check that a body is JSON at all.

use bytes::Bytes;
use serde::de::IgnoredAny;
use tower_mcp_apps::json::Reader;

pub fn memcpy(body: &Bytes) -> Bytes {
    Bytes::copy_from_slice(body)
}

/// The checks of `serde_json` alone. It does not look whether strings are UTF-8.
pub fn ignored_any(body: &Bytes) -> Bytes {
    let _: IgnoredAny = serde_json::from_slice(body).unwrap();
    body.clone()
}

/// The checks of this crate alone, UTF-8 included.
pub fn skip(body: &Bytes) -> Bytes {
    let mut reader = Reader::new(body);
    reader.skip().and_then(|_| reader.end()).unwrap();
    body.clone()
}
