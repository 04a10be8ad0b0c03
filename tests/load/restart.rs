//! The proxy is replaced under traffic: each call runs once and is answered, and sessions go on in the next process.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use http::Uri;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time;

use crate::client::{Caller, Connection, Era, Events, Failure, Http, kind, read};
use crate::process::{FULL_STACK, Proxy};
use crate::steady::check_tools;
use crate::upstream::Upstream;
use crate::{Options, Report};

const WORKERS: u64 = 16;
const STREAMS: u64 = 40;
/// Longer than a call that was on its way can still take to reach the server.
const SETTLED: Duration = Duration::from_millis(300);
const BETWEEN: Duration = Duration::from_secs(2);
/// The proxy gives exchanges in flight five seconds.
const STOPPED: Duration = Duration::from_secs(8);

struct Board {
    upstream: Upstream,
    url: Uri,
    is_over: AtomicBool,
    next: AtomicU64,
}

#[derive(Default)]
struct Tally {
    answers: u64,
    /// Calls that never reached the server, and were sent again.
    again: u64,
    /// Calls that ran, and whose answer did not come.
    lost: u64,
    /// Lists that were right for what the session declared, before the first restart or after.
    lists: u64,
    reopened: u64,
}

pub async fn run(options: &Options, report: &mut Report) {
    println!("\n{} restarts under traffic", options.restarts);
    let upstream = Upstream::start().await;
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let mut proxy = Proxy::start(&options.proxy, free, &upstream.url, &FULL_STACK);
    let url = proxy.url.clone();
    let board = Board { upstream, url, is_over: AtomicBool::new(false), next: AtomicU64::new(1) };
    let board = Arc::new(board);
    let mut clients = JoinSet::new();
    for number in 0..WORKERS {
        clients.spawn(Client::open(board.clone(), number).await.ask());
    }
    for number in 0..STREAMS {
        clients.spawn(board.clone().watch(number));
    }
    let mut ended = 0;
    for _ in 0..options.restarts {
        time::sleep(BETWEEN).await;
        board.upstream.tick();
        proxy.terminate();
        refuses(free).await;
        let mut old =
            std::mem::replace(&mut proxy, Proxy::start(&options.proxy, free, &board.upstream.url, &FULL_STACK));
        ended += usize::from(old.ended(STOPPED).await);
    }
    time::sleep(BETWEEN).await;
    board.is_over.store(true, Ordering::Relaxed);
    board.upstream.tick();
    let mut all = Tally::default();
    while let Some(tally) = clients.join_next().await {
        let tally = tally.unwrap();
        all.answers += tally.answers;
        all.again += tally.again;
        all.lost += tally.lost;
        all.lists += tally.lists;
        all.reopened += tally.reopened;
    }
    report.check(ended == options.restarts, format_args!("{ended} processes ended by themselves"));
    let Tally { answers, again, lost, lists, reopened } = all;
    report.check(lost == 0 && answers > 0, format_args!("{answers} calls, each ran once; {lost} answers lost"));
    report.tell("calls that had not reached the server, and were sent again", again);
    report.check(lists > 0, format_args!("{lists} lists are right for their session, which was opened before"));
    report.check(reopened >= STREAMS, format_args!("{reopened} streams were opened again in their session"));
}

/// Waits until nobody listens there any more.
async fn refuses(address: SocketAddr) {
    while TcpStream::connect(address).await.is_ok() {
        time::sleep(Duration::from_millis(2)).await;
    }
}

impl Board {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Opens a connection, as soon as somebody listens.
    async fn connect(&self, http: Http) -> Connection {
        loop {
            match Connection::open(&self.url, http).await {
                Ok(connection) => return connection,
                Err(_) => time::sleep(Duration::from_millis(5)).await,
            }
        }
    }

    /// Listens all the time: a stream that is cut is opened again.
    async fn watch(self: Arc<Self>, number: u64) -> Tally {
        let mut caller = Caller::new(Era::Legacy, number.is_multiple_of(2));
        let mut connection = self.connect(Http::Second).await;
        caller.initialize(&self.url, &mut connection).await.unwrap();
        let mut tally = Tally::default();
        for time in 0_u64.. {
            let request = caller.listen(&self.url, (1 << 40) + time * STREAMS + number);
            if let Ok(answer) = connection.send(request).await {
                tally.reopened += u64::from(time > 0);
                let mut events = Events::of(answer);
                while let Ok(Some(_)) = events.next().await {
                    if self.is_over() {
                        return tally;
                    }
                }
            }
            if self.is_over() {
                break;
            }
            connection = self.connect(Http::Second).await;
        }
        tally
    }
}

/// One who calls, in one session, whatever becomes of the process that answers.
struct Client {
    board: Arc<Board>,
    http: Http,
    caller: Caller,
    connection: Connection,
    tally: Tally,
}

impl Client {
    async fn open(board: Arc<Board>, number: u64) -> Self {
        let (http, mut caller) = kind(number);
        let mut connection = board.connect(http).await;
        caller.initialize(&board.url, &mut connection).await.unwrap();
        Self { board, http, caller, connection, tally: Tally::default() }
    }

    /// Calls until all is over.
    async fn ask(mut self) -> Tally {
        while !self.board.is_over() {
            let id = self.board.next.fetch_add(1, Ordering::Relaxed);
            let name = if id.is_multiple_of(8) { "slow" } else { "work" };
            let params = json!({"name": name, "arguments": {"number": id}});
            match self.insist("tools/call", params, id).await {
                Some(answer) => {
                    assert_eq!(answer["result"]["content"][0]["text"], id.to_string(), "{answer}");
                    self.tally.answers += 1;
                }
                None => self.tally.lost += 1,
            }
            assert_eq!(self.board.upstream.runs(id), 1, "call {id}");
            if let Some(list) = self.insist("tools/list", json!({}), id).await {
                check_tools(&list, &self.caller);
                self.tally.lists += 1;
            }
            time::sleep(Duration::from_millis(5)).await;
        }
        self.tally
    }

    /// Sends it until there is an answer, but never again what has run. None where the answer of such a call is lost.
    async fn insist(&mut self, method: &str, params: Value, id: u64) -> Option<Value> {
        loop {
            let request = self.caller.request(&self.board.url, method, params.clone(), id);
            let answer = match self.connection.send(request).await {
                Ok(answer) => read(answer).await,
                Err(failure) => Err(failure),
            };
            match answer {
                Ok(answer) => return Some(answer),
                Err(Failure::NotSent) => {}
                Err(Failure::Lost(_)) => {
                    time::sleep(SETTLED).await;
                    if method == "tools/call" && self.board.upstream.runs(id) > 0 {
                        return None;
                    }
                    self.tally.again += 1;
                }
            }
            self.connection = self.board.connect(self.http).await;
        }
    }
}
