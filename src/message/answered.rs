//! A result of our own making, as a message.

use bytes::Bytes;

use crate::frames::Frames;

/// The answer to the request with this id (its JSON text), with a result whose JSON text these pieces are.
pub(crate) fn result_message(id: &[u8], result: impl IntoIterator<Item = Bytes>) -> Frames {
    let mut message = Frames::from(Bytes::from([br#"{"jsonrpc":"2.0","id":"#, id, br#","result":"#].concat()));
    message.extend(result);
    message.push(Bytes::from_static(b"}"));
    message
}
