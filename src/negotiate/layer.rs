//! The layer.

use super::{Advertise, ClientCapabilities, ExtensionSet, Negotiate};
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

    /// Does not advertise MCP Apps of its own accord.
    #[must_use]
    pub fn without_advertising(mut self) -> Self {
        self.concern = self.concern.without_advertising();
        self
    }

    /// Advertises these extensions, too. See [`Negotiate::advertise`].
    #[must_use]
    pub fn advertise(mut self, extensions: &ExtensionSet) -> Self {
        self.concern = self.concern.advertise(extensions);
        self
    }

    /// Advertises the extension with this identifier no more, whoever says it; may be repeated.
    #[must_use]
    pub fn withhold(mut self, identifier: impl Into<Box<str>>) -> Self {
        self.concern = self.concern.withhold(identifier);
        self
    }

    /// Chooses for each request what is advertised. See [`Advertise`].
    #[must_use]
    pub fn advertise_by(mut self, advertise: impl Advertise) -> Self {
        self.concern = self.concern.advertise_by(advertise);
        self
    }

    /// Chooses what the server hears of the client's capabilities. See the [module docs](super#capabilities-of-the-client).
    #[must_use]
    pub fn client_capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.concern = self.concern.client_capabilities(capabilities);
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
