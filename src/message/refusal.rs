//! A JSON-RPC error of our own making.

use std::borrow::Cow;

use bytes::Bytes;
use http::StatusCode;

use super::{Named, Reason};
use crate::json::write_string;
use crate::protocol::code;

/// Why a message goes no further: an HTTP status, a JSON-RPC code and a sentence for the caller.
///
/// ```
/// use http::StatusCode;
/// use tower_mcp_apps::message::Refusal;
/// use tower_mcp_apps::protocol::code;
///
/// let refusal = Refusal::new(StatusCode::BAD_REQUEST, code::INVALID_REQUEST, "no such \"thing\"");
/// let error = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"no such \"thing\""}}"#;
/// assert_eq!(refusal.to_json(Some(b"7")), error.as_bytes());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    status: StatusCode,
    code: i32,
    message: Cow<'static, str>,
    /// JSON text.
    data: Option<Bytes>,
    reason: Option<Reason>,
}

impl Refusal {
    /// A refusal with this status, code (see [`code`](crate::protocol::code)) and message.
    pub fn new(status: StatusCode, code: i32, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, code, message: message.into(), data: None, reason: None }
    }

    /// The HTTP status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The JSON-RPC error code.
    pub fn code(&self) -> i32 {
        self.code
    }

    /// What the caller is told.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What is beside the message: the JSON text of the error's `data`.
    pub fn data(&self) -> Option<&[u8]> {
        self.data.as_deref()
    }

    /// Says more to the caller, in the error's `data`: a JSON text.
    #[must_use]
    pub fn with_data(mut self, data: impl Into<Bytes>) -> Self {
        self.data = Some(data.into());
        self
    }

    /// The refusal of a whole batch, of which one message is refused like this: if one may not run, none does.
    #[must_use]
    pub fn of_batch(&self) -> Self {
        let whole = Self::ambiguous(format!("one message of the batch may not run: {}", self.message()));
        whole.because(self.reason.unwrap_or(Reason::Ambiguous))
    }

    /// A message that readers may understand differently.
    pub(crate) fn ambiguous(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code::INVALID_REQUEST, message).because(Reason::Ambiguous)
    }

    /// A modern request that lacks the metadata that each must have (MCP 2026-07-28, "General fields", `_meta`).
    pub(crate) fn missing_metadata(message: &'static str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code::INVALID_PARAMS, message).because(Reason::MissingMetadata)
    }

    /// The answer to what names what does not exist, and so to what is hidden: with the HTTP status 200 (MCP 2026-07-28,
    /// "Tools", "Prompts" and "Resources", Error Handling). `called` is what the caller is told that it asked for.
    pub(crate) fn unknown(named: Named, called: Option<&str>, code: i32) -> Self {
        let what = match named {
            Named::Tool => "Unknown tool",
            Named::Prompt => "Unknown prompt",
            Named::Resource => "Resource not found",
        };
        let message = called.map_or(Cow::Borrowed(what), |called| format!("{what}: {called}").into());
        Self::new(StatusCode::OK, code, message)
    }

    /// The same with another HTTP status.
    pub(crate) fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// Says why, for records alone: the caller is not told.
    #[must_use]
    pub fn because(mut self, reason: Reason) -> Self {
        self.reason = Some(reason);
        self
    }

    /// Why, for records alone.
    pub fn reason(&self) -> Option<Reason> {
        self.reason
    }

    /// The error message on the wire. `id` is the JSON text of the request's id; where it could not be read
    /// it is left out, never `null` (MCP 2026-07-28, "Error Responses").
    pub fn to_json(&self, id: Option<&[u8]>) -> Vec<u8> {
        let mut out = Vec::with_capacity(96 + self.message.len());
        out.extend_from_slice(br#"{"jsonrpc":"2.0","#);
        if let Some(id) = id {
            out.extend_from_slice(br#""id":"#);
            out.extend_from_slice(id);
            out.push(b',');
        }
        out.extend_from_slice(br#""error":{"code":"#);
        out.extend_from_slice(self.code.to_string().as_bytes());
        out.extend_from_slice(br#","message":"#);
        write_string(&self.message, &mut out);
        if let Some(data) = &self.data {
            out.extend_from_slice(br#","data":"#);
            out.extend_from_slice(data);
        }
        out.extend_from_slice(b"}}");
        out
    }
}
