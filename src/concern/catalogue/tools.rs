//! The tools that a look-up found.

use std::collections::HashMap;
use std::time::Instant;

use crate::protocol::ToolVisibility;

/// The tools that a look-up found, by name.
#[derive(Clone, Debug)]
pub struct Tools {
    by_name: HashMap<Box<str>, Tool>,
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
        Self { by_name: HashMap::new(), asked, bytes: 0 }
    }

    /// What is known of the tool of this name; `None` where the server does not list it.
    pub fn get(&self, name: &str) -> Option<Tool> {
        self.by_name.get(name).copied()
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
        if let Some(known) = self.by_name.get_mut(name) {
            known.is_listed &= tool.is_listed;
            known.visibility = known.visibility.and(tool.visibility);
            return;
        }
        self.bytes += name.len() + size_of::<(Box<str>, Tool)>();
        self.by_name.insert(name.into(), tool);
    }
}
