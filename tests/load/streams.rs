//! Many event streams at once: that they open, that each gets every event, what one costs, and that all is given back.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use http::Uri;
use serde_json::json;
use tokio::sync::Mutex;
use tokio::task::{AbortHandle, JoinSet};

use crate::client::{Caller, Connection, Era, Events, Http};
use crate::process::{FULL_STACK, Proxy, becomes};
use crate::upstream::{Upstream, progress};
use crate::{Options, Report};

/// What servers commonly allow on a connection.
const STREAMS_A_CONNECTION: usize = 200;
const TICKS: usize = 10;
/// For thousands of streams on a slow machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// How many more files than before may be open once all is closed.
const FEW: usize = 8;

pub async fn run(options: &Options, report: &mut Report) {
    let bare = Subject::start("bare_proxy", &options.bare, &[], options.streams, report).await;
    let bare = bare.cost(report).await;
    let full = Subject::start("reverse_proxy, all options", &options.proxy, &FULL_STACK, options.streams, report).await;
    let with_layers = full.cost(report).await;
    report.tell("what the layers add to a stream", format_args!("{} bytes", with_layers as i64 - bare as i64));
    full.again(report).await;
}

/// A proxy that is used for the first time.
struct Subject {
    proxy: Proxy,
    upstream: Upstream,
    count: usize,
    /// Before the streams.
    memory: u64,
    files: usize,
}

impl Subject {
    async fn start(name: &str, program: &Path, flags: &[&str], count: usize, report: &mut Report) -> Self {
        println!("\n{count} event streams through {name}");
        let upstream = Upstream::start().await;
        let proxy = Proxy::start(program, ([127, 0, 0, 1], 0).into(), &upstream.url, flags);
        // What comes once: pools, buffers of the runtime.
        round(&proxy, &upstream, count / 20, 1 << 40, &mut Report::default()).await;
        let (memory, files) = (proxy.memory(), proxy.files());
        report.tell("before", format_args!("{} KiB, {files} files", memory / 1024));
        Self { proxy, upstream, count, memory, files }
    }

    /// Gives the bytes that a stream keeps in the proxy.
    async fn cost(&self, report: &mut Report) -> u64 {
        let memory = round(&self.proxy, &self.upstream, self.count, 0, report).await;
        let per_stream = memory.saturating_sub(self.memory) / self.count as u64;
        report.tell("memory of a stream", format_args!("{per_stream} bytes"));
        let few = becomes(PATIENCE, || self.proxy.files() <= self.files + FEW).await;
        report.check(few, format_args!("files are closed: {} before, {} after", self.files, self.proxy.files()));
        per_stream
    }

    /// That no stream stays behind: the next time takes little more. Some it does, without the layers too, since what an
    /// allocator gets back from thousands at once it cannot use as well as what is new.
    async fn again(&self, report: &mut Report) {
        let before = round(&self.proxy, &self.upstream, self.count, 1 << 41, report).await;
        let after = round(&self.proxy, &self.upstream, self.count, 1 << 42, report).await;
        report.check(
            after < before + before / 4,
            format_args!("the next time takes about as much: {} KiB, then {} KiB", before / 1024, after / 1024),
        );
    }
}

/// Opens, uses and closes them. Gives the proxy's memory while all were open.
async fn round(proxy: &Proxy, upstream: &Upstream, count: usize, numbers: u64, report: &mut Report) -> u64 {
    let began = Instant::now();
    let arrived = Arc::new(AtomicUsize::new(0));
    let opened = open_all(&proxy.url, count, numbers, &arrived).await;
    let mut streams = opened.tasks;
    report.check(upstream.open() == count, format_args!("{} are open, after {:.1?}", upstream.open(), began.elapsed()));
    let memory = proxy.memory();

    let mut slowest = Duration::ZERO;
    for tick in 1..TICKS {
        let began = Instant::now();
        upstream.tick();
        let all = becomes(PATIENCE, || arrived.load(Ordering::Relaxed) >= tick * count).await;
        slowest = slowest.max(began.elapsed());
        if !all {
            report.check(false, format_args!("event {tick} reached {} in all", arrived.load(Ordering::Relaxed)));
        }
    }
    report.tell("slowest time until an event has reached all", format_args!("{slowest:.1?}"));

    let began = Instant::now();
    opened.one.abort();
    let seen = becomes(Duration::from_secs(1), || !upstream.is_open(numbers)).await;
    report.check(seen, format_args!("the server sees that a client left after {:.1?}", began.elapsed()));

    // The calls end with the last event, the others go on.
    upstream.tick();
    let (calls, others) = (count / 2, count - count / 2 - 1);
    let mut ended = 0;
    while ended < calls {
        match streams.join_next().await.unwrap() {
            Ok(()) => ended += 1,
            Err(left) => assert!(left.is_cancelled(), "{left}"),
        }
    }
    let all = TICKS * count - 1;
    let whole = becomes(PATIENCE, || arrived.load(Ordering::Relaxed) >= all).await;
    report.check(whole, format_args!("{} of {all} events arrived, each in its place", arrived.load(Ordering::Relaxed)));
    report.check(upstream.open() == others, format_args!("{ended} calls ended with their answer"));

    let began = Instant::now();
    streams.abort_all();
    let seen = becomes(PATIENCE, || upstream.open() == 0).await;
    report.check(seen, format_args!("the server sees that all clients left after {:.1?}", began.elapsed()));
    while streams.join_next().await.is_some() {}
    memory
}

struct Opened {
    tasks: JoinSet<()>,
    /// The first of the streams that a GET opened.
    one: AbortHandle,
}

/// Opens them over as few connections as they fit in, on each one after the other.
async fn open_all(url: &Uri, count: usize, numbers: u64, arrived: &Arc<AtomicUsize>) -> Opened {
    let tasks = Arc::new(Mutex::new((JoinSet::new(), None)));
    let mut connections = JoinSet::new();
    for first in (0..count).step_by(STREAMS_A_CONNECTION) {
        let (url, tasks, arrived) = (url.clone(), tasks.clone(), arrived.clone());
        connections.spawn(async move {
            let mut connection = Connection::open(&url, Http::Second).await.unwrap();
            let mut callers = [Caller::new(Era::Legacy, true), Caller::new(Era::Legacy, false)];
            for caller in &mut callers {
                caller.initialize(&url, &mut connection).await.unwrap();
            }
            for at in first..count.min(first + STREAMS_A_CONNECTION) {
                let (caller, is_call) = (&callers[at / 2 % 2], at % 2 == 1);
                let number = numbers + at as u64;
                let request = match is_call {
                    true => caller.request(
                        &url,
                        "tools/call",
                        json!({"name": "watch", "arguments": {"number": number, "events": TICKS}}),
                        number,
                    ),
                    false => caller.listen(&url, number),
                };
                let events = Events::of(connection.send(request).await.unwrap());
                let task = watch(events, number, is_call, arrived.clone());
                let mut tasks = tasks.lock().await;
                let handle = tasks.0.spawn(task);
                if at == 0 {
                    tasks.1 = Some(handle);
                }
            }
        });
    }
    while let Some(ended) = connections.join_next().await {
        ended.unwrap();
    }
    let Ok(tasks) = Arc::try_unwrap(tasks) else { unreachable!("all that had it have ended") };
    let (tasks, one) = tasks.into_inner();
    Opened { tasks, one: one.unwrap() }
}

/// Reads a stream to its end. Each event must be the one that follows.
async fn watch(mut events: Events, number: u64, is_call: bool, arrived: Arc<AtomicUsize>) {
    for sent in 0.. {
        let message = events.next().await.unwrap().unwrap_or_else(|| panic!("stream {number} is over"));
        if is_call && sent == TICKS {
            assert_eq!(
                (&message["id"], &message["result"]["content"][0]["text"]),
                (&json!(number), &json!(number.to_string()))
            );
            assert!(events.next().await.unwrap().is_none());
            return;
        }
        assert_eq!(message, progress(number, sent));
        arrived.fetch_add(1, Ordering::Relaxed);
    }
}
