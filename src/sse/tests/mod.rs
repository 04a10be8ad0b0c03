//! Tests of event framing: rule by rule, every split of small streams, and properties against a slow model.

mod limits;
mod oracle;
mod properties;
mod rewriting;
mod sniffing;
mod splitting;

use bytes::Bytes;

use super::{Block, Splitter};

/// All blocks of a stream that comes in these chunks, taken as soon as they are there.
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

fn one_chunk(stream: &[u8]) -> Vec<Block> {
    blocks([Bytes::copy_from_slice(stream)])
}

fn bytes_of(blocks: &[Block]) -> Vec<u8> {
    blocks.iter().cloned().flat_map(Block::frames).collect::<Vec<_>>().concat()
}

/// The data that a client would be given.
fn dispatched(blocks: &[Block]) -> Vec<Bytes> {
    blocks.iter().filter(|block| block.is_ended() && block.has_data()).map(Block::data).collect()
}

/// A stream cut at these positions.
fn cut(stream: &[u8], at: &[usize]) -> Vec<Bytes> {
    let whole = Bytes::copy_from_slice(stream);
    let ends = at.iter().copied().chain([stream.len()]);
    let starts = [0].into_iter().chain(at.iter().copied());
    starts.zip(ends).map(|(start, end)| whole.slice(start..end)).collect()
}

/// Small streams with everything that the standard speaks of.
const STREAMS: &[&[u8]] = &[
    b"",
    b"\n",
    b"\r\n\r\n\n\r",
    b"data: a\n\ndata: b\n\n",
    b"data: a\r\rdata: b\r\r",
    b"data: a\r\n\r\ndata: b\r\n\r\n",
    b"data: a\n\rdata: b\r\n\rdata: c\r\n\ndata: d\r\r\n",
    b"\xEF\xBB\xBFdata: a\n\n\xEF\xBB\xBFdata: b\n\n",
    b"\xEF\xBB\xBF\n\xEF\xBB\xBF\n\n",
    b"\xEF\xBBdata: a\n\n",
    b"\xEF\xBB\n\ndata: b\n\n",
    b"\xEF\xBB",
    b": comment\n\nid: 1\nevent: e\ndata\ndata:\ndata: \ndata:x\ndata:  y\nretry: 5\n\n",
    b"id: 1\n\nData: no\ndata : no\n data: no\n\ndatax: no\ndat\n\n",
    b"data: a\rid: 1\rdata: b\n\ndata: c\rdata: d\n\r",
    b"id: \x00\ndata: \x00\xFF\xC3\nunknown\n\n",
    b"data: not ended\ndata: at all",
    b"data: not ended\r",
];
