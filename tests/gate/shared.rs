//! Callers that come at once: they share a look-up, and nobody who waits holds what the one who asks may need.

use std::convert::Infallible;
use std::fmt::Debug;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::header::WWW_AUTHENTICATE;
use http::{HeaderValue, Request, Response};
use http_body::Body as HttpBody;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tower::limit::ConcurrencyLimit;
use tower::{Layer, Service, ServiceExt};
use tower_mcp_apps::McpContext;
use tower_mcp_apps::concern::RequestBody;
use tower_mcp_apps::testing::Body;

use crate::kit::body::BoxError;
use crate::kit::server::{Server, json_answer};
use crate::kit::{read, send, with};
use crate::queue::Queue;
use crate::world::{
    asked, call, empty, for_models, has_run, in_time, listing, look_ups, result, seen, tools, with_page,
};

/// How many call at once.
const CALLERS: usize = 200;

/// A server that answers `tools/list` only once it is let, and lets others have a turn before it answers anything.
#[derive(Clone)]
struct Held {
    server: Server,
    lets: Arc<Semaphore>,
}

impl Held {
    fn new(server: &Server) -> Self {
        Self { server: server.clone(), lets: Arc::new(Semaphore::new(0)) }
    }

    /// One that is always let.
    fn not(server: &Server) -> Self {
        Self { server: server.clone(), lets: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)) }
    }

    fn let_go(&self, look_ups: usize) {
        self.lets.add_permits(look_ups);
    }
}

impl<B> Service<Request<B>> for Held
where
    B: HttpBody<Data = bytes::Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let context = request.extensions().get::<McpContext>();
        let is_held = context.is_some_and(|context| context.method() == Some("tools/list"));
        let (answer, lets) = (self.server.clone().oneshot(request), self.lets.clone());
        Box::pin(async move {
            let answer = answer.await;
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
            if is_held {
                lets.acquire().await.expect("nobody closes it").forget();
            }
            answer
        })
    }
}

/// A server with two pages, so that the one who asks needs the inner service again.
fn two_pages() -> Server {
    listing(|received| {
        let page = match received.json()["params"]["cursor"].as_str() {
            None => json!({ "tools": [{ "name": "open" }], "nextCursor": "2" }),
            Some(_) => json!({ "tools": tools() }),
        };
        json_answer(result(received, &page))
    })
}

/// Calls with as many keys, in turn: even ones run, odd ones are hidden.
async fn call_at_once<S, R>(service: S, keys: usize)
where
    S: Service<Request<Body>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Debug + Send,
    R: HttpBody<Data = bytes::Bytes> + Send + 'static,
    R::Error: Into<BoxError> + Send,
{
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let name = if caller % 2 == 0 { "open" } else { "poll" };
        let request = with(call(name), "authorization", &(caller / 2 % keys).to_string());
        let service = service.clone();
        callers.spawn(async move {
            let answer = send(service, request).await;
            assert_eq!(has_run(&answer), name == "open", "{name}: {}", answer.text());
        });
    }
    while let Some(over) = in_time(callers.join_next()).await {
        over.expect("every decision is right");
    }
}

/// What 200 callers at once cost: one look-up per key, of two pages.
async fn costs_one_look_up_per_key<S, R>(server: &Server, service: S)
where
    S: Service<Request<Body>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Debug + Send,
    R: HttpBody<Data = bytes::Bytes> + Send + 'static,
    R::Error: Into<BoxError> + Send,
{
    for keys in [1, 4] {
        // Other keys than in the round before.
        let service = service.clone().map_request(move |request| with(request, "x-round", &keys.to_string()));
        call_at_once(service, keys).await;
        let seen = seen(server);
        assert_eq!((seen.look_ups, seen.ran.len()), (2 * keys, CALLERS / 2));
    }
}

#[tokio::test]
async fn many_callers_on_a_cold_catalogue_cause_one_look_up_per_key() {
    let server = two_pages();
    costs_one_look_up_per_key(&server, for_models().layer(Held::not(&server))).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_callers_on_many_threads_cause_one_look_up_per_key() {
    let server = two_pages();
    costs_one_look_up_per_key(&server, for_models().layer(Held::not(&server))).await;
}

#[tokio::test]
async fn many_callers_behind_a_concurrency_limit() {
    for limit in [1, 2, 10] {
        let server = two_pages();
        let limited = ConcurrencyLimit::new(Held::not(&server), limit);
        costs_one_look_up_per_key(&server, for_models().layer(limited)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_callers_on_many_threads_behind_a_concurrency_limit() {
    let server = two_pages();
    let limited = ConcurrencyLimit::new(Held::not(&server), 1);
    costs_one_look_up_per_key(&server, for_models().layer(limited)).await;
}

#[tokio::test]
async fn many_callers_behind_a_concurrency_limit_and_a_buffer() {
    for (places, limit) in [(1, 1), (1, 2), (2, 1), (16, 1)] {
        let server = two_pages();
        let limited = ConcurrencyLimit::new(Held::not(&server), limit);
        costs_one_look_up_per_key(&server, for_models().layer(Queue::new(limited, places))).await;
        let server = two_pages();
        let queue = Queue::new(Held::not(&server), places);
        costs_one_look_up_per_key(&server, for_models().layer(ConcurrencyLimit::new(queue, limit))).await;
    }
}

#[tokio::test]
async fn many_callers_of_two_gates_one_behind_the_other() {
    let server = two_pages();
    let limited = ConcurrencyLimit::new(Held::not(&server), 1);
    let stacked = for_models().layer(ConcurrencyLimit::new(for_models().layer(limited), 1));
    call_at_once(stacked, 1).await;
    // Each gate has a catalogue of its own; the outer one's look-up is a list to the inner one.
    assert_eq!(look_ups(&server), 4);
}

/// Polls a future once.
async fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    std::future::poll_fn(|cx| Poll::Ready(Pin::new(&mut *future).poll(cx))).await
}

#[tokio::test]
async fn who_waits_gives_up_its_ready_service() {
    let server = two_pages();
    let held = Held::new(&server);
    let limit = Arc::new(Semaphore::new(3));
    let limited = ConcurrencyLimit::with_semaphore(held.clone(), limit.clone());
    let gate = for_models().layer(limited);
    let mut leader = Box::pin(gate.clone().oneshot(call("open")));
    assert!(poll_once(&mut leader).await.is_pending());
    assert_eq!(limit.available_permits(), 2, "the look-up has one");
    let mut waiters: Vec<_> = (0..10).map(|_| Box::pin(gate.clone().oneshot(call("open")))).collect();
    for waiter in &mut waiters {
        assert!(poll_once(waiter).await.is_pending());
        assert_eq!(limit.available_permits(), 2, "who waits has none");
    }
    held.let_go(2);
    for call in std::iter::once(leader).chain(waiters) {
        assert!(has_run(&read(in_time(call).await.expect("an answer")).await));
    }
    assert_eq!(limit.available_permits(), 3);
    assert_eq!(look_ups(&server), 2);
}

#[tokio::test]
async fn a_leader_that_goes_away_hands_over() {
    // At the first page, and at the second.
    for pages in [0, 1] {
        let server = two_pages();
        let held = Held::new(&server);
        let gate = for_models().layer(ConcurrencyLimit::new(held.clone(), 1));
        let leader = tokio::spawn(gate.clone().oneshot(call("open")));
        held.let_go(pages);
        let mut asked = 0;
        while asked < pages + 1 {
            tokio::task::yield_now().await;
            asked += look_ups(&server);
        }
        let waiters: Vec<_> = (0..10).map(|_| tokio::spawn(gate.clone().oneshot(call("poll")))).collect();
        tokio::task::yield_now().await;
        assert!(server.take().is_empty(), "they wait");
        leader.abort();
        assert!(leader.await.is_err());
        held.let_go(2);
        for waiter in waiters {
            let answer = read(in_time(waiter).await.expect("no panic").expect("an answer")).await;
            assert_eq!(answer.error_code(), -32602);
        }
        assert_eq!(look_ups(&server), 2, "one of those who waited asked, once");
    }
}

#[tokio::test]
async fn a_leader_that_is_dropped_closes_its_look_up() {
    let (feed, body) = Body::channel();
    let body = std::sync::Mutex::new(Some(body));
    let server = listing(move |_| crate::kit::server::event_answer(body.lock().expect("a lock").take().expect("one")));
    let mut leader = Box::pin(for_models().layer(server).oneshot(call("open")));
    assert!(poll_once(&mut leader).await.is_pending());
    assert!(!feed.is_closed());
    drop(leader);
    assert!(feed.is_closed());
}

#[tokio::test]
async fn those_who_wait_get_the_refusal_that_the_leader_got() {
    let server = listing(|_| {
        let mut response = empty(401);
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer resource_metadata=x"));
        response
    });
    let held = Held::new(&server);
    let gate = for_models().layer(held.clone());
    let callers: Vec<_> = (0..10).map(|_| tokio::spawn(gate.clone().oneshot(call("open")))).collect();
    while server.take().is_empty() {
        tokio::task::yield_now().await;
    }
    held.let_go(1);
    for caller in callers {
        let answer = read(in_time(caller).await.expect("no panic").expect("an answer")).await;
        assert_eq!((answer.status.as_u16(), answer.error_code()), (401, json!(-32603)));
        assert_eq!(answer.header("www-authenticate"), Some("Bearer resource_metadata=x"));
        assert_eq!(answer.json()["id"], 7);
    }
    assert_eq!(seen(&server), crate::world::Seen { look_ups: 0, ran: Vec::new() });
}

/// How a broken inner service fails.
#[derive(Debug, PartialEq, Eq)]
struct Down;

#[tokio::test]
async fn a_failure_of_the_service_is_the_leaders_and_a_refusal_for_those_who_wait() {
    let lets = Arc::new(Semaphore::new(0));
    let down = tower::service_fn({
        let lets = lets.clone();
        move |_: Request<RequestBody<Body>>| {
            let lets = lets.clone();
            async move {
                lets.acquire().await.expect("nobody closes it").forget();
                Err::<Response<Body>, _>(Down)
            }
        }
    });
    let gate = for_models().layer(down);
    let mut leader = Box::pin(gate.clone().oneshot(call("open")));
    assert!(poll_once(&mut leader).await.is_pending());
    let mut waiters: Vec<_> = (0..3).map(|_| Box::pin(gate.clone().oneshot(call("open")))).collect();
    for waiter in &mut waiters {
        assert!(poll_once(waiter).await.is_pending());
    }
    lets.add_permits(1);
    assert_eq!(in_time(&mut leader).await.err(), Some(Down));
    // The leader's future is still there.
    for waiter in waiters {
        let answer = read(in_time(waiter).await.expect("an answer")).await;
        assert_eq!((answer.status.as_u16(), answer.error_code()), (502, json!(-32603)), "{}", answer.text());
    }
    // It is not kept: the next one asks.
    lets.add_permits(1);
    assert_eq!(in_time(gate.oneshot(call("open"))).await.err(), Some(Down));
    drop(leader);
}

#[tokio::test]
async fn a_service_that_is_no_longer_ready_fails_the_leader_alone() {
    /// Is ready once, and never again.
    #[derive(Clone)]
    struct Once {
        server: Server,
        is_used: bool,
    }

    impl<B> Service<Request<B>> for Once
    where
        B: HttpBody<Data = bytes::Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        type Response = Response<Body>;
        type Error = Down;
        type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Down>> + Send>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Down>> {
            Poll::Ready(if self.is_used { Err(Down) } else { Ok(()) })
        }

        fn call(&mut self, request: Request<B>) -> Self::Future {
            self.is_used = true;
            let answer = self.server.clone().oneshot(request);
            Box::pin(async move { answer.await.map_err(|never| match never {}) })
        }
    }

    let server = two_pages();
    let gate = for_models().layer(Once { server: server.clone(), is_used: false });
    let mut leader = pin!(gate.clone().oneshot(call("open")));
    assert_eq!(in_time(&mut leader).await.err(), Some(Down), "it is needed for the second page");
    let mut next = Box::pin(gate.oneshot(call("open")));
    assert!(matches!(poll_once(&mut next).await, Poll::Ready(Err(Down))), "nobody waits for the one that failed");
    assert_eq!(asked(&server).len(), 2);
}

#[tokio::test]
async fn who_knows_its_tool_does_not_wait_for_a_look_up_of_another_name() {
    let server = with_page(json!({ "tools": tools(), "ttlMs": 60_000 }));
    let held = Held::new(&server);
    let gate = for_models().layer(held.clone());
    held.let_go(1);
    assert!(has_run(&read(gate.clone().oneshot(call("open")).await.expect("an answer")).await));
    tokio::time::sleep(Duration::from_millis(1010)).await;
    let mut unknown = Box::pin(gate.clone().oneshot(call("no-such")));
    assert!(poll_once(&mut unknown).await.is_pending());
    assert!(has_run(&read(in_time(gate.oneshot(call("open"))).await.expect("an answer")).await));
    held.let_go(1);
    assert!(has_run(&read(in_time(unknown).await.expect("an answer")).await));
}
