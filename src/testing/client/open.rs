//! An answer whose head is there, while its body still comes.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;

use bytes::Bytes;
use http::response::Parts;
use http::{HeaderMap, Response, StatusCode};
use http_body::Body as HttpBody;
use serde_json::Value;

use super::Answer;
use crate::exchange::Content;
use crate::sse::{Block, Splitter};
use crate::testing::collected::{Collected, describe};
use crate::testing::text;
use crate::testing::unanswered::{BoxError, Unanswered, Why};

/// An answer that is read while it comes: event by event. Dropped, it hangs up.
///
/// ```
/// use serde_json::json;
/// use tower_mcp_apps::testing::{Body, FakeServer, Reply, TestClient, Unanswered};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Unanswered> {
/// let (sender, body) = Body::channel();
/// let stream = Reply::body(body).content_type("text/event-stream");
/// let mut client = TestClient::new(FakeServer::new().on("tools/call", move |_| stream.clone()));
///
/// let request = client.prepare("tools/call", json!({"name": "count"}));
/// let mut answer = client.open(request).await?;
/// sender.send_data("data: {\"method\":\"notifications/progress\"}\n\n");
/// assert_eq!(answer.next_message().await.unwrap()["method"], "notifications/progress");
/// # Ok(())
/// # }
/// ```
pub struct OpenAnswer<R> {
    /// The id of the request, as it is written.
    id: Option<Bytes>,
    parts: Parts,
    body: Pin<Box<R>>,
    read: Collected,
    is_over: bool,
    events: Splitter,
    blocks: VecDeque<Block>,
}

impl<R> fmt::Debug for OpenAnswer<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAnswer").field("parts", &self.parts).field("read", &self.read).finish_non_exhaustive()
    }
}

impl<R> OpenAnswer<R>
where
    R: HttpBody<Data = Bytes>,
    R::Error: Into<BoxError>,
{
    pub(super) fn new(asked: &[u8], response: Response<R>) -> Self {
        let (parts, body) = response.into_parts();
        Self {
            id: text::member(asked, "id").map(Bytes::copy_from_slice),
            parts,
            body: Box::pin(body),
            read: Collected::default(),
            is_over: false,
            events: Splitter::default(),
            blocks: VecDeque::new(),
        }
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        self.parts.status
    }

    /// The headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    /// The next event, as it came; `None` at the end, be it an error. What lacks its blank line at the end is given, too.
    pub async fn next_event(&mut self) -> Option<Block> {
        loop {
            if let Some(block) = self.blocks.pop_front() {
                return Some(block);
            }
            match self.next_frame().await {
                Some(frame) => self.events.push(frame),
                None => return self.events.finish(),
            }
            self.blocks.extend(std::iter::from_fn(|| self.events.next_block()));
        }
    }

    /// The next event that is a JSON message, as a value to look at; `None` at the end.
    pub async fn next_message(&mut self) -> Option<Value> {
        loop {
            let event = self.next_event().await?;
            if let Ok(message) = serde_json::from_slice(&event.data()) {
                return Some(message);
            }
        }
    }

    /// Reads on to the end. The answer is all of it, with the events that were read already.
    pub async fn finish(mut self) -> Answer {
        while self.next_frame().await.is_some() {}
        Answer::new(self.id, self.parts, self.read)
    }

    /// The headers and the result. Of a stream no more is read than that takes.
    pub(super) async fn into_result(mut self, method: &str) -> Result<(HeaderMap, Value), Unanswered> {
        if Content::of(&self.parts.headers) != Content::Events {
            return self.finish().await.with_result(method);
        }
        while let Some(event) = self.next_event().await {
            if text::member(&event.data(), "id") == self.id.as_deref() {
                break;
            }
        }
        Answer::new(self.id, self.parts, self.read).with_result(method)
    }

    async fn next_frame(&mut self) -> Option<Bytes> {
        while !self.is_over {
            match poll_fn(|cx| self.body.as_mut().poll_frame(cx)).await {
                None => self.is_over = true,
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => {
                        self.read.frames.push(data.clone());
                        return Some(data);
                    }
                    Err(frame) => self.read.trailers = frame.into_trailers().ok(),
                },
                Some(Err(error)) => {
                    self.read.error = Some(describe(error));
                    self.is_over = true;
                }
            }
        }
        None
    }
}

impl Answer {
    /// The result, which is wanted.
    pub(super) fn into_result(self, method: &str) -> Result<Value, Unanswered> {
        self.with_result(method).map(|(_, result)| result)
    }

    fn with_result(self, method: &str) -> Result<(HeaderMap, Value), Unanswered> {
        if let Some(result) = self.json().get("result") {
            return Ok((self.headers().clone(), result.clone()));
        }
        let error = &self.json()["error"];
        let why = match (error["code"].as_i64(), self.error()) {
            (Some(code), _) => Why::Error { code, message: error["message"].as_str().unwrap_or_default().to_owned() },
            (None, Some(broken)) => Why::Body(broken.into()),
            (None, None) => Why::NoAnswer(self.status()),
        };
        Err(Unanswered::new(method, why))
    }
}
