//! How long a catalogue counts and how much is kept, by a clock of the test's own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderName, HeaderValue, Request};

use super::super::Tool;
use super::{ASK_AGAIN, Catalogue, Failure, Found, Keys, Lead, LookUp, MOST_BYTES, MOST_ENTRIES, Store, Tools};
use crate::exchange::{CallInfo, Calls, Declared, KnownBy, McpContext, ResolvedAudience};
use crate::json::Depth;
use crate::message::{MetaTools, Payload};
use crate::protocol::{Audience, Era, ToolVisibility};

/// The context of a call of this tool.
fn calls(name: &str) -> McpContext {
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}"}}}}"#);
    let body = Bytes::from(body);
    let payload = Payload::read(&body, Depth::default()).expect("a message");
    McpContext {
        calls: Calls::One(CallInfo::new(&payload.calls()[0], &body)),
        era: Era::Legacy,
        version: None,
        declared: Declared::NOTHING,
        audience: ResolvedAudience { audience: Audience::Model, known_by: KnownBy::Setting },
    }
}

/// The keys of a caller with this credential.
fn keys(store: &Store, credential: &str) -> Keys {
    let (mut parts, ()): (Parts, ()) = Request::new(()).into_parts();
    let value = HeaderValue::from_str(credential).expect("a header");
    parts.headers.insert(HeaderName::from_static("authorization"), value);
    store.keys(&parts, &calls("a"), None, &LookUp::new())
}

/// A catalogue that was asked for at this time, with one tool.
fn catalogue(asked: Instant, name: &str, fresh_for: Duration, is_public: bool) -> Catalogue {
    let mut tools = Tools::new(asked);
    tools.add(name, Tool { is_listed: true, visibility: ToolVisibility::Both });
    Catalogue { tools: Arc::new(tools), fresh_for, is_public }
}

impl Store {
    fn finds(&self, keys: &Keys, name: &str, now: Instant) -> Found {
        self.find(keys, &calls(name), &MetaTools::new(), now)
    }

    /// Begins a look-up, which nobody else does.
    fn lead(&self, keys: &Keys, name: &str, now: Instant) -> Lead {
        match self.finds(keys, name, now) {
            Found::Ask(lead, _) => lead,
            Found::Tools(_) => panic!("it is known"),
            Found::Wait(_) => panic!("somebody asks"),
        }
    }

    /// Asks and keeps what is found, with the tool `a`.
    fn learn(&self, keys: &Keys, now: Instant, fresh_for: Duration, is_public: bool) {
        let lead = self.lead(keys, "a", now);
        self.land(lead, keys, Ok(catalogue(now, "a", fresh_for, is_public))).expect("it was found");
    }

    fn knows(&self, keys: &Keys, name: &str, now: Instant) -> bool {
        matches!(self.finds(keys, name, now), Found::Tools(_))
    }
}

const SECOND: Duration = Duration::from_secs(1);
const MOMENT: Duration = Duration::from_nanos(1);

#[test]
fn a_catalogue_is_fresh_for_what_the_server_says_within_bounds() {
    let fresh = |options: LookUp, ttl_ms| options.fresh_for(ttl_ms);
    for (ttl_ms, seconds) in [
        (None, 5.0),
        (Some(0), 1.0),
        (Some(999), 1.0),
        (Some(1500), 1.5),
        (Some(59_999), 59.999),
        (Some(60_001), 60.0),
        (Some(u64::MAX), 60.0),
    ] {
        assert_eq!(fresh(LookUp::new(), ttl_ms), Duration::from_secs_f64(seconds), "{ttl_ms:?}");
    }
    let exact = || LookUp::new().at_least(Duration::ZERO);
    assert_eq!(fresh(exact(), Some(0)), Duration::ZERO);
    assert_eq!(fresh(exact(), Some(1)), Duration::from_millis(1));
    assert_eq!(fresh(exact(), None), 5 * SECOND);
    assert_eq!(fresh(LookUp::new().where_unsaid(30 * SECOND), None), 30 * SECOND);
    assert_eq!(fresh(LookUp::new().where_unsaid(90 * SECOND), None), 60 * SECOND);
    assert_eq!(fresh(LookUp::new().at_most(90 * SECOND), Some(u64::MAX)), 90 * SECOND);
    assert_eq!(fresh(LookUp::new().at_most(Duration::ZERO), Some(500)), SECOND, "the least counts more");
}

#[test]
fn a_catalogue_may_be_fresh_for_ever() {
    let (store, start) = (Store::new(), Instant::now());
    let keys = keys(&store, "ann");
    for options in [
        LookUp::new().at_least(Duration::MAX),
        LookUp::new().at_most(Duration::MAX).where_unsaid(Duration::MAX),
        LookUp::new().at_most(Duration::MAX),
    ] {
        for ttl_ms in [None, Some(0), Some(u64::MAX)] {
            // No clock that overflows.
            store.forget();
            store.learn(&keys, start, options.fresh_for(ttl_ms), false);
        }
    }
    assert!(store.knows(&keys, "a", start + Duration::from_secs(10 * 365 * 24 * 60 * 60)));
}

#[test]
fn it_is_fresh_from_when_it_was_asked_for_to_its_last_moment() {
    let (store, start) = (Store::new(), Instant::now());
    let keys = keys(&store, "ann");
    store.learn(&keys, start, 3 * SECOND, false);
    assert!(store.knows(&keys, "a", start + 3 * SECOND - MOMENT));
    assert!(!store.knows(&keys, "a", start + 3 * SECOND));
}

#[test]
fn what_is_fresh_for_no_time_is_not_kept() {
    let (store, start) = (Store::new(), Instant::now());
    let keys = keys(&store, "ann");
    store.learn(&keys, start, Duration::ZERO, false);
    assert!(!store.knows(&keys, "a", start));
}

#[test]
fn an_unknown_name_is_asked_for_again_once_a_second() {
    let (store, start) = (Store::new(), Instant::now());
    let keys = keys(&store, "ann");
    store.learn(&keys, start, 60 * SECOND, false);
    let mut last = start;
    for _ in 0..3 {
        assert!(store.knows(&keys, "no-such", last));
        assert!(store.knows(&keys, "no-such", last + ASK_AGAIN - MOMENT));
        let now = last + ASK_AGAIN;
        let lead = store.lead(&keys, "no-such", now);
        // Meanwhile nobody else asks, and who knows its name does not wait.
        assert!(matches!(store.finds(&keys, "other", now), Found::Wait(_)));
        assert!(store.knows(&keys, "a", now));
        store.land(lead, &keys, Ok(catalogue(now, "a", 60 * SECOND, false))).expect("it was found");
        last = now;
    }
}

#[test]
fn an_unknown_name_of_many_callers_is_asked_for_again_once_a_second_where_the_answer_is_public() {
    let (store, start) = (Store::new(), Instant::now());
    let (ann, bob) = (keys(&store, "ann"), keys(&store, "bob"));
    store.learn(&ann, start, 60 * SECOND, true);
    let lead = store.lead(&ann, "no-such", start + SECOND);
    store.land(lead, &ann, Ok(catalogue(start + SECOND, "a", 60 * SECOND, true))).expect("it was found");
    assert!(store.knows(&bob, "no-such", start + 2 * SECOND - MOMENT));
}

#[test]
fn public_answers_are_everybodys_and_private_ones_are_not() {
    let (store, start) = (Store::new(), Instant::now());
    let (ann, bob) = (keys(&store, "ann"), keys(&store, "bob"));
    store.learn(&ann, start, 60 * SECOND, false);
    assert!(store.knows(&ann, "a", start) && !store.knows(&bob, "a", start));
    let store = Store::new();
    let (ann, bob) = (keys(&store, "ann"), keys(&store, "bob"));
    store.learn(&ann, start, 60 * SECOND, true);
    assert!(store.knows(&ann, "a", start) && store.knows(&bob, "a", start));
}

#[test]
fn no_key_says_who_it_is_of() {
    // The secrets of two stores differ, so that nothing outside can be compared with a key.
    let (one, other) = (Store::new(), Store::new());
    assert_ne!(keys(&one, "ann"), keys(&other, "ann"));
    assert_eq!(keys(&one, "ann"), keys(&one, "ann"));
    assert_ne!(keys(&one, "ann"), keys(&one, "bob"));
    assert!(!format!("{one:?}{:?}", keys(&one, "s3cr3t")).contains("s3cr3t"));
}

#[test]
fn a_failure_is_not_kept() {
    let (store, start) = (Store::new(), Instant::now());
    let keys = keys(&store, "ann");
    let lead = store.lead(&keys, "a", start);
    assert!(store.land(lead, &keys, Err(Failure::new("no"))).is_err());
    drop(store.lead(&keys, "a", start));
    // Neither is it in the place of what is known.
    store.learn(&keys, start, 60 * SECOND, false);
    let lead = store.lead(&keys, "no-such", start + SECOND);
    assert!(store.land(lead, &keys, Err(Failure::new("no"))).is_err());
    assert!(store.knows(&keys, "a", start + SECOND));
}

#[test]
fn a_change_drops_everything_and_what_was_asked_before_it() {
    let (store, start) = (Store::new(), Instant::now());
    let (ann, bob) = (keys(&store, "ann"), keys(&store, "bob"));
    store.learn(&ann, start, 60 * SECOND, false);
    let before = store.lead(&bob, "a", start);
    store.forget();
    assert!(!store.knows(&ann, "a", start));
    // The look-up from before is not joined, and does not end the one after.
    let after = store.lead(&bob, "a", start);
    store.land(before, &bob, Ok(catalogue(start, "old", 60 * SECOND, false))).expect("it was found");
    assert!(matches!(store.finds(&bob, "old", start), Found::Wait(_)));
    store.land(after, &bob, Ok(catalogue(start, "new", 60 * SECOND, false))).expect("it was found");
    assert!(store.knows(&bob, "new", start));
}

#[test]
fn a_look_up_that_is_dropped_is_begun_again() {
    let (store, start) = (Store::new(), Instant::now());
    let keys = keys(&store, "ann");
    let lead = store.lead(&keys, "a", start);
    assert!(matches!(store.finds(&keys, "a", start), Found::Wait(_)));
    drop(lead);
    store.learn(&keys, start, SECOND, false);
    assert!(store.knows(&keys, "a", start));
}

#[test]
fn entries_are_bounded() {
    let (store, start) = (Store::new(), Instant::now());
    for caller in 0..3 * MOST_ENTRIES {
        store.learn(&keys(&store, &caller.to_string()), start, 60 * SECOND, false);
        assert!(store.lock().slots.len() <= MOST_ENTRIES);
    }
    // Also those of look-ups that nobody finished.
    for caller in 0..3 * MOST_ENTRIES {
        drop(store.lead(&keys(&store, &format!("gone {caller}")), "a", start));
        assert!(store.lock().slots.len() <= MOST_ENTRIES);
    }
    let last = keys(&store, "last");
    store.learn(&last, start, 60 * SECOND, false);
    assert!(store.knows(&last, "a", start));
}

#[test]
fn bytes_are_bounded_and_counted_right() {
    let (store, start) = (Store::new(), Instant::now());
    let name = "x".repeat(MOST_BYTES / 8);
    for caller in 0..40 {
        let keys = keys(&store, &caller.to_string());
        let lead = store.lead(&keys, "a", start);
        store.land(lead, &keys, Ok(catalogue(start, &name, 60 * SECOND, false))).expect("it was found");
        let kept = store.lock();
        let bytes: usize =
            kept.slots.values().filter_map(|slot| slot.tools.as_ref()).map(|(tools, _)| tools.bytes()).sum();
        assert_eq!(kept.bytes, bytes);
        assert!(bytes <= MOST_BYTES);
    }
    store.forget();
    assert_eq!(store.lock().bytes, 0);
}

#[test]
fn what_is_stale_goes_first() {
    let (store, start) = (Store::new(), Instant::now());
    let lasting = keys(&store, "lasting");
    store.learn(&lasting, start, 60 * SECOND, false);
    for caller in 0..MOST_ENTRIES - 1 {
        store.learn(&keys(&store, &caller.to_string()), start, SECOND, false);
    }
    let now = start + 2 * SECOND;
    store.learn(&keys(&store, "new"), now, SECOND, false);
    assert!(store.knows(&lasting, "a", now));
}
