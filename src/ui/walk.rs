//! The walk through foreign metadata, which notes what is odd and goes on.

use serde_json::{Map, Value};

use super::problem::{Problem, ProblemKind};
use crate::protocol::{UI_EXTENSION, meta};

/// Walks through the members of `ui` in a `_meta`.
pub(super) fn walk_ui(meta: &Value, found: &mut Vec<Problem>, mut member: impl FnMut(&str, &Value, Problems<'_>)) {
    let mut problems = Problems::new("_meta", found);
    let Some(meta) = problems.object(meta) else { return };
    if meta.contains_key(UI_EXTENSION) {
        problems.member(UI_EXTENSION).add(ProblemKind::ExtensionKey);
    }
    let Some(ui) = meta.get(meta::UI) else { return };
    let mut problems = problems.member(meta::UI);
    for (key, value) in problems.object(ui).into_iter().flatten() {
        member(key, value, problems.member(key));
    }
}

/// Collects problems while a value is walked through, and knows where in it the walk is.
pub(super) struct Problems<'p> {
    path: String,
    found: &'p mut Vec<Problem>,
}

impl<'p> Problems<'p> {
    pub(super) fn new(path: &str, found: &'p mut Vec<Problem>) -> Self {
        Self { path: path.to_owned(), found }
    }

    pub(super) fn member(&mut self, key: &str) -> Problems<'_> {
        Problems { path: format!("{}.{}", self.path, key.escape_debug()), found: self.found }
    }

    pub(super) fn item(&mut self, index: usize) -> Problems<'_> {
        Problems { path: format!("{}[{index}]", self.path), found: self.found }
    }

    pub(super) fn add(&mut self, kind: ProblemKind) {
        self.found.push(Problem { path: self.path.clone(), kind });
    }

    pub(super) fn object<'v>(&mut self, value: &'v Value) -> Option<&'v Map<String, Value>> {
        self.or(value.as_object(), ProblemKind::NotAnObject)
    }

    pub(super) fn array<'v>(&mut self, value: &'v Value) -> Option<&'v [Value]> {
        self.or(value.as_array().map(Vec::as_slice), ProblemKind::NotAnArray)
    }

    pub(super) fn text<'v>(&mut self, value: &'v Value) -> Option<&'v str> {
        self.or(value.as_str(), ProblemKind::NotAString)
    }

    pub(super) fn boolean(&mut self, value: &Value) -> Option<bool> {
        self.or(value.as_bool(), ProblemKind::NotABoolean)
    }

    fn or<T>(&mut self, read: Option<T>, kind: ProblemKind) -> Option<T> {
        if read.is_none() {
            self.add(kind);
        }
        read
    }
}
