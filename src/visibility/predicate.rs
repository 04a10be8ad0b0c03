//! The one predicate on a tool's visibility, for lists and for calls.

use crate::json::{Reader, Value};
use crate::message::{Entry, Ui};
use crate::protocol::Audience;

/// Whether a tool is for this audience (MCP Apps, "Resource Discovery", Visibility).
pub fn is_visible(tool: &Entry<'_>, audience: Audience) -> bool {
    if !tool.is_object() || tool.is_ambiguous() {
        return audience == Audience::Host;
    }
    let wanted = match audience {
        Audience::Host => return true,
        Audience::Model => "model",
        Audience::App => "app",
    };
    match tool.meta().ui() {
        Ui::Absent | Ui::Other => true,
        Ui::Object => tool.meta().ui_get("visibility").is_none_or(|visibility| names(visibility, wanted)),
    }
}

/// Whether a `visibility` is an array with this member.
fn names(visibility: Value<'_>, wanted: &str) -> bool {
    let search = |mut reader: Reader<'_>| {
        let mut found = false;
        reader.enter_array().ok()?;
        while reader.element().ok()? {
            match reader.peek().ok()? {
                crate::json::Kind::String => found |= reader.string().ok()?.is(wanted),
                _ => drop(reader.skip().ok()?),
            }
        }
        Some(found)
    };
    visibility.is_array() && search(visibility.reader()).unwrap_or(false)
}
