//! Which tools point at an app.

use std::fmt;
use std::sync::Arc;

/// Tools that point at an app.
#[derive(Clone)]
pub(super) enum Link {
    Name(Box<str>),
    Where(Arc<dyn Fn(&str) -> bool + Send + Sync>),
}

/// How a tool came to be linked, the weaker first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// A predicate holds for its name.
    Matched,
    /// The deployer named it.
    Named,
}

impl Link {
    pub(super) fn strength(&self, tool: &str) -> Option<Strength> {
        match self {
            Self::Name(name) => (**name == *tool).then_some(Strength::Named),
            Self::Where(holds) => holds(tool).then_some(Strength::Matched),
        }
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.debug_tuple("Name").field(name).finish(),
            Self::Where(_) => f.write_str("Where(..)"),
        }
    }
}
