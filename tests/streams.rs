//! Streaming stays streaming: heads at once, events as they are complete, nothing held, nothing kept open.

mod kit;

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use kit::body::{Failed, Feed, Script};
use kit::server::{Server, event_answer, json_answer, labelled};
use kit::{LIST, only, post, read, send, with};
use serde_json::json;
use tower::{Layer, ServiceExt};
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::apps::Fused;
use tower_mcp_apps::concern::ResponseBody;
use tower_mcp_apps::exchange::{Fixed, Limits};
use tower_mcp_apps::protocol::Audience;

const CALL: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"open"}}"#;
const NOTICE: &str = "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n";

/// A list of which a model gets `open` only, and gets it with a nested link.
const ANSWER: &str = r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"none","_meta":{"ui":{"visibility":[]}}},{"name":"open","_meta":{"ui/resourceUri":"ui://s/a"}}]}}"#;
const FILTERED: &str = r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"open","_meta":{"ui/resourceUri":"ui://s/a","ui":{"resourceUri":"ui://s/a"}}}]}}"#;

fn model() -> AppsLayer {
    AppsLayer::new().audience(Fixed(Audience::Model))
}

fn host() -> AppsLayer {
    AppsLayer::new().audience(Fixed(Audience::Host))
}

fn event(message: &str) -> String {
    format!("event: message\ndata: {message}\n\n")
}

type Answered = Response<ResponseBody<Script, Fused>>;

/// Asks a server that answers this once and lets the test feed its body.
async fn ask(layer: &AppsLayer, request: Request<Script>, head: Response<()>) -> (Feed, Answered) {
    let (feed, body) = Script::live();
    let answer = Mutex::new(Some(head.map(|()| body)));
    let server = Server::new(move |_| answer.lock().expect("no panic").take().expect("asked once"));
    let answer = layer.layer(server).oneshot(request);
    let answer = tokio::time::timeout(Duration::from_secs(5), answer).await.expect("the head goes out at once");
    (feed, answer.expect("the service does not fail"))
}

fn stream_head() -> Response<()> {
    labelled("text/event-stream", Script::default()).map(drop)
}

/// The next frame as text, which must be there without waiting.
async fn next(answer: &mut Answered) -> String {
    let frame = tokio::time::timeout(Duration::from_secs(5), answer.body_mut().frame()).await.expect("a frame is due");
    let data = frame.expect("the body goes on").expect("the body does not fail").into_data().expect("data");
    String::from_utf8(data.to_vec()).expect("text")
}

/// Whether nothing is to be had without waiting.
async fn is_pending(answer: &mut Answered) -> bool {
    std::future::poll_fn(|cx| Poll::Ready(Pin::new(answer.body_mut()).poll_frame(cx).is_pending())).await
}

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
    let json = || labelled("application/json", Script::default()).map(drop);
    let read = r#"{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"ui://a"}}"#;
    for layer in [model(), host()] {
        let (_feed, mut answer) = ask(&layer, post(read), json()).await;
        assert!(is_pending(&mut answer).await);
    }
    let (feed, mut answer) = ask(&host(), post(CALL), json()).await;
    feed.data("{\"any");
    assert_eq!(next(&mut answer).await, "{\"any");
    // A page is no answer to a method: it need not be read to see that.
    for content_type in ["text/html", "application/octet-stream"] {
        let (feed, body) = Script::live();
        feed.data("<!doctype");
        let answer = Mutex::new(Some(labelled(content_type, body)));
        let server = Server::new(move |_| answer.lock().expect("no panic").take().expect("asked once"));
        let answer = tokio::time::timeout(Duration::from_secs(5), model().layer(server).oneshot(post(LIST))).await;
        let mut answer = answer.expect("the head does not wait").expect("no failure");
        assert_eq!(next(&mut answer).await, "<!doctype");
        feed.data(" html>");
        assert_eq!(next(&mut answer).await, " html>");
    }
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
    let server = Server::new(|received| match received.method().as_str() {
        // Whoever looks up what may be called asks with an id of its own.
        "tools/list" => json_answer(ANSWER.replace("\"id\":7", &format!("\"id\":{}", received.json()["id"]))),
        _ => {
            let (feed, body) = Script::live();
            tokio::spawn(async move {
                for _ in 0..3 {
                    feed.data(NOTICE);
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                feed.data(event(r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#));
            });
            event_answer(body)
        }
    });
    let mut answer = model().layer(server).oneshot(post(CALL)).await.expect("no failure");
    let started = tokio::time::Instant::now();
    assert_eq!(next(&mut answer).await, NOTICE);
    assert!(started.elapsed() < Duration::from_millis(20));
    let rest = read(answer).await;
    assert_eq!(rest.events().len(), 3);
}

#[tokio::test]
async fn a_client_that_leaves_takes_the_upstream_with_it() {
    for layer in [model(), host()] {
        // At once, in the middle of an event, and while something waits to be read.
        for chunk in ["", "data: {", NOTICE] {
            let (feed, mut answer) = ask(&layer, post(LIST), stream_head()).await;
            feed.data(chunk);
            let _ = is_pending(&mut answer).await;
            assert!(!feed.is_dropped());
            drop(answer);
            assert!(feed.is_dropped(), "{chunk}");
        }
    }
}

#[tokio::test]
async fn a_client_that_leaves_before_the_head_takes_the_upstream_with_it() {
    let (feed, body) = Script::live();
    feed.data("{\"jsonrpc\":");
    let answer = Mutex::new(Some(labelled("application/json", body)));
    let server = Server::new(move |_| answer.lock().expect("no panic").take().expect("asked once"));
    let mut asking = Box::pin(model().layer(server).oneshot(post(LIST)));
    assert!(tokio::time::timeout(Duration::from_millis(20), &mut asking).await.is_err(), "the body is waited for");
    assert!(!feed.is_dropped());
    drop(asking);
    assert!(feed.is_dropped());

    // And a request that is still being read is not read any more.
    let (feed, body) = Script::live();
    let mut asking = Box::pin(model().layer(Server::saying("{}")).oneshot(post("").map(|_| body)));
    assert!(tokio::time::timeout(Duration::from_millis(20), &mut asking).await.is_err());
    drop(asking);
    assert!(feed.is_dropped());
}

#[tokio::test]
async fn an_upstream_that_was_refused_is_closed_at_once() {
    let limits = Limits::new().response_bytes(64);
    let (feed, mut answer) = ask(&model().limits(limits), post(LIST), stream_head()).await;
    feed.data(format!("data: {{{}", " ".repeat(100)));
    let error = next(&mut answer).await;
    assert!(error.contains("-32603") && error.contains("\"id\":7"), "{error}");
    assert!(answer.body_mut().frame().await.is_none());
    assert!(feed.is_dropped(), "though the client's body is still there");

    let (feed, body) = Script::live();
    feed.data("{".repeat(65));
    let server = Mutex::new(Some(labelled("application/json", body)));
    let server = Server::new(move |_| server.lock().expect("no panic").take().expect("asked once"));
    let got = send(model().limits(limits).layer(server), post(LIST)).await;
    assert_eq!(got.error_code(), -32603);
    assert!(feed.is_dropped());
}

#[tokio::test]
async fn an_oversize_event_passes_where_nothing_is_enforced() {
    let limits = Limits::new().response_bytes(64);
    let big = format!("data: {{{}}}\n\n", " ".repeat(100));
    for cut in [1, 7, 64, 65, 1000] {
        let chunks = big.as_bytes().chunks(cut).map(Bytes::copy_from_slice);
        let server = Mutex::new(Some(event_answer(Script::frames(chunks))));
        let server = Server::new(move |_| server.lock().expect("no panic").take().expect("asked once"));
        assert_eq!(send(host().limits(limits).layer(server), post(LIST)).await.text(), big);
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
            labelled(content_type, Script::frames(frames).of_length(length))
        });
        assert_eq!(send(model().limits(limits).layer(server), post(LIST)).await.text(), stream, "{content_type}");
    }
}

#[tokio::test]
async fn an_announced_length_over_the_limit_is_enough() {
    let limits = Limits::new().response_bytes(64);
    for content_type in [Some("application/json"), None, Some("text/plain")] {
        let server = Server::new(move |_| {
            let (feed, body) = Script::live();
            feed.data("{\"jsonrpc\"");
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
    let server = Server::new(|_| labelled("application/octet-stream", Script::whole(vec![0; 1000])));
    assert_eq!(send(model().limits(limits).layer(server), post(LIST)).await.bytes().len(), 1000);
}

#[tokio::test]
async fn a_stream_that_breaks_off() {
    // What is held goes before the error, unless a filter would have to read it.
    for (layer, held) in [(host(), "data: {\"id\""), (model(), "")] {
        let server = Server::new(|_| event_answer(Script::failing([NOTICE.into(), "data: {\"id\"".into()])));
        let got = send(layer.layer(server), post(LIST)).await;
        assert_eq!((got.text(), got.error), (format!("{NOTICE}{held}"), Some(Failed)));
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
    let server = Server::new(move |_| labelled("application/json", Script::failing(frames())));
    let got = send(host().layer(server.clone()), post(LIST)).await;
    assert_eq!((got.frames, got.error), (frames().to_vec(), Some(Failed)));
    let got = send(model().layer(server), post(LIST)).await;
    assert_eq!((got.error_code(), got.error), (json!(-32603), None));
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
        let server = Server::new(move |_| labelled(content_type, Script::trailed([answer.clone().into()], trailers())));
        let got = send(model().layer(server), post(LIST)).await;
        assert_eq!(got.trailers, Some(want), "{content_type}: {body}");
    }
    // Where nobody looks, nothing is touched; and what a client sends arrives.
    let server = Server::new(|_| labelled("application/json", Script::trailed(["{}".into()], trailers())));
    let request = post("").map(|_| {
        let read = r#"{"jsonrpc":"2.0","id":7,"method":"resources/read"}"#;
        Script::trailed([Bytes::from(&read[..9]), Bytes::from(&read[9..])], trailers())
    });
    let got = send(model().layer(server.clone()), request).await;
    assert_eq!(got.trailers, Some(trailers()));
    let received = server.only();
    assert_eq!((received.trailers, received.frames.len()), (Some(trailers()), 2));
}

#[tokio::test]
async fn json_that_says_it_is_a_stream() {
    let (feed, mut answer) = ask(&model(), post(LIST), stream_head()).await;
    feed.data(&ANSWER.as_bytes()[..50]);
    assert!(is_pending(&mut answer).await);
    feed.data(&ANSWER.as_bytes()[50..]);
    assert!(is_pending(&mut answer).await);
    drop(feed);
    assert_eq!(read(answer).await.text(), FILTERED);
}

#[tokio::test]
async fn a_stream_that_says_it_is_json_still_streams() {
    let (feed, body) = Script::live();
    feed.data("eve");
    let answer = Mutex::new(Some(labelled("application/json", body)));
    let server = Server::new(move |_| answer.lock().expect("no panic").take().expect("asked once"));
    let asking = tokio::spawn(model().layer(server).oneshot(post(LIST)));
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert!(!asking.is_finished(), "three letters tell nothing");
    feed.data(&NOTICE["eve".len()..]);
    let mut answer = asking.await.expect("no panic").expect("no failure");
    assert_eq!([next(&mut answer).await, next(&mut answer).await].concat(), NOTICE);
    feed.data(event(ANSWER));
    assert_eq!(next(&mut answer).await, event(FILTERED));
}

#[tokio::test]
async fn an_event_behind_a_byte_order_mark_does_not_slip_through() {
    // At the very start the mark belongs to the stream; in the data it is no JSON.
    let marked = format!("\u{feff}{}", event(ANSWER));
    let got = send(model().layer(Server::streaming(marked)), post(LIST)).await;
    assert_eq!(got.text(), format!("\u{feff}{}", event(FILTERED)));
    let inside = event(&format!("\u{feff}{ANSWER}"));
    let got = send(model().layer(Server::streaming(inside.clone())), post(LIST)).await;
    assert_eq!(got.error_code(), -32603);
    assert_eq!(send(host().layer(Server::streaming(inside.clone())), post(LIST)).await.text(), inside);
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

#[tokio::test]
async fn an_upload_that_is_not_read_flows() {
    let (feed, body) = Script::live();
    let request = only(post(""), "content-type", "application/octet-stream").map(|_| body);
    let server = tower::service_fn(|request: Request<_>| async move {
        let mut body: tower_mcp_apps::concern::RequestBody<Script> = request.into_body();
        let first = body.frame().await.expect("a frame").expect("no failure").into_data().expect("data");
        Ok::<_, std::convert::Infallible>(Response::new(Script::whole(first)))
    });
    feed.data("first");
    let got = send(host().layer(server), request).await;
    assert_eq!(got.text(), "first", "though the upload goes on");
    drop(feed);
}

#[tokio::test]
async fn a_request_arrives_in_the_frames_that_came() {
    let frames = [Bytes::from(&LIST[..5]), Bytes::from(&LIST[5..6]), Bytes::from(&LIST[6..])];
    for layer in [model(), host()] {
        let server = Server::saying(ANSWER);
        send(layer.layer(server.clone()), post("").map(|_| Script::frames(frames.clone()))).await;
        let received = server.only();
        let pointers = |frames: &[Bytes]| frames.iter().map(|frame| frame.as_ptr()).collect::<Vec<_>>();
        assert_eq!(pointers(&received.frames), pointers(&frames));
    }
    // Thousands of tiny frames are joined: their handles would outweigh them.
    let long = format!("{LIST}{}", " ".repeat(5000));
    let tiny = || post("").map(|_| Script::frames(long.bytes().map(|byte| Bytes::copy_from_slice(&[byte]))));
    let server = Server::saying(ANSWER);
    assert_eq!(send(model().layer(server.clone()), tiny()).await.tools(), ["open"]);
    let received = server.only();
    assert_eq!(received.bytes(), long);
    assert!(received.frames.len() < 1100, "{}", received.frames.len());
}

#[tokio::test]
async fn padding_before_json_is_not_read_again_and_again() {
    let server = Server::new(|_| {
        let padding = (0..200_000).map(|_| Bytes::from_static(b" "));
        labelled("application/json", Script::frames(padding.chain([ANSWER.into()])))
    });
    let started = std::time::Instant::now();
    assert_eq!(send(model().layer(server), post(LIST)).await.tools(), ["open"]);
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
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
