//! Any stream in any chunks, against the slow model.

use bytes::Bytes;
use proptest::{collection::vec, prelude::*, sample::select};

use super::{blocks, bytes_of, cut, dispatched, oracle};
use crate::sse::{Block, lines};

fn line_end() -> impl Strategy<Value = Vec<u8>> {
    select(vec![&b"\n"[..], b"\r", b"\r\n"]).prop_map(<[u8]>::to_vec)
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let odd = select(vec![&b""[..], b" ", b"  x", b":", b"\0", b"\xFF", b"\xC3", b"\xEF\xBB\xBF", b"5", b"{\"a\": 1}"]);
    prop_oneof![odd.prop_map(<[u8]>::to_vec), "[a-z :]{0,9}".prop_map(String::into_bytes)]
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    let names =
        [&b"data"[..], b"data", b"data", b"id", b"event", b"retry", b"", b"datax", b"dat", b"Data", b" data", b"x"];
    let name = select(names.to_vec());
    let colon = select(vec![&b":"[..], b": ", b":  ", b""]);
    let field = (name, colon, text()).prop_map(|(name, colon, text)| [name, colon, &text].concat());
    prop_oneof![6 => field, 1 => text()]
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let start = select(vec![&b""[..], b"", b"\xEF\xBB\xBF", b"\xEF\xBB", b"\xEF\xBB\xBF\xEF\xBB\xBF"]);
    let part = prop_oneof![3 => (line(), line_end()).prop_map(|(line, end)| [line, end].concat()), 2 => line_end()];
    let junk = vec(select(b"data: \r\n\xEF\xBB\xBF\0".to_vec()), 0..12);
    (start, vec(part, 0..40), junk).prop_map(|(start, parts, junk)| [start, &parts.concat(), &junk].concat())
}

fn in_chunks() -> impl Strategy<Value = (Vec<u8>, Vec<Bytes>)> {
    (stream(), vec(any::<prop::sample::Index>(), 0..12)).prop_map(|(stream, cuts)| {
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        cuts.sort_unstable();
        let chunks = cut(&stream, &cuts);
        (stream, chunks)
    })
}

/// New data in pieces, and what a client gets of them.
fn new_data() -> impl Strategy<Value = (Vec<Bytes>, Vec<u8>)> {
    let piece = prop_oneof![text(), line_end()];
    vec(piece.prop_map(Bytes::from), 0..6).prop_map(|pieces| {
        let mut seen = Vec::new();
        let mut after_cr = false;
        for byte in pieces.concat() {
            match byte {
                b'\n' if after_cr => {}
                b'\r' => seen.push(b'\n'),
                other => seen.push(other),
            }
            after_cr = byte == b'\r';
        }
        (pieces, seen)
    })
}

fn is_event(block: &Block) -> bool {
    block.is_ended() && block.has_data()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn nothing_is_lost_and_every_event_is_seen((stream, chunks) in in_chunks()) {
        let blocks = blocks(chunks);
        prop_assert_eq!(bytes_of(&blocks), &stream[..]);
        let expected: Vec<_> = oracle::events(&stream).into_iter().map(|event| event.data).collect();
        prop_assert_eq!(dispatched(&blocks), expected);
        let not_ended = blocks.iter().position(|block| !block.is_ended());
        prop_assert!(not_ended.is_none_or(|at| at + 1 == blocks.len()));
    }

    #[test]
    fn a_line_ends_at_its_first_cr_or_lf(text in vec(select(b"a\x00\t\x0b\x0c\x0e\x0f\x10\x1f \x7f\x8a\x8d\xff".to_vec()), 0..40),
        end in select(vec![&b""[..], b"\r", b"\n", b"\r\n", b"\n\r", b"\nabcdefghijklmnopqrstuvwxyz\r"])) {
        let line = [&text[..], end].concat();
        prop_assert_eq!(lines::line_end(&line), (!end.is_empty()).then_some(text.len()));
    }

    #[test]
    fn bytes_are_slices_of_the_chunks((_, chunks) in in_chunks()) {
        let mut at = 0;
        for frame in blocks(chunks.iter().cloned()).into_iter().flat_map(Block::frames) {
            prop_assert!(!frame.is_empty());
            // All chunks are slices of one buffer, so a frame that is no copy stands where the one before it ended.
            prop_assert_eq!(frame.as_ptr() as usize, chunks[0].as_ptr() as usize + at);
            at += frame.len();
        }
    }

    #[test]
    fn a_rewritten_event_differs_in_its_data_alone(
        (stream, chunks) in in_chunks(),
        (pieces, seen) in new_data(),
        which in any::<prop::sample::Index>(),
    ) {
        let mut expected = oracle::events(&stream);
        if expected.is_empty() {
            return Ok(());
        }
        let which = which.index(expected.len());
        expected[which].data = seen;
        let mut events = 0;
        let mut out = Vec::new();
        for block in blocks(chunks) {
            let event = is_event(&block);
            if event && events == which {
                out.extend(block.with_data(pieces.clone()));
            } else {
                out.extend(block.frames());
            }
            events += usize::from(event);
        }
        prop_assert_eq!(oracle::events(&out.concat()), expected);
    }

    #[test]
    fn every_block_can_be_given_data((_, chunks) in in_chunks(), (pieces, seen) in new_data()) {
        for block in blocks(chunks) {
            // The end of the stream ended no line; two line ends make an event of what is there.
            let end = if block.is_ended() { "" } else { "\n\n" };
            let out = block.with_data(pieces.clone()).chain([Bytes::from(end)]).collect::<Vec<_>>().concat();
            let events = oracle::events(&out);
            prop_assert_eq!(events.len(), 1);
            prop_assert_eq!(&events[0].data, &seen);
        }
    }

    #[test]
    fn an_event_given_its_own_data_in_one_line_is_unchanged((_, chunks) in in_chunks()) {
        for block in blocks(chunks).into_iter().filter(|block| block.has_data()) {
            let before = bytes_of(std::slice::from_ref(&block));
            let data = block.data();
            let again = one_line(&before) && !data.starts_with(b" ");
            let after = block.with_data([data]).collect::<Vec<_>>().concat();
            if again {
                prop_assert_eq!(after, before);
            }
        }
    }
}

/// Whether the block has one data line, written with a colon.
fn one_line(block: &[u8]) -> bool {
    let block = block.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(block);
    let lines = block.split(|byte| matches!(byte, b'\r' | b'\n'));
    let data: Vec<_> = lines.filter(|line| *line == b"data" || line.starts_with(b"data:")).collect();
    data.len() == 1 && data[0] != b"data"
}
