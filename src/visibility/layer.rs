//! The layer.

use http::StatusCode;

use super::{AppResources, Visibility};
use crate::concern::{LookUp, Settings, layer_of};
use crate::protocol::Audience;

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

    /// Declares whom a tool is for. See [`Visibility::tool`].
    #[must_use]
    pub fn tool(mut self, name: impl Into<Box<str>>, audiences: impl IntoIterator<Item = Audience>) -> Self {
        self.concern = self.concern.tool(name, audiences);
        self
    }

    /// Chooses which resources an app may read.
    #[must_use]
    pub fn app_resources(mut self, resources: AppResources) -> Self {
        self.concern = self.concern.app_resources(resources);
        self
    }

    /// Chooses the answer to a call of a hidden tool. See [`Visibility::refusal`].
    #[must_use]
    pub fn refusal(mut self, status: StatusCode, code: i32) -> Self {
        self.concern = self.concern.refusal(status, code);
        self
    }

    /// Chooses how the inner service is asked for its tools, where a call must be judged.
    #[must_use]
    pub fn look_up(mut self, look_up: LookUp) -> Self {
        self.settings = self.settings.look_up(look_up);
        self
    }
}

layer_of!(VisibilityLayer, Visibility);
