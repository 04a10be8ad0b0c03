//! Heads and trailers: when they go out, and which of their fields an edit makes untrue.

use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http_body::Body as _;
use tower::{Layer, ServiceExt};
use tower_mcp_apps::testing::Body;

use crate::kit::server::{Server, json_answer, labelled};
use crate::kit::{LIST, post, send, with};
use crate::{ANSWER, CALL, FILTERED, ask, event, host, is_pending, model, next, stream_head};

#[tokio::test]
async fn a_stream_has_no_length_and_no_validators() {
    let mut head = stream_head();
    for name in ["content-length", "etag", "content-md5", "digest", "content-digest", "repr-digest"] {
        head.headers_mut().insert(name, "5".parse().expect("a value"));
    }
    head.headers_mut().insert("x-other", "5".parse().expect("a value"));
    let (_feed, answer) = ask(&model(), post(LIST), head).await;
    let names: Vec<_> = answer.headers().keys().map(|name| name.as_str()).collect();
    assert_eq!(names, ["content-type", "x-other"]);
    assert_eq!((answer.body().size_hint().lower(), answer.body().size_hint().upper()), (0, None));
}

#[tokio::test]
async fn what_nobody_edits_keeps_its_head() {
    let server = Server::new(|_| {
        let mut answer = json_answer(r#"{"jsonrpc":"2.0","id":7,"result":{"contents":[]}}"#);
        answer.headers_mut().insert("etag", "\"1\"".parse().expect("a value"));
        answer.headers_mut().insert("repr-digest", "x".parse().expect("a value"));
        answer
    });
    let request = r#"{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"ui://a"}}"#;
    for body in [request, LIST] {
        let got = send(model().layer(server.clone()), post(body)).await;
        assert_eq!(got.header("etag"), Some("\"1\""), "{body}");
        assert_eq!(got.header("repr-digest"), Some("x"), "{body}");
        assert_eq!(got.header("content-length"), Some("49"), "{body}");
    }
}

#[tokio::test]
async fn what_is_edited_loses_its_validators() {
    let server = Server::new(|_| {
        let mut answer = json_answer(ANSWER);
        for name in ["etag", "content-md5", "digest", "content-digest", "repr-digest"] {
            answer.headers_mut().insert(name, "x".parse().expect("a value"));
        }
        answer
    });
    let got = send(model().layer(server), post(LIST)).await;
    assert_eq!(got.text(), FILTERED);
    let names: Vec<_> = got.headers.keys().map(|name| name.as_str()).collect();
    assert_eq!(names, ["content-type", "content-length"]);
    assert_eq!(got.header("content-length"), Some(&*FILTERED.len().to_string()));
}

#[tokio::test]
async fn a_json_head_waits_only_where_its_body_may_be_edited() {
    // `ask` fails where the head waits: the body never comes.
    let json = || labelled("application/json", Body::default()).map(drop);
    let read = r#"{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"ui://a"}}"#;
    for layer in [model(), host()] {
        let (_feed, mut answer) = ask(&layer, post(read), json()).await;
        assert!(is_pending(&mut answer).await);
    }
    let (feed, mut answer) = ask(&host(), post(CALL), json()).await;
    feed.send_data("{\"any");
    assert_eq!(next(&mut answer).await, "{\"any");
    // A page is no answer to a method: it need not be read to see that.
    for content_type in ["text/html", "application/octet-stream"] {
        let (feed, body) = Body::channel();
        feed.send_data("<!doctype");
        let answer = Mutex::new(Some(labelled(content_type, body)));
        let server = Server::new(move |_| answer.lock().expect("no panic").take().expect("asked once"));
        let answer = tokio::time::timeout(Duration::from_secs(5), model().layer(server).oneshot(post(LIST))).await;
        let mut answer = answer.expect("the head does not wait").expect("no failure");
        assert_eq!(next(&mut answer).await, "<!doctype");
        feed.send_data(" html>");
        assert_eq!(next(&mut answer).await, " html>");
    }
}

fn trailers() -> HeaderMap {
    let digests = ["content-digest", "repr-digest", "etag"].map(http::HeaderName::from_static);
    let names = digests.into_iter().chain([http::HeaderName::from_static("x-other")]);
    names.map(|name| (name, "x".parse().expect("a value"))).collect()
}

#[tokio::test]
async fn trailers_stay_but_for_digests_of_what_was_edited() {
    let untouched = r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[]}}"#;
    let other: HeaderMap =
        [(http::HeaderName::from_static("x-other"), "x".parse().expect("a value"))].into_iter().collect();
    for (content_type, body, want) in [
        ("application/json", untouched.to_owned(), trailers()),
        ("application/json", ANSWER.to_owned(), other.clone()),
        ("text/event-stream", event(ANSWER), other.clone()),
        ("text/event-stream", ANSWER.to_owned(), other.clone()),
        ("application/json", event(ANSWER), other),
    ] {
        let answer = body.clone();
        let server = Server::new(move |_| labelled(content_type, Body::frames([answer.clone()]).trailers(trailers())));
        let got = send(model().layer(server), post(LIST)).await;
        assert_eq!(got.trailers, Some(want), "{content_type}: {body}");
    }
    // Where nobody looks, nothing is touched; and what a client sends arrives.
    let server = Server::new(|_| labelled("application/json", Body::frames(["{}"]).trailers(trailers())));
    let request = post("").map(|_| {
        let read = r#"{"jsonrpc":"2.0","id":7,"method":"resources/read"}"#;
        Body::frames([Bytes::from(&read[..9]), Bytes::from(&read[9..])]).trailers(trailers())
    });
    let got = send(model().layer(server.clone()), request).await;
    assert_eq!(got.trailers, Some(trailers()));
    let received = server.only();
    assert_eq!((received.trailers, received.frames.len()), (Some(trailers()), 2));
}

#[tokio::test]
async fn only_identity_is_asked_for_where_an_edit_may_come() {
    let server = Server::saying(ANSWER);
    let request = with(with(post(LIST), "accept-encoding", "gzip"), "accept-encoding", "br;q=0.5");
    send(model().layer(server.clone()), request).await;
    let received = server.only();
    assert_eq!(received.parts.headers.get_all("accept-encoding").iter().collect::<Vec<_>>(), ["identity"]);
    let body = r#"{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"ui://a"}}"#;
    send(model().layer(server.clone()), with(post(body), "accept-encoding", "gzip")).await;
    assert_eq!(server.only().header("accept-encoding"), Some("gzip"));
}
