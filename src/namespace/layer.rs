//! The layer.

use super::Namespace;
use crate::concern::{Settings, layer_of};

/// Puts a prefix in front of a server's names and URIs, and takes it off on the way back. See the [module docs](super).
#[derive(Clone, Debug)]
pub struct NamespaceLayer {
    concern: Namespace,
    settings: Settings,
}

impl NamespaceLayer {
    /// With this prefix.
    pub fn new(namespace: Namespace) -> Self {
        Self { concern: namespace, settings: Settings::new() }
    }
}

layer_of!(NamespaceLayer, Namespace);
