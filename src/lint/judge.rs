//! What is wrong with one entry.

use serde_json::{Map, Value};

use super::Rule;
use crate::message::{Entry, EntryKind, Meta, Shape};
use crate::protocol::{APP_MEDIA_TYPE, MediaType, UI_EXTENSION, UI_SCHEME, meta};
use crate::ui::{Problem, ProblemKind, ResourceMeta, ToolMeta};

/// Tells rule, path and message of all that is wrong with an entry as it came.
pub(super) fn judge(entry: &Entry<'_>, mut tell: impl FnMut(Rule, &str, &str)) {
    if !entry.is_object() {
        return;
    }
    if entry.is_ambiguous() {
        tell(Rule::Duplicate, "", "a member stands twice: readers differ about which counts");
    }
    if let Some(message) = media_type_fault(entry) {
        tell(Rule::MediaType, "mimeType", &message);
    }
    let Some(meta) = ui_members(entry.meta()) else { return };
    let problems = match entry.kind() {
        EntryKind::Tool => ToolMeta::parse(&meta).problems,
        EntryKind::Resource | EntryKind::Template | EntryKind::Contents => ResourceMeta::parse(&meta).problems,
        EntryKind::Prompt | EntryKind::Link | EntryKind::Embedded => return,
    };
    for problem in problems {
        tell(rule(&problem), problem.path(), &problem.kind().to_string());
    }
}

fn rule(problem: &Problem) -> Rule {
    match problem.kind() {
        ProblemKind::NotAnObject | ProblemKind::NotAnArray | ProblemKind::NotAString | ProblemKind::NotABoolean => {
            Rule::Shape
        }
        ProblemKind::Unknown => Rule::Unknown,
        ProblemKind::Misplaced => Rule::Misplaced,
        ProblemKind::FlatKeyAlone => Rule::FlatKeyAlone,
        ProblemKind::FlatKeyDiffers => Rule::FlatKeyDiffers,
        ProblemKind::ExtensionKey => Rule::ExtensionKey,
        ProblemKind::Link { .. } => Rule::Link,
        ProblemKind::Source { .. } => Rule::Source,
        ProblemKind::Domain { .. } => Rule::Domain,
    }
}

/// A resource under `ui://` must be an MCP App's HTML (MCP Apps, "UI Resource Format"). A list may leave the media type
/// to the content.
fn media_type_fault(entry: &Entry<'_>) -> Option<String> {
    let is_page = entry.kind() != EntryKind::Tool && entry.uri().is_some_and(|uri| uri.starts_with(UI_SCHEME));
    if !is_page {
        return None;
    }
    let Some(value) = entry.mime_type() else {
        let message = || format!("there is none: hosts look for {APP_MEDIA_TYPE}");
        return (entry.kind() == EntryKind::Contents).then(message);
    };
    let text = value.as_str().unwrap_or_default();
    let is_app = MediaType::parse(&text)
        .zip(MediaType::parse(APP_MEDIA_TYPE))
        .is_some_and(|(media_type, app)| media_type.is_covered_by(app));
    (!is_app).then(|| format!("{text:?} is not {APP_MEDIA_TYPE}: hosts take it for no MCP App"))
}

/// The members of a `_meta` that are about UIs, where there are any. What no `serde_json` tree can hold is passed over.
fn ui_members(meta: &Meta<'_>) -> Option<Value> {
    match meta.state() {
        Shape::Absent => return None,
        Shape::Other => return Some(Value::Null),
        Shape::Object => {}
    }
    let mut members = Map::new();
    for key in [meta::UI, meta::FLAT_RESOURCE_URI, UI_EXTENSION] {
        if let Some(value) = meta.original(key) {
            members.insert(key.to_owned(), serde_json::from_slice(value.bytes()).ok()?);
        }
    }
    (!members.is_empty()).then(|| members.into())
}
