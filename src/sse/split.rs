//! The splitter: cuts chunks at the blank lines, each byte looked at once.

use std::{collections::VecDeque, mem, ops::Range};

use bytes::Bytes;

use super::lines::{data_prefix, line_end};
use super::{BOM, Block, CR, LF};
use crate::frames::{Frames, Loose};

/// Cuts a stream of chunks into [`Block`]s, each as soon as its blank line is there.
///
/// No byte is changed or lost, and none copied (but see the limits): the [`frames`](Block::frames) of all blocks, one after the other, are the chunks
/// pushed. Lines end in LF, CR or CRLF, in any mixture, and chunks may end anywhere.
///
/// - Every blank line ends a block, so surplus blank lines are blocks without data.
/// - A blank line that ends in CR is complete at the CR. Should the next chunk begin with the LF of a CRLF, that LF is a
///   block of its own, without data: nobody waits for a byte that may never come, nor is it held back until the next event.
/// - A byte order mark at the very start belongs to the first block's bytes, not to its first field name.
///
/// # Limits
///
/// There are none here: an event without end is held until the caller, who reads [`buffered`](Self::buffered), gives it up
/// with [`release`](Self::release), or the stream with [`take_buffered`](Self::take_buffered). Each chunk that is held costs a `Bytes` handle (four words) beside its
/// bytes; so that these do not outweigh the bytes, every 1024 chunks of an event that average below 64 bytes are copied
/// into one. Without anything held, a splitter owns no memory of its own but the queue that pushing several chunks in a row needed.
///
/// ```
/// use bytes::Bytes;
/// use tower_mcp_apps::sse::Splitter;
///
/// let mut splitter = Splitter::default();
/// splitter.push(Bytes::from_static(b"data: one\n\ndata: tw"));
/// assert_eq!(splitter.next_block().unwrap().data(), "one");
/// assert!(splitter.next_block().is_none());
/// assert_eq!(splitter.buffered(), 8);
///
/// splitter.push(Bytes::from_static(b"o\r\n\r\n"));
/// assert_eq!(splitter.next_block().unwrap().data(), "two");
/// ```
#[derive(Debug, Default)]
pub struct Splitter {
    /// Chunks of the block that has begun: scanned, without its blank line.
    held: Vec<Bytes>,
    loose: Loose,
    /// The chunk to scan next; beside `waiting`, so that push and drain in turn need no queue.
    current: Bytes,
    waiting: VecDeque<Bytes>,
    buffered: usize,
    scan: Scan,
}

impl Splitter {
    /// Adds the next chunk of the stream.
    #[inline]
    pub fn push(&mut self, chunk: Bytes) {
        self.buffered += chunk.len();
        if self.current.is_empty() {
            // What is in `waiting` is older than the chunk, but then `current` is not empty.
            self.current = chunk;
        } else if !chunk.is_empty() {
            self.waiting.push_back(chunk);
        }
    }

    /// The next block whose blank line has come; `None` until more is pushed.
    #[inline]
    pub fn next_block(&mut self) -> Option<Block> {
        if self.current.is_empty() { None } else { self.scan_on() }
    }

    fn scan_on(&mut self) -> Option<Block> {
        while !self.current.is_empty() {
            let Some(end) = self.scan.block_end(&self.current) else {
                let piece = self.next_chunk();
                self.hold(piece);
                continue;
            };
            let piece = if end.at < self.current.len() { self.current.split_to(end.at) } else { self.next_chunk() };
            return Some(self.block(piece, end.value, true));
        }
        None
    }

    /// What is left at the end of the stream: a block that is not [ended](Block::is_ended).
    ///
    /// Blocks that [`next_block`](Self::next_block) could still give come first, so call it until it says `None`; the
    /// splitter is then as new. The standard has clients drop an event that is not ended; not all of them do.
    pub fn finish(&mut self) -> Option<Block> {
        let block = self.next_block().or_else(|| {
            let piece = self.held.pop()?;
            Some(self.block(piece, None, false))
        });
        if block.is_none() {
            *self = Self::default();
        }
        block
    }

    /// How many bytes were pushed and not given back: after `next_block` said `None`, those that wait for their blank line.
    pub fn buffered(&self) -> usize {
        self.buffered
    }

    /// Gives back what is held of the block that has begun, as it came. The splitter goes on with it: what is left of it is the
    /// next block. For when [`next_block`](Self::next_block) said `None`.
    pub fn release(&mut self) -> Frames {
        let held = mem::take(&mut self.held);
        self.loose = Loose::default();
        self.buffered -= held.iter().map(Bytes::len).sum::<usize>();
        Frames::from(held)
    }

    /// Gives up reading: all that is held, as it came. The splitter is then as new.
    pub fn take_buffered(&mut self) -> Frames {
        let Self { mut held, current, waiting, .. } = mem::take(self);
        if !current.is_empty() {
            held.push(current);
        }
        held.extend(waiting);
        Frames::from(held)
    }

    #[inline]
    fn next_chunk(&mut self) -> Bytes {
        mem::replace(&mut self.current, self.waiting.pop_front().unwrap_or_default())
    }

    fn hold(&mut self, piece: Bytes) {
        let joins = self.loose.count(&piece);
        self.held.push(piece);
        if let Some(pieces) = joins {
            let joined = self.held.split_off(self.held.len().saturating_sub(pieces)).concat();
            self.held.push(joined.into());
        }
    }

    /// The block that ends with this piece. The value matters where this is all of it.
    #[inline(always)]
    fn block(&mut self, last: Bytes, value: Option<Range<usize>>, ended: bool) -> Block {
        self.buffered -= last.len();
        let bom = self.scan.take_bom();
        if self.held.is_empty() {
            return Block::one(last, value, bom, ended);
        }
        self.loose = Loose::default();
        let mut pieces = mem::take(&mut self.held);
        self.buffered -= pieces.iter().map(Bytes::len).sum::<usize>();
        pieces.push(last);
        Block::many(pieces, bom, ended)
    }
}

/// What must be known of the bytes before a chunk to find the blank lines in it.
#[derive(Debug, Default)]
struct Scan {
    /// Bytes of the byte order mark seen at the start of the stream.
    bom: usize,
    /// The start of the stream is over: no byte order mark can follow.
    begun: bool,
    /// The line has a byte, so its end is no blank line.
    in_line: bool,
    /// The chunk before ended with the CR of a line within the block: an LF now belongs to it.
    after_cr: bool,
}

/// The end of a block, as a chunk shows it.
struct BlockEnd {
    /// Right behind the blank line.
    at: usize,
    /// Where the value of the only data field lies, of those that began in the chunk.
    value: Option<Range<usize>>,
}

impl Scan {
    /// Where in `chunk` the block ends. Scans the chunk to its end if there is no blank line.
    fn block_end(&mut self, chunk: &[u8]) -> Option<BlockEnd> {
        let mut at = self.skip_bom(chunk);
        if mem::take(&mut self.after_cr) && chunk.first() == Some(&LF) {
            at = 1;
        }
        let mut begins_here = !mem::take(&mut self.in_line);
        let mut fields = 0;
        let mut value = 0..0;
        while let Some(&first) = chunk.get(at) {
            let blank = begins_here && matches!(first, LF | CR);
            let mut end = at;
            if !blank {
                let line = &chunk[at..];
                let Some(text) = line_end(line) else {
                    self.in_line = true;
                    return None;
                };
                end += text;
                if begins_here && let Some(prefix) = data_prefix(&line[..text]) {
                    fields += 1;
                    value = at + prefix..end;
                }
            }
            at = end + 1;
            if chunk[end] == CR {
                match chunk.get(at) {
                    Some(&LF) => at += 1,
                    // Not after a blank line: its LF, in the next chunk, is then a blank line, which ends a block as it should.
                    None if !blank => self.after_cr = true,
                    _ => {}
                }
            }
            begins_here = true;
            if blank {
                return Some(BlockEnd { at, value: (fields == 1).then_some(value) });
            }
        }
        None
    }

    fn skip_bom(&mut self, chunk: &[u8]) -> usize {
        if self.begun {
            return 0;
        }
        let missing = &BOM[self.bom..];
        let same = missing.iter().zip(chunk).take_while(|(a, b)| a == b).count();
        self.bom += same;
        if self.bom == BOM.len() {
            self.begun = true;
        } else if same < chunk.len() {
            // Another byte came: what looked like a mark is text of the line.
            self.begun = true;
            self.in_line = self.bom > 0;
        }
        same
    }

    /// Whether the block that ends here began with the byte order mark.
    fn take_bom(&mut self) -> bool {
        mem::take(&mut self.bom) == BOM.len()
    }
}
