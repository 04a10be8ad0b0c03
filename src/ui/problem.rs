//! What a lenient parser found odd, and where.

use std::fmt;

use super::csp::SourceFault;
use super::domain::InvalidDomain;
use crate::protocol::InvalidUiUri;

/// What could be read of foreign metadata, and what was odd about it.
///
/// What is odd is left out, which never gives a UI more than it had: a source that cannot be read is no source, a
/// `visibility` that cannot be read is nobody's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed<T> {
    /// What could be read.
    pub value: T,
    /// What was odd; empty for metadata that follows the specification.
    pub problems: Vec<Problem>,
}

/// One thing that is odd about metadata.
///
/// Its text is safe to print: what the metadata says stands in it with its control characters escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub(super) path: String,
    pub(super) kind: ProblemKind,
}

impl Problem {
    /// Where it is, as in `_meta.ui.csp.connectDomains[1]`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What it is.
    pub fn kind(&self) -> &ProblemKind {
        &self.kind
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.kind)
    }
}

/// What can be odd about metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProblemKind {
    /// It should be an object. It counts as absent.
    NotAnObject,
    /// It should be an array. A list of sources counts as absent, a `visibility` as empty.
    NotAnArray,
    /// It should be a string. It counts as absent.
    NotAString,
    /// It should be `true` or `false`. It counts as absent.
    NotABoolean,
    /// MCP Apps has no such member or value. It is not looked at.
    Unknown,
    /// It belongs to resources, and this is a tool, or the reverse. It is not looked at.
    Misplaced,
    /// The link stands only under the deprecated flat key. It is taken.
    FlatKeyAlone,
    /// The deprecated flat key has another link than the nested one, which wins.
    FlatKeyDiffers,
    /// Metadata stands under the name of the extension instead of `ui`. It is not looked at.
    ExtensionKey,
    /// The link is no [`UiUri`](crate::protocol::UiUri). It is taken as it stands if it begins with `ui://`.
    Link {
        /// The link.
        uri: String,
        /// What is wrong with it.
        fault: InvalidUiUri,
    },
    /// A source may not stand here. It is left out.
    Source {
        /// The source.
        source: String,
        /// What is wrong with it.
        fault: SourceFault,
    },
    /// The sandbox domain is no [`SandboxDomain`](super::SandboxDomain). It counts as absent.
    Domain {
        /// The domain.
        domain: String,
        /// What is wrong with it.
        fault: InvalidDomain,
    },
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAnObject => "should be an object",
            Self::NotAnArray => "should be an array",
            Self::NotAString => "should be a string",
            Self::NotABoolean => "should be true or false",
            Self::Unknown => "is not known to MCP Apps",
            Self::Misplaced => "has no meaning here: links and visibility belong to tools, all else to resources",
            Self::FlatKeyAlone => "is deprecated: the link belongs in ui.resourceUri",
            Self::FlatKeyDiffers => "is deprecated and differs from ui.resourceUri",
            Self::ExtensionKey => "is the name of the extension: metadata belongs in ui",
            Self::Link { uri, fault } => return write!(f, "{uri:?}: {fault}"),
            Self::Source { source, fault } => return write!(f, "{source:?}: {fault}"),
            Self::Domain { domain, fault } => return write!(f, "{domain:?}: {fault}"),
        })
    }
}
