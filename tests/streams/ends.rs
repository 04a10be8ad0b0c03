//! How exchanges end before their time: clients that leave, and bodies that break off.

use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use serde_json::json;
use tower::{Layer, ServiceExt};
use tower_mcp_apps::exchange::Limits;
use tower_mcp_apps::testing::{Body, BrokenOff};

use crate::kit::server::{Server, event_answer, labelled};
use crate::kit::{LIST, post, send};
use crate::{ANSWER, FILTERED, NOTICE, ask, host, is_pending, model, next, stream_head};

#[tokio::test]
async fn a_client_that_leaves_takes_the_upstream_with_it() {
    for layer in [model(), host()] {
        // At once, in the middle of an event, and while something waits to be read.
        for chunk in ["", "data: {", NOTICE] {
            let (feed, mut answer) = ask(&layer, post(LIST), stream_head()).await;
            feed.send_data(chunk);
            let _ = is_pending(&mut answer).await;
            assert!(!feed.is_closed());
            drop(answer);
            assert!(feed.is_closed(), "{chunk}");
        }
    }
}

#[tokio::test]
async fn a_client_that_leaves_before_the_head_takes_the_upstream_with_it() {
    let (feed, body) = Body::channel();
    feed.send_data("{\"jsonrpc\":");
    let answer = Mutex::new(Some(labelled("application/json", body)));
    let server = Server::new(move |_| answer.lock().expect("no panic").take().expect("asked once"));
    let mut asking = Box::pin(model().layer(server).oneshot(post(LIST)));
    assert!(tokio::time::timeout(Duration::from_millis(20), &mut asking).await.is_err(), "the body is waited for");
    assert!(!feed.is_closed());
    drop(asking);
    assert!(feed.is_closed());

    // And a request that is still being read is not read any more.
    let (feed, body) = Body::channel();
    let mut asking = Box::pin(model().layer(Server::saying("{}")).oneshot(post("").map(|_| body)));
    assert!(tokio::time::timeout(Duration::from_millis(20), &mut asking).await.is_err());
    drop(asking);
    assert!(feed.is_closed());
}

#[tokio::test]
async fn an_upstream_that_was_refused_is_closed_at_once() {
    let limits = Limits::new().response_bytes(64);
    let (feed, mut answer) = ask(&model().limits(limits), post(LIST), stream_head()).await;
    feed.send_data(format!("data: {{{}", " ".repeat(100)));
    let error = next(&mut answer).await;
    assert!(error.contains("-32603") && error.contains("\"id\":7"), "{error}");
    assert!(answer.body_mut().frame().await.is_none());
    assert!(feed.is_closed(), "though the client's body is still there");

    let (feed, body) = Body::channel();
    feed.send_data("{".repeat(65));
    let server = Mutex::new(Some(labelled("application/json", body)));
    let server = Server::new(move |_| server.lock().expect("no panic").take().expect("asked once"));
    let got = send(model().limits(limits).layer(server), post(LIST)).await;
    assert_eq!(got.error_code(), -32603);
    assert!(feed.is_closed());
}

#[tokio::test]
async fn a_stream_that_breaks_off() {
    // What is held goes before the error, unless a filter would have to read it.
    for (layer, held) in [(host(), "data: {\"id\""), (model(), "")] {
        let server = Server::new(|_| event_answer(Body::frames([NOTICE, "data: {\"id\""]).then_fail()));
        let got = send(layer.layer(server), post(LIST)).await;
        assert_eq!((got.text(), got.error), (format!("{NOTICE}{held}"), Some(BrokenOff)));
    }
}

#[tokio::test]
async fn an_event_that_the_end_cuts_off_is_read_all_the_same() {
    for end in ["", "\n", "\r\n"] {
        let stream = format!("{NOTICE}data: {ANSWER}{end}");
        let want = format!("{NOTICE}data: {FILTERED}{end}");
        assert_eq!(send(model().layer(Server::streaming(stream)), post(LIST)).await.text(), want);
    }
    let cut = format!("{NOTICE}data: {}", &ANSWER[..100]);
    assert_eq!(send(host().layer(Server::streaming(cut.clone())), post(LIST)).await.text(), cut);
    let got = send(model().layer(Server::streaming(cut)), post(LIST)).await;
    assert_eq!(got.events()[1]["error"]["code"], -32603);
}

#[tokio::test]
async fn a_body_that_breaks_off() {
    let frames = || [Bytes::from(&ANSWER[..20]), Bytes::from(&ANSWER[20..50])];
    let server = Server::new(move |_| labelled("application/json", Body::frames(frames()).then_fail()));
    let got = send(host().layer(server.clone()), post(LIST)).await;
    assert_eq!((got.frames, got.error), (frames().to_vec(), Some(BrokenOff)));
    let got = send(model().layer(server), post(LIST)).await;
    assert_eq!((got.error_code(), got.error), (json!(-32603), None));
}
