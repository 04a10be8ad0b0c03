//! One page of a catalogue, as the server answers.

use std::borrow::Cow;

use bytes::Bytes;

use super::{Failure, Tool, Tools};
use crate::concern::Concern;
use crate::exchange::Exchange;
use crate::json::{Depth, Error, Kind, Reader, Splice};
use crate::message::{Entry, EntryKind, IdKey, MetaRole, MetaTools, Nested, Next, Wants};
use crate::protocol::{TOOLS_CHANGED, code};

/// What a page says beside its tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::concern) struct Page {
    /// The JSON text of the cursor of the next page.
    pub(in crate::concern) next: Option<Bytes>,
    /// How long it is fresh.
    pub(in crate::concern) ttl_ms: Option<u64>,
    /// Whether it is the same for all callers.
    pub(in crate::concern) is_public: bool,
}

/// What a message of the server is to a look-up.
#[derive(Debug)]
pub(in crate::concern) enum Heard {
    /// The answer.
    Page(Page),
    /// Its tools changed.
    Change,
    /// Another notification, or the answer to somebody else.
    Other,
}

/// Reads a message, which may be the answer to the question with this id (its JSON text).
///
/// The concern judges each tool as it would in a list for the caller, so that list and call cannot differ.
pub(in crate::concern) fn read_page<C: Concern>(
    message: &Bytes,
    id: &[u8],
    depth: Depth,
    concern: &C,
    exchange: &Exchange,
    tools: &mut Tools,
) -> Result<Heard, Failure> {
    read(message, id, Read { reader: Reader::with_depth(message, depth), behind: None, concern, exchange, tools })
}

/// What is asked of a meta-tool.
#[derive(Clone, Copy, Debug)]
pub(in crate::concern) struct Behind<'q> {
    pub(in crate::concern) meta_tools: &'q MetaTools,
    pub(in crate::concern) role: MetaRole,
    /// The tool that is to be described; `None` where all are to be listed.
    pub(in crate::concern) name: Option<&'q str>,
    /// Whether it is asked to go on with its list.
    pub(in crate::concern) goes_on: bool,
    pub(in crate::concern) depth: Depth,
}

/// The same of the answer of a meta-tool.
pub(in crate::concern) fn read_behind<C: Concern>(
    message: &Bytes,
    id: &[u8],
    behind: Behind<'_>,
    concern: &C,
    exchange: &Exchange,
    tools: &mut Tools,
) -> Result<Heard, Failure> {
    let reader = Reader::with_depth(message, behind.depth);
    read(message, id, Read { reader, behind: Some(behind), concern, exchange, tools })
}

fn read<C: Concern>(message: &Bytes, id: &[u8], mut read: Read<'_, '_, C>) -> Result<Heard, Failure> {
    match read.message(message, id) {
        Ok(Answer::Heard(heard)) => Ok(heard),
        Ok(Answer::Ambiguous) => Err(Failure::new("the server's list of tools says two things at once")),
        Ok(Answer::Error) => Err(Failure::new("the server does not list its tools")),
        Err(_) => Err(Failure::new("the server's list of tools could not be read")),
    }
}

enum Answer {
    Heard(Heard),
    Error,
    Ambiguous,
}

struct Read<'a, 'r, C> {
    reader: Reader<'a>,
    behind: Option<Behind<'r>>,
    concern: &'r C,
    exchange: &'r Exchange,
    tools: &'r mut Tools,
}

impl<C: Concern> Read<'_, '_, C> {
    fn message(&mut self, message: &Bytes, wanted: &[u8]) -> Result<Answer, Error> {
        // The id may stand behind the result, so what is not ours is told first: look-ups are rare, and answers short.
        let (mut ids, mut results) = (0, 0);
        let (mut is_ours, mut tells_of_change) = (false, false);
        let (mut result, mut knows_none) = (None, false);
        self.reader.enter_object()?;
        while let Some(key) = self.reader.member()? {
            let here = self.reader.checkpoint();
            let kind = self.reader.peek()?;
            let span = self.reader.skip()?;
            if key.is("id") {
                ids += 1;
                is_ours |= IdKey::of(span.of(message)).is_some_and(|id| id.is(wanted));
            } else if key.is("result") {
                results += 1;
                result = (kind == Kind::Object).then_some(here);
            } else if key.is("error") && kind == Kind::Object {
                knows_none = self.behind.is_some_and(|behind| !behind.goes_on)
                    && says_invalid_params(Reader::within(message, span))?;
            } else if key.is("method") && kind == Kind::String {
                let method = Reader::within(message, span).string()?;
                tells_of_change |= method.is(TOOLS_CHANGED);
            }
        }
        self.reader.end()?;
        match result {
            _ if !is_ours && tells_of_change => Ok(Answer::Heard(Heard::Change)),
            _ if !is_ours => Ok(Answer::Heard(Heard::Other)),
            _ if ids > 1 || results > 1 => Ok(Answer::Ambiguous),
            None if knows_none => Ok(Answer::Heard(Heard::Page(Page::default()))),
            None => Ok(Answer::Error),
            Some(result) => {
                self.reader.rewind(result);
                match self.behind {
                    Some(behind) => self.result_behind(message, behind),
                    None => self.result(message),
                }
            }
        }
    }

    fn result(&mut self, message: &Bytes) -> Result<Answer, Error> {
        let mut page = Page::default();
        let (mut lists, mut cursors, mut scopes, mut is_complete) = (0, 0, 0, true);
        self.reader.enter_object()?;
        while let Some(key) = self.reader.member()? {
            let kind = self.reader.peek()?;
            if key.is("tools") && kind == Kind::Array {
                lists += 1;
                self.tools()?;
                continue;
            }
            let span = self.reader.skip()?;
            let text = span.of(message);
            if key.is("nextCursor") && kind != Kind::Null {
                cursors += 1;
                // Copied, since cursors are remembered and pages are not.
                page.next = Some(Bytes::copy_from_slice(text));
            } else if key.is("ttlMs") {
                // Servers must not say a negative one; where they do, it counts as 0 (MCP 2026-07-28, "Time-to-Live (TTL) Field").
                let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
                page.ttl_ms = number.map(|number| number.max(0.0) as u64);
            } else if key.is("cacheScope") {
                scopes += 1;
                page.is_public = scopes == 1 && text == b"\"public\"";
            } else if key.is("resultType") {
                is_complete = kind == Kind::String && Reader::within(message, span).string()?.is("complete");
            }
        }
        Ok(match (lists, cursors) {
            (0, _) => Answer::Error,
            _ if !is_complete => Answer::Error,
            (1, 0 | 1) => Answer::Heard(Heard::Page(page)),
            _ => Answer::Ambiguous,
        })
    }

    /// The result of a meta-tool. One that says it is an error has no entries: then the server does not know the tool. Unless it has
    /// begun to list.
    fn result_behind(&mut self, message: &Bytes, behind: Behind<'_>) -> Result<Answer, Error> {
        let Self { reader, concern, exchange, tools, .. } = self;
        let show = |entry: &mut Entry<'_>| {
            let tool = judged(*concern, exchange, entry);
            // Whatever a description calls itself, it was asked for by this name.
            if let Some(name) = behind.name {
                tools.add(name, tool);
            }
            for name in names(entry).filter(|name| behind.name != Some(&**name)) {
                tools.add(&name, tool);
            }
        };
        let wants = Wants::TOOLS | Wants::ENFORCED;
        let mut nested = Nested::new(behind.meta_tools, Some(behind.role), wants, behind.depth, show);
        // Whatever is asked of the entries, nobody gets them.
        let mut unused = Splice::default();
        let (mut is_error, mut is_complete) = (false, true);
        reader.enter_object()?;
        while let Some(key) = reader.member()? {
            let kind = reader.peek()?;
            if nested.reads(key, kind) {
                nested.member(key, reader, &mut unused)?;
                continue;
            }
            let span = reader.skip()?;
            is_error |= key.is("isError") && kind == Kind::True;
            is_complete &= !key.is("task");
            if key.is("resultType") {
                is_complete &= kind == Kind::String && Reader::within(message, span).string()?.is("complete");
            }
        }
        let is_read = if is_error { !behind.goes_on } else { !nested.is_unread() };
        if !is_complete || !is_read {
            return Ok(Answer::Error);
        }
        // What describes one tool has no further page.
        let next = match nested.next() {
            Next::At(cursor) if behind.name.is_none() => Some(cursor.clone()),
            Next::Unclear if behind.name.is_none() => return Ok(Answer::Ambiguous),
            _ => None,
        };
        Ok(Answer::Heard(Heard::Page(Page { next, ..Page::default() })))
    }

    fn tools(&mut self) -> Result<(), Error> {
        let mut entry = Entry::new();
        self.reader.enter_array()?;
        while self.reader.element()? {
            entry.read(EntryKind::Tool, &mut self.reader)?;
            let tool = judged(self.concern, self.exchange, &mut entry);
            for name in names(&entry) {
                self.tools.add(&name, tool);
            }
        }
        Ok(())
    }
}

/// What a tool is to the caller. One that says two things about itself is for nobody, whichever the server goes by.
fn judged<C: Concern>(concern: &C, exchange: &Exchange, entry: &mut Entry<'_>) -> Tool {
    // What a concern takes away from an entry that stays was said all the same.
    let said = entry.visibility();
    concern.entry(exchange, entry);
    let is_listed = !entry.is_removed() && !entry.is_ambiguous();
    Tool { is_listed, visibility: said.and(entry.visibility()) }
}

/// What the server calls it: a concern may give it another name.
fn names<'a>(entry: &Entry<'a>) -> impl Iterator<Item = Cow<'a, str>> {
    entry.original_names().filter_map(|name| name.decode().ok())
}

/// Whether an error says that there is no such tool (MCP 2026-07-28, "Tools", Error Handling).
fn says_invalid_params(mut error: Reader<'_>) -> Result<bool, Error> {
    let mut says = false;
    error.enter_object()?;
    while let Some(key) = error.member()? {
        let number = error.skip()?.of(error.source());
        says |= key.is("code") && number == code::INVALID_PARAMS.to_string().as_bytes();
    }
    Ok(says)
}
