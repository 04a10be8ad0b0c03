//! Which answers are remembered, what is made of them, and for how long.

use std::borrow::Cow;
use std::sync::PoisonError;
use std::time::Instant;

use bytes::Bytes;

use super::{Answer, Basis, Edited, Identified, MOST_LISTS, NOTED, Remembered, SHORTEST};
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

/// What an edit would make of it.
fn edited(id: &str, name: &str) -> Bytes {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":["{name}"]}}}}"#).into()
}

/// An answer as it comes: recalled, or edited and kept. Whether it was recalled, and what went out of it.
fn pass(remembered: &Remembered, basis: Basis<'_>, id: &str, message: &Bytes, becomes: &Bytes) -> (bool, Bytes) {
    let answer = Answer { basis, id: id.as_bytes(), message };
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

#[test]
fn what_comes_a_third_time_is_known_whatever_its_id() {
    for becomes in [edited, list] {
        let remembered = Remembered::new(1 << 20);
        for (id, known) in [("1", false), ("2", false), ("3", true), ("\"a-long-one\"", true), ("-1.5e3", true)] {
            let came = pass(&remembered, BASIS, id, &list(id, "a"), &becomes(id, "a"));
            assert_eq!(came, (known, becomes(id, "a")), "{id}");
        }
        // Not one that is different in any byte, nor one whose id is not what was asked for.
        assert!(!pass(&remembered, BASIS, "4", &list("4", "b"), &becomes("4", "b")).0);
        assert!(!pass(&remembered, BASIS, "4", &list("5", "a"), &becomes("5", "a")).0);
        assert!(!pass(&remembered, BASIS, "4", &list(" 4", "a"), &becomes("4", "a")).0);
    }
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
    // The length is known to have come, so each is kept at once.
    pass(&remembered, BASIS, "1", &list("1", "a"), &list("1", "a"));
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
        (r#"{"id":2,"result":{}}"#, false),
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
        let known: Vec<_> = (0..3).map(|_| pass(&remembered, BASIS, "1", &message, &message).0).collect();
        assert_eq!(known, [false, false, is_kept], "{message:?}");
    }
    // Also where only what became of it is not as it should be.
    let remembered = Remembered::new(1 << 20);
    let message = list("1", "a");
    let known = (0..3).any(|_| pass(&remembered, BASIS, "1", &message, &"[]".into()).0);
    assert!(!known);
}

#[test]
fn what_is_kept_is_bounded_and_what_is_used_stays() {
    let length = list("1", "").len();
    let most = 8 * length;
    let remembered = Remembered::new(most);
    let name = |number: usize| format!("{number:03}");
    let came = |number| {
        let list = list("1", &name(number));
        let is_known = pass(&remembered, BASIS, "1", &list, &list).0;
        assert!(bytes(&remembered) <= most);
        is_known
    };
    came(0);
    (0..8).for_each(|number| {
        came(number);
    });
    assert!((0..8).all(came));
    // One after the other that is used no more gives way, and the one that is used stays.
    for number in 8..100 {
        came(number);
        assert!(came(0), "{number}");
    }
    assert!(came(99) || came(98));
    // Of lists that take turns, more than there is room for, some stay.
    let known = (0..1000).filter(|turn| came(200 + turn % 12)).count();
    assert!(known > 500, "{known}");
}

#[test]
fn there_are_no_more_than_so_many_lists() {
    let remembered = Remembered::new(1 << 30);
    for number in 0..3 * MOST_LISTS {
        let list = list("1", &format!("{number:03}"));
        pass(&remembered, BASIS, "1", &list, &list);
    }
    assert_eq!(remembered.state.read().unwrap_or_else(PoisonError::into_inner).kept.len(), MOST_LISTS);
}

#[test]
fn what_came_once_long_ago_is_not_kept() {
    let remembered = Remembered::new(1 << 30);
    let come = |length: usize| {
        let list = list("1", &"y".repeat(SHORTEST + length));
        pass(&remembered, BASIS, "1", &list, &list);
    };
    (0..=NOTED).for_each(come);
    come(0);
    assert_eq!(bytes(&remembered), 0);
    come(0);
    assert_ne!(bytes(&remembered), 0);
}

#[test]
fn nothing_is_remembered_for_ever() {
    let remembered = Remembered::new(1 << 20);
    let message = list("1", "a");
    let came = || pass(&remembered, BASIS, "1", &message, &message).0;
    assert_eq!([came(), came(), came()], [false, false, true]);
    let age = || {
        let mut state = remembered.state.write().unwrap_or_else(PoisonError::into_inner);
        state.kept.iter_mut().for_each(|kept| kept.until = Instant::now());
    };
    age();
    assert_eq!([came(), came()], [false, true]);
    assert_eq!(bytes(&remembered), message.len());
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
    let kept = Identified::copy(&message, b"1", Depth::default()).map(|came| came.text.as_ptr_range());
    assert!(kept.is_some_and(|kept| kept != message.as_ptr_range()));
    let remembered = Remembered::new(1 << 20);
    let answer = || Answer { basis: BASIS, id: b"1", message: &message };
    for _ in 0..2 {
        remembered.keep(answer(), Depth::default(), &Edited::To(message.clone().into()));
    }
    let frames = || match remembered.recall(&answer()) {
        Some(Edited::To(frames)) => frames.map(|frame| frame.as_ptr_range()).collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    let (one, two) = (frames(), frames());
    assert_eq!((one.len(), one[1].clone()), (2, two[1].clone()));
}
