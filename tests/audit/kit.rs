//! A server whose answers a test writes, a sink that keeps, and small steps that all tests take.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full};
use tokio::sync::mpsc;
use tower::{BoxError, Layer, Service, ServiceExt};
use tower_mcp_apps::McpContext;
use tower_mcp_apps::audit::{Record, Sink};

/// A sink, and the records that it was given.
pub(crate) fn keep() -> (impl Sink, Receiver<Record>) {
    let (records, kept) = channel();
    (move |record: &Record| drop(records.send(record.clone())), kept)
}

/// A body that a test sends piece by piece.
pub(crate) struct Pieces {
    pieces: mpsc::UnboundedReceiver<Result<Bytes, BoxError>>,
    is_ended: bool,
}

pub(crate) type Writer = mpsc::UnboundedSender<Result<Bytes, BoxError>>;

impl Pieces {
    pub(crate) fn channel() -> (Writer, Self) {
        let (writer, pieces) = mpsc::unbounded_channel();
        (writer, Self { pieces, is_ended: false })
    }

    pub(crate) fn whole(text: &str) -> Self {
        let (writer, pieces) = Self::channel();
        writer.send(Ok(Bytes::copy_from_slice(text.as_bytes()))).expect("the body is there");
        pieces
    }

    /// Over from the start, and says so.
    pub(crate) fn ended() -> Self {
        Self { is_ended: true, ..Self::channel().1 }
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.pieces.poll_recv(cx).map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.is_ended
    }
}

type Answer = Result<Response<Pieces>, BoxError>;
type Answering = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// A server that answers whatever the test says, with any request body. A look-up of its tools finds only one, `x`.
#[derive(Clone)]
pub(crate) struct Server {
    // For whom the tool is.
    visibility: Option<&'static str>,
    answer: Arc<dyn Fn(Request<()>) -> Answering + Send + Sync>,
}

impl Server {
    fn answering(answer: impl Fn(Request<()>) -> Answering + Send + Sync + 'static) -> Self {
        Self { visibility: Some(r#"["model","app"]"#), answer: Arc::new(answer) }
    }

    /// Chooses for whom the tool `x` is.
    pub(crate) fn visibility(self, visibility: &'static str) -> Self {
        Self { visibility: Some(visibility), ..self }
    }

    /// Answers look-ups as everything else.
    pub(crate) fn without_list(self) -> Self {
        Self { visibility: None, ..self }
    }

    pub(crate) fn new(answer: impl Fn(Request<()>) -> Answer + Send + Sync + 'static) -> Self {
        Self::answering(move |request| Box::pin(std::future::ready(answer(request))))
    }

    /// Answers everything with this JSON.
    pub(crate) fn json(text: &'static str) -> Self {
        Self::new(move |_| {
            let response = Response::builder().header("content-type", "application/json");
            Ok(response.body(Pieces::whole(text))?)
        })
    }

    /// Answers everything with one stream of events, which the test writes.
    pub(crate) fn events(body: Pieces) -> Self {
        let body = std::sync::Mutex::new(Some(body));
        Self::new(move |_| {
            let body = body.lock().expect("no test panics here").take().ok_or("only one stream")?;
            Ok(Response::builder().header("content-type", "text/event-stream").body(body)?)
        })
    }

    /// Never answers.
    pub(crate) fn silent() -> Self {
        Self::answering(|_| Box::pin(std::future::pending()))
    }

    /// Panics on its way to an answer.
    pub(crate) fn panicking() -> Self {
        Self::answering(|_| Box::pin(async { panic!("the server's own fault") }))
    }

    pub(crate) fn within<L: Layer<Self>>(self, layer: L) -> L::Service {
        layer.layer(self)
    }
}

impl<B> Service<Request<B>> for Server {
    type Response = Response<Pieces>;
    type Error = BoxError;
    type Future = Answering;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Answering {
        let context = request.extensions().get::<McpContext>();
        // A look-up has an id of its own; the tests' lists have 1.
        let look_up = context.filter(|context| context.method() == Some("tools/list") && context.id() != Some(b"1"));
        let Some((id, visibility)) = look_up.and_then(McpContext::id).zip(self.visibility) else {
            return (self.answer)(request.map(drop));
        };
        let list = format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{{"tools":[{{"name":"x","_meta":{{"ui":{{"visibility":{}}}}}}}]}}}}"#,
            text(id),
            visibility
        );
        let response = Response::builder().header("content-type", "application/json").body(Pieces::whole(&list));
        Box::pin(std::future::ready(response.map_err(Into::into)))
    }
}

pub(crate) fn post(message: &str) -> Request<Full<Bytes>> {
    let request = Request::post("/mcp").header("content-type", "application/json");
    request.body(Full::from(message.to_owned())).expect("the request is well formed")
}

/// A call of this tool.
pub(crate) fn call(tool: &str) -> Request<Full<Bytes>> {
    post(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}"}}}}"#))
}

pub(crate) async fn send<S, R>(service: S, request: Request<Full<Bytes>>) -> Response<R>
where
    S: Service<Request<Full<Bytes>>, Response = Response<R>, Error: std::fmt::Debug>,
{
    service.oneshot(request).await.expect("the service answers")
}

pub(crate) async fn collect<B: Body<Data = Bytes, Error: std::fmt::Debug>>(response: Response<B>) -> String {
    text(&response.into_body().collect().await.expect("the body is whole").to_bytes())
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("it is text")
}
