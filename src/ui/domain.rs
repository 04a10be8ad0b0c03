//! `_meta.ui.domain`: the name that a UI's sandbox wants.

use std::fmt;

use crate::protocol::{checked_text, host, is_address};

/// A dedicated domain for the sandbox of a UI (MCP Apps, "UI Resource Format", `domain`).
///
/// Which names a host accepts is for that host to say. Here it is a host name in lower case without anything around it:
/// no scheme, port or path, no wildcard, no address.
///
/// ```
/// use tower_mcp_apps::ui::SandboxDomain;
///
/// assert!(SandboxDomain::try_from("a904794854a047f6.claudemcpcontent.com").is_ok());
/// assert!(SandboxDomain::try_from("https://www-example-com.oaiusercontent.com").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SandboxDomain {
    text: String,
}

impl SandboxDomain {
    fn parse(text: &str) -> Result<Self, InvalidDomain> {
        if text.contains("://") {
            return Err(InvalidDomain::Scheme);
        }
        let text = host(text).filter(|name| !is_address(name)).ok_or(InvalidDomain::Name)?;
        Ok(Self { text })
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

checked_text!(SandboxDomain, InvalidDomain);

/// Why a text is no [`SandboxDomain`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InvalidDomain {
    /// It has a scheme: it is an origin or a URL.
    Scheme,
    /// It is no host name.
    Name,
}

impl fmt::Display for InvalidDomain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scheme => "a sandbox domain has no scheme",
            Self::Name => "a sandbox domain is a host name and nothing more",
        })
    }
}

impl std::error::Error for InvalidDomain {}
