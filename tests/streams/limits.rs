//! What is over a limit, and what no limit is about.

use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use tower::Layer;
use tower_mcp_apps::exchange::Limits;
use tower_mcp_apps::testing::Body;

use crate::kit::server::{Server, event_answer, labelled};
use crate::kit::{LIST, post, send};
use crate::{ANSWER, NOTICE, event, host, model};

#[tokio::test]
async fn an_oversize_event_passes_where_nothing_is_enforced() {
    let limits = Limits::new().response_bytes(64);
    let big = format!("data: {{{}}}\n\n", " ".repeat(100));
    for cut in [1, 7, 64, 65, 1000] {
        let chunks = big.as_bytes().chunks(cut).map(Bytes::copy_from_slice);
        let server = Mutex::new(Some(event_answer(Body::frames(chunks))));
        let server = Server::new(move |_| server.lock().expect("no panic").take().expect("asked once"));
        assert_eq!(send(host().limits(limits).layer(server), post(LIST)).await.text(), big);
    }
}

#[tokio::test]
async fn what_comes_behind_an_oversize_event_is_edited() {
    let link = event(r#"{"id":7,"result":{"tools":[{"name":"a","_meta":{"ui/resourceUri":"ui://a"}}]}}"#);
    let linked = link.replace(r#""ui://a"}"#, r#""ui://a","ui":{"resourceUri":"ui://a"}}"#);
    assert_ne!(link, linked);
    let limits = Limits::new().response_bytes(link.len());
    for end in ["\n\n", "\r\n\r\n", "\r\r", "\n\r\n"] {
        let big = format!("id: 1\ndata: {{{}}}{end}", " ".repeat(3 * link.len()));
        let stream = [&link, &big, &link, &big, &big, &link].map(String::as_str).concat();
        let expected = [&linked, &big, &linked, &big, &big, &linked].map(String::as_str).concat();
        for cut in [1, 2, 7, link.len(), big.len(), stream.len()] {
            let chunks = stream.as_bytes().chunks(cut).map(Bytes::copy_from_slice);
            let server = Mutex::new(Some(event_answer(Body::frames(chunks))));
            let server = Server::new(move |_| server.lock().expect("no panic").take().expect("asked once"));
            let answer = send(host().limits(limits).layer(server), post(LIST)).await;
            assert_eq!(answer.text(), expected, "{end:?} cut at {cut}");
        }
    }
}

#[tokio::test]
async fn a_stream_may_be_longer_than_any_limit() {
    let limits = Limits::new().response_bytes(2 * NOTICE.len());
    for content_type in ["text/event-stream", "application/json", "text/plain"] {
        let stream = NOTICE.repeat(50) + &event(r#"{"id":7,"result":{"tools":[]}}"#);
        let body = stream.clone();
        let server = Server::new(move |_| {
            let length = body.len() as u64;
            let frames = body.as_bytes().chunks(40).map(Bytes::copy_from_slice).collect::<Vec<_>>();
            labelled(content_type, Body::frames(frames).of_length(length))
        });
        assert_eq!(send(model().limits(limits).layer(server), post(LIST)).await.text(), stream, "{content_type}");
    }
}

#[tokio::test]
async fn an_announced_length_over_the_limit_is_enough() {
    let limits = Limits::new().response_bytes(64);
    for content_type in [Some("application/json"), None, Some("text/plain")] {
        let server = Server::new(move |_| {
            let (feed, body) = Body::channel();
            feed.send_data("{\"jsonrpc\"");
            // The rest never comes.
            std::mem::forget(feed);
            let mut answer = Response::new(body.of_length(1000));
            if let Some(content_type) = content_type {
                answer.headers_mut().insert("content-type", content_type.parse().expect("a type"));
            }
            answer
        });
        let got = send(model().limits(limits).layer(server), post(LIST)).await;
        assert_eq!(got.error_code(), -32603, "{content_type:?}");
    }
    // A download is no answer, however long it is.
    let server = Server::new(|_| labelled("application/octet-stream", Body::new(vec![0; 1000])));
    assert_eq!(send(model().limits(limits).layer(server), post(LIST)).await.bytes().len(), 1000);
}

#[tokio::test]
async fn padding_before_json_is_not_read_again_and_again() {
    let server = Server::new(|_| {
        let padding = (0..200_000).map(|_| Bytes::from_static(b" "));
        labelled("application/json", Body::frames(padding.chain([ANSWER.into()])))
    });
    let started = std::time::Instant::now();
    assert_eq!(send(model().layer(server), post(LIST)).await.tools(), ["open"]);
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}
