//! Replicas that share what they heard, through a real server that a test starts itself.
//!
//! Where neither `valkey-server` nor `redis-server` can be started, the tests say so and do nothing; with `REQUIRE_VALKEY` in
//! the environment, as in CI, they fail instead.

use std::io::Read;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use http::Request;
use serde_json::{Value, json};
use tower::Layer;
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::restore::{CaptureLayer, Memory, Restore, RestoreLayer, Valkey};
use tower_mcp_apps::testing::Body;

use crate::kit::{apps_capabilities, modern, send, with};
use crate::world::{Lossy, ask, maps, one_tool, rich, upstream};

/// A server on a port of its own, with nothing in it, that ends with the test.
struct Running {
    process: Child,
    port: u16,
}

impl Running {
    fn start() -> Option<Self> {
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port").port();
        Self::start_at(port)
    }

    fn start_at(port: u16) -> Option<Self> {
        for program in ["valkey-server", "redis-server"] {
            let mut command = Command::new(program);
            command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
            let Ok(process) = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn() else { continue };
            let running = Self { process, port };
            let address = SocketAddr::from(([127, 0, 0, 1], port));
            let until = Instant::now() + Duration::from_secs(10);
            while TcpStream::connect(address).is_err() {
                assert!(Instant::now() < until, "{program} does not listen");
                std::thread::sleep(Duration::from_millis(20));
            }
            return Some(running);
        }
        assert!(std::env::var_os("REQUIRE_VALKEY").is_none(), "neither valkey-server nor redis-server can be started");
        eprintln!("skipped: neither valkey-server nor redis-server can be started");
        None
    }

    /// The store of one replica.
    fn store(&self) -> Valkey {
        Valkey::new(format!("redis://127.0.0.1:{}", self.port), Memory::new())
            .expect("a URL")
            .wait(Duration::from_secs(2))
    }

    /// What the server says to a command.
    fn says(&self, command: &[&str]) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_millis(100))).expect("a timeout");
        std::io::Write::write_all(&mut stream, format!("{}\r\n", command.join(" ")).as_bytes())
            .expect("it takes commands");
        let mut said = Vec::new();
        let _ = stream.read_to_end(&mut said);
        String::from_utf8_lossy(&said).into_owned()
    }

    /// Waits until this holds, since writes happen behind the exchanges' backs.
    async fn until(&self, holds: impl Fn(&Self) -> bool) {
        let until = Instant::now() + Duration::from_secs(10);
        while !holds(self) {
            assert!(Instant::now() < until, "nothing is written: {}", self.says(&["KEYS", "*"]));
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The only key.
    fn key(&self) -> String {
        self.says(&["KEYS", "*"]).lines().last().unwrap_or_default().to_owned()
    }

    fn keys(&self) -> usize {
        self.says(&["KEYS", "*"]).matches("mcp-apps:").count()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const SAID: &str = r#"{"name":"a","title":"t","_meta":{"n":1.0,"ui":{"visibility":["app"]}}}"#;
const BARE: &str = r#"{"name":"maps__a"}"#;

async fn hears(store: &Valkey, said: &'static str, headers: &[(&'static str, &str)]) {
    let list = headers.iter().fold(ask("tools/list", &json!({})), |request, (name, value)| with(request, name, value));
    drop(send(CaptureLayer::new("maps", store.clone()).layer(one_tool(said)), list).await);
}

/// What a replica shows that heard nothing itself.
async fn shows(store: &Valkey, headers: &[(&'static str, &str)]) -> String {
    let list = headers.iter().fold(ask("tools/list", &json!({})), |request, (name, value)| with(request, name, value));
    let layer = RestoreLayer::new(store.clone()).upstream("maps", maps());
    let text = send(layer.layer(one_tool(BARE)), list).await.text();
    let (_, tools) = text.split_once(r#""tools":["#).expect("a list");
    tools.trim_end_matches("]}}").to_owned()
}

const SHOWN: &str = r#"{"name":"maps__a","title":"t","_meta":{"n":1.0,"ui":{"visibility":["app"]}}}"#;

#[tokio::test]
async fn what_one_replica_heard_another_puts_back() {
    let Some(server) = Running::start() else { return };
    let (one, other) = (server.store(), server.store());
    assert_eq!(shows(&other, &[]).await, "", "nothing is known yet");
    hears(&one, SAID, &[]).await;
    server.until(|server| server.keys() == 1).await;
    assert_eq!(shows(&other, &[]).await, SHOWN, "digits and all");
    hears(&one, r#"{"name":"a","title":"new"}"#, &[]).await;
    server
        .until(|server| {
            server.says(&["HVALS", server.says(&["KEYS", "*"]).lines().last().unwrap_or("")]).contains("new")
        })
        .await;
    assert_eq!(shows(&other, &[]).await, r#"{"name":"maps__a","title":"new"}"#);
}

#[tokio::test]
async fn no_credential_is_kept_and_nothing_is_shared_across_them() {
    let Some(server) = Running::start() else { return };
    let alice = [("authorization", "Bearer alice-secret")];
    let (one, other) = (server.store(), server.store());
    hears(&one, SAID, &alice).await;
    server.until(|server| server.keys() == 1).await;
    assert_eq!(shows(&other, &[("authorization", "Bearer bob")]).await, "");
    assert_eq!(shows(&other, &[]).await, "");
    assert_eq!(shows(&other, &alice).await, SHOWN);
    let key = server.says(&["KEYS", "*"]).lines().last().expect("a key").to_owned();
    let all = format!("{key} {}", server.says(&["HGETALL", &key]));
    assert!(!all.contains("alice") && !all.contains("Bearer"), "{all}");
    let left: u64 = server.says(&["PTTL", &key]).trim_start_matches(':').trim().parse().expect("it expires");
    assert!((1..=24 * 60 * 60 * 1000).contains(&left), "{left}");
    // Another secret, other keys.
    assert_eq!(shows(&server.store().secret("s"), &alice).await, "");
    assert_eq!(shows(&server.store().prefix("other"), &alice).await, "");
}

#[tokio::test]
async fn what_is_old_is_as_old_on_every_replica() {
    let Some(server) = Running::start() else { return };
    let (one, other) = (server.store(), server.store());
    let said = upstream(|_| format!(r#"{{"tools":[{SAID}],"ttlMs":3000}}"#));
    drop(send(CaptureLayer::new("maps", one).layer(said), ask("tools/list", &json!({}))).await);
    server.until(|server| server.keys() == 1).await;
    assert_eq!(shows(&other, &[]).await, SHOWN);
    tokio::time::sleep(Duration::from_millis(3100)).await;
    assert_eq!(shows(&other, &[]).await, r#"{"name":"maps__a","_meta":{"ui":{"visibility":["app"]}}}"#);
}

#[tokio::test]
async fn what_one_hash_said_is_not_taken_for_what_the_next_one_says() {
    let Some(server) = Running::start() else { return };
    let (one, other) = (server.store(), server.store());
    hears(&one, r#"{"name":"a","title":"t"}"#, &[]).await;
    server.until(|server| server.keys() == 1).await;
    assert_eq!(shows(&one, &[]).await, r#"{"name":"maps__a","title":"t"}"#);
    // Evicted, and written once by a replica to which the tool is for apps only, by now.
    server.says(&["FLUSHALL"]);
    hears(&other, SAID, &[]).await;
    server.until(|server| server.keys() == 1).await;
    assert_eq!(shows(&one, &[]).await, SHOWN);
}

#[tokio::test]
async fn what_is_lost_with_a_hash_is_told_again_whoever_writes_first() {
    let Some(server) = Running::start() else { return };
    let one = server.store();
    hears(&one, SAID, &[]).await;
    server.until(|server| server.keys() == 1).await;
    server.says(&["FLUSHALL"]);
    hears(&one, r#"{"name":"b"}"#, &[]).await;
    server.until(|server| server.keys() == 1).await;
    // The write's answer may come a moment later than what it wrote.
    tokio::time::sleep(Duration::from_millis(200)).await;
    hears(&one, SAID, &[]).await;
    server.until(|server| server.says(&["HKEYS", &server.key()]).contains(":a")).await;
    assert_eq!(shows(&server.store(), &[]).await, SHOWN);
}

/// A tool whose title has 250 kB and ends in this number.
fn long(name: &str, number: u32) -> &'static str {
    format!(r#"{{"name":"{name}","title":"{}{number:04}"}}"#, "0".repeat(250_000)).leak()
}

/// How many fields the only hash has: a revision, a size, and entries.
fn fields(server: &Running) -> usize {
    server.says(&["HLEN", &server.key()]).trim().trim_start_matches(':').parse().unwrap_or_default()
}

#[tokio::test]
async fn a_hash_is_bounded_in_bytes() {
    let Some(server) = Running::start() else { return };
    let store = server.store();
    for number in 0..33 {
        hears(&store, long(&format!("t{number}"), number), &[]).await;
    }
    server.until(|server| fields(server) == 2 + 33).await;
    // This one would be beyond 8 MiB.
    hears(&store, long("t33", 33), &[]).await;
    server.until(|server| server.keys() == 0).await;
    hears(&store, long("t34", 34), &[]).await;
    server.until(|server| fields(server) == 2 + 1).await;
}

#[tokio::test]
async fn what_is_said_anew_makes_a_hash_no_larger() {
    let Some(server) = Running::start() else { return };
    let store = server.store();
    hears(&store, SAID, &[]).await;
    for number in 0..40 {
        hears(&store, long("b", number), &[]).await;
    }
    server.until(|server| server.says(&["HVALS", &server.key()]).contains("0039\"")).await;
    let bytes = server.says(&["HGET", &server.key(), "b"]);
    let bytes: usize = bytes.lines().last().and_then(|line| line.parse().ok()).expect("a number");
    assert!((250_000..251_000).contains(&bytes), "{bytes}");
    assert_eq!(shows(&server.store(), &[]).await, SHOWN);
}

#[tokio::test]
async fn a_server_that_is_away_costs_a_moment_and_no_answer() {
    let Some(server) = Running::start() else { return };
    let port = server.port;
    let store = server.store().wait(Duration::from_millis(250));
    hears(&store, SAID, &[]).await;
    server.until(|server| server.keys() == 1).await;
    drop(server);
    let began = Instant::now();
    for _ in 0..50 {
        hears(&store, SAID, &[]).await;
        assert_eq!(shows(&store, &[]).await, SHOWN, "what it heard itself");
    }
    assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());

    // Back, with nothing in it: it is told again, and what changed meanwhile, too.
    let server = Running::start_at(port).expect("it started before");
    let until = Instant::now() + Duration::from_secs(15);
    while server.keys() == 0 {
        assert!(Instant::now() < until, "it is not told");
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(shows(&store, &[]).await, SHOWN);
        hears(&store, SAID, &[]).await;
    }
    assert_eq!(shows(&server.store(), &[]).await, SHOWN);
}

#[tokio::test]
async fn a_server_that_never_answers_costs_a_moment_and_no_answer() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = silent.local_addr().expect("an address");
    let store =
        Valkey::new(format!("redis://{address}"), Memory::new()).expect("a URL").wait(Duration::from_millis(100));
    let began = Instant::now();
    for _ in 0..50 {
        hears(&store, SAID, &[]).await;
        assert_eq!(shows(&store, &[]).await, SHOWN);
    }
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
}

#[tokio::test]
async fn what_stands_there_and_is_none_of_ours_is_passed_over() {
    let Some(server) = Running::start() else { return };
    let (one, other) = (server.store(), server.store());
    hears(&one, SAID, &[]).await;
    server.until(|server| server.keys() == 1).await;
    let key = server.says(&["KEYS", "*"]).lines().last().expect("a key").to_owned();
    for (field, value) in [(":b", "x"), (":", ""), ("y", "z")] {
        server.says(&["HSET", &key, field, &format!("\"{value}\"")]);
    }
    assert_eq!(shows(&other, &[]).await, SHOWN);
    // A key of another type fails, and nothing but the copy here counts.
    server.says(&["DEL", &key]);
    server.says(&["SET", &key, "x"]);
    assert_eq!(shows(&one, &[]).await, SHOWN);
    assert_eq!(shows(&server.store(), &[]).await, "");
}

#[tokio::test]
async fn a_store_needs_a_url() {
    let error = Valkey::new("http://127.0.0.1", Memory::new()).expect_err("that is none");
    assert!(error.to_string().contains("Valkey or Redis"), "{error}");
}

/// Every kind of request, of two callers and as two audiences.
fn requests() -> Vec<Box<dyn Fn() -> Request<Body>>> {
    let mut requests: Vec<Box<dyn Fn() -> Request<Body>>> = Vec::new();
    for (method, params) in [
        ("tools/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({ "uri": "ui://maps+server/view" })),
        ("tools/call", json!({ "name": "maps__poll" })),
        ("tools/call", json!({ "name": "maps__show" })),
    ] {
        for caller in ["Bearer alice", "Bearer bob"] {
            let params: Value = params.clone();
            let legacy = params.clone();
            requests.push(Box::new(move || with(ask(method, &legacy), "authorization", caller)));
            requests
                .push(Box::new(move || with(modern(method, &params, &apps_capabilities()), "authorization", caller)));
        }
    }
    requests
}

/// An aggregator that asks for each list once, and then never again, on whichever replica: the hard case, since a replica may answer
/// from what another one heard.
#[tokio::test]
async fn three_replicas_that_share_their_lists_answer_as_one() {
    let Some(server) = Running::start() else { return };
    let lists = Lossy::new().with_cache();
    let replica = |store: &Valkey| {
        let aggregator = lists.clone().behind(maps(), &CaptureLayer::new("maps", store.clone()), upstream(rich));
        AppsLayer::new().restore(Restore::new(store.clone()).upstream("maps", maps())).layer(aggregator)
    };
    let alone = {
        let memory = Memory::new();
        let capture = CaptureLayer::new("maps", memory.clone());
        let aggregator = Lossy::new().with_cache().behind(maps(), &capture, upstream(rich));
        AppsLayer::new().restore(Restore::new(memory).upstream("maps", maps())).layer(aggregator)
    };
    let replicas = [server.store(), server.store(), server.store()].map(|store| replica(&store));
    let requests = requests();
    // The lists of both callers, on one replica; the write happens behind the answers' backs.
    for request in requests.iter().take(16) {
        drop(send(replicas[0].clone(), request()).await);
    }
    server.until(|server| server.keys() == 8).await;
    let forgetful = Restore::new(Memory::new()).upstream("maps", maps());
    let forgetful = AppsLayer::new().restore(forgetful).layer(lists.clone());
    assert!(send(forgetful, requests[0]()).await.tools().is_empty(), "alone, it knows nothing of what is listed");
    for at in 0..1000 {
        let request = &requests[at * 7 % requests.len()];
        let want = send(alone.clone(), request()).await;
        let got = send(replicas[at % 3].clone(), request()).await;
        assert_eq!((got.status, got.bytes()), (want.status, want.bytes()), "request {at}");
    }
}
