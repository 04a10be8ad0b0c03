//! What a body is by its first bytes, at every length of the beginning.

use crate::sse::{Sniff, sniff};

#[test]
fn bodies_are_told_apart() {
    for (start, expected) in [
        ("{", Sniff::Json),
        ("[1", Sniff::Json),
        (" \t\r\n{}", Sniff::Json),
        ("\u{FEFF}{", Sniff::Json),
        ("\u{FEFF}\ndata:", Sniff::EventStream),
        (":", Sniff::EventStream),
        ("\r\n: c", Sniff::EventStream),
        ("data:", Sniff::EventStream),
        ("data\r", Sniff::EventStream),
        ("event\n", Sniff::EventStream),
        ("id:", Sniff::EventStream),
        ("retry: 1", Sniff::EventStream),
        ("", Sniff::Unknown),
        ("\r\n ", Sniff::Unknown),
        ("\u{FEFF}", Sniff::Unknown),
        ("d", Sniff::Unknown),
        ("data", Sniff::Unknown),
        ("retr", Sniff::Unknown),
        ("datax", Sniff::Other),
        ("data :", Sniff::Other),
        ("Data:", Sniff::Other),
        (" data:", Sniff::Other),
        ("\n\t:", Sniff::Other),
        ("null", Sniff::Other),
        ("404 not found", Sniff::Other),
        ("\"text\"", Sniff::Other),
        ("<html>", Sniff::Other),
        ("\0{", Sniff::Other),
        ("\u{FEFF}\u{FEFF}{", Sniff::Other),
    ] {
        assert_eq!(sniff(start.as_bytes()), expected, "{start:?}");
    }
    assert_eq!(sniff(b"\xEF\xBB"), Sniff::Unknown);
    assert_eq!(sniff(b"\xEF\xBB{"), Sniff::Other);
}

#[test]
fn what_was_told_once_stays_whatever_follows() {
    for body in ["\u{FEFF}\r\n {\"a\":1}", "\n\nevent: x\n\n", "retry\n", "id: 1", " data: no", "plain text"] {
        let told: Vec<_> = (0..=body.len()).map(|end| sniff(&body.as_bytes()[..end])).collect();
        let known = told.iter().position(|sniff| *sniff != Sniff::Unknown).unwrap();
        assert!(told[known..].iter().all(|sniff| *sniff == told[known]), "{body:?}: {told:?}");
    }
}
