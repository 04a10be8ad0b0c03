//! What a deployer may choose: the lists that rules are about, and what becomes of a violation.

use std::fmt;

use crate::protocol::InvalidOrigin;
use crate::ui::Directive;

/// What a rule of a [`Policy`](super::Policy) is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum List {
    /// `csp.connectDomains`: what scripts may reach. A rule is an origin, `scheme://*.` and a host for its
    /// subdomains, or the name of a scheme with its colon, such as `wss:` or `data:`.
    Connect,
    /// `csp.resourceDomains`: where scripts, styles, images, fonts and media come from. Rules as for [`List::Connect`].
    Resource,
    /// `csp.frameDomains`: what may be framed. Rules as for [`List::Connect`].
    Frame,
    /// `csp.baseUriDomains`: what relative URLs may be relative to. Rules as for [`List::Connect`].
    BaseUri,
    /// `linkTrustedDomains`: where links lead without the user being asked (proposed for MCP Apps). Rules as for
    /// [`List::Connect`].
    LinkTrusted,
    /// `permissions`: what the browser is asked for. A rule is a name such as `clipboardWrite`, compared exactly.
    Permissions,
    /// `domain`: the host name that the sandbox gets. A rule is a host name, or `*.` and one for its subdomains.
    Domain,
    /// `mimeType` of resources whose URI begins with `ui://`. A rule is a media type, and stands for its narrower
    /// forms, too.
    MediaTypes,
}

impl List {
    pub(super) const COUNT: usize = 8;

    /// The name of the member that the rules are about.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Connect => Directive::Connect.as_str(),
            Self::Resource => Directive::Resource.as_str(),
            Self::Frame => Directive::Frame.as_str(),
            Self::BaseUri => Directive::BaseUri.as_str(),
            Self::LinkTrusted => "linkTrustedDomains",
            Self::Permissions => "permissions",
            Self::Domain => "domain",
            Self::MediaTypes => "mimeType",
        }
    }

    /// The lists whose entries are sources.
    pub(super) const OF_SOURCES: [Self; 5] =
        [Self::Connect, Self::Resource, Self::Frame, Self::BaseUri, Self::LinkTrusted];
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What becomes of a declaration that is not within the policy. In every case a `tracing` event tells of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnViolation {
    /// What is not allowed is taken out, the rest stays. Content that cannot be shown at all (another media type,
    /// not what was pinned, unreadable) is answered with a JSON-RPC error.
    #[default]
    Restrict,
    /// A JSON-RPC error takes the place of the answer, be it one resource or a whole list.
    Refuse,
    /// Nothing is changed.
    Report,
}

/// What becomes of members of `csp` that this crate does not know, and so can have no rules for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum UnknownDirectives {
    /// They stay.
    #[default]
    Keep,
    /// They are violations.
    Drop,
}

/// A text that is no rule for its list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidRule {
    pub(super) list: List,
    pub(super) rule: String,
    pub(super) fault: Fault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Source(InvalidOrigin),
    Empty,
    Domain,
    MediaType,
}

impl InvalidRule {
    /// The list that it was for.
    pub fn list(&self) -> List {
        self.list
    }

    /// The text.
    pub fn rule(&self) -> &str {
        &self.rule
    }
}

impl fmt::Display for InvalidRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is no rule for {}: ", self.rule, self.list)?;
        match self.fault {
            Fault::Source(why) => write!(f, "{why}"),
            Fault::Empty => f.write_str("a name is not empty"),
            Fault::Domain => f.write_str("it is neither a host name nor *. and one"),
            Fault::MediaType => f.write_str("it is no media type"),
        }
    }
}

impl std::error::Error for InvalidRule {}
