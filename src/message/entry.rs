//! One entry of a list or of a read result, and the edits that concerns ask of it.

use std::mem;

use super::{Meta, Refusal, Shape};
use crate::json::{Depth, Error, Kind, Object, Reader, Span, Splice, Str, Value};

/// What an entry is an entry of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// Of `tools`.
    Tool,
    /// Of `resources`.
    Resource,
    /// Of `resourceTemplates`.
    Template,
    /// Of the `contents` of a read resource.
    Contents,
    /// Of `prompts`.
    Prompt,
    /// A `resource_link` among the content blocks of a result or of a prompt's message.
    Link,
    /// The `resource` of a `resource` block there: like an item of contents.
    Embedded,
}

/// One entry: a tool, a resource, a template or an item of contents, as views on the bytes it came in.
///
/// Concerns see the pending edits of the concerns before them and add their own; nothing is written before the last has
/// had its say.
#[derive(Debug)]
pub struct Entry<'a> {
    kind: EntryKind,
    is_object: bool,
    is_added: bool,
    name: Text<'a>,
    uri: Text<'a>,
    mime_type: Option<Value<'a>>,
    text: Option<Value<'a>>,
    blob: Option<Value<'a>>,
    is_ambiguous: bool,
    is_removed: bool,
    refusal: Option<Refusal>,
    /// Where a member can be added: behind the last one, or behind the brace of an empty object.
    end: usize,
    is_empty: bool,
    meta: Meta<'a>,
    source: &'a [u8],
    span: Option<Span>,
    /// All members, once somebody asked for one that is not given here.
    members: Option<Box<Object<'a>>>,
}

impl<'a> Entry<'a> {
    pub(crate) fn new() -> Self {
        Self {
            kind: EntryKind::Tool,
            is_object: false,
            is_added: false,
            name: Text::default(),
            uri: Text::default(),
            mime_type: None,
            text: None,
            blob: None,
            is_ambiguous: false,
            is_removed: false,
            refusal: None,
            end: 0,
            is_empty: true,
            meta: Meta::default(),
            source: &[],
            span: None,
            members: None,
        }
    }

    /// What the entry is an entry of.
    pub fn kind(&self) -> EntryKind {
        self.kind
    }

    /// Whether the entry is an object, as it should be.
    pub fn is_object(&self) -> bool {
        self.is_object
    }

    /// Whether a concern added the entry: the server did not write it.
    pub fn is_added(&self) -> bool {
        self.is_added
    }

    /// The name, where it is a string, pending edits included; of doubles the last, and then the entry is
    /// [ambiguous](Self::is_ambiguous).
    pub fn name(&self) -> Option<Str<'_>> {
        self.name.get()
    }

    /// The URI, where it is a string, pending edits included; of a template its `uriTemplate`.
    pub fn uri(&self) -> Option<Str<'_>> {
        self.uri.get()
    }

    /// The names as the server wrote them: one, or of doubles each.
    pub(crate) fn original_names(&self) -> impl Iterator<Item = Str<'a>> {
        self.name.earlier.iter().map(|(name, _)| *name).chain(self.name.original)
    }

    /// Asks for another name: the JSON text, with its quotes, that `rename` makes of the present one. `None` leaves it.
    /// Of doubles each is renamed.
    pub fn rename(&mut self, rename: impl Fn(Str<'_>) -> Option<Vec<u8>>) {
        self.name.change(rename);
    }

    /// Asks for another URI, as [`rename`](Self::rename) does for a name.
    pub fn relocate(&mut self, relocate: impl Fn(Str<'_>) -> Option<Vec<u8>>) {
        self.uri.change(relocate);
    }

    /// The value of `mimeType`, whatever it is, pending edits included. A tool has none.
    pub fn mime_type(&self) -> Option<Value<'_>> {
        match &self.members {
            Some(members) if self.kind != EntryKind::Tool => members.get("mimeType"),
            _ => self.mime_type,
        }
    }

    /// The value of `text`, whatever it is. Only contents have one.
    pub fn text(&self) -> Option<Value<'a>> {
        self.text
    }

    /// The value of `blob`, whatever it is. Only contents have one.
    pub fn blob(&self) -> Option<Value<'a>> {
        self.blob
    }

    /// Whether the entry says two things about itself: a member that is given here, `_meta`, or a member within
    /// `_meta` or its `ui`, stands twice.
    pub fn is_ambiguous(&self) -> bool {
        self.is_ambiguous
    }

    /// Asks for the entry to be left out, with its comma. Concerns further out do not see it any more.
    pub fn remove(&mut self) {
        self.is_removed = true;
    }

    /// Whether a concern asked for the entry to be left out.
    pub fn is_removed(&self) -> bool {
        self.is_removed
    }

    /// Asks for a JSON-RPC error in the place of the whole message that the entry stands in, with the message's id.
    /// The first refusal counts; its HTTP status does not, since the head of an answer may be gone.
    pub fn refuse(&mut self, refusal: Refusal) {
        self.refusal.get_or_insert(refusal);
    }

    /// An entry that a concern adds, before anybody sees it.
    pub(super) fn added(kind: EntryKind, text: &'a [u8], depth: Depth) -> Result<Self, Error> {
        let mut entry = Self::new();
        entry.read(kind, &mut Reader::with_depth(text, depth))?;
        entry.is_added = true;
        Ok(entry)
    }

    pub(super) fn take_refusal(&mut self) -> Option<Refusal> {
        self.refusal.take()
    }

    /// The value of any member, pending edits included. `_meta` has [its own](Self::meta), and is not edited here.
    pub fn member(&mut self, key: &str) -> Option<Value<'_>> {
        self.members()?.get(key)
    }

    /// Sets a member to this JSON text, in its place or behind the others. No effect for `_meta`, which has edits of
    /// its own, for what the entry is told by (a tool's name, a URI), and where the entry is no object.
    pub fn set_member(&mut self, key: &str, raw: impl AsRef<[u8]>) {
        let told_by = match self.kind {
            EntryKind::Tool => "name",
            EntryKind::Template => "uriTemplate",
            _ => "uri",
        };
        if key == "_meta" || key == told_by {
            return;
        }
        if let Some(members) = self.members() {
            members.set(key, raw);
        }
    }

    /// The entry's text without these members, as JSON text; `None` where the entry is no object.
    pub(crate) fn text_without(&self, keys: &[&str]) -> Option<Vec<u8>> {
        let mut members = Object::default();
        members.read(&mut Reader::within(self.source, self.span?)).ok()?;
        for key in keys {
            members.remove(key);
        }
        let mut text = Vec::new();
        members.render(&mut text);
        Some(text)
    }

    fn members(&mut self) -> Option<&mut Object<'a>> {
        let span = self.span?;
        if self.members.is_none() {
            let mut members = Box::<Object<'a>>::default();
            members.read(&mut Reader::within(self.source, span)).ok()?;
            self.members = Some(members);
        }
        self.members.as_deref_mut()
    }

    /// The entry's `_meta`.
    pub fn meta(&self) -> &Meta<'a> {
        &self.meta
    }

    /// The entry's `_meta`, to ask for changes.
    pub fn meta_mut(&mut self) -> &mut Meta<'a> {
        &mut self.meta
    }

    /// Reads the next value as an entry, over what was in this one.
    pub(crate) fn read(&mut self, kind: EntryKind, reader: &mut Reader<'a>) -> Result<Span, Error> {
        self.clear(kind);
        self.is_object = reader.peek()? == Kind::Object;
        if !self.is_object {
            return reader.skip();
        }
        let start = reader.position();
        reader.enter_object()?;
        self.end = reader.position();
        let uri_key = if kind == EntryKind::Template { "uriTemplate" } else { "uri" };
        let may_have_contents = matches!(kind, EntryKind::Contents | EntryKind::Embedded);
        let has_media_type = !matches!(kind, EntryKind::Tool | EntryKind::Prompt);
        while let Some(key) = reader.member()? {
            if key.is("_meta") {
                self.is_ambiguous |= self.meta.state() != Shape::Absent;
                self.meta.read(reader)?;
                self.is_ambiguous |= self.meta.is_ambiguous();
            } else if key.is("name") {
                self.is_ambiguous |= self.name.read(reader)?;
            } else if key.is(uri_key) {
                self.is_ambiguous |= self.uri.read(reader)?;
            } else if has_media_type && key.is("mimeType") {
                self.is_ambiguous |= self.mime_type.replace(reader.value()?).is_some();
            } else if may_have_contents && key.is("text") {
                self.is_ambiguous |= self.text.replace(reader.value()?).is_some();
            } else if may_have_contents && key.is("blob") {
                self.is_ambiguous |= self.blob.replace(reader.value()?).is_some();
            } else {
                reader.skip()?;
            }
            self.is_empty = false;
            self.end = reader.position();
        }
        let span = Span { start, end: reader.position() };
        (self.source, self.span) = (reader.source(), Some(span));
        Ok(span)
    }

    /// Becomes a new entry, which keeps the memory of the one before.
    fn clear(&mut self, kind: EntryKind) {
        self.kind = kind;
        self.is_object = false;
        self.is_added = false;
        self.name.clear();
        self.uri.clear();
        (self.mime_type, self.text, self.blob) = (None, None, None);
        self.is_ambiguous = false;
        self.is_removed = false;
        self.refusal = None;
        (self.end, self.is_empty) = (0, true);
        self.meta.clear();
        self.span = None;
        self.members = None;
    }

    /// Writes down what was asked. Only for an entry that stays.
    pub(super) fn emit(&mut self, splice: &mut Splice) {
        if self.is_object {
            self.name.emit(splice);
            self.uri.emit(splice);
            let mut is_empty = self.is_empty;
            if let Some(members) = self.members.take().filter(|members| members.is_edited()) {
                members.emit(splice);
                is_empty = false;
            }
            self.meta.emit(self.end, is_empty, splice);
        }
    }
}

/// A member that should be a string, and what is to stand in its place.
#[derive(Debug, Default)]
struct Text<'a> {
    stands: bool,
    original: Option<Str<'a>>,
    written: Option<Vec<u8>>,
    /// The same of members of this name that stood before the last.
    earlier: Vec<(Str<'a>, Option<Vec<u8>>)>,
}

impl<'a> Text<'a> {
    fn clear(&mut self) {
        self.stands = false;
        self.original = None;
        self.written = None;
        self.earlier.clear();
    }

    /// Reads the next value as this member. True where it stood there before.
    fn read(&mut self, reader: &mut Reader<'a>) -> Result<bool, Error> {
        let before = self.original.take();
        self.earlier.extend(before.map(|before| (before, None)));
        if reader.peek()? == Kind::String {
            self.original = Some(reader.string()?);
        } else {
            reader.skip()?;
        }
        Ok(mem::replace(&mut self.stands, true))
    }

    fn get(&self) -> Option<Str<'_>> {
        match &self.written {
            Some(written) => Reader::new(written).string().ok(),
            None => self.original,
        }
    }

    fn change(&mut self, change: impl Fn(Str<'_>) -> Option<Vec<u8>>) {
        if let Some(new) = self.get().and_then(&change) {
            self.written = Some(new);
        }
        for (text, written) in &mut self.earlier {
            if let Some(new) = change(*text) {
                *written = Some(new);
            }
        }
    }

    fn emit(&self, splice: &mut Splice) {
        let last = self.original.iter().map(|text| (text, &self.written));
        for (text, written) in self.earlier.iter().map(|(text, written)| (text, written)).chain(last) {
            if let Some(written) = written {
                splice.replace(text.span(), written);
            }
        }
    }
}
