//! The result of a tool call, as far as it has something for those who do not see a UI.

use crate::json::{Kind, Span, Splice, Str, write_string};

/// What a tool's result says, and to whom: `content` for the model, `structuredContent` for a UI, too.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CallResult {
    structured: Option<Span>,
    content: Content,
    /// It is a task (MCP 2025-11-25, "Tasks"), whose result comes later.
    is_task: bool,
}

#[derive(Clone, Copy, Debug, Default)]
enum Content {
    #[default]
    Absent,
    /// It is an array.
    Array(Span),
    /// It is something else, or stands twice.
    Odd,
}

impl CallResult {
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

    /// Whether there is no item of `content`.
    pub(super) fn has_no_content(self, source: &[u8]) -> bool {
        match self.content {
            Content::Absent => !self.is_task,
            Content::Array(span) => is_empty(span.of(source)),
            Content::Odd => false,
        }
    }

    /// Writes the structured content as a text where there is no item of `content`. `end` is behind the last member.
    pub(super) fn emit(self, source: &[u8], end: usize, splice: &mut Splice) {
        let Some(structured) = self.structured else { return };
        let Ok(text) = std::str::from_utf8(structured.of(source)) else { return };
        let items = |out: &mut Vec<u8>| {
            out.extend_from_slice(br#"[{"type":"text","text":"#);
            write_string(text, out);
            out.extend_from_slice(b"}]");
        };
        match self.content {
            Content::Array(span) if is_empty(span.of(source)) => splice.replace_with(span, items),
            Content::Absent => splice.insert_with(end, |out| {
                out.extend_from_slice(br#","content":"#);
                items(out);
            }),
            Content::Array(_) | Content::Odd => {}
        }
    }
}

fn is_empty(array: &[u8]) -> bool {
    let items = array.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"));
    items.is_some_and(|items| items.trim_ascii().is_empty())
}
