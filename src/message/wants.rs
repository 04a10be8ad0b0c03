//! What of an answer somebody looks at.

use std::ops::{BitOr, BitOrAssign};

/// A set of the parts of an answer that a concern looks at, and what it promises about them.
///
/// An answer of which nobody wants anything is neither read nor buffered.
///
/// ```
/// use tower_mcp_apps::message::Wants;
///
/// let filter = Wants::TOOLS | Wants::ENFORCED;
/// assert!((filter | Wants::CAPABILITIES).has(Wants::ENFORCED));
/// assert!(filter.when(false).is_nothing());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants(u16);

impl Wants {
    /// Nothing: the answer passes as it comes.
    pub const NOTHING: Self = Self(0);
    /// The entries of `tools`.
    pub const TOOLS: Self = Self(1);
    /// The entries of `resources`.
    pub const RESOURCES: Self = Self(1 << 1);
    /// The entries of `resourceTemplates`.
    pub const TEMPLATES: Self = Self(1 << 2);
    /// The items of `contents`.
    pub const CONTENTS: Self = Self(1 << 3);
    /// The server's `capabilities`.
    pub const CAPABILITIES: Self = Self(1 << 4);
    /// What is left depends on the caller: a shared cache must not keep it. Modern lists and capabilities that say nothing
    /// of it get `"cacheScope":"private"`, any other scope becomes it (MCP 2026-07-28, "Caching").
    pub const PRIVATE: Self = Self(1 << 5);
    /// A filter applies: what cannot be read must not pass.
    pub const ENFORCED: Self = Self(1 << 6);
    /// That the server tells of changed tools. Only event streams are looked into for it.
    pub const NOTICES: Self = Self(1 << 7);
    /// That the server does not know the method: a result may take the place of its error.
    pub const UNKNOWN_METHOD: Self = Self(1 << 8);
    /// The `content` of a tool's result.
    pub const CALL_RESULT: Self = Self(1 << 9);
    /// The entries of `prompts`.
    pub const PROMPTS: Self = Self(1 << 10);
    /// What points to resources outside of lists: links and embedded resources among content blocks, also in the result of a
    /// task; the `_meta` of results and blocks; the URI that an error is about.
    pub const LINKS: Self = Self(1 << 11);
    /// The URIs in notifications, and the links in results of tasks there.
    pub const UPDATES: Self = Self(1 << 12);
    /// The text of the whole message, to read and not to edit.
    pub const WHOLE: Self = Self(1 << 13);

    /// What only event streams have.
    pub(crate) const OF_EVENTS: Self = Self(Self::NOTICES.0 | Self::UPDATES.0);

    /// Whether an answer must be read whole or edited, beyond a look at the events that pass.
    pub fn needs_reading(self) -> bool {
        self.0 & !Self::OF_EVENTS.0 != 0
    }

    /// What is wanted of the result of a meta-tool, if this is wanted of any call's, and that of the list of its entries.
    /// The result is not a list's, and its texts are not to be made out of what is filtered.
    pub(crate) fn of_meta_tool(self, list: Self) -> Self {
        const NOT_OF_LISTS: u16 = Wants::PRIVATE.0 | Wants::CAPABILITIES.0 | Wants::UNKNOWN_METHOD.0;
        Self((self.0 & !Self::CALL_RESULT.0) | (list.0 & !NOT_OF_LISTS))
    }

    /// Whether any member of `other` is in the set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether the set is empty.
    pub fn is_nothing(self) -> bool {
        self == Self::NOTHING
    }

    /// The set if the condition holds, else nothing.
    #[must_use]
    pub fn when(self, condition: bool) -> Self {
        if condition { self } else { Self::NOTHING }
    }
}

impl BitOr for Wants {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Wants {
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}
