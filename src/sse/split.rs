//! The splitter: cuts chunks at the blank lines, each byte looked at once.

use std::{collections::VecDeque, mem};

use bytes::Bytes;
use memchr::memchr2;

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
/// There are none here: an event without end is held until the caller, who reads [`buffered`](Self::buffered), gives up
/// with [`take_buffered`](Self::take_buffered). Each chunk that is held costs a `Bytes` handle (four words) beside its
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
    pub fn next_block(&mut self) -> Option<Block> {
        while !self.current.is_empty() {
            match self.scan.block_end(&self.current) {
                Some(end) if end < self.current.len() => {
                    let piece = self.current.split_to(end);
                    return Some(self.block(piece, true));
                }
                Some(_) => {
                    let piece = self.next_chunk();
                    return Some(self.block(piece, true));
                }
                None => {
                    let piece = self.next_chunk();
                    self.hold(piece);
                }
            }
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
            Some(self.block(piece, false))
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

    /// Gives up reading: all that is held, as it came. The splitter is then as new.
    pub fn take_buffered(&mut self) -> Frames {
        let Self { mut held, current, waiting, .. } = mem::take(self);
        if !current.is_empty() {
            held.push(current);
        }
        held.extend(waiting);
        Frames::from(held)
    }

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

    fn block(&mut self, last: Bytes, ended: bool) -> Block {
        let bom = self.scan.take_bom();
        self.loose = Loose::default();
        let block = if self.held.is_empty() {
            Block::one(last, bom, ended)
        } else {
            let mut pieces = mem::take(&mut self.held);
            pieces.push(last);
            Block::many(pieces, bom, ended)
        };
        self.buffered -= block.len();
        block
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

impl Scan {
    /// Where in `chunk` the block ends, right after its blank line. Scans the chunk to its end if there is none.
    fn block_end(&mut self, chunk: &[u8]) -> Option<usize> {
        let mut at = self.skip_bom(chunk);
        if mem::take(&mut self.after_cr) && chunk.first() == Some(&LF) {
            at = 1;
        }
        while let Some(text) = memchr2(CR, LF, &chunk[at..]) {
            let blank = text == 0 && !mem::take(&mut self.in_line);
            at += text;
            let cr = chunk[at] == CR;
            at += 1;
            match chunk.get(at) {
                Some(&LF) if cr => at += 1,
                // Not after a blank line: its LF, in the next chunk, is then a blank line, which ends a block as it should.
                None if cr && !blank => self.after_cr = true,
                _ => {}
            }
            if blank {
                return Some(at);
            }
            self.in_line = false;
        }
        self.in_line |= at < chunk.len();
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
