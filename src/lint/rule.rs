//! What a finding is about.

use std::fmt;

/// What a [`Finding`](super::Finding) is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// `csp` and what else belongs to resources stands on a tool, or a link or visibility on a resource: no host looks
    /// for it there.
    Misplaced,
    /// A tool's link stands only under the deprecated flat key `ui/resourceUri`.
    FlatKeyAlone,
    /// The deprecated flat key has another link than `ui.resourceUri`.
    FlatKeyDiffers,
    /// Metadata stands under `_meta["io.modelcontextprotocol/ui"]`, which is the name of the extension, and not under `ui`.
    ExtensionKey,
    /// A link is no URI of a UI, or one that parsers read differently.
    Link,
    /// A source of a `csp` directive is none that may stand there.
    Source,
    /// `domain` is no host name: it has a scheme, a port or a path.
    Domain,
    /// A value is of another kind than it should be, such as a text in the place of a list.
    Shape,
    /// MCP Apps has no such member or value. It may be misspelt.
    Unknown,
    /// A member stands twice, so readers may differ about the entry.
    Duplicate,
    /// A resource under `ui://` has another media type than `text/html;profile=mcp-app`, such as plain `text/html`.
    MediaType,
    /// A tool's result has no item of `content`: a model, and a client without UIs, gets nothing of it.
    EmptyContent,
    /// A tool's link differs from the URI that is listed by case or encoding alone. Hosts compare them as they stand. Found
    /// by comparing lists only: see the [module docs](super).
    LinkSpelling,
    /// What is linked, or listed under `ui://`, cannot be read. Found by reading it only: see the [module docs](super).
    NotReadable,
}

impl Rule {
    /// The name in logs, in snake case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Misplaced => "misplaced",
            Self::FlatKeyAlone => "flat_key_alone",
            Self::FlatKeyDiffers => "flat_key_differs",
            Self::ExtensionKey => "extension_key",
            Self::Link => "link",
            Self::Source => "source",
            Self::Domain => "domain",
            Self::Shape => "shape",
            Self::Unknown => "unknown",
            Self::Duplicate => "duplicate",
            Self::MediaType => "media_type",
            Self::EmptyContent => "empty_content",
            Self::LinkSpelling => "link_spelling",
            Self::NotReadable => "not_readable",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
