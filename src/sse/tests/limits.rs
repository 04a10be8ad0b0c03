//! Large and many: no copy, no second scan. A quadratic splitter would not come to an end here.

use bytes::Bytes;

use super::{blocks, one_chunk};
use crate::sse::Splitter;

#[test]
fn a_large_event_in_small_chunks_takes_linear_time() {
    let value = Bytes::from(vec![b'x'; 10 << 20]);
    for size in [1024, 7] {
        let chunks = (0..value.len()).step_by(size).map(|at| value.slice(at..value.len().min(at + size)));
        let chunks = [Bytes::from_static(b"data: ")].into_iter().chain(chunks).chain([Bytes::from_static(b"\n\n")]);
        let blocks = blocks(chunks);
        assert_eq!(blocks.len(), 1);
        assert!(blocks[0].has_data());
        assert_eq!(blocks[0].data(), value);
    }
}

#[test]
fn many_data_lines_over_many_chunks_take_linear_time() {
    let lines = 500_000;
    let stream = Bytes::from("data\n".repeat(lines) + "\n");
    let chunks = (0..stream.len()).step_by(3).map(|at| stream.slice(at..stream.len().min(at + 3)));
    let block = blocks(chunks).remove(0);
    assert_eq!(block.data().len(), lines - 1);
    assert_eq!(block.with_data([Bytes::from_static(b"x")]).collect::<Vec<_>>(), ["data:x\n\n"]);
}

#[test]
fn new_data_of_many_lines_take_linear_time() {
    let data = Bytes::from("\n".repeat(500_000));
    let frames = one_chunk(b"data: a\n\n").remove(0).with_data([data.clone()]);
    let again = blocks(frames).remove(0);
    assert_eq!(again.data(), data);
}

#[test]
fn many_tiny_chunks_are_joined_and_others_are_not() {
    for (size, count, frames) in [(1, 1_000, 1_000), (1, 10_240, 10), (63, 2_048, 2), (64, 2_048, 2_048)] {
        let value = Bytes::from(vec![b'x'; size * count]);
        let mut splitter = Splitter::default();
        for at in 0..count {
            splitter.push(value.slice(at * size..(at + 1) * size));
            assert!(splitter.next_block().is_none());
        }
        assert_eq!(splitter.buffered(), value.len());
        let held: Vec<_> = splitter.take_buffered().collect();
        assert_eq!(held.len(), frames, "{count} chunks of {size}");
        assert_eq!(held.concat(), value);
    }
}

#[test]
fn joining_begins_anew_with_each_event() {
    let event = Bytes::from("x".repeat(3_000) + "\n\n");
    let chunks = (0..event.len()).map(|at| event.slice(at..at + 1));
    for block in blocks(chunks.clone().chain(chunks)) {
        assert_eq!(block.len(), event.len());
        let frames: Vec<_> = block.frames().collect();
        assert_eq!(frames.concat(), event);
        assert_eq!(frames.len(), 2 + event.len() % 1024);
    }
}

#[test]
fn events_within_a_chunk_are_slices_of_it() {
    let event = "id: 1\ndata: {}\n\n";
    let stream = Bytes::from(event.repeat(10_000));
    let mut splitter = Splitter::default();
    splitter.push(stream.clone());
    for number in 0..10_000 {
        let block = splitter.next_block().unwrap();
        assert_eq!(block.data().as_ptr(), stream[number * event.len() + 12..].as_ptr());
        let frames: Vec<_> = block.frames().collect();
        assert_eq!(frames.len(), 1);
        assert_eq!(frames[0].as_ptr(), stream[number * event.len()..].as_ptr());
        assert_eq!(frames[0].len(), event.len());
    }
    assert!(splitter.next_block().is_none());
}

#[test]
fn an_idle_splitter_is_small_and_lets_go_of_chunks() {
    assert!(size_of::<Splitter>() <= 16 * size_of::<usize>());
    let chunk = Bytes::from(b"data: a\n\n".to_vec());
    let mut splitter = Splitter::default();
    splitter.push(chunk.clone());
    drop(splitter.next_block());
    assert!(chunk.is_unique());
}
