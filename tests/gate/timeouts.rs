//! A server that lists its tools too slowly, or never, where a layer bounds its time: every caller hears of it, and nobody hangs.

use std::convert::Infallible;
use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body::Body as HttpBody;
use serde_json::json;
use tokio::task::JoinSet;
use tower::timeout::error::Elapsed;
use tower::{Layer, Service, ServiceBuilder, ServiceExt};
use tower_http::timeout::TimeoutLayer;
use tower_mcp_apps::McpContext;
use tower_mcp_apps::exchange::Decision;
use tower_mcp_apps::message::Reason;
use tower_mcp_apps::testing::Body;

use crate::kit::body::BoxError;
use crate::kit::server::{Server, event_answer, json_answer};
use crate::kit::{Answer, read};
use crate::world::{call, for_models, has_run, in_time, listing, result, seen, tools, with_page};

const CALLERS: usize = 20;

/// As short as a machine under load allows: all callers are there before it is over.
const SHORT: Duration = Duration::from_millis(200);

/// A server that never answers some `tools/list`, by how many came before.
#[derive(Clone)]
struct Silent {
    server: Server,
    lists: Arc<AtomicUsize>,
    answers: fn(usize) -> bool,
}

impl Silent {
    fn new(server: &Server, answers: fn(usize) -> bool) -> Self {
        Self { server: server.clone(), lists: Arc::default(), answers }
    }
}

impl<B> Service<Request<B>> for Silent
where
    B: HttpBody<Data = Bytes> + Send + 'static,
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
        let is_list = context.is_some_and(|context| context.method() == Some("tools/list"));
        let answers = !is_list || (self.answers)(self.lists.fetch_add(1, Ordering::SeqCst));
        let answer = self.server.clone().oneshot(request);
        Box::pin(async move {
            let answer = answer.await;
            if answers { answer } else { pending().await }
        })
    }
}

fn answering() -> TimeoutLayer {
    TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, SHORT)
}

/// What callers get that come at once.
async fn call_at_once<S, R>(service: &S) -> Vec<Result<Answer, S::Error>>
where
    S: Service<Request<Body>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Send + 'static,
    R: HttpBody<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError> + Send,
{
    let mut callers = JoinSet::new();
    for _ in 0..CALLERS {
        let service = service.clone();
        callers.spawn(async move {
            let response = service.oneshot(call("open")).await?;
            let decision = response.extensions().get::<Decision>();
            let reason = decision.and_then(Decision::reason);
            let answer = read(response).await;
            assert!(has_run(&answer) || answer.text().is_empty() || reason == Some(Reason::LookUpFailed));
            Ok(answer)
        });
    }
    in_time(callers.join_all()).await
}

fn says_what_failed(answer: &Answer, status: u16, what: &str) {
    let error = answer.json();
    assert_eq!((answer.status.as_u16(), &error["error"]["code"], &error["id"]), (status, &json!(-32603), &json!(7)));
    let message = error["error"]["message"].as_str().expect("a message");
    assert!(message.contains(what), "{message}");
}

#[tokio::test]
async fn inside_all_who_wait_hear_that_there_was_no_answer_in_time() {
    let server = with_page(json!({ "tools": tools() }));
    let silent = Silent::new(&server, |before| before > 0);
    let gate = for_models().layer(answering().layer(silent));
    for answer in call_at_once(&gate).await {
        says_what_failed(&answer.expect("an answer"), 504, "does not list its tools");
    }
    let seen_then = seen(&server);
    assert_eq!((seen_then.look_ups, seen_then.ran.len()), (1, 0), "they share the look-up, and its end");
    // It is not kept, and the next time is in time.
    assert!(call_at_once(&gate).await.iter().all(|answer| answer.as_ref().is_ok_and(has_run)));
    assert_eq!(seen(&server).look_ups, 1);
}

#[tokio::test]
async fn inside_a_second_page_has_its_own_time() {
    let server = with_page(json!({ "tools": tools(), "nextCursor": "2" }));
    let gate = for_models().layer(answering().layer(Silent::new(&server, |before| before == 0)));
    for answer in call_at_once(&gate).await {
        says_what_failed(&answer.expect("an answer"), 504, "does not list its tools");
    }
    assert_eq!(seen(&server).look_ups, 2);
}

#[tokio::test]
async fn inside_one_that_fails_is_told_to_who_asked_and_a_refusal_to_the_others() {
    let server = with_page(json!({ "tools": tools() }));
    let failing = tower::timeout::TimeoutLayer::new(SHORT);
    let gate = for_models().layer(failing.layer(Silent::new(&server, |before| before > 0)));
    let (answers, errors): (Vec<_>, Vec<_>) = call_at_once(&gate).await.into_iter().partition(Result::is_ok);
    let [Err(error)] = &errors[..] else { panic!("{errors:?}") };
    assert!(error.is::<Elapsed>(), "{error}");
    for answer in answers {
        says_what_failed(&answer.expect("an answer"), 502, "failed while it was asked for its tools");
    }
    let seen = seen(&server);
    assert_eq!((seen.look_ups, seen.ran.len()), (1, 0));
}

#[tokio::test]
async fn outside_the_whole_is_bounded_also_where_nothing_ever_comes() {
    let (feed, body) = Body::channel();
    let body = std::sync::Mutex::new(Some(body));
    // The first look-up has a head, and a body that does not end; those who take it over get nothing.
    let server = listing(move |_| event_answer(body.lock().expect("a lock").take().unwrap_or_default()));
    let silent = Silent::new(&server, |before| before == 0);
    let gate = ServiceBuilder::new().layer(answering()).layer(for_models()).service(silent);
    for answer in call_at_once(&gate).await {
        let answer = answer.expect("an answer");
        assert_eq!((answer.status, answer.text().as_str()), (StatusCode::GATEWAY_TIMEOUT, ""));
    }
    assert!(feed.is_closed(), "nobody waits for it any longer");
    assert!(seen(&server).ran.is_empty());
}

#[tokio::test]
async fn outside_who_still_has_time_takes_the_look_up_over() {
    let server = listing(|received| json_answer(result(received, &json!({ "tools": tools() }))));
    let gate = for_models().layer(Silent::new(&server, |before| before > 0));
    let hasty = tokio::spawn(answering().layer(gate.clone()).oneshot(call("open")));
    while server.take().is_empty() {
        tokio::task::yield_now().await;
    }
    let patient = tokio::spawn(gate.oneshot(call("open")));
    let hasty = in_time(hasty).await.expect("no panic").expect("an answer");
    assert_eq!(hasty.status(), StatusCode::GATEWAY_TIMEOUT);
    let patient = in_time(patient).await.expect("no panic").expect("an answer");
    assert!(has_run(&read(patient).await));
    let seen = seen(&server);
    assert_eq!((seen.look_ups, seen.ran), (1, vec!["open".to_owned()]));
}
