//! The layer.

use super::{Findings, Lint, Rule};
use crate::concern::{Settings, layer_of};

/// Tells what is wrong with what a server says about its UIs. See the [module docs](super).
#[derive(Clone, Debug, Default)]
pub struct LintLayer {
    concern: Lint,
    settings: Settings,
}

impl LintLayer {
    /// Findings go here.
    pub fn new(findings: impl Findings) -> Self {
        Self { concern: Lint::new(findings), settings: Settings::new() }
    }

    /// Findings go here, too.
    #[must_use]
    pub fn also(mut self, findings: impl Findings) -> Self {
        self.concern = self.concern.also(findings);
        self
    }

    /// Does not tell of what is against this rule. See [`Lint::allow`].
    #[must_use]
    pub fn allow(mut self, rule: Rule) -> Self {
        self.concern = self.concern.allow(rule);
        self
    }
}

layer_of!(LintLayer, Lint);
