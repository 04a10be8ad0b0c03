//! The same work by other means: what a user would write, other readers, a round trip through types; and the limits.
//!
//! The work on a list is that of the layers for a model: tools for apps only go, the nested key is added where only
//! the flat one stands.

pub mod engine;
pub mod events;
pub mod limits;
pub mod raw_value;
pub mod simd;
pub mod sonic;
pub mod typed;
pub mod value;

use bytes::Bytes;

/// A name, and a way to edit a list.
pub type Method = (&'static str, fn(&Bytes) -> Bytes);

/// All ways to edit a list, the limits last.
pub const LISTS: [Method; 9] = [
    ("tower-mcp-apps", engine::list),
    ("value", value::list),
    ("typed-rmcp", typed::list),
    ("raw-value", raw_value::list),
    ("simd-json", simd::list),
    ("sonic-rs", sonic::list),
    ("ignored-any", limits::ignored_any),
    ("skip", limits::skip),
    ("memcpy", limits::memcpy),
];
