//! The layer.

use super::{Audit, Sink};
use crate::concern::{Settings, layer_of};

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
}

layer_of!(AuditLayer, Audit);
