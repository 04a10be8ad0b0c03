//! The splitter against the standard's algorithm, in any chunks, and events that are given other data. The input is the number of
//! cuts, a byte for each, a byte that chooses the event, and the stream.
#![no_main]

#[path = "../../src/sse/tests/oracle.rs"]
mod oracle;

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use tower_mcp_apps::sse::{Block, Splitter};

/// Data with a line end of each kind, and a space that must stay.
const NEW: &[u8] = b" {\"a\":\r\n1,\rb\n}";
const SEEN: &[u8] = b" {\"a\":\n1,\nb\n}";

fn blocks(chunks: impl IntoIterator<Item = Bytes>) -> Vec<Block> {
    let mut splitter = Splitter::default();
    let mut blocks = Vec::new();
    for chunk in chunks {
        splitter.push(chunk);
        blocks.extend(std::iter::from_fn(|| splitter.next_block()));
    }
    blocks.extend(std::iter::from_fn(|| splitter.finish()));
    assert_eq!(splitter.buffered(), 0);
    blocks
}

fuzz_target!(|input: &[u8]| {
    let Some((cuts, rest)) = input.split_first() else { return };
    let Some((cuts, rest)) = rest.split_at_checked(usize::from(cuts % 16)) else { return };
    let Some((which, stream)) = rest.split_first() else { return };
    let mut left = Bytes::copy_from_slice(stream);
    let mut chunks = Vec::new();
    for cut in cuts {
        chunks.push(left.split_to(usize::from(*cut).min(left.len())));
    }
    chunks.push(left);

    let blocks = blocks(chunks);
    let bytes: Vec<Bytes> = blocks.iter().cloned().flat_map(Block::frames).collect();
    assert_eq!(bytes.concat(), stream);
    let mut expected = oracle::events(stream);
    let is_event = |block: &&Block| block.is_ended() && block.has_data();
    let data: Vec<Bytes> = blocks.iter().filter(is_event).map(Block::data).collect();
    assert_eq!(data, expected.iter().map(|event| event.data.clone()).collect::<Vec<_>>());

    if expected.is_empty() {
        return;
    }
    let which = usize::from(*which) % expected.len();
    expected[which].data = SEEN.to_vec();
    let (mut events, mut out) = (0, Vec::new());
    for block in blocks {
        let is_event = is_event(&&block);
        if is_event && events == which {
            out.extend(block.with_data([Bytes::from_static(NEW)]));
        } else {
            out.extend(block.frames());
        }
        events += usize::from(is_event);
    }
    assert_eq!(oracle::events(&out.concat()), expected);
});
