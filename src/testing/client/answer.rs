//! An answer that was read to its end.

use bytes::Bytes;
use http::response::Parts;
use http::{HeaderMap, StatusCode};
use serde_json::Value;

use crate::sse::{Block, Splitter};
use crate::testing::collected::{Collected, is_stream};
use crate::testing::received::header;
use crate::testing::text;

/// An answer as a client got it: its head, its bytes, and what they say.
///
/// Values are to look at: numbers may lose digits, and of duplicate members only the last is there. Bytes are for what must
/// not change: [`assert_unchanged`](crate::testing::assert_unchanged) compares them.
///
/// ```
/// use http::StatusCode;
/// use serde_json::json;
/// use tower_mcp_apps::testing::{FakeServer, TestClient, Unanswered};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Unanswered> {
/// let server = FakeServer::new().streaming().tool(json!({"name": "sum"})).result("sum", r#"{"content": [], "total": 1.00}"#);
/// let answer = TestClient::new(server).call("sum", json!({"of": [0.5, 0.5]})).await?;
///
/// assert_eq!((answer.status(), answer.header("content-type")), (StatusCode::OK, Some("text/event-stream")));
/// assert_eq!(answer.result()["total"], 1.0);
/// assert!(answer.text().contains(r#""total": 1.00"#) && answer.events().len() == 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Answer {
    id: Option<Bytes>,
    parts: Parts,
    body: Collected,
    bytes: Bytes,
    /// The message that answers the request, and its value.
    message: Bytes,
    json: Value,
}

impl Answer {
    pub(super) fn new(id: Option<Bytes>, parts: Parts, body: Collected) -> Self {
        let bytes = body.bytes();
        let mut answer = Self { id, parts, body, bytes, message: Bytes::new(), json: Value::Null };
        let messages = answer.messages();
        let answers = messages.iter().filter(|message| {
            let has = |name| text::member(message, name).is_some();
            has("result") || has("error")
        });
        let own = answers.clone().find(|message| text::member(message, "id") == answer.id.as_deref());
        let last = || answers.last().or(messages.last());
        if let Some(message) = own.or_else(last) {
            answer.json = serde_json::from_slice(message).unwrap_or_default();
            answer.message = message.clone();
        }
        answer
    }

    /// The head, with the extensions that layers left there, such as [`McpContext`](crate::McpContext).
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        self.parts.status
    }

    /// The headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    /// A header, where it is there and text; the first, where there are several.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.parts.headers, name)
    }

    /// The body as it came, up to its end or its error.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The body as text; what is no UTF-8 is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// The frames that the body came in.
    pub fn frames(&self) -> &[Bytes] {
        &self.body.frames
    }

    /// The trailers behind the body.
    pub fn trailers(&self) -> Option<&HeaderMap> {
        self.body.trailers.as_ref()
    }

    /// How the body failed, where it did, with the causes.
    pub fn error(&self) -> Option<&str> {
        self.body.error.as_deref()
    }

    /// Whether it is an event stream: by its first bytes where these tell, or else by its `Content-Type`.
    pub fn is_stream(&self) -> bool {
        is_stream(&self.parts.headers, &self.bytes)
    }

    /// The events of a stream, as they came, also the last one where its blank line is missing; none of another body.
    pub fn events(&self) -> Vec<Block> {
        if !self.is_stream() {
            return Vec::new();
        }
        let mut splitter = Splitter::default();
        splitter.push(self.bytes.clone());
        std::iter::from_fn(|| splitter.finish()).collect()
    }

    /// The messages as they are written: the data of the events of a stream, or else the body.
    pub fn messages(&self) -> Vec<Bytes> {
        if self.is_stream() {
            return self.events().iter().map(Block::data).filter(|data| !data.is_empty()).collect();
        }
        let body = (!self.bytes.is_empty()).then(|| self.bytes.clone());
        body.into_iter().collect()
    }

    /// The message that answers the request, as it is written: that with its id, or else the last answer or error.
    pub fn message(&self) -> &Bytes {
        &self.message
    }

    /// The message that answers the request, as a value; null where it is no JSON.
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// The result; null where there is none.
    pub fn result(&self) -> &Value {
        &self.json["result"]
    }

    /// The code of the JSON-RPC error that it is.
    pub fn error_code(&self) -> Option<i64> {
        self.json["error"]["code"].as_i64()
    }

    /// Whether the message has the id of the request.
    pub fn answers_the_request(&self) -> bool {
        self.id.is_some() && text::member(&self.message, "id") == self.id.as_deref()
    }

    /// The names of the tools on this page of a list.
    pub fn tool_names(&self) -> Vec<&str> {
        let tools = self.result()["tools"].as_array();
        tools.into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect()
    }
}
