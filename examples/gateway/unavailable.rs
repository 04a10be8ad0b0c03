//! Which upstreams have no part in a merged result, so that the caller sees that it is not whole.

use tower_mcp_apps::json::{Object, write_string};

use crate::answer::Failure;

/// The member of `_meta` that has them: what is wrong, by name.
const KEY: &str = "tower-mcp-apps.gateway/unavailable";

/// The upstreams that are left out of a result.
#[derive(Debug, Default)]
pub(crate) struct Unavailable(Vec<(String, String)>);

impl Unavailable {
    pub(crate) fn add(&mut self, upstream: &str, failure: &Failure) {
        self.0.push((upstream.to_owned(), failure.text()));
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// What is wrong with all of them, in one sentence.
    pub(crate) fn text(&self) -> String {
        let texts: Vec<_> = self.0.iter().map(|(upstream, text)| format!("{upstream}: {text}")).collect();
        texts.join("; ")
    }

    /// Names them in the `_meta` of a result, if there are any.
    pub(crate) fn note_in(&self, meta: &mut Object<'_>) {
        if self.0.is_empty() {
            return;
        }
        let mut names = Object::default();
        for (upstream, text) in &self.0 {
            names.set_with(upstream, |out| write_string(text, out));
        }
        meta.set_with(KEY, |out| names.render(out));
    }

    /// Names them in a result that has no other `_meta`.
    pub(crate) fn write(&self, result: &mut Object<'_>) {
        let mut meta = Object::default();
        self.note_in(&mut meta);
        if !meta.is_empty() {
            result.set_with("_meta", |out| meta.render(out));
        }
    }
}
