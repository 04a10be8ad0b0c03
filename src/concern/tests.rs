//! Requests that do not arrive whole, and how much memory an exchange takes.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full};
use tower::{Layer, Service, ServiceExt, service_fn};

use crate::exchange::Fixed;
use crate::protocol::Audience;
use crate::visibility::VisibilityLayer;

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
