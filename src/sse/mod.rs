//! Server-sent event framing: cuts a body into events without changing a byte, and gives an event other data.
//!
//! The rules are those of the WHATWG HTML standard, "9.2.5 Parsing an event stream" and "9.2.6 Interpreting an event
//! stream". Nothing here knows what the data mean, nor how the bytes travel.
//!
//! - [`Splitter`] takes chunks and gives [`Block`]s: an event, or comments, with the blank line that ends it.
//! - [`Block`] shows the event's data, gives its bytes back as they came, or the same event with other data.
//! - [`sniff()`] tells from its first bytes whether a body is an event stream or JSON.
//!
//! ```
//! use bytes::Bytes;
//! use tower_mcp_apps::sse::Splitter;
//!
//! let mut splitter = Splitter::default();
//! let mut out = Vec::new();
//! for chunk in ["id: 7\ndata: old\n", "\n: still here\n\n"] {
//!     splitter.push(Bytes::from_static(chunk.as_bytes()));
//!     while let Some(block) = splitter.next_block() {
//!         if block.data() == "old" {
//!             out.extend(block.with_data([Bytes::from_static(b"new")]));
//!         } else {
//!             out.extend(block.frames());
//!         }
//!     }
//! }
//! assert!(splitter.finish().is_none());
//! assert_eq!(out.concat(), b"id: 7\ndata: new\n\n: still here\n\n");
//! ```

mod block;
mod joiner;
mod lines;
mod rewrite;
mod sniff;
mod split;
#[cfg(test)]
mod tests;

pub use crate::frames::Frames;
pub use block::Block;
pub use sniff::{Sniff, sniff};
pub use split::Splitter;

const LF: u8 = b'\n';
const CR: u8 = b'\r';

/// The UTF-8 byte order mark, which the standard drops once, at the very start of a stream.
const BOM: &[u8] = b"\xEF\xBB\xBF";
