//! What a deployer may choose about what is served.

/// Who may keep an answer of the modern era (MCP 2026-07-28, "Caching").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CacheScope {
    /// The caller alone.
    #[default]
    Private,
    /// Caches that serve others, too.
    Public,
}

impl CacheScope {
    /// The value of `cacheScope`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Public => "public",
        }
    }
}

/// Whether tool results get a text for those who see no UI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TextFallback {
    /// They stay as they are.
    #[default]
    Off,
    /// A result that has `structuredContent`, and `content` without an item or none, gets the JSON of the one as the text
    /// of the other, as servers should do themselves (MCP 2025-11-25, "Structured Content"). Every client gets it.
    /// To see to it, answers to `tools/call` are read: a JSON answer waits until it is whole.
    StructuredContent,
}
