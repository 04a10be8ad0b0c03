//! What is missing from an entry is put back: what an upstream said and the aggregator does not.

use crate::json::{Depth, Kind, Object, Reader, Value};
use crate::message::{Entry, EntryKind, Meta};
use crate::protocol::meta;

use super::Renaming;

/// Which members are put back. The path of a member begins in the entry: `["_meta", "ui", "csp"]`.
pub(super) type Members = dyn Fn(EntryKind, &[&str]) -> bool + Send + Sync;

/// Members of `_meta` whose value is the URI of a UI.
const LINKS: [&str; 2] = [meta::FLAT_RESOURCE_URI, meta::OUTPUT_TEMPLATE];

/// What a UI asks for, in `_meta.ui`. An aggregator that kept `ui` may have taken them away on purpose.
const GRANTS: [&str; 4] = ["csp", "permissions", "domain", "linkTrustedDomains"];

/// The same in OpenAI's words.
const OPENAI_GRANTS: [&str; 2] = ["openai/widgetCSP", "openai/widgetDomain"];

/// How much of what was said is put back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// All of it.
    All,
    /// What narrows, since it is no longer fresh.
    Narrowing,
}

/// Puts back what is missing.
pub(super) struct Fill<'f> {
    pub(super) renaming: &'f dyn Renaming,
    pub(super) members: &'f Members,
    pub(super) extent: Extent,
}

impl Fill<'_> {
    /// Puts back what is missing from an entry of what was said about it (its JSON text). False where the entry would then be for
    /// more than the upstream said, because there is no place for it.
    pub(super) fn fill(&self, entry: &mut Entry<'_>, said: &[u8]) -> bool {
        let mut object = Object::default();
        if object.read(&mut Reader::with_depth(said, Depth::MAX)).is_err() {
            return true;
        }
        let kind = entry.kind();
        if self.extent == Extent::All {
            for (key, value) in object.members() {
                let Ok(key) = key.decode() else { continue };
                match entry.member(&key) {
                    Some(there) if key == "annotations" && there.is_object() && value.is_object() => {
                        if let Some(both) = self.unite(kind, &key, there, value) {
                            entry.set_member(&key, both);
                        }
                    }
                    there if is_missing(there) && (self.members)(kind, &[&key]) => {
                        entry.set_member(&key, value.bytes())
                    }
                    _ => {}
                }
            }
        }
        match object.get("_meta").filter(Value::is_object) {
            Some(said) => self.fill_meta(kind, entry.meta_mut(), said),
            None => true,
        }
    }

    /// An object with those members of another that it does not have; `None` where it has them all.
    fn unite(&self, kind: EntryKind, name: &str, there: Value<'_>, said: Value<'_>) -> Option<Vec<u8>> {
        let (mut mine, mut theirs) = (Object::default(), Object::default());
        mine.read(&mut there.reader()).ok()?;
        theirs.read(&mut said.reader()).ok()?;
        for (key, value) in theirs.members() {
            let Ok(key) = key.decode() else { continue };
            if is_missing(mine.get(&key)) && (self.members)(kind, &[name, &key]) {
                mine.set(&key, value.bytes());
            }
        }
        let mut text = Vec::new();
        mine.render(&mut text);
        mine.is_edited().then_some(text)
    }

    fn fill_meta(&self, kind: EntryKind, meta: &mut Meta<'_>, said: Value<'_>) -> bool {
        let mut object = Object::default();
        if object.read(&mut said.reader()).is_err() {
            return true;
        }
        let had_openai = meta
            .keys()
            .any(|key| key.decode().is_ok_and(|key| key.starts_with("openai/") && !is_missing(meta.get(&key))));
        let mut is_held = true;
        for (key, value) in object.members() {
            let Ok(key) = key.decode() else { continue };
            if key == meta::UI {
                is_held = !value.is_object() || self.fill_ui(kind, meta, value);
                continue;
            }
            let is_withheld = had_openai && OPENAI_GRANTS.contains(&&*key);
            if is_missing(meta.get(&key)) && !is_withheld && self.puts_back(kind, &["_meta", &key], value) {
                self.put(LINKS.contains(&&*key), value, |raw| meta.set(&key, raw));
            }
        }
        is_held
    }

    fn fill_ui(&self, kind: EntryKind, meta: &mut Meta<'_>, said: Value<'_>) -> bool {
        let mut object = Object::default();
        if object.read(&mut said.reader()).is_err() {
            return true;
        }
        let had_ui = !is_missing(meta.get(meta::UI));
        for (key, value) in object.members() {
            let Ok(key) = key.decode() else { continue };
            let is_withheld = had_ui && GRANTS.contains(&&*key);
            if is_missing(meta.ui_get(&key)) && !is_withheld && self.puts_back(kind, &["_meta", meta::UI, &key], value)
            {
                self.put(key == meta::RESOURCE_URI, value, |raw| {
                    // A `null` gives way to what is put back, and to nothing else.
                    if meta.get(meta::UI).is_some_and(|ui| ui.kind() == Kind::Null) {
                        meta.remove_ui();
                    }
                    meta.ui_set(&key, raw);
                });
            }
        }
        // `_meta` or `ui` may be there and no object, so that it says nothing and takes nothing.
        kind != EntryKind::Tool || object.get(meta::VISIBILITY).is_none() || meta.ui_get(meta::VISIBILITY).is_some()
    }

    /// Whether a member that is missing is put back.
    fn puts_back(&self, kind: EntryKind, path: &[&str], value: Value<'_>) -> bool {
        if kind == EntryKind::Tool && narrows(path, value) {
            return true;
        }
        self.extent == Extent::All && (self.members)(kind, path)
    }

    /// Writes a value, a link as the aggregator calls what it leads to.
    fn put(&self, is_link: bool, value: Value<'_>, set: impl FnOnce(&[u8])) {
        let Some(uri) = value.as_str().filter(|_| is_link) else { return set(value.bytes()) };
        if let Some(uri) = self.renaming.link(&uri) {
            let mut text = Vec::new();
            crate::json::write_string(&uri, &mut text);
            set(&text);
        }
    }
}

/// Whether a member can make a tool be for fewer, and never for more: then it is put back whatever its age, and whatever else a
/// deployer says.
fn narrows(path: &[&str], value: Value<'_>) -> bool {
    match path {
        ["_meta", meta::UI, meta::VISIBILITY] => true,
        ["_meta", "openai/visibility"] => value.as_str().is_some_and(|text| text == "private"),
        ["_meta", "openai/widgetAccessible"] => value.kind() == Kind::False,
        _ => false,
    }
}

/// Whether a member says nothing: typed SDKs write `null` for what they do not have.
fn is_missing(value: Option<Value<'_>>) -> bool {
    value.is_none_or(|value| value.kind() == Kind::Null)
}

/// Everything but what the aggregator itself promises: how results look, and whether calls can be tasks.
pub(super) fn by_default(_: EntryKind, path: &[&str]) -> bool {
    !matches!(path, ["outputSchema" | "execution" | "inputSchema"])
}
