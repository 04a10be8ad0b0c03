//! One message of a client: what it asks for.

use std::fmt;

use bytes::Bytes;

use super::Text;
use crate::message::{Call, MetaRole};
use crate::protocol::Method;

/// One message of a client: what it asks for.
#[derive(Clone)]
pub struct CallInfo {
    /// What the parts stand in: the body, or a copy of them where one does not stand there as it is. One for all of them, since
    /// this is copied for the inner service and for observers.
    source: Bytes,
    parts: [Part; 5],
    method: Option<Method>,
    role: Option<MetaRole>,
    has_cursor: bool,
}

/// A member of a message that is kept, in the order of the parts.
#[derive(Clone, Copy, Debug)]
enum Member {
    /// Of a method that has many names.
    MethodName,
    /// JSON text.
    Id,
    Name,
    Uri,
    Target,
}

/// Where a part stands in its source. No request that is read is as long as 4 GiB, see
/// [`Limits::request_bytes`](super::Limits::request_bytes).
#[derive(Clone, Copy, Debug)]
struct Part {
    start: u32,
    end: u32,
}

impl Part {
    /// A part that a message does not have.
    const NONE: Self = Self { start: 1, end: 0 };

    /// Where a part stands in a source, if it does.
    fn within(part: &[u8], source: &[u8]) -> Option<Self> {
        let start = part.as_ptr().addr().checked_sub(source.as_ptr().addr())?;
        let end = start.checked_add(part.len()).filter(|end| *end <= source.len())?;
        Self::from(start, end)
    }

    fn from(start: usize, end: usize) -> Option<Self> {
        Some(Self { start: u32::try_from(start).ok()?, end: u32::try_from(end).ok()? })
    }
}

/// A text that a message says, where it stands. Always UTF-8: the reader checked it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said<'a> {
    source: &'a Bytes,
    text: &'a [u8],
}

impl<'a> Said<'a> {
    /// Its bytes, which cost nothing to have: without `unsafe` a text is checked again each time.
    pub(crate) fn as_bytes(self) -> &'a [u8] {
        self.text
    }

    pub(crate) fn as_str(self) -> &'a str {
        std::str::from_utf8(self.text).unwrap_or_default()
    }

    /// The same, to keep.
    pub(crate) fn to_text(self) -> Text {
        Text::part_of(self.source, self.text)
    }
}

/// What can be asked for, and no more of the body: arguments belong in no log.
impl fmt::Debug for CallInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallInfo")
            .field("method", &self.method_name())
            .field("id", &self.id().map(String::from_utf8_lossy))
            .field("name", &self.name())
            .field("uri", &self.uri())
            .field("role", &self.role)
            .field("target", &self.target())
            .field("has_cursor", &self.has_cursor)
            .finish()
    }
}

impl CallInfo {
    /// Takes what lasts out of a call. `body` is what the call is a view on; its parts are kept without copying.
    pub(crate) fn new(call: &Call<'_>, body: &Bytes) -> Self {
        let method = call.method();
        let method_name = call.method.as_deref().filter(|_| method.and_then(Method::name).is_none());
        let [name, uri, target] = [&call.name, &call.uri, &call.target].map(|text| text.as_deref().map(str::as_bytes));
        // The id of a response is one of the server's: a request of the client's may have the same.
        let id = call.id.filter(|_| !call.is_response);
        let texts = [method_name.map(str::as_bytes), id, name, uri, target];
        let (role, has_cursor) = (call.role, call.has_cursor);
        let mut parts = [Part::NONE; 5];
        for (part, text) in parts.iter_mut().zip(texts) {
            let Some(text) = text else { continue };
            match Part::within(text, body) {
                Some(within) => *part = within,
                // It is written with escapes.
                None => return Self { method, role, has_cursor, ..Self::copied(texts) },
            }
        }
        Self { source: body.clone(), parts, method, role, has_cursor }
    }

    /// A message with copies of these parts.
    fn copied(texts: [Option<&[u8]>; 5]) -> Self {
        let mut source = Vec::with_capacity(texts.iter().flatten().map(|text| text.len()).sum());
        let parts = texts.map(|text| {
            let start = source.len();
            source.extend_from_slice(text?);
            Part::from(start, source.len())
        });
        let parts = parts.map(|part| part.unwrap_or(Part::NONE));
        Self { source: source.into(), parts, method: None, role: None, has_cursor: false }
    }

    /// A request of our own; of a meta-tool with its name, what it does, and what its arguments name.
    pub(super) fn asked(method: Method, id: &[u8], tool: Option<(&str, MetaRole, Option<&str>)>) -> Self {
        let name = tool.map(|(name, ..)| name.as_bytes());
        let target = tool.and_then(|(.., target)| target).map(str::as_bytes);
        let copied = Self::copied([None, Some(id), name, None, target]);
        Self { method: Some(method), role: tool.map(|(_, role, _)| role), ..copied }
    }

    /// The same that does, and names in its arguments, what the other does.
    pub(super) fn with_target_of(&self, other: &Self) -> Self {
        let own = |member| self.part(member);
        let copied = Self::copied([
            own(Member::MethodName),
            own(Member::Id),
            own(Member::Name),
            own(Member::Uri),
            other.part(Member::Target),
        ]);
        Self { method: self.method, role: other.role, has_cursor: self.has_cursor, ..copied }
    }

    fn part(&self, member: Member) -> Option<&[u8]> {
        let Part { start, end } = self.parts[member as usize];
        self.source.get(start as usize..end as usize)
    }

    fn text(&self, member: Member) -> Option<&str> {
        self.said(member).map(Said::as_str)
    }

    fn said(&self, member: Member) -> Option<Said<'_>> {
        self.part(member).map(|text| Said { source: &self.source, text })
    }

    /// [`name`](Self::name), unread.
    pub(super) fn said_name(&self) -> Option<Said<'_>> {
        self.said(Member::Name)
    }

    /// [`target`](Self::target), unread.
    pub(super) fn said_target(&self) -> Option<Said<'_>> {
        self.said(Member::Target)
    }

    /// The method; `None` for a response of the client's.
    pub fn method(&self) -> Option<Method> {
        self.method
    }

    /// The method's name as it stands on the wire.
    pub fn method_name(&self) -> Option<&str> {
        self.method?.name().or_else(|| self.text(Member::MethodName))
    }

    /// The JSON text of the id: a number, or a string with its quotes. A notification has none, and neither has a response,
    /// whose id is one of the server's.
    pub fn id(&self) -> Option<&[u8]> {
        self.part(Member::Id)
    }

    /// The same, to keep.
    pub(crate) fn id_bytes(&self) -> Option<Bytes> {
        self.id().map(|id| self.source.slice_ref(id))
    }

    /// `params.name`: the tool or prompt.
    pub fn name(&self) -> Option<&str> {
        self.text(Member::Name)
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
        self.text(Member::Target)
    }

    /// `params.uri`: the resource.
    pub fn uri(&self) -> Option<&str> {
        self.text(Member::Uri)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::CallInfo;
    use crate::json::Depth;
    use crate::message::Payload;

    fn read(body: &'static str) -> CallInfo {
        let body = Bytes::from_static(body.as_bytes());
        let payload = Payload::read(&body, Depth::default()).expect("a message");
        CallInfo::new(&payload.calls()[0], &body)
    }

    #[test]
    fn parts_are_read_where_they_stand_or_out_of_a_copy() {
        for (body, name) in [
            (r#"{"id":"x","method":"tools/call","params":{"name":"poll","arguments":{"secret":1}}}"#, "poll"),
            (
                r#"{"id":"x","method":"tools/call","params":{"name":"p\u006fll","uri":"a:b","arguments":{"secret":1}}}"#,
                "poll",
            ),
            (r#"{"id":"x","method":"tools/call","params":{"name":"","arguments":{"secret":1}}}"#, ""),
        ] {
            let call = read(body);
            assert_eq!(
                (call.id(), call.method_name(), call.name()),
                (Some(&b"\"x\""[..]), Some("tools/call"), Some(name))
            );
            assert_eq!(call.uri(), body.contains("a:b").then_some("a:b"));
            assert_eq!(call.target(), None);
            let debug = format!("{call:?}");
            assert!(debug.contains("tools/call") && !debug.contains("secret"), "{debug}");
        }
        let other = read(r#"{"method":"vendor/x"}"#);
        assert_eq!((other.id(), other.method_name(), other.name()), (None, Some("vendor/x"), None));
        let response = read(r#"{"id":7,"result":{"method":"tools/list"}}"#);
        assert_eq!((response.id(), response.method_name(), response.name()), (None, None, None));
    }
}
