//! One value out of what several servers say.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use bytes::Bytes;

use super::read::reader;
use super::same::{below, list, media_type, spelling};
use super::{Conflict, Extension};
use crate::json::{Kind, Object, Value};
use crate::protocol::UI_EXTENSION;

/// The settings of an extension, and what could not be united.
pub(super) fn unite(extension: &Extension, conflicts: &mut Vec<Conflict>) -> Bytes {
    // As nearly always.
    if let [only] = &extension.said[..] {
        return only.settings.clone();
    }
    let values = extension.said.iter().map(|said| (&said.server, &*said.settings)).collect::<Vec<_>>();
    match (Union { extension: &extension.identifier, conflicts }).value("", &values) {
        Cow::Borrowed(text) => extension.said.first().map_or_else(Bytes::new, |first| first.settings.slice_ref(text)),
        Cow::Owned(text) => Bytes::from(text),
    }
}

struct Union<'c> {
    extension: &'c Arc<str>,
    conflicts: &'c mut Vec<Conflict>,
}

/// Who says what.
type Word<'v> = (&'v Arc<str>, &'v [u8]);

impl Union<'_> {
    /// One value out of many; borrowed where it is the first one as it came.
    fn value<'v>(&mut self, pointer: &str, said: &[Word<'v>]) -> Cow<'v, [u8]> {
        let Some((_, first)) = said.first() else { return Cow::Borrowed(b"null") };
        let own = spelling(first);
        if said.iter().all(|(_, other)| spelling(other) == own) {
            return Cow::Borrowed(first);
        }
        let are_all = |kind| said.iter().all(|(_, value)| reader(value).peek().is_ok_and(|its| its == kind));
        let united = if are_all(Kind::Array) {
            Some(self.arrays(pointer, said))
        } else if are_all(Kind::Object) {
            self.objects(pointer, said)
        } else {
            None
        };
        match united {
            Some(united) if spelling(&united) == own => Cow::Borrowed(first),
            Some(united) => Cow::Owned(united),
            None => {
                let values = said.iter().map(|(server, value)| (Arc::clone(server), Bytes::copy_from_slice(value)));
                self.conflicts.push(Conflict {
                    extension: Arc::clone(self.extension),
                    pointer: pointer.to_owned(),
                    values: values.collect(),
                });
                Cow::Borrowed(first)
            }
        }
    }

    fn arrays(&self, pointer: &str, said: &[Word<'_>]) -> Vec<u8> {
        let identity = identity(self.extension, pointer);
        let mut seen = HashSet::new();
        let all = said.iter().flat_map(|(_, array)| elements(array));
        let new = all.filter(|element| seen.insert(identity(element)));
        let mut out = Vec::new();
        list(&mut out, b'[', b']', new, |element, out| out.extend_from_slice(element));
        out
    }

    /// `None` where some object has a member twice: what it says depends on who reads it.
    fn objects(&mut self, pointer: &str, said: &[Word<'_>]) -> Option<Vec<u8>> {
        // The name as it stands with the one who said it first, and all values.
        let mut members: Vec<(Vec<u8>, String, Vec<Word<'_>>)> = Vec::new();
        let mut places = HashMap::new();
        for (server, object) in said {
            for (name, value) in self::members(object)? {
                let place = *places.entry(name.text.clone()).or_insert_with(|| {
                    members.push((name.raw, name.text, Vec::new()));
                    members.len() - 1
                });
                if let Some((_, _, values)) = members.get_mut(place) {
                    values.push((server, value));
                }
            }
        }
        let mut out = Vec::new();
        let united = members.iter().map(|(raw, text, values)| (raw, self.value(&below(pointer, text), values)));
        let united: Vec<_> = united.collect();
        list(&mut out, b'{', b'}', united, |(raw, value), out| {
            out.extend_from_slice(raw);
            out.push(b':');
            out.extend_from_slice(&value);
        });
        Some(out)
    }
}

/// By what the elements of an array are told apart.
pub(super) fn identity(extension: &str, pointer: &str) -> fn(&[u8]) -> Vec<u8> {
    if extension == UI_EXTENSION && pointer == "/mimeTypes" { media_type } else { spelling }
}

/// The elements of an array, as JSON texts.
pub(super) fn elements(array: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    let mut reader = reader(array);
    if reader.enter_array().is_err() {
        return found;
    }
    while reader.element().unwrap_or(false) {
        let Ok(span) = reader.skip() else { break };
        found.push(span.of(array));
    }
    found
}

/// The name of a member.
pub(super) struct Name {
    /// As it stands, with its quotes.
    pub(super) raw: Vec<u8>,
    pub(super) text: String,
}

/// The members of an object, as JSON texts. `None` where one stands twice or its name is no text.
pub(super) fn members(object: &[u8]) -> Option<Vec<(Name, &[u8])>> {
    let mut read = Object::default();
    read.read(&mut reader(object)).ok()?;
    if read.has_duplicates() {
        return None;
    }
    let member = |name: crate::json::Key<'_>, value: Value<'_>| {
        let raw = name.in_source()?.raw().as_bytes();
        let raw = [b"\"", raw, b"\""].concat();
        let span = value.span()?;
        Some((Name { raw, text: name.decode().ok()?.into_owned() }, span.of(object)))
    };
    read.members().map(|(name, value)| member(name, value)).collect()
}
