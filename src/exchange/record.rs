//! What is kept of one call once it is over: who called what, what was decided, how it went.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::StatusCode;

use super::decision::{Decision, Outcome};
use super::{CallInfo, KnownBy, McpContext, ResolvedAudience, Text};
use crate::message::Reason;
use crate::protocol::{Audience, Method, ToolVisibility};

/// The longest text of a caller's that is kept, in bytes: else a record could be as long as a request.
const LONGEST_TEXT: usize = 1024;

/// What is kept of one call once it is over. Arguments and results are not in it.
///
/// Texts that the caller chose (method, tool, URI, version) are cut after 1,024 bytes, and a longer id is left out.
#[derive(Clone, Debug)]
pub struct Record {
    pub(crate) call: Option<Method>,
    pub(crate) method: Option<Text>,
    pub(crate) tool: Option<Text>,
    pub(crate) uri: Option<Text>,
    pub(crate) target: Option<Text>,
    pub(crate) id: Option<Bytes>,
    pub(crate) messages: usize,
    pub(crate) audience: Option<ResolvedAudience>,
    pub(crate) visibility: Option<ToolVisibility>,
    pub(crate) is_forwarded: bool,
    pub(crate) outcome: Outcome,
    pub(crate) reason: Option<Reason>,
    pub(crate) session: Option<Text>,
    pub(crate) version: Option<Text>,
    pub(crate) status: Option<StatusCode>,
    pub(crate) time: SystemTime,
    pub(crate) duration: Duration,
    pub(crate) bytes: u64,
    pub(crate) end: End,
}

/// How an exchange ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// The answer was handed on to its last byte.
    Complete,
    /// The client went away before the last byte, or a layer outside gave the exchange up.
    ClientGone,
    /// The inner service failed, or its answer broke off.
    Failed,
}

impl End {
    /// The name in records, in snake case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::ClientGone => "client_gone",
            Self::Failed => "failed",
        }
    }
}

impl Record {
    /// A record to be filled in: nothing is known but when it began.
    pub(crate) fn begun(time: SystemTime) -> Self {
        Self {
            call: None,
            method: None,
            tool: None,
            uri: None,
            target: None,
            id: None,
            messages: 0,
            audience: None,
            visibility: None,
            is_forwarded: false,
            outcome: Outcome::Forwarded,
            reason: None,
            session: None,
            version: None,
            status: None,
            time,
            duration: Duration::ZERO,
            bytes: 0,
            end: End::ClientGone,
        }
    }

    /// The same for one message of an exchange. Copies, so that a record does not keep a request's body.
    pub(crate) fn of_call(&self, call: &CallInfo) -> Self {
        Self {
            call: call.method(),
            method: call.method_name().map(|name| match call.method().and_then(Method::name) {
                Some(known) => Text::of_static(known),
                None => copy(name),
            }),
            tool: call.name().filter(|_| call.method() == Some(Method::ToolsCall)).map(copy),
            uri: call.uri().map(copy),
            target: call.target().map(copy),
            id: call.id().filter(|id| id.len() <= LONGEST_TEXT).map(Bytes::copy_from_slice),
            ..self.clone()
        }
    }

    /// Takes over what was found out about the request.
    pub(crate) fn hear(&mut self, context: &McpContext) {
        self.messages = context.calls().len();
        self.audience = Some(context.audience);
        self.version = context.protocol_version().map(copy);
    }

    /// Takes over what was decided about the request.
    pub(crate) fn decide(&mut self, decision: &Decision) {
        self.outcome = decision.outcome();
        self.reason = decision.reason();
        self.visibility = self.target().or(self.tool()).and_then(|tool| decision.visibility(tool));
        if self.reason == Some(Reason::OddAudience) {
            self.audience = None;
        }
    }

    /// Whether it is kept: a call, a read, or a refusal of anything.
    pub(crate) fn counts(&self) -> bool {
        self.is_refused() || matches!(self.call, Some(Method::ToolsCall | Method::ResourcesRead))
    }

    /// The method; `None` where a request was refused before it could be read, and for a client's response.
    pub fn method(&self) -> Option<&str> {
        self.method.as_ref().map(Text::as_str)
    }

    /// The tool of a `tools/call`; see [`target`](Self::target) for the one that it calls in turn.
    pub fn tool(&self) -> Option<&str> {
        self.tool.as_ref().map(Text::as_str)
    }

    /// The URI that the request names.
    pub fn uri(&self) -> Option<&str> {
        self.uri.as_ref().map(Text::as_str)
    }

    /// The tool that is called through a meta-tool, or the tool or resource that another one describes or reads. See
    /// [`MetaTools`](crate::concern::MetaTools).
    pub fn target(&self) -> Option<&str> {
        self.target.as_ref().map(Text::as_str)
    }

    /// The JSON text of the request's id: a number, or a string with its quotes.
    pub fn id(&self) -> Option<&[u8]> {
        self.id.as_deref()
    }

    /// How many messages the exchange had: more than one in a batch, whose records all have the status, duration
    /// and bytes of the whole exchange.
    pub fn messages(&self) -> usize {
        self.messages
    }

    /// Who made the call: a model, an app, or ([`Audience::Host`]) a host in the name of either, which cannot be told
    /// apart. `None` where the request does not say.
    pub fn audience(&self) -> Option<Audience> {
        self.audience.map(|audience| audience.audience)
    }

    /// How the audience is known. Bill by nothing that is known by [`KnownBy::Declaration`] alone: the caller wrote it.
    pub fn known_by(&self) -> Option<KnownBy> {
        self.audience.map(|audience| audience.known_by)
    }

    /// For whom the tool is (of a call through a meta-tool, its target), where a layer found it out.
    pub fn visibility(&self) -> Option<ToolVisibility> {
        self.visibility
    }

    /// The audience in records: `model`, `app`, `host` or `unknown`.
    pub(crate) fn audience_name(&self) -> &'static str {
        self.audience().map_or("unknown", Audience::as_str)
    }

    /// What was decided, in records.
    pub(crate) fn decision_name(&self) -> &'static str {
        match (self.outcome, self.is_forwarded) {
            (Outcome::Forwarded, false) => "undecided",
            (outcome, _) => outcome.as_str(),
        }
    }

    /// Whether the request went on to the inner service, and so may have had its effect. Neither this nor
    /// [refused](Self::is_refused) or [answered](Self::is_answered) is one whose client went away while its tool was looked up.
    pub fn is_forwarded(&self) -> bool {
        self.is_forwarded
    }

    /// Whether a layer refused the request, or withheld the answer to it. An error of the inner service is no refusal.
    pub fn is_refused(&self) -> bool {
        self.outcome == Outcome::Refused
    }

    /// Whether a layer answered the request itself, such as a read of a UI that it [serves](crate::serve).
    pub fn is_answered(&self) -> bool {
        self.outcome == Outcome::Answered
    }

    /// Why it was refused.
    pub fn reason(&self) -> Option<Reason> {
        self.reason
    }

    /// The session, hashed. See the [module docs](crate::audit#sessions).
    pub fn session(&self) -> Option<&str> {
        self.session.as_ref().map(Text::as_str)
    }

    /// The protocol version that the request names.
    pub fn protocol_version(&self) -> Option<&str> {
        self.version.as_ref().map(Text::as_str)
    }

    /// The HTTP status; `None` where there was no answer.
    pub fn status(&self) -> Option<StatusCode> {
        self.status
    }

    /// When the request came.
    pub fn time(&self) -> SystemTime {
        self.time
    }

    /// From the request's head to the last byte of the answer.
    pub fn duration(&self) -> Duration {
        self.duration
    }

    /// The bytes of the answer's body that were handed on.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How the exchange ended.
    pub fn end(&self) -> End {
        self.end
    }
}

fn copy(text: &str) -> Text {
    Text::copy(cut(text))
}

/// As much of a text of somebody else's as is kept.
pub(crate) fn cut(text: &str) -> &str {
    let end = (0..=text.len().min(LONGEST_TEXT)).rev().find(|end| text.is_char_boundary(*end));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}
