//! An event with other data: what stays, what goes, how it is written.

use bytes::Bytes;

use super::{STREAMS, blocks, cut, one_chunk};

fn rewritten(stream: &str, data: &[&str]) -> String {
    let block = one_chunk(stream.as_bytes()).remove(0);
    let data = data.iter().map(|piece| Bytes::copy_from_slice(piece.as_bytes()));
    let frames: Vec<_> = block.with_data(data).collect();
    String::from_utf8(frames.concat()).unwrap()
}

#[test]
fn other_lines_and_the_way_of_writing_stay() {
    for (stream, expected) in [
        ("data: a\n\n", "data: {}\n\n"),
        ("data:a\r\n\r\n", "data:{}\r\n\r\n"),
        ("data\r\r", "data:{}\r\r"),
        ("data: \n\n", "data: {}\n\n"),
        ("\u{FEFF}data: a\n\n", "\u{FEFF}data: {}\n\n"),
        ("id:1\n: c\ndata: a\nretry\ndata:b\nx: y\ndata\n\n", "id:1\n: c\ndata: {}\nretry\nx: y\n\n"),
        ("data:a", "data:{}"),
        ("data:a\rdata:b", "data:{}\r"),
    ] {
        assert_eq!(rewritten(stream, &["{", "", "}"]), expected);
    }
}

#[test]
fn two_line_ends_do_not_become_one_where_a_line_between_goes() {
    assert_eq!(rewritten("data: a\rdata: b\n\n", &["x"]), "data: x\r\n\n");
    assert_eq!(rewritten("data: a\rdata: b\r\ndata: c\n\n", &["x"]), "data: x\r\n\n");
    assert_eq!(rewritten("data: a\nid\rdata: b\n\n", &["x"]), "data: x\nid\r\n\n");
    assert_eq!(rewritten("data: a\rdata: b\r\r\n", &["x"]), "data: x\r\r\n");
    let id = "1".repeat(20_000);
    assert_eq!(rewritten(&format!("data: a\nid: {id}\rdata: b\n\n"), &["x"]), format!("data: x\nid: {id}\r\n\n"));
}

#[test]
fn line_ends_in_the_data_begin_data_lines() {
    assert_eq!(
        rewritten("data: a\r\n\r\n", &["x\ny\r", "\nz\r", "\r"]),
        "data: x\r\ndata: y\r\ndata: z\r\ndata: \r\ndata: \r\n\r\n"
    );
    assert_eq!(rewritten("data:a\n\n", &["\n"]), "data:\ndata:\n\n");
    assert_eq!(rewritten("data: a", &["x\ny"]), "data: x\ndata: y");
}

#[test]
fn a_leading_space_is_kept_from_being_dropped() {
    assert_eq!(rewritten("data:a\n\n", &[" x\n", " y"]), "data:  x\ndata:  y\n\n");
    assert_eq!(rewritten("data: a\n\n", &[" x"]), "data:  x\n\n");
}

#[test]
fn empty_data_are_data() {
    assert_eq!(rewritten("data: a\ndata: b\n\n", &[]), "data: \n\n");
    assert_eq!(rewritten("data\n\n", &[""]), "data:\n\n");
}

#[test]
fn data_join_a_block_that_has_none() {
    for (stream, expected) in [
        ("id: 1\r\n\r\n", "id: 1\r\ndata: x\r\n\r\n"),
        ("id: 1\r\r", "id: 1\rdata: x\r\r"),
        ("\n", "data: x\n\n"),
        ("\u{FEFF}\n", "\u{FEFF}data: x\n\n"),
        ("\u{FEFF}", "\u{FEFF}data: x\n"),
        ("id: 1", "id: 1\ndata: x\n"),
        ("id: 1\r", "id: 1\rdata: x\r"),
    ] {
        assert_eq!(rewritten(stream, &["x"]), expected);
    }
}

#[test]
fn where_chunks_end_makes_no_difference() {
    for stream in STREAMS.iter().filter(|stream| !stream.is_empty()) {
        let new = || [Bytes::from_static(b" x\r\ny"), Bytes::from_static(b"z")];
        let expected = one_chunk(stream).remove(0).with_data(new()).collect::<Vec<_>>().concat();
        let len = one_chunk(stream)[0].len();
        // Cuts within the first block only: one at its end may leave a blank line's LF to a block of its own.
        for second in 0..len - 1 {
            for first in 0..=second {
                let block = blocks(cut(stream, &[first, second])).remove(0);
                assert_eq!(block.with_data(new()).collect::<Vec<_>>().concat(), expected);
            }
        }
    }
}

#[test]
fn large_pieces_stay_slices_and_small_ones_are_joined() {
    let large = Bytes::from(vec![b'x'; 16 * 1024]);
    let block = one_chunk(b"id: 1\ndata: a\n\n").remove(0);
    let data = ["<", "!"].map(Bytes::from).into_iter().chain([large.clone()]).chain([">"; 3].map(Bytes::from));
    let frames: Vec<_> = block.with_data(data).collect();
    assert_eq!(frames.len(), 3);
    assert_eq!(frames[0], "id: 1\ndata: <!");
    assert_eq!(frames[1].as_ptr(), large.as_ptr());
    assert_eq!(frames[2], ">>>\n\n");
}
