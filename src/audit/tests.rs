//! Sinks and renderings, one by one.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::mpsc::{channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use tracing::field::{Field, Visit};
use tracing::span;

use super::{Background, End, Record, Sink, TRACING_TARGET, TracingSink};
use crate::exchange::{Decision, KnownBy, Reason, ResolvedAudience};
use crate::protocol::{Audience, ToolVisibility};

const LONG: Duration = Duration::from_secs(20);

fn record() -> Record {
    let mut record = Record::begun(SystemTime::UNIX_EPOCH + Duration::from_millis(1_500));
    record.tool = Some(crate::exchange::Text::of_static("poll \"x\"\n"));
    record.method = Some(crate::exchange::Text::of_static("tools/call"));
    record.id = Some(Bytes::from_static(br#""a\u0062""#));
    record.messages = 1;
    record.audience = Some(ResolvedAudience { audience: Audience::App, known_by: KnownBy::Header });
    record.decide(&Decision::refused(Some(Reason::Hidden)).with_tool("poll \"x\"\n", ToolVisibility::Model));
    record.status = Some(http::StatusCode::OK);
    record.duration = Duration::from_micros(250);
    record.bytes = 77;
    record.end = End::Complete;
    record
}

#[test]
fn a_line_of_json() {
    let expected = concat!(
        r#"{"time_ms":1500,"method":"tools/call","tool":"poll \"x\"\n","id":"a\u0062","audience":"app","known_by":"header","#,
        r#""visibility":"model","decision":"refused","reason":"hidden","status":200,"duration_us":250,"bytes":77,"end":"complete"}"#
    );
    assert_eq!(String::from_utf8_lossy(&record().to_json()), expected);

    let blank = Record::begun(SystemTime::UNIX_EPOCH).to_json();
    let expected =
        r#"{"time_ms":0,"audience":"unknown","decision":"undecided","duration_us":0,"bytes":0,"end":"client_gone"}"#;
    assert_eq!(String::from_utf8_lossy(&blank), expected);
}

#[test]
fn an_audience_that_makes_no_sense_is_not_known() {
    let mut record = record();
    record.decide(&Decision::refused(Some(Reason::OddAudience)));
    assert_eq!(record.audience(), None);
}

#[test]
fn events_of_tracing_have_the_names_of_opentelemetry() {
    let kept = Kept::default();
    tracing::subscriber::with_default(kept.clone(), || TracingSink.record(&record()));
    let kept = kept.0.lock().unwrap();
    let expected = [
        ("error.type", "hidden"),
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "poll \"x\"\n"),
        ("http.response.body.size", "77"),
        ("http.response.status_code", "200"),
        ("jsonrpc.request.id", "ab"),
        ("mcp.method.name", "tools/call"),
        ("mcp_apps.audience", "app"),
        ("mcp_apps.decision", "refused"),
        ("mcp_apps.duration", "0.00025"),
        ("mcp_apps.end", "complete"),
        ("mcp_apps.known_by", "header"),
        ("mcp_apps.messages", "1"),
        ("mcp_apps.reason", "hidden"),
        ("mcp_apps.visibility", "model"),
    ];
    let expected: BTreeMap<_, _> = expected.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    assert_eq!(*kept, expected);
}

/// Keeps the fields of the events of our target.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<BTreeMap<String, String>>>);

impl tracing::Subscriber for Kept {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target() == TRACING_TARGET
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut Fields(&mut self.0.lock().unwrap()));
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

struct Fields<'a>(&'a mut BTreeMap<String, String>);

impl Visit for Fields<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().into(), value.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().into(), format!("{value:?}"));
    }
}

#[test]
fn a_sink_that_blocks_holds_up_nobody() {
    let (release, wait) = sync_channel::<()>(0);
    let wait = Mutex::new(wait);
    let (began, begun) = channel();
    let sink = Background::with_capacity(
        move |_: &Record| {
            began.send(()).unwrap();
            wait.lock().unwrap().recv().unwrap();
        },
        2,
    )
    .unwrap();
    sink.record(&record());
    begun.recv_timeout(LONG).expect("the sink has the first");
    // Two wait, the others are lost.
    (0..5).for_each(|_| sink.record(&record()));
    assert_eq!(sink.lost(), 3);
    assert!(!sink.flush(Duration::from_millis(1)));
    (0..3).for_each(|_| release.send(()).unwrap());
    assert!(sink.flush(LONG));
    assert_eq!(sink.lost(), 3);
}

#[test]
fn a_sink_that_panics_goes_on() {
    let (out, kept) = channel();
    let sink = Background::new(move |record: &Record| {
        assert!(record.bytes() != 77, "this one panics");
        out.send(record.bytes()).unwrap();
    })
    .unwrap();
    sink.record(&record());
    sink.record(&Record { bytes: 1, ..record() });
    assert!(sink.flush(LONG));
    assert_eq!((kept.try_recv(), sink.lost()), (Ok(1), 1));
}

#[test]
fn the_thread_ends_when_all_sinks_are_gone_and_all_is_written() {
    let (out, kept) = channel();
    let sink = Background::new(move |record: &Record| out.send(record.bytes()).unwrap()).unwrap();
    (0..100).for_each(|_| sink.record(&record()));
    drop(sink);
    // Ends, since the closure goes with the thread.
    assert_eq!(kept.iter().count(), 100);
}
