//! The layer.

use super::Negotiate;
use crate::concern::{Settings, layer_of};

/// Advertises MCP Apps for a server that can serve UIs. See the [module docs](super).
#[derive(Clone, Debug, Default)]
pub struct NegotiateLayer {
    concern: Negotiate,
    settings: Settings,
}

impl NegotiateLayer {
    /// Advertises MCP Apps with `text/html;profile=mcp-app`.
    pub fn new() -> Self {
        Self::default()
    }

    /// Does not advertise MCP Apps: the server's capabilities stay as they are.
    #[must_use]
    pub fn without_advertising(mut self) -> Self {
        self.concern = self.concern.without_advertising();
        self
    }

    /// Requires that the client declared the extension with this identifier; may be repeated. See the
    /// [module docs](super#required-extensions).
    #[must_use]
    pub fn require(mut self, identifier: impl Into<Box<str>>) -> Self {
        self.concern = self.concern.require(identifier);
        self
    }
}

layer_of!(NegotiateLayer, Negotiate);
