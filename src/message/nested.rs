//! Entries within the result of a meta-tool: in its texts, and in `structuredContent`.

mod look;

use http::StatusCode;

use self::look::{DEEPEST, Shapes};
use super::{Entry, EntryKind, MetaRole, MetaTools, Named, Next, Reason, Refusal, Wants};
use crate::json::{Depth, Error, InnerText, Kind, Reader, Removals, Span, Splice, Str};
use crate::protocol::code;

/// What looks into the result of a meta-tool, for whoever is shown its entries.
pub(crate) struct Nested<'t, F> {
    shapes: Shapes<'t>,
    wants: Wants,
    depth: Depth,
    show: F,
    refusal: Option<Refusal>,
    is_unread: bool,
    is_removed: bool,
    is_entangled: bool,
    next: Next,
}

/// What became of a place where entries were looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// All entries in it were shown.
    Read,
    /// It is one entry, and that is to be left out.
    Removed,
    /// It has another shape, or is no JSON.
    Unread,
}

impl<'t, F: FnMut(&mut Entry<'_>)> Nested<'t, F> {
    /// Shows what is wanted of a result. Where nothing is, nothing is read.
    pub(crate) fn new(tools: &'t MetaTools, role: Option<MetaRole>, wants: Wants, depth: Depth, show: F) -> Self {
        Self {
            shapes: Shapes::new(tools, role),
            wants,
            depth,
            show,
            refusal: None,
            is_unread: false,
            is_removed: false,
            is_entangled: false,
            next: Next::Nowhere,
        }
    }

    /// Whether entries may be in a member of the result.
    pub(crate) fn reads(&self, key: Str<'_>, kind: Kind) -> bool {
        // `toolResult` is the result of a call in MCP 2024-10-07, which some clients read still. `result` is that of a task.
        const MEMBERS: [&str; 3] = ["content", "structuredContent", "toolResult"];
        MEMBERS.iter().any(|name| key.is(name))
            || (self.shapes.role.is_none() && kind == Kind::Object && key.is("result"))
    }

    /// Reads such a member.
    ///
    /// # Errors
    /// The source is not JSON.
    pub(crate) fn member(&mut self, key: Str<'_>, reader: &mut Reader<'_>, splice: &mut Splice) -> Result<(), Error> {
        let kind = reader.peek()?;
        match kind {
            Kind::Object if key.is("result") => {
                reader.enter_object()?;
                while let Some(key) = reader.member()? {
                    let kind = reader.peek()?;
                    if self.reads(key, kind) && !key.is("result") {
                        self.member(key, reader, splice)?;
                    } else {
                        reader.skip()?;
                    }
                }
            }
            Kind::Array if key.is("content") => self.content(reader, splice)?,
            Kind::Object | Kind::Array if key.is("structuredContent") => {
                let mark = splice.mark();
                match self.value(reader, splice)? {
                    Outcome::Read => {}
                    Outcome::Removed => self.is_removed = true,
                    Outcome::Unread => {
                        splice.rewind(mark);
                        self.is_unread = true;
                    }
                }
            }
            _ => {
                self.is_unread |= kind != Kind::Null;
                reader.skip()?;
            }
        }
        Ok(())
    }

    /// What takes the place of the result, once all its members were read.
    pub(crate) fn finish(self) -> Option<Refusal> {
        if self.refusal.is_some() {
            return self.refusal;
        }
        // What is no meta-tool's result may have any shape.
        let is_kept_back = self.is_unread && self.wants.has(Wants::ENFORCED) && self.shapes.role.is_some();
        let describes = match self.shapes.role {
            Some(MetaRole::Describe(kind)) => Some(kind),
            _ => None,
        };
        match describes {
            // What is hidden looks like what does not exist, of which the server's own word is no entry either.
            Some(kind) if self.is_removed => Some(not_there(kind, Reason::Hidden)),
            Some(kind) if is_kept_back => Some(not_there(kind, Reason::UnreadableAnswer)),
            _ if self.is_removed || is_kept_back => {
                let message = "the server's answer has another shape than was declared, so it could not be filtered";
                let refusal = Refusal::new(StatusCode::BAD_GATEWAY, code::INTERNAL_ERROR, message);
                Some(refusal.because(Reason::UnreadableAnswer))
            }
            _ => None,
        }
    }

    /// Whether what points to resources can be looked for in what was read here, too: the edits must not overlap.
    pub(super) fn leaves_links(&self) -> bool {
        !self.is_entangled && self.shapes.role != Some(MetaRole::Read)
    }

    /// Whether there was something in which entries were looked for in vain.
    pub(crate) fn is_unread(&self) -> bool {
        self.is_unread
    }

    /// Where the list goes on that was read.
    pub(crate) fn next(&self) -> &Next {
        &self.next
    }

    fn content(&mut self, reader: &mut Reader<'_>, splice: &mut Splice) -> Result<(), Error> {
        let mut removals = Removals::default();
        reader.enter_array()?;
        while reader.element()? {
            let mark = splice.mark();
            let (outcome, block) = self.block(reader, splice)?;
            match outcome {
                // Of several texts with one entry each, the others stay.
                Outcome::Removed if !matches!(self.shapes.role, Some(MetaRole::Describe(_) | MetaRole::Read)) => {
                    splice.rewind(mark);
                    removals.drop(block, splice);
                    self.is_entangled = true;
                    continue;
                }
                Outcome::Removed => self.is_removed = true,
                Outcome::Unread => self.is_unread = true,
                Outcome::Read => {}
            }
            removals.keep(block, splice);
        }
        removals.finish(splice);
        Ok(())
    }

    /// A block of content, and where it stands.
    fn block(&mut self, reader: &mut Reader<'_>, splice: &mut Splice) -> Result<(Outcome, Span), Error> {
        if reader.peek()? != Kind::Object {
            return Ok((Outcome::Unread, reader.skip()?));
        }
        let (start, here, mark) = (reader.position(), reader.checkpoint(), splice.mark());
        let mut outcome = None;
        let mut is_link = false;
        reader.enter_object()?;
        while let Some(key) = reader.member()? {
            let kind = reader.peek()?;
            // Such a block may go as a whole, for a client that cannot render what it points to.
            is_link |= key.is("resource")
                || (key.is("type") && kind == Kind::String && {
                    let here = reader.checkpoint();
                    let is_link = reader.string()?.is("resource_link");
                    reader.rewind(here);
                    is_link
                });
            let next = if key.is("text") && kind == Kind::String {
                self.text(reader.string()?, splice)
            } else if self.shapes.role == Some(MetaRole::Read) && key.is("resource") && kind == Kind::Object {
                self.single(EntryKind::Contents, reader, splice)?
            } else {
                reader.skip()?;
                continue;
            };
            outcome = Some(match (outcome, next) {
                (None | Some(Outcome::Read), next) => next,
                (Some(before), _) => before,
            });
        }
        self.is_entangled |= is_link && outcome.is_some();
        let mut outcome = outcome.unwrap_or(Outcome::Unread);
        if outcome == Outcome::Unread {
            splice.rewind(mark);
            if self.shapes.role == Some(MetaRole::Read) {
                reader.rewind(here);
                outcome = self.single(EntryKind::Contents, reader, splice)?;
            }
        }
        Ok((outcome, Span::new(start, reader.position())))
    }

    fn text(&mut self, string: Str<'_>, splice: &mut Splice) -> Outcome {
        let Ok(inner) = InnerText::new(string) else { return Outcome::Unread };
        let text = inner.text();
        // Some readers skip a byte order mark and white space that is none in JSON.
        let looks_like_json =
            text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}').starts_with(['{', '[']);
        if !looks_like_json {
            return if self.shapes.tools.is_prose(text) { Outcome::Read } else { Outcome::Unread };
        }
        let mut edits = Splice::default();
        let mut reader = Reader::with_depth(text.as_bytes(), self.depth);
        let outcome = self.value(&mut reader, &mut edits).and_then(|outcome| reader.end().map(|()| outcome));
        match outcome {
            Ok(Outcome::Read) => {
                inner.emit(&edits, splice);
                Outcome::Read
            }
            Ok(outcome) => outcome,
            Err(_) => Outcome::Unread,
        }
    }

    fn value(&mut self, reader: &mut Reader<'_>, splice: &mut Splice) -> Result<Outcome, Error> {
        match reader.peek()? {
            Kind::Array => self.entries(reader, splice),
            Kind::Object => {
                let look = self.shapes.look(reader)?;
                // Readers may differ on which of both is described.
                self.is_unread |= look.wrapped && (look.schema || look.meta);
                let is_entry = !look.wrapped && !look.is_group() && (!look.list || self.shapes.describes());
                match self.shapes.kind_of(look).filter(|_| is_entry) {
                    Some(kind) => self.single(kind, reader, splice),
                    None => self.object(reader, splice, 1),
                }
            }
            _ => {
                reader.skip()?;
                Ok(Outcome::Unread)
            }
        }
    }

    /// An array that is the whole place: of entries, or of objects that have lists.
    fn entries(&mut self, reader: &mut Reader<'_>, splice: &mut Splice) -> Result<Outcome, Error> {
        let here = reader.checkpoint();
        let (mut groups, mut kind, mut has_bare) = (false, None, false);
        reader.enter_array()?;
        while reader.element()? {
            if reader.peek()? == Kind::Object {
                let look = self.shapes.look(reader)?;
                groups |= look.is_group();
                has_bare |= !look.is_group() && self.shapes.kind_of(look).is_some();
                kind = kind.or(self.shapes.kind_of(look));
            }
            reader.skip()?;
        }
        reader.rewind(here);
        let of_role = self.shapes.role.and_then(MetaRole::entries);
        if groups {
            // An entry beside objects that have lists: some reader may see it, and none of the lists is its place.
            self.is_unread |= has_bare;
            return self.within(reader, splice, 1);
        }
        match of_role.or(kind) {
            Some(kind) => {
                self.list(kind, reader, splice)?;
                Ok(Outcome::Read)
            }
            None => {
                reader.skip()?;
                Ok(Outcome::Unread)
            }
        }
    }

    /// An object in which lists stand somewhere.
    fn object(&mut self, reader: &mut Reader<'_>, splice: &mut Splice, level: usize) -> Result<Outcome, Error> {
        let mut outcome = Outcome::Unread;
        reader.enter_object()?;
        while let Some(key) = reader.member()? {
            let kind = reader.peek()?;
            if level == 1 && key.is("nextCursor") && Next::is_cursor(kind) {
                self.next.note(reader)?;
                continue;
            }
            let next = match (kind, self.shapes.list_in(key)) {
                (Kind::Array, Some(entries)) => {
                    self.list(entries, reader, splice)?;
                    Outcome::Read
                }
                // As some servers write a list with nothing in it.
                (Kind::Null, Some(_)) => {
                    reader.skip()?;
                    Outcome::Read
                }
                (Kind::Object, _) if level == 1 && self.shapes.describes() && self.shapes.is_wrapper(key) => {
                    let kind = self.shapes.role.and_then(MetaRole::entries).unwrap_or(EntryKind::Tool);
                    self.single(kind, reader, splice)?
                }
                (Kind::Object, Some(_)) => {
                    self.is_unread = true;
                    reader.skip()?;
                    continue;
                }
                (Kind::Object | Kind::Array, _) => self.within(reader, splice, level + 1)?,
                _ => {
                    reader.skip()?;
                    continue;
                }
            };
            if outcome == Outcome::Unread || next == Outcome::Removed {
                outcome = next;
            }
        }
        Ok(outcome)
    }

    /// An object or array, in or below which lists may stand.
    fn within(&mut self, reader: &mut Reader<'_>, splice: &mut Splice, level: usize) -> Result<Outcome, Error> {
        if level > DEEPEST {
            self.is_unread = true;
            reader.skip()?;
            return Ok(Outcome::Unread);
        }
        match reader.peek()? {
            Kind::Object => {
                // An entry that stands in no list: some reader may see it.
                let look = self.shapes.look(reader)?;
                self.is_unread |= look.name && (look.schema || look.meta);
                self.object(reader, splice, level)
            }
            Kind::Array => {
                let mut outcome = Outcome::Unread;
                reader.enter_array()?;
                while reader.element()? {
                    if self.within(reader, splice, level + 1)? == Outcome::Read {
                        outcome = Outcome::Read;
                    }
                }
                Ok(outcome)
            }
            _ => {
                reader.skip()?;
                Ok(Outcome::Unread)
            }
        }
    }

    fn list(&mut self, kind: EntryKind, reader: &mut Reader<'_>, splice: &mut Splice) -> Result<(), Error> {
        if !self.wants.has(kind.wanted_by()) {
            reader.skip()?;
            return Ok(());
        }
        let mut removals = Removals::default();
        let mut entry = Entry::new();
        reader.enter_array()?;
        while reader.element()? {
            let span = entry.read(kind, reader)?;
            if self.shows(&mut entry) {
                removals.keep(span, splice);
                entry.emit(splice);
            } else {
                removals.drop(span, splice);
            }
        }
        removals.finish(splice);
        Ok(())
    }

    fn single(&mut self, kind: EntryKind, reader: &mut Reader<'_>, splice: &mut Splice) -> Result<Outcome, Error> {
        if !self.wants.has(kind.wanted_by()) {
            reader.skip()?;
            return Ok(Outcome::Read);
        }
        let mut entry = Entry::new();
        entry.read(kind, reader)?;
        if !self.shows(&mut entry) {
            return Ok(Outcome::Removed);
        }
        entry.emit(splice);
        Ok(Outcome::Read)
    }

    /// Whether an entry stays, once it was shown.
    fn shows(&mut self, entry: &mut Entry<'_>) -> bool {
        (self.show)(entry);
        self.refusal = self.refusal.take().or_else(|| entry.take_refusal());
        !entry.is_removed()
    }
}

/// The answer to a question for the description of what does not exist, or is hidden.
pub(super) fn not_there(kind: EntryKind, reason: Reason) -> Refusal {
    let named = if kind == EntryKind::Tool { Named::Tool } else { Named::Resource };
    Refusal::unknown(named, None, code::INVALID_PARAMS).because(reason)
}
