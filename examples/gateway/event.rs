//! Events of the gateway's own streams.

use bytes::Bytes;
use tower_mcp_apps::json::{Depth, Frames};
use tower_mcp_apps::message::Payload;
use tower_mcp_apps::sse::Splitter;

/// Keeps a stream alive, and says nothing.
pub(crate) const COMMENT: Bytes = Bytes::from_static(b":\n\n");

/// An event with these data and nothing else.
pub(crate) fn of(data: Bytes) -> Frames {
    let mut events = Splitter::default();
    events.push(Bytes::from_static(b"data: \n\n"));
    events.next_block().map(|block| block.with_data([data])).unwrap_or_default()
}

/// Whether this is an answer to a request.
pub(crate) fn is_response(data: &[u8]) -> bool {
    Payload::read(data, Depth::default()).is_ok_and(|payload| payload.calls().iter().any(|call| call.is_response))
}
