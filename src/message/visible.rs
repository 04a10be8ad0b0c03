//! Whom a tool is for, as it says itself: the one predicate for lists and for calls.

use super::{Entry, Ui};
use crate::json::{Kind, Reader, Value};
use crate::protocol::Audience;

/// Whom a tool is for (MCP Apps, "Resource Discovery", Visibility).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Visible {
    /// The model may see and call it.
    pub model: bool,
    /// An app of the same server may call it.
    pub app: bool,
}

impl Visible {
    /// For model and app, as a tool is that says nothing.
    pub const BOTH: Self = Self { model: true, app: true };
    /// For nobody but a host, which judges for itself.
    pub const NOBODY: Self = Self { model: false, app: false };

    /// What a tool says, pending edits included: `visibility` absent means both, an array its members,
    /// anything else nobody. So does a tool that says two things about itself, and one that is no object.
    pub fn of(tool: &Entry<'_>) -> Self {
        if !tool.is_object() || tool.is_ambiguous() {
            return Self::NOBODY;
        }
        match tool.meta().ui() {
            Ui::Absent | Ui::Other => Self::BOTH,
            Ui::Object => tool.meta().ui_get("visibility").map_or(Self::BOTH, Self::listed),
        }
    }

    /// Whether the tool is for this audience. A host gets everything.
    pub fn includes(self, audience: Audience) -> bool {
        match audience {
            Audience::Host => true,
            Audience::Model => self.model,
            Audience::App => self.app,
        }
    }

    /// What both allow.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { model: self.model && other.model, app: self.app && other.app }
    }

    fn listed(visibility: Value<'_>) -> Self {
        let read = |mut reader: Reader<'_>| {
            let mut listed = Self::NOBODY;
            reader.enter_array().ok()?;
            while reader.element().ok()? {
                if reader.peek().ok()? == Kind::String {
                    let name = reader.string().ok()?;
                    listed.model |= name.is("model");
                    listed.app |= name.is("app");
                } else {
                    reader.skip().ok()?;
                }
            }
            Some(listed)
        };
        if visibility.is_array() { read(visibility.reader()).unwrap_or(Self::NOBODY) } else { Self::NOBODY }
    }
}
