//! Events go out as each is complete, and no other than the one that is edited changes.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use tower::{Layer, ServiceExt};

use crate::kit::body::{Failed, Script};
use crate::kit::server::{Server, event_answer, json_answer};
use crate::kit::{LIST, only, post, read, send};
use crate::{ANSWER, CALL, FILTERED, NOTICE, ask, event, host, is_pending, model, next, stream_head};

#[tokio::test]
async fn events_go_out_one_by_one_as_each_is_complete() {
    for layer in [model(), host()] {
        let (feed, mut answer) = ask(&layer, post(LIST), stream_head()).await;
        assert!(is_pending(&mut answer).await);
        feed.data(NOTICE);
        assert_eq!(next(&mut answer).await, NOTICE);
        feed.data("id: 5\ndata: {\"jsonrpc\":\"2.0\",");
        assert!(is_pending(&mut answer).await);
        feed.data("\"method\":\"notifications/x\"}\n");
        assert!(is_pending(&mut answer).await);
        feed.data("\n: ke");
        let event = [next(&mut answer).await, next(&mut answer).await, next(&mut answer).await].concat();
        assert_eq!(event, "id: 5\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n");
        assert!(is_pending(&mut answer).await);
        feed.data("ep-alive\n\n");
        assert_eq!([next(&mut answer).await, next(&mut answer).await].concat(), ": keep-alive\n\n");
        assert!(!answer.body().is_end_stream());
        drop(feed);
        assert!(answer.body_mut().frame().await.is_none());
        assert!(answer.body().is_end_stream());
    }
}

#[tokio::test]
async fn a_list_among_events_is_edited_and_the_others_are_not() {
    let (feed, mut answer) = ask(&model(), post(LIST), stream_head()).await;
    feed.data(format!("{NOTICE}id: 1\nretry: 5\n{}{NOTICE}", event(ANSWER)));
    drop(feed);
    let mut text = String::new();
    while let Some(frame) = answer.body_mut().frame().await {
        text.push_str(std::str::from_utf8(&frame.expect("no failure").into_data().expect("data")).expect("text"));
    }
    assert_eq!(text, format!("{NOTICE}id: 1\nretry: 5\n{}{NOTICE}", event(FILTERED)));
}

#[tokio::test]
async fn events_that_stay_are_the_bytes_that_came() {
    let chunk = Bytes::from(NOTICE.repeat(3));
    let server = Server::new({
        let chunk = chunk.clone();
        move |_| event_answer(Script::frames([chunk.clone()]))
    });
    let got = send(model().layer(server), post(LIST)).await;
    let whole = chunk.as_ptr_range();
    assert!(got.frames.iter().all(|frame| whole.contains(&frame.as_ptr())), "slices, no copies");
    assert_eq!(got.bytes(), chunk);
}

#[tokio::test]
async fn get_streams_flow() {
    let mut request = only(post(""), "accept", "text/event-stream");
    *request.method_mut() = http::Method::GET;
    let (feed, mut answer) = ask(&model(), request, stream_head()).await;
    feed.data(NOTICE);
    assert_eq!(next(&mut answer).await, NOTICE);
    // An earlier answer that is replayed: its shape says what it is.
    feed.data(event(ANSWER));
    assert_eq!(next(&mut answer).await, event(FILTERED));
}

#[tokio::test]
async fn calls_stream() {
    let (feed, body) = Script::live();
    let answer = Mutex::new(Some(event_answer(body)));
    let server = Server::new(move |received| match received.method().as_str() {
        // Whoever looks up what may be called asks with an id of its own.
        "tools/list" => json_answer(ANSWER.replace("\"id\":7", &format!("\"id\":{}", received.json()["id"]))),
        _ => answer.lock().expect("no panic").take().expect("called once"),
    });
    let mut answer = model().layer(server).oneshot(post(CALL)).await.expect("no failure");
    for _ in 0..3 {
        assert!(is_pending(&mut answer).await);
        feed.data(NOTICE);
        assert_eq!(next(&mut answer).await, NOTICE);
    }
    let result = event(r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#);
    feed.data(result.clone());
    drop(feed);
    assert_eq!(read(answer).await.text(), result);
}

/// A body of many frames that counts how many were taken.
struct Counted {
    left: usize,
    taken: Arc<AtomicUsize>,
}

impl Body for Counted {
    type Data = Bytes;
    type Error = Failed;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Failed>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        self.left -= 1;
        self.taken.fetch_add(1, Ordering::Relaxed);
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(NOTICE.as_bytes())))))
    }
}

#[tokio::test]
async fn nothing_is_read_ahead_of_the_client() {
    let taken = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&taken);
    let server = tower::service_fn(move |_: Request<_>| {
        let body = Counted { left: 1_000, taken: Arc::clone(&counted) };
        let answer = Response::builder().header("content-type", "text/event-stream").body(body);
        async { Ok::<_, std::convert::Infallible>(answer.expect("well formed")) }
    });
    let layered = tower::ServiceBuilder::new().layer(model()).service(server);
    let request: Request<Script> = post(LIST);
    let mut answer = layered.oneshot(request).await.expect("no failure");
    for read in 1..=10 {
        answer.body_mut().frame().await.expect("a frame").expect("no failure");
        assert_eq!(taken.load(Ordering::Relaxed), read);
    }
}
