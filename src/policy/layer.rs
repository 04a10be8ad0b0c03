//! The layer.

use tower_layer::Layer;

use super::Policy;
use crate::concern::{ConcernService, Settings};

/// Holds UI declarations to a [`Policy`]. See the [module docs](super).
#[derive(Clone, Debug, Default)]
pub struct PolicyLayer {
    policy: Policy,
    settings: Settings,
}

impl PolicyLayer {
    /// With this policy.
    pub fn new(policy: Policy) -> Self {
        Self { policy, settings: Settings::new() }
    }

    /// Chooses what holds for all concerns.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }
}

impl<S> Layer<S> for PolicyLayer {
    type Service = ConcernService<S, Policy>;

    fn layer(&self, inner: S) -> Self::Service {
        ConcernService::new(inner, self.policy.clone(), self.settings.clone())
    }
}
