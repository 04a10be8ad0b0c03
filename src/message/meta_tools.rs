//! Meta-tools: tools behind which an aggregator hides its catalogue, as a deployer declares them.

use super::EntryKind;

/// The tools behind which an aggregator hides its catalogue: `list_tools`, `describe_tool`, `call_tool` and the like.
///
/// Such a server lists only a few tools of its own. The others are found in the *results* of these, as JSON text for a
/// model or as `structuredContent`, and run through one of them, which names the tool that is meant in its arguments.
/// No revision of MCP knows of this, so nothing is guessed: what is declared here (in
/// [`Settings`](crate::concern::Settings), so for every layer) is treated as if it stood where MCP has it:
///
/// - **Entries** in results are shown to all layers as those of `tools/list`, `resources/list` and `resources/read`:
///   filtered, normalised, held to a policy, restored. In a text that is JSON, only what is edited changes; all else
///   keeps its bytes.
/// - **Calls** are judged by the tool that their arguments name, too. A call that names it twice, in another case of
///   letters, or not at all is refused where a filter applies; so is one that calls a meta-tool through a meta-tool.
/// - **Unknown tools.** A call through a meta-tool of a tool that the catalogue does not have is refused as one of a hidden
///   tool: see [`Unlisted`]. Nor may a hidden tool be called by its own name, where the server runs it although
///   `tools/list` does not have it: such a name is looked up in the catalogue, too.
///
/// # What of a result is read
///
/// All texts in `content`, and `structuredContent`. Each must be one of these, or the result does not pass where a
/// filter applies (a model, an app, a [`policy`](crate::policy)): the caller gets an error with its own id.
///
/// - An array of entries, or of objects that have lists.
/// - An object with a list under the name that MCP has (`tools`, `resources`, `resourceTemplates`, `contents`),
///   `result` (as FastMCP wraps lists) or the name that was [declared](Self::list_named); also in objects or arrays within, up to
///   eight levels deep, such as one list for each server.
/// - An entry: an object with a `name` (of a resource its `uri`). Of a result that describes one, also as the member
///   `tool`, `resource`, `result`, or the one that was declared.
/// - A text that [was declared](Self::prose) to have no entries.
///
/// A text of [`get_resource`](Self::get_resource) that has no list of `contents` is the content itself. A result that
/// describes an entry which does not pass is answered as if there were none, and so is one that cannot be read: a
/// hidden tool looks like one that does not exist. Names in other members, such as counts and search hits without their
/// entries, are not looked for.
///
/// # Look-ups
///
/// Whether a tool is for the caller only the catalogue tells. It is asked in the caller's name, as `tools/list` is
/// ([`LookUp`](crate::concern::LookUp)): by `describe_tool` for the one name where that is declared, else by the list
/// that was declared first, without arguments. Where its text or `structuredContent` is an object with `nextCursor`
/// beside the list, as a page of MCP has it, the tool is called again with that as the argument `cursor`, page by page
/// to the end; where there is no end, the call that is judged is refused. The inner service sees these as calls of its
/// meta-tools.
///
/// Many aggregators leave out `_meta` of the tools that they list, and with it `visibility`: then everything is for
/// everybody, unless [`restore`](crate::restore) puts it back or
/// [`Visibility::tool`](crate::visibility::Visibility::tool) says it.
///
/// # Example
///
/// ```
/// use tower_mcp_apps::AppsLayer;
/// use tower_mcp_apps::concern::{MetaTools, Settings};
///
/// let meta_tools = MetaTools::new()
///     .list_tools("find-tools")
///     .call_tool("mcp-exec", "name");
/// let layer = AppsLayer::new().settings(Settings::new().meta_tools(meta_tools));
/// # drop(layer);
/// # drop(MetaTools::muster());
/// ```
#[derive(Clone, Debug, Default)]
pub struct MetaTools {
    tools: Vec<MetaTool>,
    members: Vec<Box<str>>,
    prose: Vec<Box<str>>,
    unlisted: Unlisted,
}

/// One of them.
#[derive(Clone, Debug)]
pub(crate) struct MetaTool {
    pub(crate) name: Box<str>,
    pub(crate) role: MetaRole,
    /// The argument that names what is meant.
    pub(crate) argument: Option<Box<str>>,
}

/// What a meta-tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetaRole {
    /// Lists entries of a kind: all, or those that are searched for.
    List(EntryKind),
    /// Describes the entry that its arguments name.
    Describe(EntryKind),
    /// Calls the tool that its arguments name.
    Call,
    /// Reads the resource that its arguments name.
    Read,
}

impl MetaRole {
    /// What its result has entries of.
    pub fn entries(self) -> Option<EntryKind> {
        match self {
            Self::List(kind) | Self::Describe(kind) => Some(kind),
            Self::Read => Some(EntryKind::Contents),
            Self::Call => None,
        }
    }
}

/// What becomes of a call through a meta-tool that names a tool which the catalogue does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Unlisted {
    /// It is refused as a call of a hidden tool. A name with a space behind it, or an alias, is another name to the
    /// catalogue and may be the same to the aggregator.
    #[default]
    Refuse,
    /// It goes on, as a call of an unknown tool does outside of meta-tools. For aggregators whose catalogue cannot be
    /// asked, such as those that only search: then only what is declared by
    /// [`Visibility::tool`](crate::visibility::Visibility::tool) holds.
    Forward,
}

impl MetaTools {
    /// None.
    pub const fn new() -> Self {
        Self { tools: Vec::new(), members: Vec::new(), prose: Vec::new(), unlisted: Unlisted::Refuse }
    }

    /// Those of [muster](https://github.com/giantswarm/muster): its tools and resources, with the searches among them.
    /// Its prompts are nobody's concern here.
    pub fn muster() -> Self {
        Self::new()
            .list_tools("list_tools")
            .list_tools("filter_tools")
            .list_tools("list_core_tools")
            .describe_tool("describe_tool", "name")
            .call_tool("call_tool", "name")
            .list_resources("list_resources")
            .list_resources("filter_resources")
            .describe_resource("describe_resource", "uri")
            .get_resource("get_resource", "uri")
            .prose("No tools available")
            .prose("No resources available")
    }

    /// A tool whose result lists tools: all of them, or those that a search found.
    #[must_use]
    pub fn list_tools(self, name: impl Into<Box<str>>) -> Self {
        self.with(name, MetaRole::List(EntryKind::Tool), None)
    }

    /// A tool whose result describes the tool that this argument names.
    #[must_use]
    pub fn describe_tool(self, name: impl Into<Box<str>>, argument: impl Into<Box<str>>) -> Self {
        self.with(name, MetaRole::Describe(EntryKind::Tool), Some(argument.into()))
    }

    /// A tool that calls the tool which this argument names.
    #[must_use]
    pub fn call_tool(self, name: impl Into<Box<str>>, argument: impl Into<Box<str>>) -> Self {
        self.with(name, MetaRole::Call, Some(argument.into()))
    }

    /// A tool whose result lists resources.
    #[must_use]
    pub fn list_resources(self, name: impl Into<Box<str>>) -> Self {
        self.with(name, MetaRole::List(EntryKind::Resource), None)
    }

    /// A tool whose result describes the resource that this argument names. What narrows the resources that an app may read
    /// ([`AppResources`](crate::visibility::AppResources)) holds for it, too.
    #[must_use]
    pub fn describe_resource(self, name: impl Into<Box<str>>, argument: impl Into<Box<str>>) -> Self {
        self.with(name, MetaRole::Describe(EntryKind::Resource), Some(argument.into()))
    }

    /// A tool that reads the resource which this argument names. What narrows the resources that an app may read
    /// ([`AppResources`](crate::visibility::AppResources)) holds for it, too.
    #[must_use]
    pub fn get_resource(self, name: impl Into<Box<str>>, argument: impl Into<Box<str>>) -> Self {
        self.with(name, MetaRole::Read, Some(argument.into()))
    }

    /// The name of a member that holds a list or, where one entry is described, the entry; beside those that
    /// are [always](Self) looked for.
    #[must_use]
    pub fn list_named(mut self, member: impl Into<Box<str>>) -> Self {
        self.members.push(member.into());
        self
    }

    /// Lets texts pass that are no JSON and begin so, such as "No tools available": there are no entries in them. With `""`
    /// every text passes that does not begin as an array or object does; then lists in prose or Markdown are not filtered.
    #[must_use]
    pub fn prose(mut self, beginning: impl Into<Box<str>>) -> Self {
        self.prose.push(beginning.into());
        self
    }

    /// Chooses what becomes of calls of tools that the catalogue does not have.
    #[must_use]
    pub fn unlisted(mut self, unlisted: Unlisted) -> Self {
        self.unlisted = unlisted;
        self
    }

    /// One that is declared twice is what was declared last.
    fn with(mut self, name: impl Into<Box<str>>, role: MetaRole, argument: Option<Box<str>>) -> Self {
        let name = name.into();
        self.tools.retain(|tool| tool.name != name);
        self.tools.push(MetaTool { name, role, argument });
        self
    }

    /// Whether none is declared.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The meta-tool that a call of this name may run. One that differs by white space around it or by case is another
    /// name to the catalogue, and may be the same to the aggregator.
    pub(crate) fn find(&self, name: &str) -> Option<&MetaTool> {
        let may_be_it = |tool: &&MetaTool| tool.name.trim().eq_ignore_ascii_case(name.trim());
        self.tools.iter().find(|tool| &*tool.name == name).or_else(|| self.tools.iter().find(may_be_it))
    }

    /// The tool that is asked whom another tool is for: one that describes it, or else one that lists all.
    pub(crate) fn catalogue(&self) -> Option<&MetaTool> {
        let with = |role| self.tools.iter().find(move |tool| tool.role == role);
        with(MetaRole::Describe(EntryKind::Tool)).or_else(|| with(MetaRole::List(EntryKind::Tool)))
    }

    pub(crate) fn refuses_unlisted(&self) -> bool {
        self.unlisted == Unlisted::Refuse
    }

    pub(super) fn has_member(&self, is: impl Fn(&str) -> bool) -> bool {
        self.members.iter().any(|member| is(member))
    }

    pub(super) fn is_prose(&self, text: &str) -> bool {
        self.prose.iter().any(|beginning| text.starts_with(&**beginning))
    }
}
