//! The runs: which recordings are mutated, how, and how often.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Debug;
use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use super::dice::Dice;
use super::dress::dress;
use super::mutate::{Mutation, mutate};
use super::recordings::{self, Recording};
use super::requests::{Forwarded, Outcome, Sent};
use super::stacks::{STACKS, Stack};
use super::{answers, catalogue, headers, requests};

/// How many mutated bodies each test tries.
fn most() -> u64 {
    number("MUTATIONS").unwrap_or(1500)
}

/// The seed of the first case. Each case has its own, one more than the one before.
fn seed() -> u64 {
    number("MUTATION_SEED").unwrap_or(1)
}

fn number(variable: &str) -> Option<u64> {
    env::var(variable).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{variable} is a number")))
}

/// What was tried and what came of it.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    tried: u64,
    mutations: BTreeMap<Mutation, u64>,
    outcomes: BTreeMap<&'static str, u64>,
}

impl Tally {
    fn came_to(&mut self, outcome: &'static str) {
        self.tried += 1;
        *self.outcomes.entry(outcome).or_default() += 1;
    }

    fn mutate(&mut self, body: &Bytes, dice: &mut Dice, others: &[&[u8]], names: &[String]) -> Bytes {
        let mut body = body.to_vec();
        for _ in 0..1 + dice.below(6) / 2 {
            let mutation = mutate(&mut body, dice, others, names);
            *self.mutations.entry(mutation).or_default() += 1;
        }
        body.into()
    }
}

/// Tells of a case that fails which it was.
struct Case<T: Debug>(u64, T);

impl<T: Debug> Drop for Case<T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("MUTATION_SEED={} MUTATIONS=1: {:?}", self.0, self.1);
        }
    }
}

/// Runs cases, each with dice of its own, and tells what was tried.
fn cases(what: &str, mut each: impl FnMut(u64, &mut Dice, &mut Tally)) -> Tally {
    let mut tally = Tally::default();
    let seed = seed();
    for case in seed..seed + most() {
        each(case, &mut Dice::new(case), &mut tally);
    }
    let mutations: u64 = tally.mutations.values().sum();
    println!("{what}: {} with {mutations} mutations: {:?} {:?}", tally.tried, tally.outcomes, tally.mutations);
    tally
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().expect("a runtime")
}

/// What takes longer hangs.
async fn in_time<T>(work: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(20), work).await.expect("it hangs")
}

fn sent(recording: &Recording, dice: &mut Dice) -> Sent {
    let body = if dice.once_in(4) { recording.body.clone() } else { recording.compact.clone() };
    Sent { http_method: recording.http_method.clone(), headers: recording.headers.clone(), body, cuts: Vec::new() }
}

/// A recording; most often of a method that is judged.
fn any<'r>(dice: &mut Dice, methods: &[&str]) -> &'r Recording {
    let all = recordings::all();
    let judged: Vec<&Recording> = all.iter().filter(|it| methods.contains(&&*it.method)).collect();
    if dice.once_in(4) { dice.pick(all) } else { judged[dice.below(judged.len())] }
}

/// Mutates requests, and hands on those that went on under a gate.
pub(crate) fn each_request(what: &str, mut forwarded: impl FnMut(Forwarded)) -> Tally {
    let runtime = runtime();
    let bodies: Vec<Bytes> = recordings::all().iter().map(|it| it.compact.clone()).collect();
    let others: Vec<&[u8]> = bodies.iter().map(|body| &body[..]).filter(|body| !body.is_empty()).collect();
    cases(what, |seed, dice, tally| {
        let recording = any(dice, &["tools/call", "resources/read", "tools/list"]);
        let catalogue = catalogue::of(recording);
        let stack = *dice.pick(&STACKS);
        let mut sent = sent(recording, dice);
        dress(stack, &mut sent);
        let mut names = catalogue.names();
        if stack == Stack::Namespaced {
            names.extend(names.clone().iter().map(|name| name.replacen('"', "\"ours__", 1)));
        }
        if !dice.once_in(16) {
            sent.body = tally.mutate(&sent.body, dice, &others, &names);
        }
        while dice.once_in(5) {
            headers::mutate(&mut sent.headers, dice, &dice.clone().pick(recordings::all()).headers);
        }
        if !dice.once_in(4) {
            headers::mirror(&mut sent.headers, &sent.body);
        }
        sent.cuts = dice.cuts(sent.body.len());
        let is_stream = dice.once_in(2);
        let case = Case(seed, (stack, &recording.server, &recording.name, &sent));
        match runtime.block_on(in_time(requests::check(stack, &sent, &catalogue, is_stream))) {
            Outcome::Refused => tally.came_to("refused"),
            Outcome::Passed => tally.came_to("passed"),
            Outcome::Forwarded(request) => {
                tally.came_to("forwarded");
                forwarded(request);
            }
        }
        drop(case);
    })
}

#[test]
fn requests_are_judged_as_others_read_them() {
    let tally = each_request("requests", drop);
    let most = most();
    if most >= 1500 {
        for outcome in ["refused", "passed", "forwarded"] {
            assert!(tally.outcomes.get(outcome).copied().unwrap_or_default() > most / 20, "{tally:?}");
        }
    }
}

#[test]
fn answers_come_whole_and_leak_nothing() {
    let runtime = runtime();
    let others: Vec<&[u8]> =
        recordings::all().iter().map(|it| &it.answer[..]).filter(|body| !body.is_empty()).collect();
    let content_types = [
        "application/json",
        "text/event-stream",
        "text/plain",
        "application/octet-stream",
        "application/json; charset=utf-16",
    ];
    cases("answers", |seed, dice, tally| {
        let recording = any(dice, &["tools/list", "initialize", "server/discover", "resources/list", "resources/read"]);
        let stack = *dice.pick(&STACKS);
        let mut sent = sent(recording, dice);
        dress(stack, &mut sent);
        let (asked, other) = (sent.clone(), dice.pick(recordings::all()));
        // A stream that the client opens replays any answer.
        if dice.once_in(12) {
            sent = Sent { http_method: Method::GET, body: Bytes::new(), ..asked };
        }
        let catalogue = catalogue::of(recording);
        let answer = if dice.once_in(16) { &other.answer } else { &recording.answer };
        let body = tally.mutate(answer, dice, &others, &catalogue.names());
        let mut headers: HeaderMap = recording.answer_headers.clone();
        if dice.once_in(4) {
            let content_type = dice.pick(&content_types);
            headers.insert("content-type", HeaderValue::from_static(content_type));
        } else if dice.once_in(16) {
            headers.remove("content-type");
        }
        if dice.once_in(32) {
            headers.insert("content-encoding", HeaderValue::from_static("gzip"));
        }
        let status = if dice.once_in(8) { *dice.pick(&[200, 202, 400, 404, 500]) } else { recording.status };
        let cuts = dice.cuts(body.len());
        let given = answers::Given { status, headers, body, cuts, knows_length: dice.once_in(2) };
        let case = Case(seed, (stack, &recording.server, &recording.name, &given));
        let arrived = runtime.block_on(in_time(answers::check(stack, &sent, &given, &catalogue)));
        tally.came_to(if arrived { "answered" } else { "refused" });
        drop(case);
    });
}

#[test]
fn what_meta_tools_answer_leaks_nothing() {
    let runtime = runtime();
    let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": "list_tools" } });
    cases("answers of meta-tools", |seed, dice, tally| {
        let recording = any(dice, &["tools/list"]);
        let catalogue = catalogue::of(recording);
        let is_stream = dice.once_in(2);
        let page = catalogue.answer_in_text(&json!(7));
        let page = if is_stream { format!("event: message\nid: 1\ndata: {page}\n\n") } else { page };
        let body = tally.mutate(&page.into(), dice, &[catalogue.answer(&json!(7)).as_bytes()], &catalogue.names());
        let content_type = if is_stream { "text/event-stream" } else { "application/json" };
        let headers = legacy_headers();
        let sent = Sent { http_method: Method::POST, headers, body: call.to_string().into(), cuts: Vec::new() };
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(content_type))]);
        let cuts = dice.cuts(body.len());
        let given = answers::Given { status: 200, headers, body, cuts, knows_length: dice.once_in(2) };
        let case = Case(seed, &given);
        let arrived = runtime.block_on(in_time(answers::check(Stack::MetaTools, &sent, &given, &catalogue)));
        tally.came_to(if arrived { "answered" } else { "refused" });
        drop(case);
    });
}

fn legacy_headers() -> HeaderMap {
    let json = HeaderValue::from_static("application/json");
    let both = HeaderValue::from_static("application/json, text/event-stream");
    HeaderMap::from_iter([(CONTENT_TYPE, json), (ACCEPT, both)])
}

#[test]
fn calls_are_judged_by_what_any_reader_finds_in_the_catalogue() {
    let runtime = runtime();
    let stacks = [Stack::Model, Stack::App, Stack::Full, Stack::Filter, Stack::Auto];
    cases("catalogues", |seed, dice, tally| {
        let recording =
            *dice.pick(&recordings::all().iter().filter(|it| it.method == "tools/list").collect::<Vec<_>>());
        let catalogue = catalogue::of(recording);
        let names = catalogue.names();
        let name: String = serde_json::from_str(dice.pick(&names).as_str()).expect("a name");
        let stack = *dice.pick(&stacks);
        let is_stream = dice.once_in(2);
        let page = catalogue.answer(&json!("@"));
        let page = if is_stream { format!("event: message\nid: 1\ndata: {page}\n\n") } else { page };
        let answer =
            tally.mutate(&page.into(), dice, &[br#"{"jsonrpc":"2.0","id":"@","result":{"tools":[]}}"#], &names);
        let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": name } });
        let mut sent = sent(recording, dice);
        sent.headers = legacy_headers();
        sent.body = call.to_string().into();
        let case = Case(seed, (stack, &name, &answer));
        let ran = runtime.block_on(in_time(answers::check_catalogue(stack, &sent, &name, &answer, is_stream)));
        tally.came_to(if ran { "ran" } else { "refused" });
        drop(case);
    });
}
