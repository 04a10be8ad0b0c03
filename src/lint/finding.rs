//! One thing that is wrong with what a server says.

use std::fmt;

use super::Rule;
use crate::exchange::cut;
use crate::message::EntryKind;
use crate::protocol::Method;

/// One thing that is wrong with what a server says about its UIs, and where.
///
/// Every text in it is cut after 1,024 bytes. Path and message are safe to print: what they quote stands there with its
/// control characters escaped. [`Display`](fmt::Display) does so with the other texts, too.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Finding {
    rule: Rule,
    place: Place,
    path: String,
    message: String,
}

/// What a finding is a finding about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    method: Method,
    tool: Option<String>,
    uri: Option<String>,
}

impl Place {
    /// A tool, as an answer to this method has it.
    pub(crate) fn tool(method: Method, name: Option<&str>) -> Self {
        Self { method, tool: name.map(|name| cut(name).to_owned()), uri: None }
    }

    /// An entry of this kind that has this name (a tool) or URI (all others).
    pub(crate) fn entry(kind: EntryKind, text: Option<&str>) -> Self {
        let resource = |method| Self { method, tool: None, uri: text.map(|uri| cut(uri).to_owned()) };
        match kind {
            EntryKind::Tool => Self::tool(Method::ToolsList, text),
            EntryKind::Resource => resource(Method::ResourcesList),
            EntryKind::Template => resource(Method::TemplatesList),
            EntryKind::Contents => resource(Method::ResourcesRead),
            EntryKind::Prompt => resource(Method::PromptsList),
            EntryKind::Link | EntryKind::Embedded => resource(Method::ToolsCall),
        }
    }
}

impl Finding {
    pub(crate) fn new(rule: Rule, place: Place, path: &str, message: &str) -> Self {
        Self { rule, place, path: cut(path).to_owned(), message: cut(message).to_owned() }
    }

    /// What it is about.
    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// The method whose answer says it, such as `tools/list`.
    pub fn method(&self) -> &'static str {
        self.place.method.name().unwrap_or_default()
    }

    /// The tool that it is about; for an empty content the one that was called.
    pub fn tool(&self) -> Option<&str> {
        self.place.tool.as_deref()
    }

    /// The URI of the resource, or the template of it, that it is about.
    pub fn uri(&self) -> Option<&str> {
        self.place.uri.as_deref()
    }

    /// Where in the tool, resource or result it is, as in `_meta.ui.csp.connectDomains[1]`; empty where it is about the
    /// whole.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is wrong, in words.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What makes it the same finding when it comes again.
    pub(super) fn identity(&self) -> (Rule, &Place, &str) {
        (self.rule, &self.place, &self.path)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of ", self.method())?;
        match (self.tool(), self.uri()) {
            (Some(tool), _) => write!(f, "tool {tool:?}")?,
            (None, Some(uri)) => write!(f, "{uri:?}")?,
            (None, None) => f.write_str("something without a name")?,
        }
        if !self.path.is_empty() {
            write!(f, ", {}", self.path)?;
        }
        write!(f, ": {} ({})", self.message, self.rule)
    }
}
