//! What a layer found out about an exchange, for the inner service and for outer observers.

use std::borrow::Borrow;
use std::sync::Arc;

use bytes::Bytes;

use super::{Declared, KnownBy, ResolvedAudience};
use crate::message::{Call, MetaRole};
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

/// One message of a client: what it asks for.
#[derive(Clone, Debug)]
pub struct CallInfo {
    method: Option<Method>,
    /// Of a method that has many names.
    method_name: Option<Text>,
    id: Option<Bytes>,
    name: Option<Text>,
    uri: Option<Text>,
    role: Option<MetaRole>,
    target: Option<Text>,
    has_cursor: bool,
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
        self.call().filter(|call| call.method == Some(Method::ToolsCall)).and_then(CallInfo::name)
    }

    /// The tools that the exchange calls, of a batch all of them.
    pub(crate) fn called_tools(&self) -> impl Iterator<Item = &Text> {
        self.calls().iter().filter(|call| call.method == Some(Method::ToolsCall)).filter_map(|call| call.name.as_ref())
    }

    /// The tools that the exchange calls through meta-tools.
    pub(crate) fn called_through(&self) -> impl Iterator<Item = &Text> {
        let through = self.calls().iter().filter(|call| call.role == Some(MetaRole::Call));
        through.filter_map(|call| call.target.as_ref())
    }

    /// What the tools that are called are called here, and in the same messages as another wrote them.
    pub(crate) fn renamed<'t>(&'t self, other: &'t Self) -> impl Iterator<Item = (&'t Text, &'t Text)> {
        let calls = self.calls().iter().zip(other.calls()).filter(|(call, _)| call.method == Some(Method::ToolsCall));
        calls
            .flat_map(|(call, other)| {
                [call.name.as_ref().zip(other.name.as_ref()), call.target.as_ref().zip(other.target.as_ref())]
            })
            .flatten()
    }

    /// The same where calls do, and name in their arguments, what these say.
    pub(crate) fn with_targets_of(self, calls: &[CallInfo]) -> Self {
        let with =
            |(call, of): (&CallInfo, &CallInfo)| CallInfo { role: of.role, target: of.target.clone(), ..call.clone() };
        let calls = match &self.calls {
            Calls::None => Calls::None,
            Calls::One(call) => Calls::One(calls.first().map_or_else(|| call.clone(), |of| with((call, of)))),
            Calls::Batch(own) => Calls::Batch(own.iter().zip(calls).map(with).collect()),
        };
        Self { calls, ..self }
    }

    /// The context of a `tools/list` that is asked in the name of this exchange's caller.
    pub(crate) fn for_look_up(&self, id: Bytes) -> Self {
        self.asking(CallInfo::asked(Method::ToolsList, id))
    }

    /// The context of a call of a meta-tool in the name of this exchange's caller.
    pub(crate) fn for_call(&self, id: Bytes, tool: &str, role: MetaRole, target: Option<&str>) -> Self {
        let call = CallInfo::asked(Method::ToolsCall, id);
        let (name, target) = (Some(Text::copy(tool)), target.map(Text::copy));
        self.asking(CallInfo { name, role: Some(role), target, ..call })
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

impl CallInfo {
    /// Takes what lasts out of a call. `body` is what the call is a view on; its parts are kept without copying.
    pub(crate) fn new(call: &Call<'_>, body: &Bytes) -> Self {
        let method = call.method();
        let text = |text: &str| Text::new(text, body);
        Self {
            method,
            method_name: call.method.as_deref().filter(|_| method.and_then(Method::name).is_none()).map(text),
            id: call.id.map(|id| body.slice_ref(id)),
            name: call.name.as_deref().map(text),
            uri: call.uri.as_deref().map(text),
            role: call.role,
            target: call.target.as_deref().map(text),
            has_cursor: call.has_cursor,
        }
    }

    /// A request of our own.
    fn asked(method: Method, id: Bytes) -> Self {
        Self {
            method: Some(method),
            method_name: None,
            id: Some(id),
            name: None,
            uri: None,
            role: None,
            target: None,
            has_cursor: false,
        }
    }

    /// The method; `None` for a response of the client's.
    pub fn method(&self) -> Option<Method> {
        self.method
    }

    /// The method's name as it stands on the wire.
    pub fn method_name(&self) -> Option<&str> {
        self.method?.name().or_else(|| self.method_name.as_ref().map(Text::as_str))
    }

    /// The JSON text of the id: a number, or a string with its quotes. A notification has none.
    pub fn id(&self) -> Option<&[u8]> {
        self.id.as_deref()
    }

    /// The same, to keep.
    pub(crate) fn id_bytes(&self) -> Option<&Bytes> {
        self.id.as_ref()
    }

    /// `params.name`: the tool or prompt.
    pub fn name(&self) -> Option<&str> {
        self.name.as_ref().map(Text::as_str)
    }

    /// Whether a list is asked for from a cursor on, and not from its start.
    pub fn has_cursor(&self) -> bool {
        self.has_cursor
    }

    /// What the tool does that is called, where it was declared to be a [meta-tool](crate::concern::MetaTools).
    pub fn role(&self) -> Option<MetaRole> {
        self.role
    }

    /// The tool or URI that the arguments of a meta-tool name.
    pub fn target(&self) -> Option<&str> {
        self.target.as_ref().map(Text::as_str)
    }

    /// `params.uri`: the resource.
    pub fn uri(&self) -> Option<&str> {
        self.uri.as_ref().map(Text::as_str)
    }
}

/// Text that shares a body's buffer where it stands there as it is. Always UTF-8: the reader checked it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Text(Bytes);

impl Text {
    /// Text that stands in `body`, or was decoded out of it.
    pub(crate) fn new(text: &str, body: &Bytes) -> Self {
        let range = body.as_ptr_range();
        if range.contains(&text.as_ptr()) { Self(body.slice_ref(text.as_bytes())) } else { Self::copy(text) }
    }

    /// The name of a revision of MCP that there is, which need not be copied.
    pub(crate) fn known_version(version: &str) -> Option<Self> {
        const REVISIONS: [&str; 5] = [Era::FIRST_MODERN, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
        REVISIONS.into_iter().find(|known| *known == version).map(Self::of_static)
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
