//! What is kept and what goes, by times of the tests' own.

use std::time::Duration;

use super::{Memory, OVERHEAD, Store};
use crate::message::EntryKind;
use crate::restore::{Place, Said};

fn place(whose: u8) -> Place {
    Place::list([whose; 32], EntryKind::Tool)
}

fn said(text: &str, at: u64) -> Said {
    Said { text: text.to_owned().into(), at, fresh_for: 10 }
}

fn remember(memory: &Memory, whose: u8, entry: &str, at: u64) {
    memory.remember(&place(whose), vec![(entry.to_owned(), said("{}", at))]);
}

fn knows(memory: &Memory, whose: u8, entry: &str) -> bool {
    memory.recall(&place(whose), entry, 0).is_some()
}

#[test]
fn entries_are_bounded_and_what_was_said_first_goes_first() {
    let memory = Memory::new().most_entries(3);
    for (entry, at) in [("a", 1), ("b", 2), ("c", 3)] {
        remember(&memory, 0, entry, at);
    }
    // Said again, it is not the oldest any more.
    remember(&memory, 0, "a", 4);
    remember(&memory, 1, "d", 5);
    assert_eq!(memory.len(), 3);
    assert_eq!(["a", "b", "c"].map(|entry| knows(&memory, 0, entry)), [true, false, true]);
    assert!(knows(&memory, 1, "d") && !knows(&memory, 0, "d") && !knows(&memory, 1, "a"));
}

#[test]
fn bytes_are_bounded_and_counted_right() {
    let each = 1 + 100 + OVERHEAD;
    let memory = Memory::new().most_bytes(10 * each);
    let text = format!("{{{}}}", " ".repeat(98));
    for round in 0..50_u64 {
        let entry = char::from(b'a' + u8::try_from(round % 20).unwrap()).to_string();
        memory.remember(&place(u8::try_from(round % 3).unwrap()), vec![(entry, said(&text, round))]);
        let kept = memory.lock();
        let weighed: usize = kept.shelves.values().map(|shelf| shelf.slots.len() * each).sum();
        assert_eq!((kept.bytes, kept.order.len()), (weighed, weighed / each), "round {round}");
        assert!(kept.bytes <= 10 * each && kept.shelves.values().all(|shelf| !shelf.slots.is_empty()));
    }
    assert_eq!(memory.len(), 10);
    let too_long = format!("{{{}}}", " ".repeat(11 * each));
    memory.remember(&place(0), vec![("z".to_owned(), said(&too_long, 99))]);
    assert!(memory.is_empty(), "what cannot be kept is not kept, whatever goes for it");
    assert_eq!(memory.lock().bytes, 0);
}

#[test]
fn nothing_is_recalled_that_was_said_too_long_before_the_request() {
    let memory = Memory::new().keep(Duration::from_millis(100));
    remember(&memory, 0, "a", 1000);
    for (asked, is_known) in [(0, true), (1000, true), (1100, true), (1101, false)] {
        assert_eq!(memory.recall(&place(0), "a", asked).is_some(), is_known, "{asked}");
    }
    let said = said("{}", 1000);
    for (asked, is_fresh) in [(999, true), (1000, true), (1010, true), (1011, false)] {
        assert_eq!(said.is_fresh(asked), is_fresh, "{asked}");
    }
}

#[cfg(feature = "valkey")]
#[test]
fn the_shared_store_is_told_what_is_new_and_what_would_soon_be_forgotten() {
    let memory = Memory::new().keep(Duration::from_millis(1000));
    let tells = |text: &str, at, fresh_for| {
        let said = Said { text: text.to_owned().into(), at, fresh_for };
        !memory.keep_said(&place(0), vec![("a".to_owned(), said)]).is_empty()
    };
    for (text, at, fresh_for, is_told) in [
        ("{}", 1000, 100, true),
        ("{}", 1049, 100, false),
        ("{}", 1050, 100, true),
        (r#"{"a":1}"#, 1051, 100, true),
        (r#"{"a":1}"#, 1052, 90, true),
        // What is never fresh can only narrow, and does so for as long as it is kept.
        (r#"{"a":1}"#, 1053, 0, true),
        (r#"{"a":1}"#, 1552, 0, false),
        (r#"{"a":1}"#, 1553, 0, true),
    ] {
        assert_eq!(tells(text, at, fresh_for), is_told, "{text} at {at}, fresh for {fresh_for}");
    }
    memory.untold(&place(0), ["a"]);
    assert!(tells(r#"{"a":1}"#, 1554, 0), "since it was not told after all");
    memory.told(&place(0), ["a"], 1, true);
    memory.lost(&place(0));
    assert!(tells(r#"{"a":1}"#, 1555, 0), "since it lost what it had");
}

#[cfg(feature = "valkey")]
#[test]
fn a_revision_counts_only_where_nothing_is_missing() {
    let memory = Memory::new().most_entries(2);
    assert_eq!(memory.revision(&place(0)), None);
    memory.add_shared(&place(0), vec![("a".to_owned(), said("{}", 1)), ("b".to_owned(), said("{}", 1))], 5);
    assert_eq!(memory.revision(&place(0)), Some(5));
    memory.told(&place(0), ["a"], 7, false);
    assert_eq!(memory.revision(&place(0)), Some(5), "somebody else wrote the sixth");
    memory.told(&place(0), ["a"], 6, false);
    assert_eq!(memory.revision(&place(0)), Some(6));
    remember(&memory, 1, "c", 2);
    assert_eq!(memory.revision(&place(0)), None, "`a` had to go, and is there still");
}

#[cfg(feature = "valkey")]
#[test]
fn what_a_new_copy_lacks_is_told_again() {
    for is_told in [true, false] {
        let memory = Memory::new();
        let tells = |entry: &str, at| !memory.keep_said(&place(0), vec![(entry.to_owned(), said("{}", at))]).is_empty();
        assert!(tells("a", 1000) && tells("b", 1000));
        memory.told(&place(0), ["a"], 7, true);
        memory.told(&place(0), ["b"], 8, false);
        assert!(!tells("a", 1001) && !tells("b", 1001), "both stand there");
        if is_told {
            memory.told(&place(0), ["a"], 99, true);
        } else {
            memory.add_shared(&place(0), vec![("a".to_owned(), said("{}", 1000))], 99);
        }
        assert_eq!(memory.revision(&place(0)), Some(99));
        assert!(!tells("a", 1002), "it stands there");
        assert!(tells("b", 1002), "it was lost with the copy before");
    }
}

#[cfg(feature = "valkey")]
#[test]
fn of_what_never_stood_there_nothing_is_lost() {
    let memory = Memory::new();
    let tells = |entry: &str, at| !memory.keep_said(&place(0), vec![(entry.to_owned(), said("{}", at))]).is_empty();
    assert!(tells("a", 1000) && tells("b", 1000));
    // `b` waits still.
    memory.told(&place(0), ["a"], 7, true);
    assert!(!tells("b", 1001));
}

#[cfg(feature = "valkey")]
#[test]
fn what_was_said_later_counts_and_nothing_was_said_tomorrow() {
    let memory = Memory::new();
    remember(&memory, 0, "a", 10);
    memory.add_shared(&place(0), vec![("a".to_owned(), said(r#"{"old":1}"#, 9))], 1);
    assert_eq!(memory.recall(&place(0), "a", 0).map(|said| said.text), Some("{}".into()));
    memory.add_shared(&place(0), vec![("a".to_owned(), said(r#"{"new":1}"#, u64::MAX))], 2);
    let new = memory.recall(&place(0), "a", 0).expect("it is known");
    assert_eq!(new.text, r#"{"new":1}"#);
    assert!(new.at < u64::MAX, "the clock of another machine makes nothing last");
}
