//! Who an answer is for.

use std::fmt;
use std::str::FromStr;

/// Who will read an answer, and so which tools it may name (MCP Apps, "Resource Discovery", Visibility).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Audience {
    /// A host that knows MCP Apps: it gets everything and filters for its own agent.
    Host,
    /// A model, or a client that hands every tool to one: only tools whose visibility has `"model"`.
    Model,
    /// An app in its sandbox: only tools whose visibility has `"app"`.
    App,
}

impl Audience {
    /// The lower-case name, as it stands in a trusted header or a flag.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Model => "model",
            Self::App => "app",
        }
    }
}

impl fmt::Display for Audience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text is none of `host`, `model` and `app`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownAudience;

impl fmt::Display for UnknownAudience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an audience is one of host, model and app")
    }
}

impl std::error::Error for UnknownAudience {}

impl FromStr for Audience {
    type Err = UnknownAudience;

    fn from_str(text: &str) -> Result<Self, UnknownAudience> {
        match text {
            "host" => Ok(Self::Host),
            "model" => Ok(Self::Model),
            "app" => Ok(Self::App),
            _ => Err(UnknownAudience),
        }
    }
}
