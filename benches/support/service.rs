//! A server in process, and exchanges with it from `Service::call` to the last frame of the answer.

use std::convert::Infallible;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Request, Response};
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;
use memchr::memmem;
use pin_project_lite::pin_project;
use tower::Service;

use super::corpus;

/// A server that is cheap to clone, reads requests to their end, answers `tools/list` with a list, and everything else with what it was given.
#[derive(Clone)]
pub struct Server {
    list: Arc<[Bytes]>,
    answer: Arc<[Bytes]>,
    headers: Arc<HeaderMap>,
}

impl Server {
    /// Answers in JSON.
    pub fn json(list: &Bytes, answer: &Bytes) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_LENGTH, answer.len().into());
        Self { list: [list.clone()].into(), answer: [answer.clone()].into(), headers: headers.into() }
    }

    /// Answers with an event stream in these chunks.
    pub fn events(list: &Bytes, chunks: Vec<Bytes>) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        Self { list: [list.clone()].into(), answer: chunks.into(), headers: headers.into() }
    }

    fn answer(&self, request: &[u8]) -> Response<Chunks> {
        let is_list = memmem::find(request, b"\"method\":\"tools/list\"").is_some();
        let (pieces, headers) = match id(request).filter(|_| is_list) {
            Some(b"7") => (Arc::clone(&self.list), json()),
            // A look-up, which has an id of its own.
            Some(id) => {
                let list = &self.list[0][memmem::find(&self.list[0], b",\"result\"").unwrap_or(0)..];
                ([Bytes::from([b"{\"jsonrpc\":\"2.0\",\"id\":", id, list].concat())].into(), json())
            }
            None => (Arc::clone(&self.answer), HeaderMap::clone(&self.headers)),
        };
        let mut response = Response::new(Chunks { pieces, at: 0 });
        *response.headers_mut() = headers;
        response
    }
}

fn json() -> HeaderMap {
    HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))])
}

fn id(request: &[u8]) -> Option<&[u8]> {
    let start = memmem::find(request, b"\"id\":")? + 5;
    let end = memchr::memchr(b',', &request[start..])?;
    Some(&request[start..start + end])
}

impl<B: Body<Data = Bytes>> Service<Request<B>> for Server {
    type Response = Response<Chunks>;
    type Error = Infallible;
    type Future = Answering<B>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Answering<B> {
        Answering { body: request.into_body(), read: Bytes::new(), server: self.clone() }
    }
}

pin_project! {
    /// The server at work: it reads the request.
    pub struct Answering<B> {
        #[pin]
        body: B,
        read: Bytes,
        server: Server,
    }
}

impl<B: Body<Data = Bytes>> Future for Answering<B> {
    type Output = Result<Response<Chunks>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        while let Poll::Ready(frame) = this.body.as_mut().poll_frame(cx) {
            match frame {
                Some(Ok(frame)) => *this.read = frame.into_data().unwrap_or_default(),
                _ => return Poll::Ready(Ok(this.server.answer(this.read))),
            }
        }
        Poll::Pending
    }
}

/// A body in these pieces, all of them there already.
pub struct Chunks {
    pieces: Arc<[Bytes]>,
    at: usize,
}

impl Body for Chunks {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.pieces.get(self.at).cloned();
        self.at += 1;
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.at >= self.pieces.len()
    }

    fn size_hint(&self) -> SizeHint {
        match &*self.pieces {
            [piece] if self.at == 0 => SizeHint::with_exact(piece.len() as u64),
            _ => SizeHint::default(),
        }
    }
}

/// A server with a few tools, which it says are fresh for a minute, and a small answer.
pub fn server() -> Server {
    Server::json(&few_tools(), &corpus::called())
}

/// A list of ten tools, with what the modern era adds.
pub fn few_tools() -> Bytes {
    let list = corpus::tools(0, 10);
    let text = std::str::from_utf8(&list).unwrap();
    text.replace(r#","nextCursor":"bmV4dA==""#, r#","resultType":"complete","ttlMs":60000,"cacheScope":"private""#)
        .into()
}

/// What a modern client declares.
pub const HOST: &str = r#"{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}"#;
pub const NO_APPS: &str = "{}";

/// A modern request of a client that declares these capabilities.
pub fn modern(method: &str, params: &str, capabilities: &str) -> Request<Full<Bytes>> {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{{{params}"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"bench","version":"1.0.0"}},"io.modelcontextprotocol/clientCapabilities":{capabilities}}}}}}}"#
    );
    let mut request = post(body);
    let headers = request.headers_mut();
    headers.insert("mcp-protocol-version", HeaderValue::from_static("2026-07-28"));
    headers.insert("mcp-method", HeaderValue::from_str(method).unwrap());
    if method == "tools/call" {
        headers.insert("mcp-name", HeaderValue::from_static(TOOL));
    }
    request
}

/// A tool of the lists that models may call.
pub const TOOL: &str = "tool_2_search";

/// A modern call of that tool.
pub fn call(capabilities: &str) -> Request<Full<Bytes>> {
    let params = format!(r#""name":"{TOOL}","arguments":{{"query":"harbour","limit":20}},"#);
    modern("tools/call", &params, capabilities)
}

/// A legacy call of that tool in this session.
pub fn legacy_call(session: &'static str) -> Request<Full<Bytes>> {
    let mut request = post(format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"{TOOL}","arguments":{{"query":"harbour","limit":20}}}}}}"#
    ));
    let headers = request.headers_mut();
    headers.insert("mcp-protocol-version", HeaderValue::from_static("2025-11-25"));
    headers.insert("mcp-session-id", HeaderValue::from_static(session));
    request
}

fn post(body: String) -> Request<Full<Bytes>> {
    Request::post("/mcp")
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json, text/event-stream")
        .header("user-agent", "bench/1.0")
        .header("host", "127.0.0.1:8080")
        .header(CONTENT_LENGTH, body.len())
        .body(Full::from(body))
        .unwrap()
}

/// A session of a client that declared Apps, and of one that did not.
pub const HOST_SESSION: &str = "apps1-a.c2Vzc2lvbi0wMDAx";
pub const NO_SESSION: &str = "apps1-n.c2Vzc2lvbi0wMDAx";

/// The stream that a client opens for what the server has to say.
pub fn get(session: &str) -> Request<Full<Bytes>> {
    let builder = Request::get("/mcp").header(ACCEPT, "text/event-stream").header("mcp-session-id", session);
    builder.body(Full::default()).unwrap()
}

/// What a future gives that waits for nothing.
pub fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("nothing to wait for"),
    }
}

/// Runs an exchange to the last frame of its answer, and gives the bytes of it. Nothing in it waits for anything.
pub fn exchange<S, B, R>(service: &mut S, request: Request<B>) -> usize
where
    S: Service<Request<B>, Response = Response<R>>,
    R: Body<Data = Bytes>,
{
    let Ok(response) = now(service.call(request)) else { panic!("no answer") };
    assert!(response.status().is_success());
    let mut body = pin!(response.into_body());
    let mut bytes = 0;
    let cx = &mut Context::from_waker(Waker::noop());
    while !body.is_end_stream() {
        match body.as_mut().poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => bytes += frame.data_ref().map_or(0, Bytes::len),
            Poll::Ready(Some(Err(_))) => panic!("the body broke off"),
            Poll::Ready(None) => break,
            Poll::Pending => panic!("nothing to wait for"),
        }
    }
    bytes
}
