//! What a client's POST says: its calls, and everything about their spelling that readers may disagree on.

use std::borrow::Cow;
use std::fmt;

use super::arguments::Arguments;
use super::{MetaRole, MetaTools};
use crate::json::{Depth, Error, ErrorKind, Kind, Reader, Span, Str};
use crate::protocol::{Era, Method, USUAL_EXTENSIONS, USUAL_EXTENSIONS_LEVELS, meta};

#[cfg(test)]
mod tests;

/// The most messages of a batch: what is kept of each is a hundred times as long as the shortest message.
const MOST_MESSAGES: usize = 1000;

/// The messages of one POST body.
///
/// ```
/// use tower_mcp_apps::json::Depth;
/// use tower_mcp_apps::message::Payload;
/// use tower_mcp_apps::protocol::Method;
///
/// # fn main() -> Result<(), tower_mcp_apps::message::Unreadable> {
/// let body = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"p\u006fll"}}"#;
/// let payload = Payload::read(body, Depth::default())?;
/// let call = &payload.calls()[0];
/// assert_eq!((call.method(), call.name.as_deref()), (Some(Method::ToolsCall), Some("poll")));
/// assert_eq!(call.id, Some(&b"7"[..]));
///
/// // Readers differ on which of two names counts.
/// let payload = Payload::read(br#"{"method":"tools/call","params":{"name":"a","name":"b"}}"#, Depth::default())?;
/// assert!(payload.calls()[0].fault.is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub enum Payload<'a> {
    /// One message.
    Single(Call<'a>),
    /// A batch, as 2025-03-26 allowed (MCP 2025-03-26, "Sending Messages").
    Batch(Vec<Call<'a>>),
}

/// One JSON-RPC message of a client, as borrowed views.
#[derive(Debug, Default)]
pub struct Call<'a> {
    /// The JSON text of the id: a string or a number. `None` where there is none.
    pub id: Option<&'a [u8]>,
    /// What the message asks; `None` for a response, and where the method is no readable string.
    pub method: Option<Cow<'a, str>>,
    /// `params.name`, with its escapes read; `None` where it is no string, or has a lone surrogate.
    pub name: Option<Cow<'a, str>>,
    /// `params.uri`, likewise.
    pub uri: Option<Cow<'a, str>>,
    /// What the tool does that is called, where that is a meta-tool which was declared.
    pub role: Option<MetaRole>,
    /// The tool or URI that the arguments of a meta-tool name; `None` where they name none as readable text.
    pub target: Option<Cow<'a, str>>,
    /// Whether a meta-tool is called through a meta-tool, so that what runs in the end is not named here.
    pub is_wrapped: bool,
    /// The protocol version that the message declares: in `_meta` or, for `initialize`, in `params`.
    pub version: Option<Cow<'a, str>>,
    /// The JSON text of the `extensions` object that the client declares in this message: in `_meta` or, for
    /// `initialize`, in `params`.
    pub extensions: Option<&'a [u8]>,
    /// The JSON text of `params._meta`, where it is an object.
    pub meta: Option<&'a [u8]>,
    /// The JSON text of what the client declares as its capabilities in `params._meta`, whatever it is.
    pub capabilities: Option<&'a [u8]>,
    /// Whether `params.cursor` is there and not `null`, so that a further page of a list is asked for.
    pub has_cursor: bool,
    /// Whether `params._meta` declares a protocol version, as every request of the modern era must.
    pub declares_version: bool,
    /// Whether `params._meta` declares the client's capabilities, as every request of the modern era must.
    pub declares_capabilities: bool,
    /// Whether the message is a response to the server.
    pub is_response: bool,
    /// The first thing about the message that two readers may understand differently.
    pub fault: Option<Fault>,
}

/// Something about a message that two readers may understand differently, so that what was judged may not be what runs.
///
/// JSON leaves open which of two equal members counts (RFC 8259, section 4), and some readers ignore the case of names.
/// The deciding members are `method`, `id`, `params`, `result` and `error`; in `params` `name`, `uri`, `_meta`,
/// `protocolVersion` and `capabilities`; in `_meta` the protocol version and the client's capabilities, and their `extensions`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// A member that decides stands twice.
    Duplicate(&'static str),
    /// A member equals a deciding one but for the case of its letters.
    CaseVariant(&'static str),
    /// The method, the id, the name or the URI has a lone surrogate, or the method or the id is of another type.
    Unreadable(&'static str),
    /// The message is no object.
    NotAnObject,
    /// The message is neither a request nor a notification nor a response: it has no method, result or error (JSON-RPC 2.0,
    /// "Request object" and "Response object").
    NotAMessage,
    /// What the arguments of a meta-tool name stands twice, differs from another but for case, or has a lone surrogate.
    Target,
}

/// Why a body holds no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It is not JSON.
    Json(Error),
    /// It is JSON, but neither an object nor a batch with something in it.
    NoMessage,
    /// It is a batch of more than 1,000 messages.
    TooMany,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duplicate(member) => write!(f, "the member {member} stands twice"),
            Self::CaseVariant(member) => write!(f, "a member differs from {member} only by the case of its letters"),
            Self::Unreadable(member) => write!(f, "the member {member} is not text as it should be"),
            Self::NotAnObject => f.write_str("a message must be an object"),
            Self::NotAMessage => f.write_str("a message must have a method, a result or an error"),
            Self::Target => f.write_str("the arguments of this tool must name one thing, once, and as text"),
        }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => write!(f, "the body is not JSON: {error}"),
            Self::NoMessage => f.write_str("the body must be a JSON-RPC message, or a batch that is not empty"),
            Self::TooMany => write!(f, "a batch may have {MOST_MESSAGES} messages at most"),
        }
    }
}

impl From<Error> for Unreadable {
    fn from(error: Error) -> Self {
        Self::Json(error)
    }
}

impl Unreadable {
    /// Whether the body is JSON by its grammar and fails in what JSON-RPC or RFC 8259, section 8.1 (UTF-8) ask beyond it.
    pub fn is_grammatical(&self) -> bool {
        match self {
            Self::NoMessage | Self::TooMany => true,
            Self::Json(error) => error.kind() == ErrorKind::Utf8,
        }
    }
}

impl<'a> Payload<'a> {
    /// Reads a whole POST body. What a message lacks, or has of another type, is not an error here: see [`Call`].
    ///
    /// # Errors
    ///
    /// [`Unreadable`] where the body is not JSON, nests deeper than `depth`, is neither an object nor an array with
    /// something in it, or is an array of more than 1,000 messages.
    pub fn read(body: &'a [u8], depth: Depth) -> Result<Self, Unreadable> {
        Self::read_with(body, depth, &MetaTools::new())
    }

    /// The same where these meta-tools are declared: what their arguments name is read, too.
    ///
    /// # Errors
    ///
    /// As of [`read`](Self::read).
    pub fn read_with(body: &'a [u8], depth: Depth, meta_tools: &MetaTools) -> Result<Self, Unreadable> {
        let mut reader = Reader::with_depth(body, depth);
        match reader.peek()? {
            Kind::Object => {
                let mut call = Call::default();
                call.read(&mut reader, meta_tools)?;
                reader.end()?;
                Ok(Self::Single(call))
            }
            Kind::Array => {
                let mut calls = Vec::new();
                reader.enter_array()?;
                while reader.element()? {
                    if calls.len() == MOST_MESSAGES {
                        return Err(Unreadable::TooMany);
                    }
                    let mut call = Call::default();
                    call.read(&mut reader, meta_tools)?;
                    calls.push(call);
                }
                reader.end()?;
                if calls.is_empty() { Err(Unreadable::NoMessage) } else { Ok(Self::Batch(calls)) }
            }
            _ => {
                reader.skip()?;
                reader.end()?;
                Err(Unreadable::NoMessage)
            }
        }
    }

    /// The messages in order.
    pub fn calls(&self) -> &[Call<'a>] {
        match self {
            Self::Single(call) => std::slice::from_ref(call),
            Self::Batch(calls) => calls,
        }
    }
}

impl<'a> Call<'a> {
    /// The method, if it is one.
    pub fn method(&self) -> Option<Method> {
        self.method.as_deref().map(Method::from_name)
    }

    /// The era of the message: modern where it carries any per-request metadata (MCP 2026-07-28, "Backward
    /// Compatibility with Initialization-Based Versions"). `initialize` is always legacy.
    pub fn era(&self) -> Era {
        let is_modern = self.declares_version || self.declares_capabilities;
        if is_modern && !self.is(Method::Initialize) { Era::Modern } else { Era::Legacy }
    }

    /// Whether the method is this one, which has one name.
    #[inline]
    pub(crate) fn is(&self, method: Method) -> bool {
        self.method.is_some() && self.method.as_deref() == method.name()
    }

    /// Fills in what the next value says.
    // Not given back, since a call is large to move.
    fn read(&mut self, reader: &mut Reader<'a>, meta_tools: &MetaTools) -> Result<(), Error> {
        if reader.peek()? != Kind::Object {
            reader.skip()?;
            self.fault = Some(Fault::NotAnObject);
            return Ok(());
        }
        let mut members = Members::new(["method", "id", "params", "result", "error", "jsonrpc"], 5);
        let mut initialize = Initialize::default();
        let mut arguments = (!meta_tools.is_empty()).then(Arguments::default);
        let mut ids = 0;
        reader.enter_object()?;
        while let Some(member) = members.next(reader, &mut self.fault)? {
            match member {
                Member::Usual("method") => {
                    self.method = read_method(reader)?;
                    if self.method.is_none() {
                        self.fault.get_or_insert(Fault::Unreadable("method"));
                    }
                }
                Member::Usual("id") => {
                    ids += 1;
                    self.id = read_id(reader)?;
                }
                Member::Usual("params") if reader.peek()? == Kind::Object => {
                    self.read_params(reader, &mut initialize, &mut arguments)?;
                }
                Member::Usual("jsonrpc") => drop(reader.skip_usual(br#""2.0""#, 0)?),
                Member::Usual("result" | "error") => {
                    self.is_response = true;
                    reader.skip()?;
                }
                _ => drop(reader.skip()?),
            }
        }
        self.is_response &= !members.has("method");
        // A response to a message whose id could not be read has `null` there.
        if ids > 0 && self.id.is_none() && !self.is_response {
            self.fault.get_or_insert(Fault::Unreadable("id"));
        }
        if !members.has("method") && !self.is_response {
            self.fault.get_or_insert(Fault::NotAMessage);
        }
        if ids > 1 {
            self.id = None;
        }
        if self.is(Method::Initialize) {
            self.version = initialize.version.and_then(|version| version.decode().ok());
            self.extensions = initialize.extensions.map(|span| &reader.source()[span.start..span.end]);
        }
        if let Some(arguments) = arguments.filter(|_| self.is(Method::ToolsCall)) {
            self.read_arguments(arguments, reader.source(), meta_tools)?;
        }
        Ok(())
    }

    fn read_params(
        &mut self,
        reader: &mut Reader<'a>,
        initialize: &mut Initialize<'a>,
        arguments: &mut Option<Arguments>,
    ) -> Result<(), Error> {
        let names = ["name", "uri", "_meta", "protocolVersion", "capabilities", "arguments", "cursor"];
        let mut members = Members::new(names, 5);
        reader.enter_object()?;
        while let Some(member) = members.next(reader, &mut self.fault)? {
            match member {
                Member::Usual("name") => self.name = self.read_param(reader, "params.name")?,
                Member::Usual("uri") => self.uri = self.read_param(reader, "params.uri")?,
                Member::Usual("_meta") if reader.peek()? == Kind::Object => self.read_meta(reader)?,
                Member::Usual("protocolVersion") if reader.peek()? == Kind::String => {
                    initialize.version = Some(reader.string()?)
                }
                Member::Usual("capabilities") if reader.peek()? == Kind::Object => {
                    initialize.extensions = read_extensions(reader, &mut self.fault)?;
                }
                Member::Usual("arguments") => {
                    let is_object = reader.peek()? == Kind::Object;
                    let span = reader.skip()?;
                    if let Some(arguments) = arguments {
                        arguments.note(Some(span).filter(|_| is_object));
                    }
                }
                Member::Usual("cursor") => {
                    self.has_cursor |= reader.peek()? != Kind::Null;
                    reader.skip()?;
                }
                Member::Other(key) => {
                    if let Some(arguments) = arguments {
                        arguments.note_other(key);
                    }
                    reader.skip()?;
                }
                Member::Usual(_) => drop(reader.skip()?),
            }
        }
        Ok(())
    }

    /// What the message is about. Another type than a string is for the server to judge: some method may have one there.
    fn read_param(&mut self, reader: &mut Reader<'a>, name: &'static str) -> Result<Option<Cow<'a, str>>, Error> {
        let Some(text) = read_string(reader)? else { return Ok(None) };
        let text = text.decode().ok();
        if text.is_none() {
            self.fault.get_or_insert(Fault::Unreadable(name));
        }
        Ok(text)
    }

    fn read_meta(&mut self, reader: &mut Reader<'a>) -> Result<(), Error> {
        let names = [meta::PROTOCOL_VERSION, meta::CLIENT_CAPABILITIES, "io.modelcontextprotocol/clientInfo"];
        let mut members = Members::new(names, 2);
        self.capabilities = None;
        reader.enter_object()?;
        let start = reader.position() - 1;
        while let Some(member) = members.next(reader, &mut self.fault)? {
            match member {
                Member::Usual(meta::PROTOCOL_VERSION) if reader.peek()? == Kind::String => {
                    self.version = decode_known(reader.string()?, Era::known_version);
                    self.declares_version = true;
                }
                Member::Usual(meta::CLIENT_CAPABILITIES) => {
                    let kind = reader.peek()?;
                    let start = reader.position();
                    if kind == Kind::Object {
                        let extensions = read_extensions(reader, &mut self.fault)?;
                        self.extensions = extensions.map(|span| &reader.source()[span.start..span.end]);
                        self.declares_capabilities = true;
                    } else {
                        reader.skip()?;
                    }
                    self.capabilities = Some(&reader.source()[start..reader.position()]);
                }
                _ => drop(reader.skip()?),
            }
        }
        self.meta = Some(&reader.source()[start..reader.position()]);
        Ok(())
    }
}

/// The JSON text of the next value, if it is an id: a number, or a string without lone surrogates.
fn read_id<'a>(reader: &mut Reader<'a>) -> Result<Option<&'a [u8]>, Error> {
    let (span, is_id) = match reader.peek()? {
        Kind::String => {
            let text = reader.string()?;
            (text.span(), text.decode().is_ok())
        }
        kind => (reader.skip()?, kind == Kind::Number),
    };
    Ok(is_id.then(|| &reader.source()[span.start..span.end]))
}

/// The text of the next value, as [`read_text`] has it.
fn read_method<'a>(reader: &mut Reader<'a>) -> Result<Option<Cow<'a, str>>, Error> {
    Ok(read_string(reader)?.and_then(|text| decode_known(text, |name| Method::from_bytes(name).name())))
}

/// A text; `None` where it has a lone surrogate. One that is known is not checked again.
fn decode_known<'a>(text: Str<'a>, known: impl FnOnce(&[u8]) -> Option<&'static str>) -> Option<Cow<'a, str>> {
    match text.unescaped().and_then(known) {
        Some(known) => Some(Cow::Borrowed(known)),
        None => text.decode().ok(),
    }
}

/// The text of the next value; `None` where it is no string, or has a lone surrogate.
pub(super) fn read_text<'a>(reader: &mut Reader<'a>) -> Result<Option<Cow<'a, str>>, Error> {
    Ok(read_string(reader)?.and_then(|text| text.decode().ok()))
}

/// The next value, if it is a string.
#[inline]
fn read_string<'a>(reader: &mut Reader<'a>) -> Result<Option<Str<'a>>, Error> {
    if reader.peek()? == Kind::String {
        return reader.string().map(Some);
    }
    reader.skip()?;
    Ok(None)
}

/// What `initialize` says in `params`, kept until the method is known: members stand in any order.
#[derive(Default)]
struct Initialize<'a> {
    version: Option<Str<'a>>,
    extensions: Option<Span>,
}

/// The `extensions` object of a `capabilities` object.
fn read_extensions(reader: &mut Reader<'_>, fault: &mut Option<Fault>) -> Result<Option<Span>, Error> {
    let mut members = Members::new(["extensions"], 1);
    let mut found = None;
    reader.enter_object()?;
    while let Some(member) = members.next(reader, fault)? {
        if matches!(member, Member::Usual(_)) && reader.peek()? == Kind::Object {
            found = Some(reader.skip_usual(USUAL_EXTENSIONS, USUAL_EXTENSIONS_LEVELS)?);
        } else {
            reader.skip()?;
        }
    }
    Ok(found)
}

/// The members that an object usually has, and which of those that decide have stood already.
struct Members<const N: usize> {
    // All in one, since the compiler then knows what it compares with.
    names: [&'static str; N],
    /// How many of them decide: the first.
    deciding: usize,
    seen: u8,
}

/// A member of an object.
enum Member<'a> {
    /// One of those that it usually has.
    Usual(&'static str),
    Other(Str<'a>),
}

impl<const N: usize> Members<N> {
    fn new(names: [&'static str; N], deciding: usize) -> Self {
        Self { names, deciding, seen: 0 }
    }

    fn has(&self, name: &str) -> bool {
        self.names.iter().position(|known| *known == name).is_some_and(|at| self.seen & (1 << at) != 0)
    }

    /// The next member, whose value is to be read next. A second deciding one of a name, or one that differs from such only by
    /// case, is a fault.
    // Into its callers, where the names are known and are compared as numbers.
    #[inline(always)]
    fn next<'a>(&mut self, reader: &mut Reader<'a>, fault: &mut Option<Fault>) -> Result<Option<Member<'a>>, Error> {
        let at = match reader.member_among(self.names) {
            Some(at) => at,
            None => {
                let Some(key) = reader.member()? else { return Ok(None) };
                let Some(at) = self.names.iter().position(|name| key.is(name)) else {
                    note_variant(key, &self.names[..self.deciding], fault);
                    return Ok(Some(Member::Other(key)));
                };
                at
            }
        };
        let name = self.names[at];
        if at < self.deciding {
            if self.seen & (1 << at) != 0 {
                fault.get_or_insert(Fault::Duplicate(name));
            }
            self.seen |= 1 << at;
        }
        Ok(Some(Member::Usual(name)))
    }
}

/// Notes a key that differs from a deciding name only by case.
fn note_variant(key: Str<'_>, names: &[&'static str], fault: &mut Option<Fault>) {
    let variant = match key.plain() {
        // As nearly all keys are.
        Some(text) => names.iter().find(|name| text.eq_ignore_ascii_case(name.as_bytes())),
        None => names.iter().find(|name| is_but_for_case(key, name)),
    };
    if let Some(name) = variant {
        fault.get_or_insert(Fault::CaseVariant(name));
    }
}

/// Whether a reader that ignores the case of letters may take a key for this name, which is ASCII. Four letters beyond ASCII
/// have one of ASCII as their other case: to some readers `paramſ` is `params`.
pub(super) fn is_but_for_case(key: Str<'_>, name: &str) -> bool {
    if key.is_ignoring_ascii_case(name) {
        return true;
    }
    // Such a letter is longer than the other, and no letter is longer than an escape, which has six bytes.
    let raw = key.raw();
    if raw.len() <= name.len() || raw.len() > 6 * name.len() {
        return false;
    }
    let fold = |letter: char| match letter {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        '\u{130}' | '\u{131}' => 'i',
        letter => letter.to_ascii_lowercase(),
    };
    key.decode().is_ok_and(|key| key.chars().map(fold).eq(name.chars().map(|letter| letter.to_ascii_lowercase())))
}
