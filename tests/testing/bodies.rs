//! Bodies that a test writes down, or sends while it runs.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::HeaderMap;
use http_body::Body as _;
use http_body_util::BodyExt;
use tower_mcp_apps::testing::{Body, BrokenOff};

/// The frames of a body and how it ends.
async fn drain(mut body: Body) -> (Vec<Bytes>, Option<BrokenOff>) {
    let mut frames = Vec::new();
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => frames.extend(frame.into_data()),
            Err(error) => return (frames, Some(error)),
        }
    }
    (frames, None)
}

async fn is_pending(body: &mut Body) -> bool {
    poll_fn(|cx| Poll::Ready(Pin::new(&mut *body).poll_frame(cx).is_pending())).await
}

#[tokio::test]
async fn a_body_that_is_there() {
    let body = Body::new("abc");
    assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(3), false));
    assert_eq!(drain(body.clone()).await, (vec!["abc".into()], None));
    assert_eq!(drain(body).await, (vec!["abc".into()], None), "a clone is read apart");
    assert!(Body::new("").is_end_stream());
    let body = Body::frames(["a", "", "b"]);
    assert_eq!(body.size_hint().exact(), None);
    assert_eq!(drain(body).await, (vec!["a".into(), "".into(), "b".into()], None));
}

#[tokio::test]
async fn a_length_counts_down_be_it_true_or_not() {
    let mut body = Body::frames(["ab", "cd"]).of_length(3);
    for left in [1, 0] {
        body.frame().await.expect("a frame").expect("no error");
        assert_eq!(body.size_hint().exact(), Some(left));
    }
}

#[tokio::test]
async fn ends_other_than_the_end() {
    assert_eq!(drain(Body::frames(["a"]).then_fail()).await, (vec!["a".into()], Some(BrokenOff)));
    let mut body = Body::frames(["a"]).then_hang();
    body.frame().await.expect("a frame").expect("no error");
    for _ in 0..2 {
        assert!(is_pending(&mut body).await && !body.is_end_stream());
    }
    let trailers = HeaderMap::from_iter([(http::header::ETAG, "x".parse().expect("a value"))]);
    let collected = Body::new("a").trailers(trailers.clone()).collect().await.expect("no error");
    assert_eq!(collected.trailers(), Some(&trailers));
}

#[tokio::test]
async fn what_is_sent_while_the_test_runs() {
    let (sender, mut body) = Body::channel();
    assert!(is_pending(&mut body).await && !body.is_end_stream());
    let reader = tokio::spawn(drain(body));
    tokio::task::yield_now().await;
    sender.send_data("a");
    sender.send_data("b");
    drop(sender);
    assert_eq!(reader.await.expect("no panic"), (vec!["a".into(), "b".into()], None));

    let (sender, body) = Body::channel();
    sender.send_trailers(HeaderMap::new());
    sender.abort();
    assert_eq!(drain(body).await, (vec![], Some(BrokenOff)));
    assert!(sender.is_closed());
}

#[tokio::test]
async fn a_sender_sees_that_the_body_is_gone() {
    let (sender, body) = Body::channel();
    let clone = body.clone();
    drop(body);
    assert!(!sender.is_closed(), "a clone is left");
    let seen = tokio::spawn(async move { sender.closed().await });
    tokio::task::yield_now().await;
    assert!(!seen.is_finished());
    drop(clone);
    tokio::time::timeout(Duration::from_secs(30), seen).await.expect("it is woken").expect("no panic");
}

#[test]
fn a_slow_body_needs_no_runtime() {
    use std::sync::Arc;
    use std::task::{Context, Wake};
    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut cx = Context::from_waker(&waker);
    let pace = Duration::from_millis(20);
    let mut body = Body::frames(["a", "b"]).slow(pace);
    let began = Instant::now();
    let mut frames = 0;
    loop {
        match Pin::new(&mut body).poll_frame(&mut cx) {
            Poll::Ready(Some(_)) => frames += 1,
            Poll::Ready(None) => break,
            Poll::Pending => std::thread::park_timeout(Duration::from_secs(60)),
        }
    }
    assert_eq!(frames, 2);
    assert!(began.elapsed() >= 3 * pace && began.elapsed() < Duration::from_secs(50));
}
