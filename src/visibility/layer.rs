//! The layer.

use tower_layer::Layer;

use super::Visibility;
use crate::concern::{ConcernService, Settings};
use crate::exchange::AudienceSource;

/// Keeps each tool to those it is for. See the [module docs](super).
#[derive(Clone, Debug, Default)]
pub struct VisibilityLayer {
    concern: Visibility,
    settings: Settings,
}

impl VisibilityLayer {
    /// With the audience by [`Auto`](crate::exchange::Auto).
    pub fn new() -> Self {
        Self::default()
    }

    /// Chooses how the audience of a request is known.
    #[must_use]
    pub fn audience(mut self, audience: impl AudienceSource) -> Self {
        self.settings = self.settings.audience(audience);
        self
    }

    /// Chooses what holds for all concerns.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }
}

impl<S> Layer<S> for VisibilityLayer {
    type Service = ConcernService<S, Visibility>;

    fn layer(&self, inner: S) -> Self::Service {
        ConcernService::new(inner, self.concern.clone(), self.settings.clone())
    }
}
