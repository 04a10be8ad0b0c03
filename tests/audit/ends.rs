//! When a record is made, and how the exchange ended.

use std::convert::Infallible;

use http::{Request, Response};
use http_body_util::BodyExt;
use tower::{Layer, ServiceExt, service_fn};
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::audit::{AuditLayer, End};
use tower_mcp_apps::concern::RequestBody;
use tower_mcp_apps::exchange::Fixed;
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::testing::{Body, Reply};

use crate::kit::{Server, call, keep, open, post, send};

const EVENT: &str = "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n";

#[tokio::test]
async fn a_stream_is_counted_while_it_runs_and_recorded_when_it_ends() {
    let (sink, kept) = keep();
    let (writer, body) = Body::channel();
    let service = Server::events(body).within(AppsLayer::new().audit(sink));
    let mut body = open(service, call("slow")).await.into_body();
    for _ in 0..3 {
        writer.send_data(EVENT);
        let frame = body.frame().await.expect("a frame").expect("no error");
        assert_eq!(frame.into_data().expect("data"), EVENT);
        assert!(kept.try_recv().is_err(), "the stream is still open");
    }
    drop(writer);
    assert!(body.frame().await.is_none());
    let record = kept.try_recv().expect("one record");
    assert_eq!((record.bytes(), record.end()), (3 * EVENT.len() as u64, End::Complete));
    drop(body);
    assert!(kept.try_recv().is_err(), "one record");
}

#[tokio::test]
async fn a_client_that_goes_away_within_a_stream() {
    let (sink, kept) = keep();
    let (writer, body) = Body::channel();
    let mut body = open(Server::events(body).within(AuditLayer::new(sink)), call("slow")).await.into_body();
    writer.send_data(EVENT);
    body.frame().await.expect("a frame").expect("no error");
    drop(body);
    assert!(writer.is_closed(), "the inner side closes, too");
    let record = kept.try_recv().expect("one record");
    assert_eq!((record.bytes(), record.end()), (EVENT.len() as u64, End::ClientGone));
    assert_eq!(record.status().map(|status| status.as_u16()), Some(200));
}

#[tokio::test]
async fn a_client_that_goes_away_before_the_head() {
    let (sink, kept) = keep();
    let service = Server::new(Reply::never).within(AuditLayer::new(sink));
    let mut future = Box::pin(service.oneshot(call("slow")));
    assert!(is_pending(&mut future).await);
    assert!(kept.try_recv().is_err());
    drop(future);
    let record = kept.try_recv().expect("one record");
    assert_eq!((record.tool(), record.status(), record.end()), (Some("slow"), None, End::ClientGone));
    assert!(record.is_forwarded());
}

#[tokio::test]
async fn a_client_that_goes_away_before_its_call_was_decided() {
    let (sink, kept) = keep();
    // The look-up gets no answer, either.
    let service = Server::new(Reply::never).without_list().within(AppsLayer::new().audit(sink));
    let mut future = Box::pin(service.oneshot(call("x")));
    assert!(is_pending(&mut future).await);
    drop(future);
    let record = kept.try_recv().expect("one record");
    assert_eq!((record.tool(), record.status(), record.end()), (Some("x"), None, End::ClientGone));
    assert!(!record.is_forwarded() && !record.is_refused());
}

/// Polls once.
async fn is_pending<F: Future + Unpin>(future: &mut F) -> bool {
    std::future::poll_fn(|cx| std::task::Poll::Ready(std::pin::Pin::new(&mut *future).poll(cx).is_pending())).await
}

#[tokio::test]
async fn an_inner_service_that_fails() {
    let (sink, kept) = keep();
    let down = service_fn(|_: Request<RequestBody<_>>| async { Err::<Response<Body>, _>("no route") });
    let service = AuditLayer::new(sink).layer(down);
    let error = service.oneshot(call("x")).await.err().expect("the error passes through");
    assert_eq!(error, "no route");
    let record = kept.try_recv().expect("one record");
    assert_eq!((record.status(), record.bytes(), record.end()), (None, 0, End::Failed));
    assert!(!record.is_refused());
}

#[tokio::test]
async fn an_inner_service_that_panics() {
    let (sink, kept) = keep();
    let service = Server::new(|| panic!("the server's own fault")).within(AuditLayer::new(sink));
    let panicked = tokio::spawn(async move { drop(open(service, call("x")).await) }).await;
    assert!(panicked.expect_err("the panic passes through").is_panic());
    assert_eq!(kept.try_recv().expect("one record").end(), End::Failed);
}

#[tokio::test]
async fn an_inner_service_that_panics_as_soon_as_it_is_called() {
    let (sink, kept) = keep();
    let broken = service_fn(|request: Request<RequestBody<_>>| {
        assert_ne!(request.uri().path(), "/mcp", "the server's own fault");
        async { Ok::<_, Infallible>(Response::new(Body::new("{}"))) }
    });
    let service = AuditLayer::new(sink).layer(broken);
    let panicked = tokio::spawn(async move { drop(service.oneshot(call("x")).await) }).await;
    assert!(panicked.expect_err("the panic passes through").is_panic());
    let record = kept.try_recv().expect("one record");
    assert_eq!((record.method(), record.end()), (Some("tools/call"), End::Failed));
}

#[tokio::test]
async fn a_body_that_breaks_off() {
    for layer in 0..2 {
        let (sink, kept) = keep();
        let (writer, body) = Body::channel();
        writer.send_data("{\"jsonrpc\"");
        writer.abort();
        let server = Server::events(body);
        let mut body = if layer == 0 {
            open(server.within(AuditLayer::new(sink)), call("x")).await.into_body().boxed()
        } else {
            open(server.within(AppsLayer::new().audit(sink)), call("x")).await.into_body().boxed()
        };
        assert_eq!(body.frame().await.expect("a frame").expect("no error").into_data().expect("data").len(), 10);
        assert!(kept.try_recv().is_err());
        let error = body.frame().await.expect("a frame").expect_err("the error passes through");
        assert_eq!(error.to_string(), "the body broke off, as the test has it");
        let record = kept.try_recv().expect("one record");
        assert_eq!((record.bytes(), record.end()), (10, End::Failed));
    }
}

#[tokio::test]
async fn an_answer_of_a_known_length_is_complete_once_that_is_out() {
    let (sink, kept) = keep();
    let (writer, body) = Body::channel();
    let reply = Reply::body(body).header("content-length", "4");
    let server = Server::new(move || reply.clone());
    let mut body = open(server.within(AuditLayer::new(sink)), call("x")).await.into_body();
    for expected in [None, Some((4, End::Complete))] {
        writer.send_data("ab");
        body.frame().await.expect("a frame").expect("no error");
        assert_eq!(kept.try_recv().ok().map(|record| (record.bytes(), record.end())), expected);
    }
}

#[tokio::test]
async fn bytes_are_those_that_go_out() {
    let (sink, kept) = keep();
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"x","_meta":{"ui":{"visibility":["app"]}}}]}}"#;
    let layer = AppsLayer::new().audience(Fixed(Audience::Model)).audit(sink);
    // A batch whose answer is edited, with a call in it.
    let request = post(
        r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"},{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"a:b"}}]"#,
    );
    let edited = send(Server::json(answer).within(layer), request).await.text();
    assert!(edited.len() < answer.len());
    assert_eq!(kept.try_recv().expect("one record").bytes(), edited.len() as u64);
}
