//! An upstream's answer to one request, where it has to be read: its result, or why there is none.

use bytes::Bytes;
use http::{Response, StatusCode};
use http_body_util::BodyExt;
use tower_mcp_apps::exchange::{Content, Encoding};
use tower_mcp_apps::json::{Frames, Object, Reader, Span, Value};
use tower_mcp_apps::protocol::code;
use tower_mcp_apps::sse::Splitter;

use crate::response::Body;

/// The longest answer, or event of a stream, that is read.
pub(crate) const LONGEST: usize = 16 << 20;

/// A successful answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    message: Bytes,
    result: Span,
}

/// Why there is no result.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// The upstream answered with this JSON-RPC error.
    Error { code: i32, message: String, data: Option<Bytes> },
    /// It rejected the request with this status (4xx), and said nothing more that can be read.
    Rejected(StatusCode),
    /// It no longer knows its session.
    SessionGone,
    /// It did not answer, or not in a way that can be read: what is wrong with it.
    Unavailable(String),
}

impl Failure {
    /// What the caller is told of it.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Error { code, message, .. } => format!("error {code}: {message}"),
            Self::Rejected(status) => format!("it answered {status} and no JSON-RPC response"),
            Self::SessionGone => "the session is over".to_owned(),
            Self::Unavailable(what) => what.clone(),
        }
    }
}

impl Answer {
    /// Reads the answer to a request.
    ///
    /// # Errors
    ///
    /// There is no result in it.
    pub(crate) async fn read(response: Response<Body>, in_session: bool) -> Result<Self, Failure> {
        let may_be_gone = response.status() == StatusCode::NOT_FOUND && in_session;
        match Self::read_any(response).await {
            // Servers that speak the modern era, too, say by 404 that they do not know a method.
            Err(failure @ Failure::Error { code: code::METHOD_NOT_FOUND, .. }) => Err(failure),
            _ if may_be_gone => Err(Failure::SessionGone),
            outcome => outcome,
        }
    }

    async fn read_any(response: Response<Body>) -> Result<Self, Failure> {
        let (parts, body) = response.into_parts();
        if Encoding::of(&parts.headers) == Encoding::Encoded {
            return Err(unavailable("its answer is encoded, which was not asked for"));
        }
        let message = match Content::of(&parts.headers) {
            Content::Events => from_events(body).await?,
            Content::Json | Content::Unlabelled => whole(body).await?,
            Content::ForeignJson | Content::Other => Bytes::new(),
        };
        match outcome(&message) {
            Some(Outcome::Result(result)) => Ok(Self { message, result }),
            Some(Outcome::Error(failure)) => Err(failure),
            None if parts.status.is_client_error() => Err(Failure::Rejected(parts.status)),
            None => Err(unavailable(format!("it answered {} and no JSON-RPC response", parts.status))),
        }
    }

    /// The members of the result.
    pub(crate) fn result(&self) -> Object<'_> {
        let mut result = Object::default();
        // It was read as an object before.
        if result.read(&mut Reader::within(&self.message, self.result)).is_err() {
            result.start_empty();
        }
        result
    }

    /// The bytes of a value of the result, without copying them.
    pub(crate) fn slice(&self, span: Span) -> Bytes {
        self.message.slice(span.start..span.end)
    }
}

/// What a response says.
enum Outcome {
    Result(Span),
    Error(Failure),
}

/// What a message says that is a response; `None` for every other.
fn outcome(message: &[u8]) -> Option<Outcome> {
    let mut members = Object::default();
    let mut reader = Reader::new(message);
    members.read(&mut reader).ok()?;
    reader.end().ok()?;
    match (members.count("result"), members.count("error")) {
        (1, 0) => {
            let result = members.original("result").filter(Value::is_object)?;
            result.span().map(Outcome::Result)
        }
        (0, 1) => {
            let mut error = Object::default();
            error.read(&mut members.original("error")?.reader()).ok()?;
            let code = std::str::from_utf8(error.get("code")?.bytes()).ok()?.parse().ok()?;
            let message = error.get("message").and_then(|message| Some(message.as_str()?.into_owned()));
            let data = error.get("data").map(|data| Bytes::copy_from_slice(data.bytes()));
            Some(Outcome::Error(Failure::Error { code, message: message.unwrap_or_default(), data }))
        }
        _ => None,
    }
}

/// A whole body, as long as it may be.
///
/// # Errors
///
/// It is too long, or breaks off.
pub(crate) async fn whole(mut body: Body) -> Result<Bytes, Failure> {
    let mut frames = Frames::default();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| unavailable(format!("its answer broke off: {error}")))?;
        frames.extend(frame.into_data());
        if frames.len() > LONGEST {
            return Err(unavailable("its answer is too long"));
        }
    }
    Ok(frames.to_bytes())
}

/// The first response of a stream. What stands before it is about this request alone, which the gateway has made.
async fn from_events(mut body: Body) -> Result<Bytes, Failure> {
    let mut events = Splitter::default();
    loop {
        while let Some(block) = events.next_block() {
            let data = block.data();
            if outcome(&data).is_some() {
                return Ok(data);
            }
        }
        if events.buffered() > LONGEST {
            return Err(unavailable("its answer is too long"));
        }
        match body.frame().await {
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    events.push(data);
                }
            }
            Some(Err(error)) => return Err(unavailable(format!("its stream broke off: {error}"))),
            None => return Err(unavailable("its stream ended without an answer")),
        }
    }
}

fn unavailable(what: impl Into<String>) -> Failure {
    Failure::Unavailable(what.into())
}
