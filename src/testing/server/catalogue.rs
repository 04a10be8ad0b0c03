//! What a server has, as texts that keep every byte, and the results that it gives.

use std::fmt::Display;

use serde_json::Value;

use crate::protocol::code;
use crate::testing::text::{member, quoted, with_member};

/// A result's text, or an error's code and message.
pub(super) type Outcome = Result<String, (i32, String)>;

#[derive(Clone)]
pub(super) struct Catalogue {
    pub(super) tools: Entries,
    pub(super) resources: Entries,
    pub(super) templates: Entries,
    pub(super) prompts: Entries,
    pub(super) contents: Vec<(String, String)>,
    pub(super) results: Vec<(String, String)>,
    pub(super) capabilities: Option<String>,
    pub(super) cache: (u64, String),
    pub(super) page_size: Option<usize>,
}

/// Entries of a list: what each is called, and its text.
#[derive(Clone, Default)]
pub(super) struct Entries(Vec<(Option<String>, String)>);

impl Default for Catalogue {
    fn default() -> Self {
        Self {
            tools: Entries::default(),
            resources: Entries::default(),
            templates: Entries::default(),
            prompts: Entries::default(),
            contents: Vec::new(),
            results: Vec::new(),
            capabilities: None,
            cache: (0, "private".to_owned()),
            page_size: None,
        }
    }
}

impl Entries {
    /// Adds an entry that is called what this member says.
    pub(super) fn add(&mut self, entry: impl Display, called: &str) {
        let entry = entry.to_string();
        let value: Option<Value> = serde_json::from_str(&entry).ok();
        let name = value.and_then(|value| value[called].as_str().map(str::to_owned));
        self.0.push((name, entry));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(is, _)| is.as_deref() == Some(name))
    }
}

impl Catalogue {
    /// What `initialize` and `server/discover` declare.
    pub(super) fn declared(&self) -> String {
        if let Some(capabilities) = &self.capabilities {
            return capabilities.clone();
        }
        let has_resources = !(self.resources.is_empty() && self.templates.is_empty() && self.contents.is_empty());
        let has =
            [("tools", !self.tools.is_empty()), ("resources", has_resources), ("prompts", !self.prompts.is_empty())];
        let names = has.into_iter().filter(|(_, has)| *has).map(|(name, _)| format!(r#""{name}":{{}}"#));
        format!("{{{}}}", names.collect::<Vec<_>>().join(","))
    }

    /// One page of a list. The cursor is the number of the first entry.
    pub(super) fn page(&self, of: &str, entries: &Entries, cursor: Option<&str>) -> Outcome {
        let entries = &entries.0;
        let start = match cursor.map(str::parse) {
            None => 0,
            Some(Ok(start)) if start <= entries.len() => start,
            Some(_) => return Err((code::INVALID_PARAMS, "Unknown cursor".to_owned())),
        };
        let end = self.page_size.map_or(entries.len(), |size| entries.len().min(start + size));
        let page: Vec<_> = entries[start..end].iter().map(|(_, text)| text.as_str()).collect();
        let next = if end < entries.len() { format!(r#","nextCursor":"{end}""#) } else { String::new() };
        Ok(format!(r#"{{{}:[{}]{next}}}"#, quoted(of), page.join(",")))
    }

    pub(super) fn call(&self, name: &str) -> Outcome {
        let given = self.results.iter().rev().find(|(of, _)| of == name);
        match given {
            Some((_, result)) => Ok(result.clone()),
            None if self.tools.has(name) => {
                let text = quoted(&format!("{name} was called"));
                Ok(format!(r#"{{"content":[{{"type":"text","text":{text}}}]}}"#))
            }
            None => Err((code::INVALID_PARAMS, format!("Unknown tool: {name}"))),
        }
    }

    pub(super) fn read(&self, uri: &str) -> Outcome {
        let items: Vec<_> = self.contents.iter().filter(|(of, _)| of == uri).map(|(_, item)| item.as_str()).collect();
        if items.is_empty() {
            return Err((code::INVALID_PARAMS, format!("Resource not found: {uri}")));
        }
        Ok(format!(r#"{{"contents":[{}]}}"#, items.join(",")))
    }

    pub(super) fn prompt(&self, name: &str) -> Outcome {
        if !self.prompts.has(name) {
            return Err((code::INVALID_PARAMS, format!("Unknown prompt: {name}")));
        }
        let text = quoted(name);
        Ok(format!(r#"{{"messages":[{{"role":"user","content":{{"type":"text","text":{text}}}}}]}}"#))
    }

    /// A result as the modern era wants it. What it says itself stays.
    pub(super) fn modernised(&self, result: String, is_cacheable: bool) -> String {
        let (ttl, scope) = &self.cache;
        let mut wanted = vec![("resultType", r#""complete""#.to_owned())];
        if is_cacheable {
            wanted.extend([("ttlMs", ttl.to_string()), ("cacheScope", quoted(scope))]);
        }
        wanted.into_iter().fold(result, |result, (name, value)| match member(result.as_bytes(), name) {
            Some(_) => result,
            None => with_member(&result, name, &value),
        })
    }
}
