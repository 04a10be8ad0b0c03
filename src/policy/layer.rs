//! The layer.

use super::Policy;
use crate::concern::{Settings, layer_of};

/// Holds UI declarations to a [`Policy`]. See the [module docs](super).
#[derive(Clone, Debug, Default)]
pub struct PolicyLayer {
    concern: Policy,
    settings: Settings,
}

impl PolicyLayer {
    /// With this policy.
    pub fn new(policy: Policy) -> Self {
        Self { concern: policy, settings: Settings::new() }
    }
}

layer_of!(PolicyLayer, Policy);
