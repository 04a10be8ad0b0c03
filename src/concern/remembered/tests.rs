//! Which answers are remembered, what is made of them, and for how long.

use std::borrow::Cow;
use std::sync::{Arc, PoisonError};

use bytes::Bytes;

use super::{Answer, Basis, Edited, LIFETIME, MOST_LISTS, MOST_SKIPS, Remembered, SHORTEST};
use crate::exchange::{KnownBy, ResolvedAudience};
use crate::json::Depth;
use crate::protocol::{Audience, Era, Method};

const BASIS: Basis<'static> = Basis {
    method: Method::ToolsList,
    has_cursor: false,
    era: Era::Legacy,
    audience: ResolvedAudience { audience: Audience::Model, known_by: KnownBy::Declaration },
    extensions: None,
};

/// A list of one tool with this name, which is long.
fn list(id: &str, name: &str) -> Bytes {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{{"name":"{name:x<SHORTEST$}"}}]}}}}"#).into()
}

/// A list whose length that of no other number is; that of 0 is the length of [`list`].
fn of_own_length(number: usize) -> Bytes {
    list("1", &"y".repeat(SHORTEST + number))
}

/// What an edit would make of it.
fn edited(id: &str, name: &str) -> Bytes {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":["{name}"]}}}}"#).into()
}

/// An answer as it comes: recalled, or edited and kept. Whether it was recalled, and what went out of it.
fn pass(remembered: &Remembered, basis: Basis<'_>, id: &str, message: &Bytes, becomes: &Bytes) -> (bool, Bytes) {
    let answer = Answer { basis, id: Bytes::copy_from_slice(id.as_bytes()), message };
    let (is_known, edited) = match remembered.recall(&answer) {
        Some(edited) => (true, edited),
        None => {
            let edited = if becomes == message { Edited::Not } else { Edited::To(becomes.clone().into()) };
            remembered.keep(answer, Depth::default(), &edited);
            (false, edited)
        }
    };
    match edited {
        Edited::Not => (is_known, message.clone()),
        Edited::To(frames) => (is_known, frames.to_bytes()),
        Edited::Mended(_) | Edited::Refused(..) | Edited::Unreadable => unreachable!("nothing like it is kept"),
    }
}

fn bytes(remembered: &Remembered) -> usize {
    remembered.state.read().unwrap_or_else(PoisonError::into_inner).bytes
}

fn came(remembered: &Remembered, message: &Bytes) -> bool {
    pass(remembered, BASIS, "1", message, message).0
}

#[test]
fn what_comes_again_is_known_whatever_its_id() {
    for becomes in [edited, list] {
        let remembered = Remembered::new(1 << 20);
        for (id, known) in [("1", false), ("2", true), ("\"a-long-one\"", true), ("-1.5e3", true)] {
            let came = pass(&remembered, BASIS, id, &list(id, "a"), &becomes(id, "a"));
            assert_eq!(came, (known, becomes(id, "a")), "{id}");
        }
    }
}

#[test]
fn the_id_may_stand_behind_the_result() {
    let text = |id: &str, tool: &str| Bytes::from(format!(r#"{{"result":["{tool}"],"id":{id}}}"#));
    let remembered = Remembered::new(1 << 20);
    let tool = "x".repeat(SHORTEST);
    for (id, known) in [("1", false), ("\"1\"", true), ("12", true)] {
        assert_eq!(pass(&remembered, BASIS, id, &text(id, &tool), &text(id, "y")), (known, text(id, "y")));
    }
}

#[test]
fn what_differs_in_any_byte_is_not_known() {
    let known = |id: &str, message: &Bytes| {
        let remembered = Remembered::new(1 << 20);
        pass(&remembered, BASIS, "1", &list("1", "a"), &edited("1", "a"));
        pass(&remembered, BASIS, id, message, &edited(id, "a")).0
    };
    assert!(known("4", &list("4", "a")));
    assert!(!known("4", &list("4", "b")));
    // Nor what has another id than what was asked.
    assert!(!known("4", &list("5", "a")));
    assert!(!known("4", &list(" 4", "a")));
    assert!(!known("4", &list("44", "a")));
}

#[test]
fn it_is_known_to_those_alone_who_ask_alike() {
    let remembered = Remembered::new(1 << 20);
    let host = ResolvedAudience { audience: Audience::Host, known_by: KnownBy::Declaration };
    let extensions = Some(Cow::Borrowed(&b"{}"[..]));
    let bases = [
        BASIS,
        Basis { method: Method::ResourcesList, ..BASIS },
        Basis { has_cursor: true, ..BASIS },
        Basis { era: Era::Modern, ..BASIS },
        Basis { audience: host, ..BASIS },
        Basis { extensions, ..BASIS },
    ];
    for (number, basis) in bases.iter().enumerate() {
        let became = edited("1", &number.to_string());
        assert_eq!(pass(&remembered, basis.clone(), "1", &list("1", "a"), &became), (false, became));
    }
    for (number, basis) in bases.iter().enumerate() {
        let became = edited("2", &number.to_string());
        assert_eq!(pass(&remembered, basis.clone(), "2", &list("2", "a"), &Bytes::new()), (true, became));
    }
}

#[test]
fn only_results_that_say_nothing_else_are_kept() {
    let pad = " ".repeat(SHORTEST);
    for (message, is_kept) in [
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, true),
        (r#"{"result":{},"id":1}"#, true),
        (r#" { "id" : 1 , "result" : { "id" : 2 } } "#, true),
        (r#"{"\u0069d":1,"result":{}}"#, true),
        (r#"{"id":1.0,"result":{}}"#, false),
        (r#"{"id":1,"id":1,"result":{}}"#, false),
        (r#"{"id":1,"result":{},"result":{}}"#, false),
        (r#"{"id":1,"result":{},"error":{}}"#, false),
        (r#"{"id":1,"error":{}}"#, false),
        (r#"{"id":1,"result":{},"method":"notifications/tools/list_changed"}"#, false),
        (r#"{"id":1,"result":{},"Result":{}}"#, false),
        (r#"[{"id":1,"result":{}}]"#, false),
        (r#"{"id":1,"result":{}"#, false),
        (r#"{"id":1,"result":{}}}"#, false),
    ] {
        let remembered = Remembered::new(1 << 20);
        let message = Bytes::from([message, &pad].concat());
        assert_eq!([(); 2].map(|()| came(&remembered, &message)), [false, is_kept], "{message:?}");
    }
}

#[test]
fn an_answer_to_something_else_is_not_kept() {
    // It was edited by its shape; who has asked this gets it by its method.
    let remembered = Remembered::new(1 << 20);
    pass(&remembered, BASIS, "1", &list("2", "a"), &edited("2", "by its shape"));
    assert!(!pass(&remembered, BASIS, "2", &list("2", "a"), &edited("2", "a")).0);
}

#[test]
fn what_takes_the_place_of_an_answer_is_not_kept() {
    let message = list("1", "a");
    let id = Bytes::from_static(b"1");
    let answer = || Answer { basis: BASIS, id: id.clone(), message: &message };
    for edited in [
        Edited::Mended(edited("1", "a").into()),
        Edited::Refused(edited("1", "a").into(), None),
        Edited::Unreadable,
        Edited::To(edited("2", "another id").into()),
    ] {
        let remembered = Remembered::new(1 << 20);
        remembered.keep(answer(), Depth::default(), &edited);
        assert!(remembered.recall(&answer()).is_none());
    }
}

#[test]
fn what_has_a_longer_id_than_its_answer_is_long_is_nothing_to_remember() {
    let remembered = Remembered::new(1 << 20);
    let message = Bytes::from(format!(r#"{{"id":null,"error":"{}"}}"#, "x".repeat(SHORTEST)));
    assert!(!pass(&remembered, BASIS, &"1".repeat(4 * SHORTEST), &message, &message).0);
}

#[test]
fn what_is_kept_is_bounded_and_what_is_used_stays() {
    let most = 8 * of_own_length(20).len();
    let remembered = Remembered::new(most);
    let came = |number| {
        let is_known = came(&remembered, &of_own_length(number));
        assert!(bytes(&remembered) <= most);
        is_known
    };
    for number in 0..8 {
        assert!(!came(number));
    }
    assert!((0..8).all(came));
    // One after the other that is used no more gives way, and the one that is used stays.
    for number in 8..20 {
        came(number);
        assert!(came(0), "{number}");
    }
    // Of lists that take turns, more than there is room for, some stay.
    let known = (0..1000).filter(|turn| came(turn % 12)).count();
    assert!(known > 500, "{known}");
}

#[test]
fn all_that_is_kept_counts() {
    let extensions = |byte| Some(Cow::Owned(vec![byte; 10_000]));
    let message = list("1", "a");
    let remembered = Remembered::new(40_000);
    for byte in 0..20 {
        let basis = Basis { extensions: extensions(byte), ..BASIS };
        pass(&remembered, basis, "1", &message, &edited("1", &"z".repeat(4_000)));
    }
    let of_each = message.len() + edited("1", &"z".repeat(4_000)).len() + 10_000;
    assert_eq!(bytes(&remembered), 2 * of_each);
    // What is longer than all that may be kept takes the place of nothing.
    let longer = Basis { extensions: Some(Cow::Owned(vec![0; 40_000])), ..BASIS };
    for _ in 0..3 * MOST_SKIPS {
        assert!(!pass(&remembered, longer.clone(), "1", &message, &message).0);
        assert!(!pass(&remembered, BASIS, "1", &message, &edited("1", &"z".repeat(40_000))).0);
    }
    assert_eq!(bytes(&remembered), 2 * of_each);
}

#[test]
fn there_are_no_more_than_so_many_lists() {
    let remembered = Remembered::new(1 << 30);
    for number in 0..3 * MOST_LISTS {
        came(&remembered, &of_own_length(number));
    }
    assert_eq!(remembered.state.read().unwrap_or_else(PoisonError::into_inner).kept.len(), MOST_LISTS);
}

#[test]
fn of_equally_long_lists_one_is_kept() {
    let kept = |remembered: &Remembered| remembered.state.read().unwrap_or_else(PoisonError::into_inner).kept.len();
    let remembered = Remembered::new(1 << 20);
    assert_eq!(["a", "b", "b"].map(|name| came(&remembered, &list("1", name))), [false, false, true]);
    // One that is used stays until it is used no more.
    let remembered = Remembered::new(1 << 20);
    let turns = ["a", "a", "b", "a", "b", "b", "b"].map(|name| came(&remembered, &list("1", name)));
    assert_eq!(turns, [false, true, false, true, false, false, true]);
    assert_eq!(kept(&remembered), 1);
    // Many who ask at the same time, before it is known, keep one.
    let remembered = Remembered::new(1 << 20);
    for id in ["2", "3", "44"] {
        remembered.keep(
            Answer { basis: BASIS, id: Bytes::copy_from_slice(id.as_bytes()), message: &list(id, "a") },
            Depth::default(),
            &Edited::Not,
        );
    }
    assert_eq!((kept(&remembered), came(&remembered, &list("1", "a"))), (1, true));
    // None of them in vain.
    assert_eq!(remembered.state.read().unwrap_or_else(PoisonError::into_inner).penalty, 0);
}

#[test]
fn lists_that_never_come_again_are_seldom_copied() {
    let remembered = Remembered::new(1 << 20);
    let copied = (0..1000).filter(|number| {
        let list = list("1", &format!("{number:04}"));
        came(&remembered, &list);
        let state = remembered.state.read().unwrap_or_else(PoisonError::into_inner);
        state.kept.iter().any(|kept| kept.came.text == list)
    });
    let copied = copied.count();
    assert!((10..30).contains(&copied), "{copied}");
}

#[test]
fn where_lists_come_again_others_are_kept_at_once() {
    let remembered = Remembered::new(2 * of_own_length(9).len());
    let penalty = || remembered.state.read().unwrap_or_else(PoisonError::into_inner).penalty;
    (0..200).for_each(|number| assert!(!came(&remembered, &list("1", &format!("{number:04}")))));
    assert_eq!(penalty(), MOST_SKIPS);
    let used = of_own_length(2);
    while !came(&remembered, &used) {}
    // One that would take the place of what is used tells that lists do come again.
    let is_forgiven = (0..1000).any(|number| {
        came(&remembered, &of_own_length(3 + number % 3));
        came(&remembered, &used);
        penalty() == 0
    });
    assert!(is_forgiven);
}

#[test]
fn nothing_is_remembered_for_ever() {
    let remembered = Remembered::new(1 << 20);
    let message = list("1", "a");
    assert_eq!([(); 2].map(|()| came(&remembered, &message)), [false, true]);
    {
        let mut state = remembered.state.write().unwrap_or_else(PoisonError::into_inner);
        state.kept.iter_mut().for_each(|kept| Arc::get_mut(kept).expect("nobody compares").until -= LIFETIME);
    }
    assert!(remembered.recall(&Answer { basis: BASIS, id: Bytes::from_static(b"1"), message: &message }).is_none());
    // Whatever is kept next, it is gone.
    came(&remembered, &of_own_length(0));
    assert_eq!(bytes(&remembered), of_own_length(0).len());
    assert_eq!([(); 2].map(|()| came(&remembered, &message)), [false, true]);
}

#[test]
fn what_is_short_or_too_long_is_edited_anew() {
    let remembered = Remembered::new(1 << 20);
    assert!(!remembered.takes(SHORTEST - 1) && remembered.takes(SHORTEST));
    assert!(remembered.takes(1 << 18) && !remembered.takes((1 << 18) + 1));
    assert!(!Remembered::new(0).takes(SHORTEST));
}

#[test]
fn a_long_list_goes_out_without_a_copy() {
    let message = Bytes::from(format!(r#"{{"id":1,"result":"{}"}}"#, "x".repeat(1 << 16)));
    let remembered = Remembered::new(1 << 20);
    let id = Bytes::from_static(b"1");
    let answer = || Answer { basis: BASIS, id: id.clone(), message: &message };
    remembered.keep(answer(), Depth::default(), &Edited::To(message.clone().into()));
    let frames = || match remembered.recall(&answer()) {
        Some(Edited::To(frames)) => frames.map(|frame| frame.as_ptr_range()).collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    let (one, two) = (frames(), frames());
    assert_eq!((one.len(), one[1].clone()), (2, two[1].clone()));
}

#[test]
fn what_comes_is_compared_piece_by_piece() {
    let remembered = Remembered::new(1 << 20);
    let edited = edited("1", "a");
    assert!(!pass(&remembered, BASIS, "1", &list("1", "a"), &edited).0);
    let id = Bytes::from_static(b"\"x y\"");
    let message = list("\"x y\"", "a");
    let compare = || remembered.compare(&BASIS, id.clone(), message.len()).expect("one of this length");
    for size in [1, 2, 7, 20, 40, message.len()] {
        let mut comparison = compare();
        for (number, piece) in message.chunks(size).enumerate() {
            assert_eq!(comparison.came().to_bytes(), message[..number * size]);
            assert!(!comparison.is_whole());
            assert!(comparison.goes_on(piece), "{size} {number}");
        }
        assert!(comparison.is_whole());
        assert!(!comparison.goes_on(b" "));
        assert_eq!(comparison.came().to_bytes(), message);
    }
    // A piece that is not as before changes nothing: what was before it is known.
    for at in 0..message.len() {
        let mut other = message.to_vec();
        other[at] ^= 1;
        let mut comparison = compare();
        let start = at.saturating_sub(3);
        assert!(comparison.goes_on(&other[..start]));
        assert!(!comparison.goes_on(&other[start..]), "{at}");
        assert_eq!(comparison.came().to_bytes(), message[..start]);
    }
    assert!(remembered.compare(&BASIS, id.clone(), message.len() + 1).is_none());
}
