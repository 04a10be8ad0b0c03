//! The layers.

use std::time::Duration;

use tower_layer::Layer;

use super::{Capture, Credentials, Renaming, Restore, Store, Unknown};
use crate::concern::{ConcernService, Settings, layer_of, settings_of};
use crate::exchange::Limits;
use crate::message::EntryKind;

/// Remembers what an upstream says: around an aggregator's client of that upstream. See the [module docs](super).
///
/// Of requests nothing is changed but `Accept-Encoding`, which becomes `identity` where the answer is read; of answers nothing.
/// A JSON answer that is read is handed on once it is complete. The settings are those of all layers, but requests are not
/// limited: what the aggregator sends it has in memory already.
#[derive(Clone, Debug)]
pub struct CaptureLayer {
    concern: Capture,
    settings: Settings,
}

impl CaptureLayer {
    /// Remembers in this store what the upstream of this name says.
    pub fn new(upstream: impl Into<String>, store: impl Store) -> Self {
        let settings = Settings::new().limits(Limits::new().request_bytes(usize::MAX));
        Self { concern: Capture::new(upstream, store), settings }
    }

    /// Chooses how callers are told apart. See [`Credentials`].
    #[must_use]
    pub fn credentials(mut self, credentials: Credentials) -> Self {
        self.concern = self.concern.credentials(credentials);
        self
    }

    /// The least time for which what was said is fresh. See [`Capture::at_least`].
    #[must_use]
    pub fn at_least(mut self, time: Duration) -> Self {
        self.concern = self.concern.at_least(time);
        self
    }

    /// The time for which what was said is fresh where the upstream says nothing. See [`Capture::where_unsaid`].
    #[must_use]
    pub fn where_unsaid(mut self, time: Duration) -> Self {
        self.concern = self.concern.where_unsaid(time);
        self
    }
}

settings_of!(CaptureLayer);

impl<S> Layer<S> for CaptureLayer {
    type Service = ConcernService<S, Capture>;

    fn layer(&self, inner: S) -> Self::Service {
        // An upstream's sessions are the aggregator's affair.
        ConcernService::new(inner, self.concern.clone(), self.settings.clone().without_tags())
    }
}

/// Puts back what an upstream said and the aggregator lost: in front of the aggregator. See the [module docs](super).
#[derive(Clone, Debug)]
pub struct RestoreLayer {
    concern: Restore,
    settings: Settings,
}

impl RestoreLayer {
    /// Puts back what this store remembers.
    pub fn new(store: impl Store) -> Self {
        Self { concern: Restore::new(store), settings: Settings::new() }
    }

    /// Adds an upstream, with what the aggregator makes of its names. See [`Restore::upstream`].
    #[must_use]
    pub fn upstream(mut self, name: impl Into<String>, renaming: impl Renaming) -> Self {
        self.concern = self.concern.upstream(name, renaming);
        self
    }

    /// Adds an upstream whose callers are told apart like this. See [`Credentials`].
    #[must_use]
    pub fn upstream_with(mut self, name: impl Into<String>, renaming: impl Renaming, credentials: Credentials) -> Self {
        self.concern = self.concern.upstream_with(name, renaming, credentials);
        self
    }

    /// Chooses what becomes of a tool of an upstream of which nothing is remembered.
    #[must_use]
    pub fn unknown(mut self, unknown: Unknown) -> Self {
        self.concern = self.concern.unknown(unknown);
        self
    }

    /// Chooses which members are put back. See [`Restore::members`].
    #[must_use]
    pub fn members(mut self, restores: impl Fn(EntryKind, &[&str]) -> bool + Send + Sync + 'static) -> Self {
        self.concern = self.concern.members(restores);
        self
    }
}

layer_of!(RestoreLayer, Restore);
