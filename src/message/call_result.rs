//! The result of a tool call, as far as it has something for those who do not see a UI.

use crate::json::{Kind, Span, Splice, Str, write_string};

/// The result of a call to a tool: what it has for a model, in `content`, and the edit that concerns ask of it.
///
/// A task (MCP 2025-11-25, "Tasks"), whose result comes later, lacks nothing; a request for input is no result.
#[derive(Debug)]
pub struct CallResult<'a> {
    source: &'a [u8],
    structured: Option<Span>,
    content: Content,
    is_task: bool,
    gets_text: bool,
    /// Where a member can be added: behind the last one.
    end: usize,
}

#[derive(Clone, Copy, Debug)]
enum Content {
    Absent,
    /// It is an array.
    Array(Span),
    /// It is something else, or stands twice.
    Odd,
}

impl<'a> CallResult<'a> {
    /// A result in this source whose members are still to be [noted](Self::note).
    pub(super) fn new(source: &'a [u8]) -> Self {
        Self { source, structured: None, content: Content::Absent, is_task: false, gets_text: false, end: 0 }
    }

    /// Notes a member of the result.
    pub(super) fn note(&mut self, key: Str<'_>, kind: Kind, span: Span) {
        if key.is("structuredContent") {
            self.structured = (kind != Kind::Null).then_some(span);
        } else if key.is("content") {
            self.content = match (self.content, kind) {
                (Content::Absent, Kind::Array) => Content::Array(span),
                _ => Content::Odd,
            };
        } else if key.is("task") {
            self.is_task = kind == Kind::Object;
        }
    }

    /// There are no more members; the last one ends here.
    pub(super) fn ended(self, end: usize) -> Self {
        Self { end, ..self }
    }

    /// Whether there is no item of `content`: it is missing, or an empty array.
    pub fn is_empty(&self) -> bool {
        match self.content {
            Content::Absent => !self.is_task,
            Content::Array(span) => is_empty(span.of(self.source)),
            Content::Odd => false,
        }
    }

    /// Asks for the JSON of `structuredContent` as a text in `content`. No effect where there is an item already, or nothing
    /// structured.
    pub fn give_text(&mut self) {
        self.gets_text = true;
    }

    /// Writes down what was asked.
    pub(super) fn emit(&self, splice: &mut Splice) {
        let Some(structured) = self.structured.filter(|_| self.gets_text && self.is_empty()) else { return };
        let Ok(text) = std::str::from_utf8(structured.of(self.source)) else { return };
        let items = |out: &mut Vec<u8>| {
            out.extend_from_slice(br#"[{"type":"text","text":"#);
            write_string(text, out);
            out.extend_from_slice(b"}]");
        };
        match self.content {
            Content::Array(span) => splice.replace_with(span, items),
            Content::Absent => splice.insert_with(self.end, |out| {
                out.extend_from_slice(br#","content":"#);
                items(out);
            }),
            Content::Odd => {}
        }
    }
}

fn is_empty(array: &[u8]) -> bool {
    let items = array.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"));
    items.is_some_and(|items| items.trim_ascii().is_empty())
}
