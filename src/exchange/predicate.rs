//! Which requests are MCP.

use http::request::Parts;

/// Chooses, from a request's head, whether it is MCP and so ours. Requests that are not pass untouched.
///
/// The default is [`EveryRequest`]: put the layers on the MCP route only. Closures implement the trait.
///
/// ```
/// use tower_mcp_apps::AppsLayer;
///
/// let layer = AppsLayer::new().predicate(|parts: &http::request::Parts| parts.uri.path() == "/mcp");
/// # drop(layer);
/// ```
pub trait Predicate: Send + Sync + 'static {
    /// Whether the request is MCP. Asked once for each request, before anything of it is read.
    fn is_mcp(&self, parts: &Parts) -> bool;
}

impl<F> Predicate for F
where
    F: Fn(&Parts) -> bool + Send + Sync + 'static,
{
    fn is_mcp(&self, parts: &Parts) -> bool {
        self(parts)
    }
}

/// Every request is MCP.
#[derive(Clone, Copy, Debug, Default)]
pub struct EveryRequest;

impl Predicate for EveryRequest {
    fn is_mcp(&self, _: &Parts) -> bool {
        true
    }
}
