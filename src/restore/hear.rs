//! What a message of an upstream says about entries: read for what an aggregator may lose.

use std::collections::HashMap;

use crate::json::{Depth, Error, Kind, Reader, Span};
use crate::message::{Answer, Entry, EntryKind};
use crate::protocol::ToolVisibility;

/// One list in a message: what it says about each of its entries, and for how long that holds.
#[derive(Debug)]
pub(super) struct Heard {
    pub(super) kind: EntryKind,
    /// How long the result says that it is fresh, in milliseconds.
    pub(super) ttl: Option<u64>,
    /// Name or URI, and the entry's JSON text.
    pub(super) entries: Vec<(String, Vec<u8>)>,
}

/// What identifies an entry, and what is content rather than something said about it.
fn left_out(kind: EntryKind) -> &'static [&'static str] {
    match kind {
        // Without a schema of its arguments a tool is none, and nothing makes a list as long.
        EntryKind::Tool => &["name", "inputSchema"],
        EntryKind::Template => &["uriTemplate"],
        _ => &["uri", "text", "blob"],
    }
}

/// The lists that an answer can have.
const LISTS: [(&str, EntryKind); 4] = [
    ("tools", EntryKind::Tool),
    ("resources", EntryKind::Resource),
    ("resourceTemplates", EntryKind::Template),
    ("contents", EntryKind::Contents),
];

/// Reads a message that the engine has read already. One that says two things at once says nothing.
pub(super) fn hear(message: &[u8], answer: Answer) -> Vec<Heard> {
    read(message, answer).ok().flatten().unwrap_or_default()
}

fn read(message: &[u8], answer: Answer) -> Result<Option<Vec<Heard>>, Error> {
    let mut reader = Reader::with_depth(message, Depth::MAX);
    let mut result = None;
    reader.enter_object()?;
    while let Some(key) = reader.member()? {
        let is_object = reader.peek()? == Kind::Object;
        let span = reader.skip()?;
        if key.is("result") && (!is_object || result.replace(span).is_some()) {
            return Ok(None);
        }
    }
    let Some(result) = result else { return Ok(None) };
    let (mut heard, mut ttl, mut is_complete) = (Vec::new(), None, true);
    let mut reader = Reader::within(message, result);
    reader.enter_object()?;
    while let Some(key) = reader.member()? {
        let kind = reader.peek()?;
        let span = reader.skip()?;
        let list = LISTS
            .into_iter()
            .find(|(name, list)| key.is(name) && (answer == Answer::Unknown || answer == list.wanted_as().0));
        if let Some((_, list)) = list.filter(|_| kind == Kind::Array) {
            heard.push(Heard { kind: list, ttl: None, entries: entries(message, span, list)? });
        } else if key.is("ttlMs") {
            // A negative one counts as 0 (MCP 2026-07-28, "Time-to-Live (TTL) Field").
            let number = std::str::from_utf8(span.of(message)).ok().and_then(|text| text.parse::<f64>().ok());
            ttl = Some(number.map_or(0, |number| number.max(0.0) as u64));
        } else if key.is("resultType") {
            is_complete = kind == Kind::String && Reader::within(message, span).string()?.is("complete");
        }
    }
    heard.iter_mut().for_each(|heard| heard.ttl = ttl);
    Ok(is_complete.then_some(heard))
}

fn entries(message: &[u8], list: Span, kind: EntryKind) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let mut reader = Reader::within(message, list);
    let mut entry = Entry::new();
    let mut listed = Listed::default();
    reader.enter_array()?;
    while reader.element()? {
        let span = entry.read(kind, &mut reader)?;
        if entry.is_ambiguous() {
            // What says two things about itself says nothing; a tool, that it is for nobody, by each of its names.
            if kind == EntryKind::Tool {
                let nobody = ToolVisibility::Nobody;
                names(message, span)?.into_iter().for_each(|name| listed.add(name, for_only(nobody), nobody));
            }
            continue;
        }
        let name = if kind == EntryKind::Tool { entry.name() } else { entry.uri() };
        let Some(Ok(name)) = name.map(|name| name.decode()) else { continue };
        if let Some(text) = entry.text_without(left_out(kind)) {
            listed.add(name.into_owned(), text, entry.visibility());
        }
    }
    Ok(listed.entries)
}

#[derive(Default)]
struct Listed {
    entries: Vec<(String, Vec<u8>)>,
    /// Where each stands, and whom it is for.
    places: HashMap<String, (usize, ToolVisibility)>,
}

impl Listed {
    /// Adds an entry. What is listed twice says no more than what all its entries allow.
    fn add(&mut self, name: String, text: Vec<u8>, visibility: ToolVisibility) {
        match self.places.get_mut(&name) {
            None => {
                self.places.insert(name.clone(), (self.entries.len(), visibility));
                self.entries.push((name, text));
            }
            Some((at, before)) => {
                *before = before.and(visibility);
                if let Some((_, text)) = self.entries.get_mut(*at) {
                    *text = for_only(*before);
                }
            }
        }
    }
}

/// All names of a tool that says two things about itself.
fn names(message: &[u8], tool: Span) -> Result<Vec<String>, Error> {
    let mut names = Vec::new();
    let mut reader = Reader::within(message, tool);
    reader.enter_object()?;
    while let Some(key) = reader.member()? {
        if !key.is("name") || reader.peek()? != Kind::String {
            reader.skip()?;
        } else if let Ok(name) = reader.string()?.decode() {
            names.push(name.into_owned());
        }
    }
    Ok(names)
}

/// A tool that says nothing but for whom it is.
fn for_only(visibility: ToolVisibility) -> Vec<u8> {
    format!(r#"{{"_meta":{{"ui":{{"visibility":{}}}}}}}"#, visibility.as_json()).into_bytes()
}

#[cfg(test)]
mod tests;
