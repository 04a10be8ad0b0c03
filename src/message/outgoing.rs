//! One pass over a server's message, from one site to the next.

use http::StatusCode;

use super::nested::not_there;
use super::{
    Answer, CallResult, Capabilities, Entry, EntryKind, MetaRole, Nested, Reason, Refusal, Sites, Walked, Wants,
    result_message,
};
use crate::json::{Checkpoint, Depth, Error, Kind, Mark, Reader, Removals, Span, Splice, Str};
use crate::protocol::{Era, Method, TOOLS_CHANGED, code};

/// Shows all sites of a message, or of a batch of them, and collects the edits asked for.
///
/// What is no object is passed over, and so is a result of another shape than its method has. Where a filter applies
/// ([`Wants::ENFORCED`]), an error takes the place of a result that is an array, or has an object for its list: some
/// reader may find entries there.
///
/// # Errors
///
/// Where the source is not JSON, or nests deeper than `depth`. Edits of an unreadable source are meaningless.
///
/// # Example
///
/// ```
/// use bytes::Bytes;
/// use tower_mcp_apps::json::{Depth, Error, Splice};
/// use tower_mcp_apps::message::{Answer, Capabilities, Entry, Sites, Wants, walk};
/// use tower_mcp_apps::protocol::{Era, Method};
///
/// /// Leaves out tools without a UI.
/// struct OnlyUi;
///
/// impl Sites for OnlyUi {
///     fn answer(&self, _: Option<&[u8]>) -> Answer {
///         Answer::To(Method::ToolsList)
///     }
///     fn likely_answer(&self) -> Answer {
///         Answer::To(Method::ToolsList)
///     }
///     fn wants(&self, _: Answer) -> Wants {
///         Wants::TOOLS
///     }
///     fn era(&self) -> Era {
///         Era::Legacy
///     }
///     fn tools_changed(&self) {}
///     fn entry(&self, tool: &mut Entry<'_>) {
///         if tool.meta().ui_get("resourceUri").is_none() {
///             tool.remove();
///         }
///     }
///     fn capabilities(&self, _: &mut Capabilities<'_>) {}
/// }
///
/// # fn main() -> Result<(), Error> {
/// let list = r#"{"id":1,"result":{"tools":[{"name":"a"},{"name":"b","_meta":{"ui":{"resourceUri":"ui://b"}}}]}}"#;
/// let list = Bytes::from(list);
/// let mut splice = Splice::default();
/// walk(&list, Depth::default(), &OnlyUi, &mut splice)?;
/// let edited: Vec<Bytes> = splice.apply(&list).collect();
/// assert_eq!(edited.concat(), br#"{"id":1,"result":{"tools":[{"name":"b","_meta":{"ui":{"resourceUri":"ui://b"}}}]}}"#);
/// # Ok(())
/// # }
/// ```
pub fn walk(source: &[u8], depth: Depth, sites: &impl Sites, splice: &mut Splice) -> Result<Walked, Error> {
    let mut walk = Walk {
        reader: Reader::with_depth(source, depth),
        depth,
        sites,
        splice,
        entry: Entry::new(),
        capabilities: Capabilities::default(),
        call_result: None,
        is_unknown_method: false,
        refusal: None,
        walked: Walked::Same,
    };
    match walk.reader.peek()? {
        Kind::Object => walk.message()?,
        Kind::Array => {
            walk.reader.enter_array()?;
            while walk.reader.element()? {
                if walk.reader.peek()? == Kind::Object {
                    walk.message()?;
                } else {
                    walk.reader.skip()?;
                }
            }
        }
        _ => drop(walk.reader.skip()?),
    }
    walk.reader.end()?;
    Ok(walk.walked)
}

pub(super) struct Walk<'a, 'w, S> {
    pub(super) reader: Reader<'a>,
    pub(super) depth: Depth,
    pub(super) sites: &'w S,
    pub(super) splice: &'w mut Splice,
    pub(super) entry: Entry<'a>,
    capabilities: Capabilities<'a>,
    /// The result in the message that is being read, where it is that of a call and is wanted. Shown once the id is known.
    call_result: Option<CallResult<'a>>,
    /// Whether the message that is being read says that the server does not know the method.
    is_unknown_method: bool,
    /// What a concern asked to stand in the place of the message that is being read.
    pub(super) refusal: Option<Refusal>,
    walked: Walked,
}

impl<S: Sites> Walk<'_, '_, S> {
    /// A message is first read as the answer that it most likely is, since `id` may stand behind `result`.
    /// Only where the id says otherwise it is read again.
    fn message(&mut self) -> Result<(), Error> {
        let start = self.reader.position();
        let checkpoint = self.reader.checkpoint();
        let mark = self.splice.mark();
        let likely = (self.sites.likely_answer(), self.sites.likely_role());
        let Message { id, is_answer } = self.message_as(likely)?;
        let source = self.reader.source();
        let asked = match id {
            Id::None => (self.sites.answer(None), self.sites.role(None)),
            Id::One(span) => (self.sites.answer(Some(span.of(source))), self.sites.role(Some(span.of(source)))),
            Id::Odd => (Answer::Unknown, self.sites.role(None)),
        };
        let answer = asked.0;
        // What is wanted may be the same, and yet another member of the result be the list.
        let matters = || [asked, likely].iter().any(|asked| !self.wants(*asked).is_nothing());
        if asked != likely && is_answer && matters() {
            self.again(checkpoint, mark, asked)?;
        }
        let id = match id {
            Id::One(span) => Some(span.of(source)),
            Id::None | Id::Odd => None,
        };
        if let (Some(id), Some(mut result)) = (id, self.call_result.take()) {
            self.sites.call_result(id, &mut result);
            result.emit(self.splice);
        }
        let whole = Span::new(start, self.reader.position());
        if let Some(id) = id.filter(|_| is_answer && self.sites.wants(answer).has(Wants::WHOLE)) {
            self.sites.whole(answer, id, whole.of(source));
        }
        if let Some(refusal) = self.refusal.take() {
            self.splice.rewind(mark);
            self.splice.replace(whole, &refusal.to_json(id));
            self.walked = Walked::Refused(refusal.reason());
        } else if let Some(id) = id.filter(|_| self.is_unknown_method)
            && let Some(result) = self.sites.instead(answer)
        {
            let message = result_message(id, [result]).to_bytes();
            let mut edits = Splice::default();
            self.walked = match walk(&message, self.depth, self.sites, &mut edits)? {
                Walked::Same | Walked::Mended => Walked::Mended,
                refused => refused,
            };
            self.splice.rewind(mark);
            self.splice.replace_with(whole, |out| edits.apply_into(&message, out));
        }
        Ok(())
    }

    fn again(&mut self, start: Checkpoint, mark: Mark, asked: Asked) -> Result<(), Error> {
        self.reader.rewind(start);
        self.splice.rewind(mark);
        self.refusal = None;
        self.message_as(asked).map(drop)
    }

    /// What is looked at in such an answer. Of a meta-tool's it is also what is looked at in its entries elsewhere.
    fn wants(&self, (answer, role): Asked) -> Wants {
        let own = self.sites.wants(answer);
        match role.and_then(MetaRole::entries) {
            Some(entries) => own.of_meta_tool(self.sites.wants(entries.wanted_as().0)),
            None => own,
        }
    }

    fn message_as(&mut self, asked: Asked) -> Result<Message, Error> {
        let (answer, role) = asked;
        let wants = self.wants(asked);
        let (mut id, mut is_answer) = (Id::None, false);
        let (mut method, mut params) = (None, None);
        self.is_unknown_method = false;
        self.call_result = None;
        self.reader.enter_object()?;
        while let Some(key) = self.reader.member()? {
            is_answer |= key.is("result") || key.is("error");
            if key.is("result") && wants.needs_reading() && self.reader.peek()? == Kind::Object {
                self.result(answer, role, wants)?;
                continue;
            }
            let has_entries = || is_list(answer) || role.is_some_and(|role| role.entries().is_some());
            if key.is("result") && self.reader.peek()? == Kind::Array && has_entries() {
                self.refuse_shape(wants);
            }
            let describes = match role {
                Some(MetaRole::Describe(kind)) if wants.has(Wants::ENFORCED) => Some(kind),
                _ => None,
            };
            let reads_error = wants.has(Wants::UNKNOWN_METHOD | Wants::LINKS) || describes.is_some();
            if key.is("error") && reads_error && self.reader.peek()? == Kind::Object {
                let code = self.error(wants)?;
                self.is_unknown_method |= wants.has(Wants::UNKNOWN_METHOD) && code == Some(code::METHOD_NOT_FOUND);
                // As of what is hidden.
                if let Some(kind) = describes.filter(|_| code == Some(code::INVALID_PARAMS)) {
                    self.refusal.get_or_insert(not_there(kind, Reason::UnreadableAnswer));
                }
                continue;
            }
            if key.is("method") && self.reader.peek()? == Kind::String {
                let name = self.reader.string()?;
                if name.is(TOOLS_CHANGED) {
                    self.sites.tools_changed();
                }
                method = Some(name);
                continue;
            }
            let reads_notices = wants.has(Wants::UPDATES) || self.sites.meta_tools().is_some();
            if key.is("params") && reads_notices && self.reader.peek()? == Kind::Object {
                params = Some(self.reader.checkpoint());
            }
            let kind = self.reader.peek()?;
            let span = self.reader.skip()?;
            if key.is("id") {
                id = match id {
                    Id::None if matches!(kind, Kind::String | Kind::Number) => Id::One(span),
                    Id::None | Id::One(_) | Id::Odd => Id::Odd,
                };
            }
        }
        if let (Id::None, Some(method), Some(params)) = (&id, method, params) {
            self.notification(method, params)?;
        }
        Ok(Message { id, is_answer })
    }

    /// The entries stand where none are looked for.
    fn refuse_shape(&mut self, wants: Wants) {
        if wants.has(Wants::ENFORCED) {
            let message = "the server's answer has another shape than a list, so it could not be filtered";
            let refusal = Refusal::new(StatusCode::BAD_GATEWAY, code::INTERNAL_ERROR, message);
            self.refusal.get_or_insert(refusal.because(Reason::UnreadableAnswer));
        }
    }

    /// Reads an error; gives its code. As with ids, `-32601.0` is `-32601`.
    fn error(&mut self, wants: Wants) -> Result<Option<i32>, Error> {
        let mut code = None;
        self.reader.enter_object()?;
        while let Some(key) = self.reader.member()? {
            if key.is("data") && wants.has(Wants::LINKS) && self.reader.peek()? == Kind::Object {
                self.uri_member()?;
                continue;
            }
            let number = self.reader.skip()?.of(self.reader.source());
            if key.is("code") {
                let number = std::str::from_utf8(number).ok().and_then(|number| number.parse::<f64>().ok());
                code = number.filter(|number| number.fract() == 0.0).map(|number| number as i32);
            }
        }
        Ok(code)
    }

    fn result(&mut self, answer: Answer, role: Option<MetaRole>, wants: Wants) -> Result<(), Error> {
        let sites = self.sites;
        let may_be_nested = role.map_or(answer == Answer::Unknown, |role| role.entries().is_some());
        let meta_tools = sites.meta_tools().filter(|_| may_be_nested);
        let mut nested = meta_tools
            .map(|tools| Nested::new(tools, role, wants, self.depth, |entry: &mut Entry<'_>| sites.entry(entry)));
        let is_call = answer == Answer::To(Method::ToolsCall) && wants.has(Wants::CALL_RESULT);
        let mut call_result = is_call.then(|| CallResult::new(self.reader.source()));
        let mut is_complete = true;
        let mut has_capabilities = false;
        // Also where nobody looks at them.
        let mut says_capabilities = false;
        let mut has_list = false;
        let mut has_version = false;
        let mut has_scope = false;
        let mut is_empty = true;
        self.reader.enter_object()?;
        let mut end = self.reader.position();
        while let Some(key) = self.reader.member()? {
            let kind = self.reader.peek()?;
            if let Some(entries) = list_named(key).filter(|list| kind == Kind::Array && list.belongs_to(answer)) {
                has_list = true;
                if wants.has(entries.wanted_by()) {
                    self.list(entries, answer)?;
                } else {
                    self.reader.skip()?;
                }
            } else if key.is("capabilities") && kind == Kind::Object && wants.has(Wants::CAPABILITIES) {
                (has_capabilities, says_capabilities) = (true, true);
                self.capabilities.read(&mut self.reader)?;
            } else if key.is("resultType") && kind == Kind::String {
                is_complete = self.reader.string()?.is("complete");
            } else if key.is("cacheScope") && wants.has(Wants::PRIVATE) {
                has_scope = true;
                let is_private = kind == Kind::String && {
                    let here = self.reader.checkpoint();
                    let is_private = self.reader.string()?.is("private");
                    self.reader.rewind(here);
                    is_private
                };
                let span = self.reader.skip()?;
                if !is_private {
                    self.splice.replace(span, b"\"private\"");
                }
            } else if let Some(nested) = nested.as_mut()
                && nested.reads(key, kind)
            {
                let here = self.reader.checkpoint();
                nested.member(key, &mut self.reader, self.splice)?;
                if wants.has(Wants::LINKS) && nested.leaves_links() {
                    self.reader.rewind(here);
                    if !self.link_member(key, kind)? {
                        self.reader.skip()?;
                    }
                }
            } else {
                if kind == Kind::Object && list_named(key).is_some_and(|list| answer == list.wanted_as().0) {
                    self.refuse_shape(wants);
                }
                has_version |= key.is("protocolVersion") || key.is("supportedVersions");
                says_capabilities |= key.is("capabilities") && kind == Kind::Object;
                let start = self.reader.position();
                if !wants.has(Wants::LINKS) || !self.link_member(key, kind)? {
                    self.reader.skip()?;
                }
                if let Some(result) = &mut call_result {
                    result.note(key, kind, Span::new(start, self.reader.position()));
                }
            }
            is_empty = false;
            end = self.reader.position();
        }
        self.refusal = self.refusal.take().or_else(|| nested.and_then(Nested::finish));
        let has_shape = match answer {
            Answer::To(method) => matches!(method, Method::Initialize | Method::Discover),
            Answer::Unknown => has_version,
        };
        if has_capabilities && has_shape && is_complete {
            self.sites.capabilities(&mut self.capabilities);
            self.capabilities.emit(self.splice);
        }
        self.call_result = call_result.filter(|_| is_complete).map(|result| result.ended(end));
        let says_much = has_list || (says_capabilities && has_shape);
        let may_say_scope = says_much && is_complete && self.sites.era() == Era::Modern;
        if wants.has(Wants::PRIVATE) && !has_scope && may_say_scope {
            let scope: &[u8] = if is_empty { b"\"cacheScope\":\"private\"" } else { b",\"cacheScope\":\"private\"" };
            self.splice.insert(end, scope);
        }
        Ok(())
    }

    fn list(&mut self, kind: EntryKind, answer: Answer) -> Result<(), Error> {
        let mut removals = Removals::default();
        let mut is_empty = true;
        self.reader.enter_array()?;
        let mut end = self.reader.position();
        while self.reader.element()? {
            let span = self.entry.read(kind, &mut self.reader)?;
            self.sites.entry(&mut self.entry);
            self.refusal = self.refusal.take().or_else(|| self.entry.take_refusal());
            if self.entry.is_removed() {
                removals.drop(span, self.splice);
            } else {
                removals.keep(span, self.splice);
                self.entry.emit(self.splice);
                is_empty = false;
            }
            end = span.end;
        }
        removals.finish(self.splice);
        for text in self.sites.added(answer, kind) {
            let mut entry = Entry::added(kind, &text, self.depth)?;
            self.sites.entry(&mut entry);
            self.refusal = self.refusal.take().or_else(|| entry.take_refusal());
            if !entry.is_removed() {
                let mut edits = Splice::default();
                entry.emit(&mut edits);
                self.splice.insert_with(end, |out| {
                    if !is_empty {
                        out.push(b',');
                    }
                    edits.apply_into(&text, out);
                });
                is_empty = false;
            }
        }
        Ok(())
    }
}

/// What a message answers, and what the tool does that was called, if that is a meta-tool.
type Asked = (Answer, Option<MetaRole>);

/// What was found out about a message.
struct Message {
    id: Id,
    is_answer: bool,
}

/// The `id` of a message.
enum Id {
    None,
    One(Span),
    /// It stands twice, or is neither a string nor a number.
    Odd,
}

/// Whether the answer's result has a list.
fn is_list(answer: Answer) -> bool {
    [EntryKind::Tool, EntryKind::Resource, EntryKind::Template, EntryKind::Contents, EntryKind::Prompt]
        .iter()
        .any(|list| answer == list.wanted_as().0)
}

pub(super) fn list_named(key: Str<'_>) -> Option<EntryKind> {
    const LISTS: [(&str, EntryKind); 5] = [
        ("tools", EntryKind::Tool),
        ("resources", EntryKind::Resource),
        ("resourceTemplates", EntryKind::Template),
        ("contents", EntryKind::Contents),
        ("prompts", EntryKind::Prompt),
    ];
    LISTS.into_iter().find(|(name, _)| key.is(name)).map(|(_, kind)| kind)
}

impl EntryKind {
    fn belongs_to(self, answer: Answer) -> bool {
        answer == Answer::Unknown || answer == self.wanted_as().0
    }

    pub(super) fn wanted_by(self) -> Wants {
        self.wanted_as().1
    }

    /// The answer that has such entries, and what wants them.
    pub(crate) fn wanted_as(self) -> (Answer, Wants) {
        let (method, wanted) = match self {
            Self::Tool => (Method::ToolsList, Wants::TOOLS),
            Self::Resource => (Method::ResourcesList, Wants::RESOURCES),
            Self::Template => (Method::TemplatesList, Wants::TEMPLATES),
            Self::Contents => (Method::ResourcesRead, Wants::CONTENTS),
            Self::Prompt => (Method::PromptsList, Wants::PROMPTS),
            Self::Link | Self::Embedded => (Method::ToolsCall, Wants::LINKS),
        };
        (Answer::To(method), wanted)
    }
}
