//! The layer.

use tower_layer::Layer;

use super::{Audit, Sink};
use crate::concern::{ConcernService, Settings};
use crate::exchange::AudienceSource;

/// Records who called what. See the [module docs](super).
#[derive(Clone, Debug)]
pub struct AuditLayer {
    concern: Audit,
    settings: Settings,
}

impl AuditLayer {
    /// Records go to this sink.
    pub fn new(sink: impl Sink) -> Self {
        Self { concern: Audit::new(sink), settings: Settings::new() }
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

impl<S> Layer<S> for AuditLayer {
    type Service = ConcernService<S, Audit>;

    fn layer(&self, inner: S) -> Self::Service {
        ConcernService::new(inner, self.concern.clone(), self.settings.clone())
    }
}
