//! Events go out as each is complete, and no other than the one that is edited changes.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body as HttpBody, Frame};
use http_body_util::BodyExt;
use tower::{Layer, ServiceExt};
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::exchange::Fixed;
use tower_mcp_apps::namespace::Namespace;
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::testing::{Body, BrokenOff};

use crate::kit::server::{Server, event_answer, json_answer};
use crate::kit::{LIST, only, post, read, send};
use crate::{ANSWER, CALL, FILTERED, NOTICE, ask, event, host, is_pending, model, next, stream_head};

#[tokio::test]
async fn events_go_out_one_by_one_as_each_is_complete() {
    for layer in [model(), host()] {
        let (feed, mut answer) = ask(&layer, post(LIST), stream_head()).await;
        assert!(is_pending(&mut answer).await);
        feed.send_data(NOTICE);
        assert_eq!(next(&mut answer).await, NOTICE);
        feed.send_data("id: 5\ndata: {\"jsonrpc\":\"2.0\",");
        assert!(is_pending(&mut answer).await);
        feed.send_data("\"method\":\"notifications/x\"}\n");
        assert!(is_pending(&mut answer).await);
        feed.send_data("\n: ke");
        let event = [next(&mut answer).await, next(&mut answer).await, next(&mut answer).await].concat();
        assert_eq!(event, "id: 5\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n");
        assert!(is_pending(&mut answer).await);
        feed.send_data("ep-alive\n\n");
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
    feed.send_data(format!("{NOTICE}id: 1\nretry: 5\n{}{NOTICE}", event(ANSWER)));
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
        move |_| event_answer(Body::frames([chunk.clone()]))
    });
    let got = send(model().layer(server), post(LIST)).await;
    let whole = chunk.as_ptr_range();
    assert!(got.frames.iter().all(|frame| whole.contains(&frame.as_ptr())), "slices, no copies");
    assert_eq!(got.bytes(), chunk);
}

#[tokio::test]
async fn get_streams_flow() {
    let (feed, mut answer) = ask(&model(), open_stream(), stream_head()).await;
    feed.send_data(NOTICE);
    assert_eq!(next(&mut answer).await, NOTICE);
    // An earlier answer that is replayed: its shape says what it is.
    feed.send_data(event(ANSWER));
    assert_eq!(next(&mut answer).await, event(FILTERED));
}

#[tokio::test]
async fn calls_stream() {
    let (feed, body) = Body::channel();
    let answer = Mutex::new(Some(event_answer(body)));
    let server = Server::new(move |received| match received.method().as_str() {
        // Whoever looks up what may be called asks with an id of its own.
        "tools/list" => json_answer(ANSWER.replace("\"id\":7", &format!("\"id\":{}", received.json()["id"]))),
        _ => answer.lock().expect("no panic").take().expect("called once"),
    });
    let mut answer = model().layer(server).oneshot(post(CALL)).await.expect("no failure");
    for _ in 0..3 {
        assert!(is_pending(&mut answer).await);
        feed.send_data(NOTICE);
        assert_eq!(next(&mut answer).await, NOTICE);
    }
    let result = event(r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#);
    feed.send_data(result.clone());
    drop(feed);
    assert_eq!(read(answer).await.text(), result);
}

/// A body of many frames that counts how many were taken.
struct Counted {
    left: usize,
    taken: Arc<AtomicUsize>,
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
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
    let request: Request<Body> = post(LIST);
    let mut answer = layered.oneshot(request).await.expect("no failure");
    for read in 1..=10 {
        answer.body_mut().frame().await.expect("a frame").expect("no failure");
        assert_eq!(taken.load(Ordering::Relaxed), read);
    }
}

fn listen() -> Request<Body> {
    post(r#"{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen"}"#)
}

fn open_stream() -> Request<Body> {
    let mut request = only(post(""), "accept", "text/event-stream");
    *request.method_mut() = http::Method::GET;
    request
}

/// An event that came in one chunk may pass by a glance at it; one that came in two never does.
#[tokio::test]
async fn what_passes_at_a_glance_would_pass_if_it_were_read() {
    let messages = [
        ANSWER,
        r#"{"jsonrpc":"2.0","id":7,"r\u0065sult":{"tools":[{"name":"none","_meta":{"ui":{"visibility":[]}}}]}}"#,
        r#"[{"jsonrpc":"2.0","method":"x"},{"id":7,"result":{"tools":[{"name":"a","_meta":{"ui/resourceUri":"ui://s/a"}}]}}]"#,
        r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"ui://s/a"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications\/resources\/updated","params":{"uri":"x:a"}}"#,
        r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"a \"result\""}}"#,
        r#"{"jsonrpc":"2.0","method":"#,
        "no JSON",
    ];
    let namespace = Namespace::new("ns").expect("a name");
    let plain = |audience| AppsLayer::new().audience(Fixed(audience));
    let named = |audience| plain(audience).namespace(namespace.clone());
    for layer in [plain(Audience::Host), plain(Audience::Model), named(Audience::Host), named(Audience::Model)] {
        for request in [|| post(LIST), || post(CALL), listen, open_stream] {
            for message in messages {
                let event = Bytes::from(format!("id: 1\ndata: {message}\n\n"));
                let asked = |frames: Vec<Bytes>| {
                    let server = Server::new(move |_| event_answer(Body::frames(frames.clone())));
                    send(layer.layer(server), request())
                };
                let whole = asked(vec![event.clone()]).await;
                for at in [3, event.len() / 2, event.len() - 3] {
                    let cut = asked(vec![event.slice(..at), event.slice(at..)]).await;
                    assert_eq!(whole.text(), cut.text(), "{message}, cut at {at}");
                }
            }
        }
    }
}
