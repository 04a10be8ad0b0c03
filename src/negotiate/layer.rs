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
}

layer_of!(NegotiateLayer, Negotiate);
