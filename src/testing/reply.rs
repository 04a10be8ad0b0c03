//! What a server in a test answers, as it should be and as it should not.

use std::fmt::Display;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::{Extensions, HeaderMap, HeaderName, HeaderValue, Response, StatusCode};

use super::delay::Delay;
use super::hold::Ticket;
use super::{Body, Hold, Received, gzip, misuse, text};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

/// An answer of a [`FakeServer`](super::FakeServer): as it should be, and then spoilt on demand.
///
/// JSON is given as anything that displays as it: a [`Value`](serde_json::Value), or a text, which is sent byte for byte
/// and need not be valid.
///
/// ```
/// use serde_json::json;
/// use tower_mcp_apps::testing::{FakeServer, Reply, TestClient, Unanswered};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Unanswered> {
/// let server = FakeServer::new()
///     .on("tools/list", |request| Reply::result(request, json!({"tools": []})).as_events().cut_after(20))
///     .on("resources/list", |_| Reply::json("{not JSON").content_type("text/event-stream"));
///
/// let mut client = TestClient::new(server);
/// let answer = client.request("tools/list", json!({})).await?;
/// assert_eq!(answer.error(), Some("the body broke off, as the test has it"));
/// assert_eq!(answer.bytes().len(), 20);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Reply {
    status: StatusCode,
    headers: HeaderMap,
    extensions: Extensions,
    content: Content,
    places: Option<Vec<usize>>,
    end: End,
    pace: Option<Duration>,
    is_gzipped: bool,
    delay: Option<Duration>,
    hold: Option<Hold>,
}

#[derive(Clone, Debug)]
enum Content {
    Message(String),
    Events(Vec<String>),
    Bytes(Bytes),
    Body(Body),
    /// There is no answer, not even a head.
    Never,
}

#[derive(Clone, Copy, Debug)]
enum End {
    Whole,
    FailsAfter(usize),
    HangsAfter(usize),
}

impl Reply {
    fn of(content: Content) -> Self {
        let content_type = match content {
            Content::Message(_) => Some(JSON),
            Content::Events(_) => Some(EVENTS),
            Content::Bytes(_) | Content::Body(_) | Content::Never => None,
        };
        let headers = content_type.map(|value| (CONTENT_TYPE, value)).into_iter().collect();
        let status = StatusCode::OK;
        Self {
            status,
            headers,
            extensions: Extensions::new(),
            content,
            places: None,
            end: End::Whole,
            pace: None,
            is_gzipped: false,
            delay: None,
            hold: None,
        }
    }

    /// 200 with this JSON text.
    pub fn json(text: impl Display) -> Self {
        Self::of(Content::Message(text.to_string()))
    }

    /// 200 with a stream of these messages.
    pub fn events<M: Display>(messages: impl IntoIterator<Item = M>) -> Self {
        Self::of(Content::Events(messages.into_iter().map(|message| message.to_string()).collect()))
    }

    /// The JSON-RPC answer to a request, with its id.
    pub fn result(request: &Received, result: impl Display) -> Self {
        Self::json(text::result(request.id().unwrap_or("null"), &result.to_string()))
    }

    /// The JSON-RPC error that answers a request, with its id; the status is 200.
    pub fn rpc_error(request: &Received, code: i32, message: &str) -> Self {
        Self::json(text::error(request.id(), code, message))
    }

    /// This status, and nothing in it.
    pub fn empty(status: StatusCode) -> Self {
        Self::bytes(Bytes::new()).status(status)
    }

    /// 200 with these bytes, without a `Content-Type`.
    pub fn bytes(bytes: impl Into<Bytes>) -> Self {
        Self::of(Content::Bytes(bytes.into()))
    }

    /// 200 with this body, such as that of a [`Body::channel`], without a `Content-Type`.
    pub fn body(body: Body) -> Self {
        Self::of(Content::Body(body))
    }

    /// No answer, ever: not even a head.
    pub fn never() -> Self {
        Self::of(Content::Never)
    }

    /// The same with another status.
    pub fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// The same with this header in the place of one of its name.
    ///
    /// # Panics
    ///
    /// Where this is no header.
    #[track_caller]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let (name, value) = misuse::header(name, value);
        self.headers.insert(name, value);
        self
    }

    /// The same with this header, beside one of its name.
    ///
    /// # Panics
    ///
    /// Where this is no header.
    #[track_caller]
    pub fn append_header(mut self, name: &str, value: &str) -> Self {
        let (name, value) = misuse::header(name, value);
        self.headers.append(name, value);
        self
    }

    /// The same with this among the extensions of the response, as a layer further in leaves it.
    pub fn extension<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        self.extensions.insert(value);
        self
    }

    pub(super) fn append(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.append(name, value);
        self
    }

    /// The same, as a body that says it is something else. The bytes stay.
    ///
    /// # Panics
    ///
    /// Where this is no header.
    #[track_caller]
    pub fn content_type(self, value: &str) -> Self {
        self.header(CONTENT_TYPE.as_str(), value)
    }

    /// The same message as a stream of one event; a stream, and what is no message, stays.
    pub fn as_events(mut self) -> Self {
        if let Content::Message(message) = self.content {
            self.content = Content::Events(vec![message]);
            self.headers.insert(CONTENT_TYPE, EVENTS);
        }
        self
    }

    /// The same as a stream, after this message: a notification, say.
    pub fn after(self, message: impl Display) -> Self {
        let mut reply = self.as_events();
        if let Content::Events(messages) = &mut reply.content {
            messages.insert(0, message.to_string());
        }
        reply
    }

    /// The same messages with another id, given as JSON. What has no `id` gets one.
    pub fn id(self, id: impl Display) -> Self {
        let id = id.to_string();
        self.edit(|message| text::with_member(message, "id", &id))
    }

    /// The same messages with this member at their end once more, as for `"id"` or `"result"`.
    pub fn doubled(self, member: &str) -> Self {
        self.edit(|message| text::with_double(message, member))
    }

    /// The same with the bytes that a function makes of its text: the message, or each message of a stream.
    pub fn edit(mut self, edit: impl Fn(&str) -> String) -> Self {
        match &mut self.content {
            Content::Message(message) => *message = edit(message),
            Content::Events(messages) => messages.iter_mut().for_each(|message| *message = edit(message)),
            Content::Bytes(_) | Content::Body(_) | Content::Never => {}
        }
        self
    }

    /// The same, gzip-coded, whatever the client accepts.
    pub fn gzipped(mut self) -> Self {
        self.is_gzipped = true;
        self.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        self
    }

    /// The same with a body that fails after so many bytes. A `Content-Length` stays what it was.
    pub fn cut_after(mut self, bytes: usize) -> Self {
        self.end = End::FailsAfter(bytes);
        self
    }

    /// The same with a body that has neither more nor an end after so many bytes.
    pub fn hang_after(mut self, bytes: usize) -> Self {
        self.end = End::HangsAfter(bytes);
        self
    }

    /// The same in frames that end at these places of the body.
    pub fn cut_at(mut self, places: impl Into<Vec<usize>>) -> Self {
        self.places = Some(places.into());
        self
    }

    /// The same with so much time before each frame.
    pub fn slow(mut self, pace: Duration) -> Self {
        self.pace = Some(pace);
        self
    }

    /// The same after so much time: also the head.
    pub fn delayed(mut self, delay: Duration) -> Self {
        self.delay = Some(delay);
        self
    }

    /// The same once it is let go: also the head.
    pub fn held(mut self, hold: &Hold) -> Self {
        self.hold = Some(hold.clone());
        self
    }

    /// What comes before the head.
    pub(super) fn wait(&self) -> (Option<Delay>, Option<Ticket>) {
        (self.delay.map(Delay::new), self.hold.as_ref().map(Hold::ticket))
    }

    /// The response; `None` where there is none. The places are where the body is cut, unless it says so itself.
    pub(super) fn into_response(mut self, places: Option<&[usize]>) -> Option<Response<Body>> {
        let mut body = match self.content {
            Content::Never => return None,
            Content::Body(body) => body,
            Content::Message(message) => Self::framed(message.into(), self.is_gzipped, &mut self.headers),
            Content::Bytes(bytes) => Self::framed(bytes, self.is_gzipped, &mut self.headers),
            Content::Events(messages) => {
                let events: Vec<_> = messages.iter().map(|message| Bytes::from(event(message))).collect();
                if self.is_gzipped { Body::frames([gzip::gzip(&events.concat())]) } else { Body::frames(events) }
            }
        };
        if let Some(places) = self.places.as_deref().or(places) {
            body = body.cut_at(places);
        }
        body = match self.end {
            End::Whole => body,
            End::FailsAfter(bytes) => body.only(bytes).then_fail(),
            End::HangsAfter(bytes) => body.only(bytes).then_hang(),
        };
        if let Some(pace) = self.pace {
            body = body.slow(pace);
        }
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        *response.extensions_mut() = self.extensions;
        Some(response)
    }

    /// A body that knows its length and says so, unless a header says otherwise.
    fn framed(bytes: Bytes, is_gzipped: bool, headers: &mut HeaderMap) -> Body {
        let bytes = if is_gzipped { gzip::gzip(&bytes).into() } else { bytes };
        headers.entry(CONTENT_LENGTH).or_insert_with(|| bytes.len().into());
        Body::new(bytes)
    }
}

/// A message as an event.
fn event(message: &str) -> String {
    let data: String = message.split('\n').map(|line| format!("data: {line}\n")).collect();
    format!("event: message\n{data}\n")
}
