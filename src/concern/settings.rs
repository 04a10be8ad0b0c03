//! What all layers let a deployer choose.

use std::fmt;
use std::sync::Arc;

use super::catalogue::LookUp;
use crate::exchange::{AudienceSource, Auto, EveryRequest, Limits, Predicate};
use crate::message::MetaTools;

/// What all layers let a deployer choose: which requests are MCP, how much is read, who answers are for.
///
/// Layers that are stacked should have the same:
///
/// ```
/// use tower::ServiceBuilder;
/// use tower_mcp_apps::concern::Settings;
/// use tower_mcp_apps::exchange::Limits;
/// use tower_mcp_apps::{negotiate::NegotiateLayer, visibility::VisibilityLayer};
///
/// let settings = Settings::new()
///     .predicate(|parts: &http::request::Parts| parts.uri.path() == "/mcp")
///     .limits(Limits::new().response_bytes(1 << 20));
/// let stack = ServiceBuilder::new()
///     .layer(VisibilityLayer::new().settings(settings.clone()))
///     .layer(NegotiateLayer::new().settings(settings));
/// # drop(stack);
/// ```
#[derive(Clone)]
pub struct Settings {
    pub(crate) predicate: Arc<dyn Predicate>,
    pub(crate) limits: Limits,
    pub(crate) audience: Arc<dyn AudienceSource>,
    pub(crate) look_up: LookUp,
    pub(crate) meta_tools: MetaTools,
    pub(crate) remembered_bytes: usize,
    /// Whether session ids carry tags. Not where nothing depends on what the client declared.
    pub(crate) tags: bool,
}

impl Settings {
    /// Every request is MCP, [`Limits::new`], the audience by [`Auto`], [`LookUp::new`], no [`MetaTools`], 4 MiB of lists remembered.
    pub fn new() -> Self {
        Self {
            predicate: Arc::new(EveryRequest),
            limits: Limits::new(),
            audience: Arc::new(Auto),
            look_up: LookUp::new(),
            meta_tools: MetaTools::new(),
            remembered_bytes: 4 << 20,
            tags: true,
        }
    }

    /// Chooses which requests are MCP.
    #[must_use]
    pub fn predicate(mut self, predicate: impl Predicate) -> Self {
        self.predicate = Arc::new(predicate);
        self
    }

    /// Bounds what is read.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Chooses how the audience of a request is known.
    #[must_use]
    pub fn audience(mut self, audience: impl AudienceSource) -> Self {
        self.audience = Arc::new(audience);
        self
    }

    /// Chooses how the inner service is asked for its tools, where a call must be judged.
    #[must_use]
    pub fn look_up(mut self, look_up: LookUp) -> Self {
        self.look_up = look_up;
        self
    }

    /// Declares the tools behind which the inner service hides its catalogue.
    #[must_use]
    pub fn meta_tools(mut self, meta_tools: MetaTools) -> Self {
        self.meta_tools = meta_tools;
        self
    }

    /// Bounds the bytes of lists that are remembered; 0 for none.
    ///
    /// A list of 1 KiB or more is kept for ten minutes, with what became of it: an equal one is then compared, not read again. All
    /// bytes but those of the id must be equal, and who asks must be of the same audience and have declared the same, so nobody gets
    /// anything that they would not get without. Only lists are kept, of up to a fourth of these bytes, and fewer where they never
    /// come again; no contents, no results of calls, and nothing where a [`Policy`](crate::policy::Policy) about more than pins, a
    /// [`Lint`](crate::lint::Lint), a [`Restore`](crate::restore::Restore), an app whose file is watched or one that is linked by a
    /// closure has to be shown each.
    ///
    /// The bound is that of each service which a layer makes; its clones share it. What is kept too long goes with the next list
    /// that is not known. Until then lists, and the declarations of those who asked, lie in memory as they came.
    #[must_use]
    pub fn remembered_bytes(mut self, bytes: usize) -> Self {
        self.remembered_bytes = bytes;
        self
    }

    /// Leaves session ids as they are.
    pub(crate) fn without_tags(mut self) -> Self {
        self.tags = false;
        self
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("limits", &self.limits).finish_non_exhaustive()
    }
}
