//! The layer.

use tower_layer::Layer;

use super::Negotiate;
use crate::concern::{ConcernService, Settings};

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

    /// Chooses what holds for all concerns.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }
}

impl<S> Layer<S> for NegotiateLayer {
    type Service = ConcernService<S, Negotiate>;

    fn layer(&self, inner: S) -> Self::Service {
        ConcernService::new(inner, self.concern.clone(), self.settings.clone())
    }
}
