//! The tools that a look-up found.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use crate::exchange::{McpContext, Said, Text};
use crate::protocol::ToolVisibility;

/// The tools that a look-up found, by name.
#[derive(Clone, Debug)]
pub struct Tools {
    by_name: HashMap<Text, Tool>,
    /// What the server was asked to describe, whether or not it has it.
    described: HashSet<Box<str>>,
    /// Whether a meta-tool listed all that is behind it.
    is_listed_behind: bool,
    refuses_unlisted: bool,
    asked: Instant,
    bytes: usize,
}

/// What is known of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tool {
    /// Whether the caller's list shows it.
    pub is_listed: bool,
    /// Whom it says it is for.
    pub visibility: ToolVisibility,
}

impl Tools {
    pub(in crate::concern) fn new(asked: Instant) -> Self {
        Self {
            by_name: HashMap::new(),
            described: HashSet::new(),
            is_listed_behind: false,
            refuses_unlisted: true,
            asked,
            bytes: 0,
        }
    }

    /// What is known of the tool of this name; `None` where the server does not list it.
    pub fn get(&self, name: &str) -> Option<Tool> {
        self.by_name.get(name.as_bytes()).copied()
    }

    /// The same of a tool that is called.
    pub(crate) fn find(&self, name: Said<'_>) -> Option<Tool> {
        self.by_name.get(name.as_bytes()).copied()
    }

    /// Whether a call through a meta-tool may not run, of a tool with this name.
    pub(crate) fn hides_behind(&self, name: Said<'_>) -> bool {
        self.find(name).map_or(self.refuses_unlisted, |tool| !tool.is_listed)
    }

    /// What becomes of such calls of tools that are not here.
    pub(in crate::concern) fn refuse_unlisted(&mut self, refuse: bool) {
        self.refuses_unlisted = refuse;
    }

    /// What a request names that was not asked for yet: the tools behind meta-tools, and what `tools/list` does not have.
    pub(in crate::concern) fn missing(&self, context: &McpContext) -> Vec<Box<str>> {
        let named = context.called_through().chain(context.called_tools());
        let unlisted = named.filter(|name| !self.by_name.contains_key(name.as_bytes())).map(Said::as_str);
        let mut missing: Vec<Box<str>> =
            unlisted.filter(|name| !self.described.contains(*name)).map(Box::from).collect();
        missing.sort_unstable();
        missing.dedup();
        missing
    }

    /// Whether a meta-tool listed all that is behind it.
    pub(in crate::concern) fn is_listed_behind(&self) -> bool {
        self.is_listed_behind
    }

    /// The server was asked to describe a tool, or (`None`) to list all that is behind a meta-tool.
    pub(in crate::concern) fn asked_behind(&mut self, name: Option<&str>) {
        match name {
            Some(name) => {
                self.bytes += name.len() + size_of::<Box<str>>();
                self.described.insert(name.into());
            }
            None => self.is_listed_behind = true,
        }
    }

    /// What is kept of it, if that is not the same: with what others `learned` who began with the same list, and without
    /// the names that the server could not describe. It may by now.
    pub(in crate::concern) fn to_keep(&self, learned: Option<&Self>) -> Option<Arc<Self>> {
        if self.described.is_empty() {
            return None;
        }
        let mut kept = self.clone();
        kept.described.clear();
        for (name, tool) in learned.iter().flat_map(|learned| &learned.by_name) {
            if !kept.by_name.contains_key(name) {
                kept.insert(name.clone(), *tool);
            }
        }
        Some(Arc::new(kept))
    }

    /// When the server was asked.
    pub(in crate::concern) fn asked(&self) -> Instant {
        self.asked
    }

    /// Roughly what it takes to keep them.
    pub(in crate::concern) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds an entry. A name that is listed twice is what all its entries allow.
    pub(in crate::concern) fn add(&mut self, name: &str, tool: Tool) {
        if let Some(known) = self.by_name.get_mut(name.as_bytes()) {
            known.is_listed &= tool.is_listed;
            known.visibility = known.visibility.and(tool.visibility);
            return;
        }
        self.insert(Text::copy(name), tool);
    }

    fn insert(&mut self, name: Text, tool: Tool) {
        self.bytes += name.as_bytes().len() + size_of::<(Text, Tool)>();
        self.by_name.insert(name, tool);
    }
}
