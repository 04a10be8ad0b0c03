//! Requests that do not arrive whole, lists that come again, and how much memory an exchange takes.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full};
use tower::{Layer, Service, ServiceExt, service_fn};

use super::{Chain, Concern, ConcernService, Settings, sealed::Sealed};
use crate::exchange::{Exchange, Fixed};
use crate::message::{Answer, Entry, Wants};
use crate::protocol::Audience;
use crate::visibility::{Visibility, VisibilityLayer};

/// A call that is whole, and a body that fails behind it.
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"poll"}}"#;

struct Broken(Option<Bytes>);

impl Body for Broken {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        Poll::Ready(Some(match self.0.take() {
            Some(piece) => Ok(Frame::data(piece)),
            None => Err(io::Error::other("gone")),
        }))
    }
}

/// The status of the answer to the broken call, and what the inner service got of it.
async fn broken_call(audience: Audience) -> (StatusCode, Vec<Result<Bytes, String>>) {
    let got = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&got);
    let server = service_fn(move |request: Request<super::RequestBody<Broken>>| {
        let seen = Arc::clone(&seen);
        async move {
            let mut body = request.into_body();
            while let Some(frame) = body.frame().await {
                let frame = frame.map(|frame| frame.into_data().unwrap_or_default()).map_err(|error| error.to_string());
                seen.lock().unwrap().push(frame);
            }
            Ok::<_, Infallible>(Response::new(Full::<Bytes>::default()))
        }
    });
    let request = Request::post("/mcp").header("content-type", "application/json");
    let request = request.body(Broken(Some(CALL.into()))).unwrap();
    let service = VisibilityLayer::new().audience(Fixed(audience)).layer(server);
    let status = service.oneshot(request).await.unwrap().status();
    let got = std::mem::take(&mut *got.lock().unwrap());
    (status, got)
}

#[tokio::test]
async fn what_came_of_a_broken_call_is_not_forwarded_where_a_filter_applies() {
    // A server that reads one JSON value and not to the end of the body would run it, unjudged.
    for audience in [Audience::Model, Audience::App] {
        assert_eq!(broken_call(audience).await, (StatusCode::BAD_REQUEST, Vec::new()), "{audience}");
    }
}

#[tokio::test]
async fn a_broken_call_is_replayed_to_its_error_where_no_filter_applies() {
    let replayed = vec![Ok(Bytes::from(CALL)), Err("gone".to_owned())];
    assert_eq!(broken_call(Audience::Host).await, (StatusCode::OK, replayed));
}

/// A concern that counts the tools which it is shown, and leaves them out.
#[derive(Clone)]
struct Counting {
    shown: Arc<AtomicUsize>,
    edits_alike: bool,
}

impl Sealed for Counting {}

impl Concern for Counting {
    fn wants(&self, _: &Exchange, _: Answer) -> Wants {
        Wants::TOOLS
    }

    fn edits_alike(&self) -> bool {
        self.edits_alike
    }

    fn entry(&self, _: &Exchange, entry: &mut Entry<'_>) {
        self.shown.fetch_add(1, Ordering::Relaxed);
        entry.remove();
    }
}

#[tokio::test]
async fn an_equal_list_is_shown_no_more_to_what_edits_alike() {
    let tool = "x".repeat(2000);
    for (edits_alike, remembered, is_alone, expected) in
        [(true, 1 << 20, true, 1), (false, 1 << 20, true, 5), (true, 0, true, 5), (true, 1 << 20, false, 5)]
    {
        let answer = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":["{tool}"]}}}}"#);
        let server = service_fn(move |_: Request<super::RequestBody<Full<Bytes>>>| {
            let mut response = Response::new(Full::from(answer.clone()));
            response.headers_mut().insert("content-type", HeaderValue::from_static("application/json"));
            async { Ok::<_, Infallible>(response) }
        });
        let counting = Counting { shown: Arc::default(), edits_alike };
        let concern = Chain::new(counting.clone(), None::<Visibility>);
        let service = ConcernService::new(server, concern, Settings::new().remembered_bytes(remembered));
        let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        let body = if is_alone { list.to_owned() } else { format!("[{list}]") };
        for _ in 0..5 {
            let request = Request::post("/mcp").header("content-type", "application/json");
            let request = request.body(Full::from(body.clone())).unwrap();
            let answer = service.clone().oneshot(request).await.unwrap().into_body().collect().await.unwrap();
            assert_eq!(answer.to_bytes(), r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#);
        }
        assert_eq!(counting.shown.load(Ordering::Relaxed), expected, "{edits_alike} {remembered} {body}");
    }
}

/// It lies in its connection's memory and is moved some times per exchange, so states that are rare must not make it larger.
#[test]
fn the_future_of_an_exchange_is_small() {
    let server = service_fn(async |_: Request<super::RequestBody<Full<Bytes>>>| {
        Ok::<_, Infallible>(Response::new(Full::<Bytes>::default()))
    });
    let future = VisibilityLayer::new().layer(server).call(Request::new(Full::default()));
    let size = size_of_val(&future);
    assert!(size <= 800, "{size}");
}
