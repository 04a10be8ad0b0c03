//! The layer.

use super::{Degradation, FlatKey, Normalize, OpenAiKeys, Pages};
use crate::concern::{Settings, layer_of};

/// Repairs how tools point at their UI. See the [module docs](super).
#[derive(Clone, Debug, Default)]
pub struct NormalizeLayer {
    concern: Normalize,
    settings: Settings,
}

impl NormalizeLayer {
    /// With [`FlatKey::Add`] and [`OpenAiKeys::Ignore`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Chooses what becomes of the flat key.
    #[must_use]
    pub fn flat_key(mut self, flat_key: FlatKey) -> Self {
        self.concern = self.concern.flat_key(flat_key);
        self
    }

    /// Chooses whether OpenAI's keys are read.
    #[must_use]
    pub fn openai_keys(mut self, openai_keys: OpenAiKeys) -> Self {
        self.concern = self.concern.openai_keys(openai_keys);
        self
    }

    /// Chooses what clients get that cannot render UIs.
    #[must_use]
    pub fn degradation(mut self, degradation: Degradation) -> Self {
        self.concern = self.concern.degradation(degradation);
        self
    }

    /// Says which media types the server's pages have, where a degradation depends on it.
    #[must_use]
    pub fn pages(mut self, pages: Pages) -> Self {
        self.concern = self.concern.pages(pages);
        self
    }
}

layer_of!(NormalizeLayer, Normalize);
