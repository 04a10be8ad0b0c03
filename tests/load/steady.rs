//! A steady rate for a while: requests of every kind, streams that come and go, and a server that fails now and then.
//! Every answer is compared with what it must be, and memory must not grow.

use std::ops::AddAssign;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use http::Uri;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time;

use crate::client::{Caller, Connection, Era, Events, Failure, Http, kind, read};
use crate::process::{FULL_STACK, Proxy, becomes};
use crate::upstream::{PAGE, Upstream, progress};
use crate::{Options, Report};

const WORKERS: u64 = 16;
const STREAMS_A_CONNECTION: u64 = 100;
/// A client opens a new session after so many requests.
const SESSION_REQUESTS: u64 = 100;
const A_SECOND: Duration = Duration::from_secs(1);
/// How long it may take until all is there that is kept: pools, and the gate's catalogues, of which each new session brings
/// one until there are 1024. A run that is shorter than twice that is compared from its half on.
const SETTLED: usize = 300;
/// What allocators may still take then.
const SLACK: u64 = 1 << 20;
/// What catalogues may still take in a run that is too short to have them all.
const CATALOGUES: u64 = 8 << 20;

/// What all clients share.
struct Board {
    upstream: Upstream,
    url: Uri,
    end: Instant,
    next: AtomicU64,
}

/// What came of it.
#[derive(Default)]
struct Tally {
    answers: u64,
    refusals: u64,
    failures: u64,
    events: u64,
    ended: u64,
    left: u64,
    /// The longest that the server went on after its client had left.
    unseen: Duration,
    /// Of each answer, in microseconds.
    times: Vec<u32>,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.answers += other.answers;
        self.refusals += other.refusals;
        self.failures += other.failures;
        self.events += other.events;
        self.ended += other.ended;
        self.left += other.left;
        self.unseen = self.unseen.max(other.unseen);
        self.times.extend(other.times);
    }
}

pub async fn run(options: &Options, report: &mut Report) {
    println!("\n{} s at {} requests/s with {} streams, all options", options.seconds, options.rate, options.held);
    let upstream = Upstream::start().await;
    let mut proxy = Proxy::start(&options.proxy, ([127, 0, 0, 1], 0).into(), &upstream.url, &FULL_STACK);
    let end = Instant::now() + Duration::from_secs(options.seconds);
    let board = Arc::new(Board { upstream, url: proxy.url.clone(), end, next: AtomicU64::new(1) });
    let mut clients = JoinSet::new();
    for number in 0..WORKERS {
        clients.spawn(board.clone().ask(number, A_SECOND * WORKERS as u32 / options.rate));
    }
    for first in (0..options.held).step_by(STREAMS_A_CONNECTION as usize) {
        let mut connection = Connection::open(&board.url, Http::Second).await.unwrap();
        let mut caller = Caller::new(Era::Legacy, (first / STREAMS_A_CONNECTION).is_multiple_of(2));
        caller.initialize(&board.url, &mut connection).await.unwrap();
        for _ in first..options.held.min(first + STREAMS_A_CONNECTION) {
            clients.spawn(board.clone().watch(connection.share().unwrap(), caller.clone()));
        }
    }

    let samples = sample(&board, &proxy).await;
    let mut tally = Tally::default();
    while let Some(ended) = clients.join_next().await {
        tally += ended.unwrap();
    }
    tell(&mut tally, report);
    check_memory(&samples, report);
    let closed = becomes(A_SECOND * 10, || proxy.files() < samples[0].1).await;
    report.check(closed && board.upstream.open() == 0, format_args!("all is closed: {} files are left", proxy.files()));
    proxy.terminate();
    report.check(proxy.ended(A_SECOND * 10).await, "the proxy ends when told to");
}

/// Ticks once a second to the end, and notes memory and files.
async fn sample(board: &Board, proxy: &Proxy) -> Vec<(u64, usize)> {
    let mut samples = Vec::new();
    let mut pace = time::interval(A_SECOND);
    while Instant::now() < board.end {
        pace.tick().await;
        board.upstream.tick();
        let now = (proxy.memory(), proxy.files());
        if samples.len() % 60 == 30 {
            let (asked, open) = (board.next.load(Ordering::Relaxed), board.upstream.open());
            println!("      {} s: {} KiB, {} files, {open} streams, {asked} asked", samples.len(), now.0 / 1024, now.1);
        }
        samples.push(now);
    }
    samples
}

fn tell(tally: &mut Tally, report: &mut Report) {
    let times = &mut tally.times;
    times.sort_unstable();
    let at =
        |share: f64| times.get((times.len() as f64 * share) as usize).or(times.last()).copied().unwrap_or_default();
    let times = format!("median {} µs, p99 {} µs, at most {} µs", at(0.5), at(0.99), at(1.0));
    let Tally { answers, refusals, failures, events, ended, left, unseen, .. } = tally;
    report.check(*answers > 0, format_args!("{answers} answers, none lost and none wrong: {times}"));
    report.check(*refusals > 0, format_args!("{refusals} calls of a hidden tool, none ran"));
    report.check(*failures > 0, format_args!("{failures} answers that broke off did so for the client, too"));
    report.check(*ended > 0, format_args!("{ended} streams ended with their answer, {events} events in their places"));
    report.check(
        *left > 0 && *unseen < A_SECOND,
        format_args!("{left} streams that their client left were seen to be, within {unseen:.1?}"),
    );
}

/// Once it has settled, the second half of the time may not need more than the first.
fn check_memory(samples: &[(u64, usize)], report: &mut Report) {
    let settled = &samples[SETTLED.min(samples.len() / 2)..];
    let (early, late) = settled.split_at(settled.len() / 2);
    let memory = |samples: &[(u64, usize)]| {
        let mut memory: Vec<_> = samples.iter().map(|sample| sample.0).collect();
        memory.sort_unstable();
        memory[memory.len() / 2]
    };
    let files = |samples: &[(u64, usize)]| samples.iter().map(|sample| sample.1).max().unwrap_or_default();
    let (before, after) = (memory(early), memory(late));
    let slack = if samples.len() < 2 * SETTLED { CATALOGUES } else { SLACK };
    report.check(
        after <= before + before / 20 + slack,
        format_args!("memory is flat: {} KiB, then {} KiB", before / 1024, after / 1024),
    );
    let (before, after) = (files(early), files(late));
    report.check(after <= before + before / 10, format_args!("so are open files: at most {before}, then {after}"));
}

impl Board {
    fn next(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// One request after the other, at its pace.
    async fn ask(self: Arc<Self>, number: u64, pace: Duration) -> Tally {
        let (http, mut caller) = kind(number);
        let mut connection = Connection::open(&self.url, http).await.unwrap();
        let mut pace = time::interval(pace);
        let mut tally = Tally::default();
        for turn in number.. {
            pace.tick().await;
            if Instant::now() >= self.end {
                break;
            }
            if tally.answers.is_multiple_of(SESSION_REQUESTS) {
                caller.initialize(&self.url, &mut connection).await.unwrap();
            }
            let id = self.next();
            let began = Instant::now();
            match turn % 20 {
                0..=8 => self.call("work", &caller, &mut connection, id, &mut tally).await,
                9..=12 => self.list(&caller, &mut connection, id).await,
                13..=15 => self.read(&caller, &mut connection, id).await,
                16 | 17 => self.call("poll", &caller, &mut connection, id, &mut tally).await,
                which => {
                    let name = if which == 18 { "dies" } else { "short" };
                    self.fail(name, &caller, &mut connection, id).await;
                    tally.failures += 1;
                    if http == Http::First {
                        connection = Connection::open(&self.url, http).await.unwrap();
                    }
                }
            }
            tally.answers += 1;
            tally.times.push(began.elapsed().as_micros() as u32);
        }
        tally
    }

    async fn call(&self, name: &str, caller: &Caller, connection: &mut Connection, id: u64, tally: &mut Tally) {
        let answer =
            self.send("tools/call", json!({"name": name, "arguments": {"number": id}}), caller, connection, id);
        let answer = read(answer.await).await.unwrap();
        assert_eq!(answer["id"], id);
        let may_run = name != "poll" || caller.has_apps;
        if may_run {
            assert_eq!(answer["result"]["content"][0]["text"], id.to_string(), "{answer}");
        } else {
            assert_eq!(answer["error"]["code"], -32602, "{answer}");
            tally.refusals += 1;
        }
        assert_eq!(self.upstream.take_runs(id), u32::from(may_run), "{name}");
    }

    async fn list(&self, caller: &Caller, connection: &mut Connection, id: u64) {
        let answer = self.send("tools/list", json!({}), caller, connection, id).await;
        let answer = read(answer).await.unwrap();
        assert_eq!(answer["id"], id);
        check_tools(&answer, caller);
    }

    async fn read(&self, caller: &Caller, connection: &mut Connection, id: u64) {
        let answer = self.send("resources/read", json!({"uri": PAGE}), caller, connection, id).await;
        let answer = read(answer).await.unwrap();
        assert_eq!(answer["id"], id);
        let content = &answer["result"]["contents"][0];
        assert_eq!(content["text"].as_str().map(str::len), Some(20_000), "{answer}");
        if caller.has_apps {
            assert_eq!(content["_meta"]["ui"]["csp"], json!({"connectDomains": ["https://api.example.com"]}));
        }
    }

    /// A call whose answer breaks off: the client may not take it for a whole one.
    async fn fail(&self, name: &str, caller: &Caller, connection: &mut Connection, id: u64) {
        let params = json!({"name": name, "arguments": {"number": id}});
        let answer = connection.send(caller.request(&self.url, "tools/call", params, id)).await;
        let is_stream = name == "dies";
        match answer {
            Ok(answer) if is_stream => {
                let mut events = Events::of(answer);
                // A client may also get an error in the place of the rest.
                while let Ok(Some(message)) = events.next().await {
                    assert!(message == progress(id, 0) || message["error"]["code"] == -32603, "{message}");
                }
            }
            Ok(answer) => match read(answer).await {
                Ok(answer) => assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(id), &json!(-32603))),
                Err(failure) => assert!(matches!(failure, Failure::Lost(_)), "{failure:?}"),
            },
            Err(failure) => assert!(matches!(failure, Failure::Lost(_)), "{failure:?}"),
        }
        assert_eq!(self.upstream.take_runs(id), 1);
    }

    async fn send(
        &self,
        method: &str,
        params: Value,
        caller: &Caller,
        connection: &mut Connection,
        id: u64,
    ) -> http::Response<hyper::body::Incoming> {
        connection.send(caller.request(&self.url, method, params, id)).await.unwrap()
    }

    /// One stream after the other: some end by themselves, some are left.
    async fn watch(self: Arc<Self>, mut connection: Connection, caller: Caller) -> Tally {
        let mut tally = Tally::default();
        while Instant::now() < self.end {
            let number = self.next();
            let length = 5 + number as usize * 7 % 26;
            // A third listens, a third calls and leaves what has more to say, a third stays to the end.
            let is_call = !number.is_multiple_of(3);
            let is_left = number % 3 != 1;
            let events = if is_left { 2 * length } else { length };
            let request = match is_call {
                true => {
                    let params = json!({"name": "watch", "arguments": {"number": number, "events": events}});
                    caller.request(&self.url, "tools/call", params, number)
                }
                false => caller.listen(&self.url, number),
            };
            let mut stream = Events::of(connection.send(request).await.unwrap());
            let mut seen = 0;
            while seen < length && Instant::now() < self.end {
                assert_eq!(stream.next().await.unwrap(), Some(progress(number, seen)));
                seen += 1;
            }
            tally.events += seen as u64;
            if !is_left && seen == length {
                let answer = stream.next().await.unwrap().unwrap();
                assert_eq!(answer["result"]["content"][0]["text"], number.to_string());
                assert!(stream.next().await.unwrap().is_none());
                tally.ended += 1;
            }
            drop(stream);
            let left = Instant::now();
            assert!(becomes(A_SECOND * 10, || !self.upstream.is_open(number)).await, "stream {number} is still open");
            tally.unseen = tally.unseen.max(left.elapsed());
            tally.left += u64::from(is_left);
            self.upstream.take_runs(number);
        }
        tally
    }
}

/// What this caller must see of the server's tools.
pub fn check_tools(answer: &Value, caller: &Caller) {
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let find = |name| tools.iter().find(|tool| tool["name"] == name);
    assert_eq!(find("poll").is_some(), caller.has_apps, "{answer}");
    let link = &find("work").unwrap()["_meta"]["ui"]["resourceUri"];
    assert_eq!(link.as_str(), caller.has_apps.then_some(PAGE), "{answer}");
    assert_eq!(tools.len(), 5 + usize::from(caller.has_apps));
}
