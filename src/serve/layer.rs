//! The layer.

use super::{App, Serve, TextFallback};
use crate::concern::{Settings, layer_of};

/// Gives UIs to a server that has none. See the [module docs](super).
#[derive(Clone, Debug, Default)]
pub struct ServeLayer {
    concern: Serve,
    settings: Settings,
}

impl ServeLayer {
    /// Without an app, and with [`TextFallback::Off`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers an app. One that is registered under the same URI goes.
    #[must_use]
    pub fn app(mut self, app: App) -> Self {
        self.concern = self.concern.app(app);
        self
    }

    /// Chooses whether tool results get a text.
    #[must_use]
    pub fn text_fallback(mut self, fallback: TextFallback) -> Self {
        self.concern = self.concern.text_fallback(fallback);
        self
    }
}

layer_of!(ServeLayer, Serve);
