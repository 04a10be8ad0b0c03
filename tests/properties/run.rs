//! One exchange through a stack, from bytes to bytes.

use std::cell::RefCell;
use std::fmt::Debug;
use std::sync::Mutex;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use proptest::sample::Index;
use tokio::runtime::{Builder, Runtime};
use tower::{Layer, Service};
use tower_mcp_apps::testing::Body;

use crate::kit::body::BoxError;
use crate::kit::server::{Received, Server};
use crate::kit::{Answer, post, send};

thread_local! {
    pub(crate) static RUNTIME: RefCell<Runtime> = RefCell::new(Builder::new_current_thread().build().expect("a runtime"));
}

/// An answer as a server gives it.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) status: u16,
    pub(crate) content_type: Option<&'static str>,
    pub(crate) frames: Vec<Bytes>,
    pub(crate) knows_length: bool,
    pub(crate) fails: bool,
}

impl Given {
    pub(crate) fn json(body: impl Into<Bytes>) -> Self {
        Self {
            status: 200,
            content_type: Some("application/json"),
            frames: vec![body.into()],
            knows_length: false,
            fails: false,
        }
    }

    pub(crate) fn events(body: impl Into<Bytes>) -> Self {
        Self { content_type: Some("text/event-stream"), ..Self::json(body) }
    }

    /// The same answer, cut into frames.
    pub(crate) fn cut(self, cuts: &[Index]) -> Self {
        Self { frames: cut(&self.frames.concat().into(), cuts), ..self }
    }

    pub(crate) fn response(&self) -> Response<Body> {
        let frames = self.frames.iter().filter(|frame| !frame.is_empty()).cloned();
        let mut body = if self.fails { Body::frames(frames).then_fail() } else { Body::frames(frames) };
        if self.knows_length {
            body = body.of_length(self.frames.iter().map(Bytes::len).sum::<usize>() as u64);
        }
        let mut response = Response::new(body);
        *response.status_mut() = StatusCode::from_u16(self.status).expect("a status");
        if let Some(content_type) = self.content_type {
            response.headers_mut().insert("content-type", content_type.parse().expect("a type"));
        }
        response
    }
}

/// A body in frames that end at these places.
pub(crate) fn cut(body: &Bytes, cuts: &[Index]) -> Vec<Bytes> {
    let mut ends: Vec<_> = cuts.iter().map(|cut| cut.index(body.len() + 1)).chain([body.len()]).collect();
    ends.sort_unstable();
    let mut start = 0;
    let mut frames = Vec::new();
    for end in ends {
        frames.push(body.slice(start..end));
        start = end;
    }
    frames
}

/// What came back, and what arrived at the server.
pub(crate) fn exchange<L, R>(layer: &L, request: Request<Body>, given: &Given) -> (Answer, Vec<Received>)
where
    L: Layer<Server>,
    L::Service: Service<Request<Body>, Response = Response<R>>,
    <L::Service as Service<Request<Body>>>::Error: Debug,
    R: http_body::Body<Data = Bytes>,
    R::Error: Into<BoxError>,
{
    let given = Mutex::new(given.clone());
    let server = Server::new(move |_| given.lock().expect("no panic").response());
    let service = layer.layer(server.clone());
    let answer = RUNTIME.with_borrow(|runtime| runtime.block_on(send(service, request)));
    (answer, server.take())
}

/// What a stack makes of an answer to this request.
pub(crate) fn answered<L, R>(layer: &L, request: &str, given: &Given) -> Answer
where
    L: Layer<Server>,
    L::Service: Service<Request<Body>, Response = Response<R>>,
    <L::Service as Service<Request<Body>>>::Error: Debug,
    R: http_body::Body<Data = Bytes>,
    R::Error: Into<BoxError>,
{
    exchange(layer, post(request.to_owned()), given).0
}
