//! A server on which one tool is, a sink that keeps, and small steps that all tests take.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use bytes::Bytes;
use http::{Request, Response};
use tower::{Layer, Service, ServiceExt};
use tower_mcp_apps::McpContext;
use tower_mcp_apps::audit::{Record, Sink};
use tower_mcp_apps::testing::{Answer, Body, FakeServer, Received, Reply, TestClient};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A sink, and the records that it was given.
pub(crate) fn keep() -> (impl Sink, Receiver<Record>) {
    let (records, kept) = channel();
    (move |record: &Record| drop(records.send(record.clone())), kept)
}

/// A server that answers whatever the test says. A look-up of its tools finds only one, `x`.
pub(crate) struct Server {
    // For whom the tool is.
    visibility: Option<&'static str>,
    answer: Arc<dyn Fn() -> Reply + Send + Sync>,
}

impl Server {
    pub(crate) fn new(answer: impl Fn() -> Reply + Send + Sync + 'static) -> Self {
        Self { visibility: Some(r#"["model","app"]"#), answer: Arc::new(answer) }
    }

    /// Answers everything with this JSON.
    pub(crate) fn json(text: &'static str) -> Self {
        Self::new(move || Reply::json(text))
    }

    /// Answers everything with one stream of events, which the test writes.
    pub(crate) fn events(body: Body) -> Self {
        let reply = Reply::body(body).content_type("text/event-stream");
        Self::new(move || reply.clone())
    }

    /// Chooses for whom the tool `x` is.
    pub(crate) fn visibility(self, visibility: &'static str) -> Self {
        Self { visibility: Some(visibility), ..self }
    }

    /// Answers look-ups as everything else.
    pub(crate) fn without_list(self) -> Self {
        Self { visibility: None, ..self }
    }

    pub(crate) fn within<L: Layer<FakeServer>>(self, layer: L) -> L::Service {
        layer.layer(self.bare())
    }

    pub(crate) fn bare(self) -> FakeServer {
        FakeServer::answering(move |received| match self.visibility {
            Some(visibility) if is_look_up(received) => {
                let tool = format!(r#"{{"name":"x","_meta":{{"ui":{{"visibility":{visibility}}}}}}}"#);
                Reply::result(received, format!(r#"{{"tools":[{tool}]}}"#))
            }
            _ => (self.answer)(),
        })
    }
}

fn is_look_up(received: &Received) -> bool {
    let context = received.parts().extensions.get::<McpContext>();
    // A look-up has an id of its own; the tests' lists have 1.
    context.is_some_and(|context| context.method() == Some("tools/list") && context.id() != Some(b"1"))
}

pub(crate) fn post(message: &str) -> Request<Body> {
    let request = Request::post("/mcp").header("content-type", "application/json");
    request.body(Body::new(message.to_owned())).expect("the request is well formed")
}

/// A call of this tool.
pub(crate) fn call(tool: &str) -> Request<Body> {
    post(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}"}}}}"#))
}

/// The whole answer.
pub(crate) async fn send<S, R>(service: S, request: Request<Body>) -> Answer
where
    S: Service<Request<Body>, Response = Response<R>, Error: Into<BoxError>>,
    R: http_body::Body<Data = Bytes, Error: Into<BoxError>>,
{
    let answer = TestClient::new(service).send(request).await.expect("the service answers");
    assert_eq!(answer.error(), None);
    answer
}

/// The answer of which nothing is read yet.
pub(crate) async fn open<S, R>(service: S, request: Request<Body>) -> Response<R>
where
    S: Service<Request<Body>, Response = Response<R>, Error: std::fmt::Debug>,
{
    service.oneshot(request).await.expect("the service answers")
}
