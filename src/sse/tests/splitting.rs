//! Where blocks end, when they are given, and what they say.

use bytes::Bytes;

use super::{STREAMS, blocks, bytes_of, cut, dispatched, one_chunk, oracle};
use crate::sse::Splitter;

fn check(stream: &[u8], cuts: &[usize]) {
    let blocks = blocks(cut(stream, cuts));
    assert_eq!(bytes_of(&blocks), stream, "{cuts:?}");
    assert_eq!(blocks.iter().map(|block| block.len()).sum::<usize>(), stream.len());
    assert!(blocks.iter().all(|block| !block.is_empty()));
    let expected: Vec<_> = oracle::events(stream).into_iter().map(|event| event.data).collect();
    assert_eq!(dispatched(&blocks), expected, "{:?} cut at {cuts:?}", String::from_utf8_lossy(stream));
}

#[test]
fn every_cut_in_three_gives_the_same_events() {
    for stream in STREAMS {
        for second in 0..=stream.len() {
            for first in 0..=second {
                check(stream, &[first, second]);
            }
        }
    }
}

#[test]
fn bytes_one_by_one_give_the_same_events() {
    for stream in STREAMS {
        check(stream, &(1..stream.len()).collect::<Vec<_>>());
    }
}

#[test]
fn every_short_stream_of_line_ends_and_text() {
    let parts: [&[u8]; 4] = [b"\r", b"\n", b"data:x", b"id"];
    for length in 0..=6 {
        for number in 0..parts.len().pow(length) {
            let pick = |place| parts[number / parts.len().pow(place) % parts.len()];
            let stream = (0..length).map(pick).collect::<Vec<_>>().concat();
            check(&stream, &[]);
            check(&stream, &(1..stream.len()).collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_block_is_there_with_the_first_byte_that_ends_its_blank_line() {
    for (event, rest) in [
        ("data: a\n\n", ""),
        ("data: a\r\r", "\n"),
        ("data: a\r\n\r", "\n"),
        ("data: a\n\r", "\n"),
        ("\u{FEFF}data: a\r\r", "data: b"),
        (": comment\n\n", ""),
        ("\n", ""),
        ("\r", "\n"),
    ] {
        let mut splitter = Splitter::default();
        for &byte in &event.as_bytes()[..event.len() - 1] {
            splitter.push(Bytes::copy_from_slice(&[byte]));
            assert!(splitter.next_block().is_none(), "{event:?}");
        }
        splitter.push(Bytes::copy_from_slice(&event.as_bytes()[event.len() - 1..]));
        let block = splitter.next_block().unwrap();
        assert!(block.is_ended());
        assert_eq!(block.frames().collect::<Vec<_>>().concat(), event.as_bytes());
        assert_eq!(splitter.buffered(), 0);
        splitter.push(Bytes::from_static(rest.as_bytes()));
        let more = splitter.next_block();
        assert_eq!(more.is_some(), rest == "\n", "the rest of a line end is not held back");
        assert!(more.is_none_or(|block| !block.has_data()));
    }
}

#[test]
fn a_line_end_cut_within_a_block_is_one_line_end() {
    let blocks =
        blocks(["data: a\r", "\ndata: b\r", "\n\r", "\ndata: c\n\n"].map(|s| Bytes::from_static(s.as_bytes())));
    assert_eq!(dispatched(&blocks), ["a\nb", "c"]);
    assert_eq!(blocks.len(), 3, "the LF of the cut blank line is a block");
}

#[test]
fn what_the_stream_ends_in_is_given_as_not_ended() {
    let blocks = one_chunk(b"data: a\n\nid: 1\ndata: b");
    assert_eq!(blocks.iter().map(|block| block.is_ended()).collect::<Vec<_>>(), [true, false]);
    assert_eq!(blocks[1].data(), "b");
    assert_eq!(blocks[1].len(), 13);
}

#[test]
fn finish_gives_the_ended_blocks_first() {
    let mut splitter = Splitter::default();
    splitter.push(Bytes::from_static(b"data: a\n\ndata: b\n\nda"));
    splitter.push(Bytes::from_static(b"ta"));
    let ended: Vec<_> = std::iter::from_fn(|| splitter.finish()).map(|block| block.is_ended()).collect();
    assert_eq!(ended, [true, true, false]);
}

#[test]
fn chunks_pushed_in_a_row_are_read_in_order() {
    for stream in STREAMS {
        let mut splitter = Splitter::default();
        for byte in *stream {
            splitter.push(Bytes::copy_from_slice(&[*byte]));
            splitter.push(Bytes::new());
        }
        assert_eq!(splitter.buffered(), stream.len());
        let blocks: Vec<_> = std::iter::from_fn(|| splitter.finish()).collect();
        assert_eq!(bytes_of(&blocks), *stream);
    }
}

#[test]
fn blocks_without_data_are_told_from_empty_data() {
    for (stream, has_data) in [
        ("id: 1\n\n", false),
        (": data\n\n", false),
        ("Data: x\n\n", false),
        ("data\n\n", true),
        ("data:\n\n", true),
        ("data: \n\n", true),
    ] {
        let blocks = one_chunk(stream.as_bytes());
        assert_eq!(blocks[0].has_data(), has_data, "{stream:?}");
        assert_eq!(blocks[0].data(), "");
    }
}

#[test]
fn giving_up_returns_everything_and_begins_anew() {
    let mut splitter = Splitter::default();
    for chunk in ["data: a\n\nid: 1\n", "data: b", "data: c\n\nda"] {
        splitter.push(Bytes::from_static(chunk.as_bytes()));
    }
    assert_eq!(splitter.next_block().unwrap().data(), "a");
    let frames: Vec<_> = splitter.take_buffered().collect();
    assert_eq!(frames, ["id: 1\n", "data: b", "data: c\n\nda"]);
    assert_eq!(splitter.buffered(), 0);
    splitter.push(Bytes::from_static(b"data: d\n\n"));
    assert_eq!(splitter.next_block().unwrap().data(), "d");
}
