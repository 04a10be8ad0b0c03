//! What a layer found out about an exchange, for the inner service and for outer observers.

use std::borrow::Borrow;
use std::sync::Arc;

use bytes::Bytes;

use super::call_info::Said;
use super::{CallInfo, Declared, KnownBy, ResolvedAudience};
use crate::message::MetaRole;
use crate::protocol::{Audience, Era, Method};

/// What a layer found out about an exchange: a request extension for the inner service, and a response
/// extension for observers outside.
///
/// Extensions travel with `http` messages, so it is read as any other: `Extension<McpContext>` in axum,
/// `parts.extensions.get::<McpContext>()` elsewhere, through the `http::request::Parts` in rmcp's
/// `RequestContext::extensions`. A service can so offer a UI only to those who declared it, and a payment
/// layer learns before it settles who made a call.
///
/// ```
/// use tower_mcp_apps::McpContext;
///
/// fn describe<B>(request: &http::Request<B>) -> &'static str {
///     match request.extensions().get::<McpContext>() {
///         Some(context) if context.supports_apps() => "with a chart",
///         _ => "as text",
///     }
/// }
/// # assert_eq!(describe(&http::Request::new(())), "as text");
/// ```
#[derive(Clone, Debug)]
pub struct McpContext {
    pub(crate) calls: Calls,
    pub(crate) era: Era,
    pub(crate) version: Option<Text>,
    pub(crate) declared: Declared,
    pub(crate) audience: ResolvedAudience,
}

/// The messages of an exchange.
#[derive(Clone, Debug)]
pub(crate) enum Calls {
    /// None: no POST, or one that could not be read.
    None,
    One(CallInfo),
    Batch(Arc<[CallInfo]>),
}

impl McpContext {
    /// How the request says what its sender can do; of a batch, and where nothing was read, [`Era::Legacy`].
    pub fn era(&self) -> Era {
        self.era
    }

    /// The protocol version that the message, or else the `MCP-Protocol-Version` header, names. As it came: any text.
    pub fn protocol_version(&self) -> Option<&str> {
        self.version.as_ref().map(Text::as_str)
    }

    /// The messages of the exchange: one, several in a batch, none where there is no body or it could not be read.
    pub fn calls(&self) -> &[CallInfo] {
        match &self.calls {
            Calls::None => &[],
            Calls::One(call) => std::slice::from_ref(call),
            Calls::Batch(calls) => calls,
        }
    }

    /// The only message of the exchange; `None` for a batch, and where there is none.
    pub fn call(&self) -> Option<&CallInfo> {
        match &self.calls {
            Calls::One(call) => Some(call),
            Calls::None | Calls::Batch(_) => None,
        }
    }

    /// The method's name, of an exchange with one message.
    pub fn method(&self) -> Option<&str> {
        self.call().and_then(CallInfo::method_name)
    }

    /// The JSON text of the id, of an exchange with one message: a number, or a string with its quotes. It can stand in
    /// an answer as it is.
    pub fn id(&self) -> Option<&[u8]> {
        self.call().and_then(CallInfo::id)
    }

    /// The tool that is called, of an exchange with one `tools/call`.
    pub fn tool(&self) -> Option<&str> {
        self.call().filter(|call| call.method() == Some(Method::ToolsCall)).and_then(CallInfo::name)
    }

    /// The tools that the exchange calls, of a batch all of them.
    pub(crate) fn called_tools(&self) -> impl Iterator<Item = Said<'_>> {
        self.calls().iter().filter(|call| call.method() == Some(Method::ToolsCall)).filter_map(CallInfo::said_name)
    }

    /// The tools that the exchange calls through meta-tools.
    pub(crate) fn called_through(&self) -> impl Iterator<Item = Said<'_>> {
        self.calls().iter().filter(|call| call.role() == Some(MetaRole::Call)).filter_map(CallInfo::said_target)
    }

    /// What the tools that are called are called here, and in the same messages as another wrote them.
    pub(crate) fn renamed<'t>(&'t self, other: &'t Self) -> impl Iterator<Item = (&'t [u8], Text)> {
        let calls = self.calls().iter().zip(other.calls()).filter(|(call, _)| call.method() == Some(Method::ToolsCall));
        let names = |(call, other): (&'t CallInfo, &'t CallInfo)| {
            [call.said_name().zip(other.said_name()), call.said_target().zip(other.said_target())]
        };
        calls.flat_map(names).flatten().map(|(here, other)| (here.as_bytes(), other.to_text()))
    }

    /// The same where calls do, and name in their arguments, what these say.
    pub(crate) fn with_targets_of(self, calls: &[CallInfo]) -> Self {
        let calls = match &self.calls {
            Calls::None => Calls::None,
            Calls::One(call) => {
                Calls::One(calls.first().map_or_else(|| call.clone(), |other| call.with_target_of(other)))
            }
            Calls::Batch(own) => {
                Calls::Batch(own.iter().zip(calls).map(|(call, other)| call.with_target_of(other)).collect())
            }
        };
        Self { calls, ..self }
    }

    /// The context of a `tools/list` that is asked in the name of this exchange's caller.
    pub(crate) fn for_look_up(&self, id: &[u8]) -> Self {
        self.asking(CallInfo::asked(Method::ToolsList, id, None))
    }

    /// The context of a call of a meta-tool in the name of this exchange's caller.
    pub(crate) fn for_call(&self, id: &[u8], tool: &str, role: MetaRole, target: Option<&str>) -> Self {
        self.asking(CallInfo::asked(Method::ToolsCall, id, Some((tool, role, target))))
    }

    fn asking(&self, call: CallInfo) -> Self {
        Self { calls: Calls::One(call), ..self.clone() }
    }

    /// The tool that is called through a meta-tool, or the tool or resource that another one describes or reads, of an
    /// exchange with one message. See [`MetaTools`](crate::concern::MetaTools).
    pub fn target(&self) -> Option<&str> {
        self.call().and_then(CallInfo::target)
    }

    /// The resource that is asked for, of an exchange with one message that has a URI.
    pub fn uri(&self) -> Option<&str> {
        self.call().and_then(CallInfo::uri)
    }

    /// What the client declared.
    pub fn declared(&self) -> &Declared {
        &self.declared
    }

    /// Whether the client declared MCP Apps with `text/html;profile=mcp-app`.
    pub fn supports_apps(&self) -> bool {
        self.declared.supports_apps()
    }

    /// Who the answer is for.
    pub fn audience(&self) -> Audience {
        self.audience.audience
    }

    /// How the audience is known.
    pub fn audience_known_by(&self) -> KnownBy {
        self.audience.known_by
    }
}

/// Text that shares a body's buffer where it stands there as it is. Always UTF-8: the reader checked it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Text(Bytes);

impl Text {
    /// A part of a buffer, which is UTF-8.
    pub(super) fn part_of(buffer: &Bytes, part: &[u8]) -> Self {
        Self(buffer.slice_ref(part))
    }

    /// Text that stands in `body`, or was decoded out of it.
    pub(crate) fn new(text: &str, body: &Bytes) -> Self {
        let range = body.as_ptr_range();
        if range.contains(&text.as_ptr()) { Self(body.slice_ref(text.as_bytes())) } else { Self::copy(text) }
    }

    /// The name of a revision of MCP that there is, which need not be copied.
    pub(crate) fn known_version(version: &[u8]) -> Option<Self> {
        Era::known_version(version).map(Self::of_static)
    }

    pub(crate) fn copy(text: &str) -> Self {
        Self(Bytes::copy_from_slice(text.as_bytes()))
    }

    pub(crate) fn of_static(text: &'static str) -> Self {
        Self(Bytes::from_static(text.as_bytes()))
    }

    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Its bytes, which cost nothing to have: without `unsafe` a text is checked again each time.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Maps by texts can be looked into by their bytes.
impl Borrow<[u8]> for Text {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}
