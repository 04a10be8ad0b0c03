//! What a deployer may choose about links.

/// What becomes of the deprecated flat key `_meta["ui/resourceUri"]` and the nested `_meta.ui.resourceUri`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FlatKey {
    /// The nested key is added where it is missing. A flat key that is there stays for old hosts, and follows the nested one.
    #[default]
    Add,
    /// Every linked tool has both keys, with the same value.
    Both,
    /// Every linked tool has the nested key alone.
    Strip,
    /// Nothing is changed.
    Keep,
}

/// Whether the keys of OpenAI's Apps SDK are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OpenAiKeys {
    /// They are not.
    #[default]
    Ignore,
    /// On tools, `openai/outputTemplate` gives a missing link, and `openai/visibility` and
    /// `openai/widgetAccessible` a missing visibility; on resources and contents, `openai/widgetCSP`,
    /// `openai/widgetDomain` and `openai/widgetPrefersBorder` give the missing `csp`, `domain` and `prefersBorder`.
    Read,
}

/// What clients get that cannot render UIs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Degradation {
    /// The same as all others.
    #[default]
    None,
    /// Only what they can use. Clients that did not declare MCP Apps get tools without UI metadata, and no client gets a link
    /// to a `ui://` page whose media type it did not declare: in a tool, a list of resources or templates, or the content of
    /// a result or a prompt, where the whole block goes, and with it a prompt's message that has no other. Where the link stands in
    /// the `_meta` of something else, such as a file's entry or block, the link alone goes. What says no type has the one that
    /// [`Pages`](super::Pages) gives it. Contents that are read stay: who asks for a page gets it.
    ///
    /// It goes by what the client declared, also where a deployer says that the client is a host. An app gets all.
    Strip,
}
