//! Whom a tool is for, as it says itself: the one predicate for lists and for calls.

use super::{Entry, Shape};
use crate::json::{Kind, Reader, Value};
use crate::protocol::{ToolVisibility, meta};

impl Entry<'_> {
    /// Whom a tool is for, pending edits included (MCP Apps, "Resource Discovery", Visibility): `visibility` absent
    /// means both, an array its members, anything else nobody. A tool that says two things about itself is for nobody, too,
    /// and so is one that is no object.
    pub fn visibility(&self) -> ToolVisibility {
        if !self.is_object() || self.is_ambiguous() {
            return ToolVisibility::Nobody;
        }
        match self.meta().ui() {
            Shape::Absent | Shape::Other => ToolVisibility::Both,
            Shape::Object => self.meta().ui_get(meta::VISIBILITY).map_or(ToolVisibility::Both, listed),
        }
    }
}

fn listed(visibility: Value<'_>) -> ToolVisibility {
    let read = |mut reader: Reader<'_>| {
        let (mut for_model, mut for_app) = (false, false);
        reader.enter_array().ok()?;
        while reader.element().ok()? {
            if reader.peek().ok()? == Kind::String {
                let name = reader.string().ok()?;
                for_model |= name.is("model");
                for_app |= name.is("app");
            } else {
                reader.skip().ok()?;
            }
        }
        Some(ToolVisibility::new(for_model, for_app))
    };
    if visibility.is_array() {
        read(visibility.reader()).unwrap_or(ToolVisibility::Nobody)
    } else {
        ToolVisibility::Nobody
    }
}
