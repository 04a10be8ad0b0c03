//! What an aggregator makes of an upstream's names and URIs, and the way back.

use std::borrow::Cow;

use crate::protocol::Namespace;

/// What an aggregator makes of one upstream's names and URIs, and the way back.
///
/// [`Namespace`] is one, for aggregators that put a prefix in front of names and URIs; [`Unchanged`] is one, and [`NamesOnly`].
/// For any other, say what the aggregator does:
///
/// ```
/// use std::borrow::Cow;
/// use tower_mcp_apps::restore::Renaming;
///
/// /// `show` becomes `maps-show`, `file:///x` becomes `mcp://maps/file:///x`.
/// struct Dashed;
///
/// impl Renaming for Dashed {
///     fn tool<'n>(&self, name: &'n str) -> Option<Cow<'n, str>> {
///         name.strip_prefix("maps-").map(Cow::Borrowed)
///     }
///     fn resource<'n>(&self, uri: &'n str) -> Option<Cow<'n, str>> {
///         uri.strip_prefix("mcp://maps/").map(Cow::Borrowed)
///     }
///     fn link(&self, uri: &str) -> Option<String> {
///         Some(format!("mcp://maps/{uri}"))
///     }
/// }
/// # assert_eq!(Dashed.tool("maps-show").as_deref(), Some("show"));
/// ```
pub trait Renaming: Send + Sync + 'static {
    /// The upstream's own name of the tool that the aggregator calls so; `None` where it is not this upstream's.
    fn tool<'n>(&self, name: &'n str) -> Option<Cow<'n, str>>;

    /// The upstream's own URI, or URI template, of what the aggregator calls so; `None` where it is not this upstream's.
    fn resource<'n>(&self, uri: &'n str) -> Option<Cow<'n, str>>;

    /// The aggregator's URI of the resource that the upstream calls so, for links in what is put back. `None` where the aggregator does
    /// not have it: then the link is not put back.
    fn link(&self, uri: &str) -> Option<String>;
}

impl Renaming for Namespace {
    fn tool<'n>(&self, name: &'n str) -> Option<Cow<'n, str>> {
        self.strip_name(name).map(Cow::Borrowed)
    }

    fn resource<'n>(&self, uri: &'n str) -> Option<Cow<'n, str>> {
        self.strip_uri(uri)
    }

    fn link(&self, uri: &str) -> Option<String> {
        Some(self.add_to_uri(uri))
    }
}

/// Names and URIs are the upstream's own.
///
/// All tools are then taken for this upstream's. Those of the aggregator's own, of which no upstream said anything, are hidden by
/// default: see [`Unknown`](super::Unknown).
#[derive(Clone, Copy, Debug, Default)]
pub struct Unchanged;

impl Renaming for Unchanged {
    fn tool<'n>(&self, name: &'n str) -> Option<Cow<'n, str>> {
        Some(Cow::Borrowed(name))
    }

    fn resource<'n>(&self, uri: &'n str) -> Option<Cow<'n, str>> {
        Some(Cow::Borrowed(uri))
    }

    fn link(&self, uri: &str) -> Option<String> {
        Some(uri.to_owned())
    }
}

/// Names of tools are changed as this says, URIs are the upstream's own.
#[derive(Clone, Copy, Debug, Default)]
pub struct NamesOnly<R>(pub R);

impl<R: Renaming> Renaming for NamesOnly<R> {
    fn tool<'n>(&self, name: &'n str) -> Option<Cow<'n, str>> {
        self.0.tool(name)
    }

    fn resource<'n>(&self, uri: &'n str) -> Option<Cow<'n, str>> {
        Unchanged.resource(uri)
    }

    fn link(&self, uri: &str) -> Option<String> {
        Unchanged.link(uri)
    }
}
