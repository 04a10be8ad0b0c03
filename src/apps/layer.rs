//! The layer that fuses the others.

use tower_layer::Layer;

use crate::audit::{Audit, Sink};
use crate::concern::{Chain, ConcernService, LookUp, Settings, settings_of};
use crate::lint::Lint;
use crate::namespace::Namespace;
use crate::negotiate::Negotiate;
use crate::normalize::{Degradation, FlatKey, Normalize, OpenAiKeys, Pages};
use crate::policy::Policy;
use crate::restore::Restore;
use crate::serve::{App, Serve, TextFallback};
use crate::visibility::Visibility;

/// The concerns that [`AppsLayer`] fuses, the innermost first.
pub type Fused = Chain<
    Chain<
        Chain<
            Chain<
                Chain<Chain<Chain<Chain<Option<Lint>, Option<Restore>>, Serve>, Negotiate>, Normalize>,
                Option<Policy>,
            >,
            Visibility,
        >,
        Option<Namespace>,
    >,
    Option<Audit>,
>;

/// Makes an MCP service aware of MCP Apps. See the [module docs](super).
///
/// ```
/// use tower_mcp_apps::AppsLayer;
/// use tower_mcp_apps::{audit::TracingSink, lint::Lint, policy::Policy, protocol::Audience, serve::App, visibility::Visibility};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let html = tower_mcp_apps::ui::Html::try_from("<!doctype html><html><title>Usage</title></html>")?;
/// let layer = AppsLayer::new()
///     .lint(Lint::default())
///     .app(App::new("ui://accounts/usage".parse()?, html).link("usage_by_day"))
///     .policy(Policy::no_network())
///     .visibility(Visibility::new().tool("refresh_usage", [Audience::App]))
///     .audit(TracingSink);
/// # drop(layer);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct AppsLayer {
    restore: Option<Restore>,
    lint: Option<Lint>,
    serve: Serve,
    negotiate: Negotiate,
    normalize: Normalize,
    policy: Option<Policy>,
    visibility: Visibility,
    namespace: Option<Namespace>,
    audit: Option<Audit>,
    settings: Settings,
}

impl AppsLayer {
    /// Everything by its defaults, and no policy.
    pub fn new() -> Self {
        Self {
            restore: None,
            lint: None,
            serve: Serve::new(),
            negotiate: Negotiate::new(),
            normalize: Normalize::new(),
            policy: None,
            visibility: Visibility::new(),
            namespace: None,
            audit: None,
            settings: Settings::new(),
        }
    }

    /// Puts back what the server, an aggregator, lost of what its upstreams said. See [`restore`](crate::restore).
    #[must_use]
    pub fn restore(mut self, restore: Restore) -> Self {
        self.restore = Some(restore);
        self
    }

    /// Tells what is wrong with what the server says about its UIs; the sink of the audit is told, too. See
    /// [`lint`](crate::lint).
    #[must_use]
    pub fn lint(mut self, lint: Lint) -> Self {
        self.lint = Some(lint);
        self
    }

    /// Gives the server a UI. See [`serve`](crate::serve).
    #[must_use]
    pub fn app(mut self, app: App) -> Self {
        self.serve = self.serve.app(app);
        self
    }

    /// Chooses whether tool results get a text for those who see no UI. See [`serve`](crate::serve).
    #[must_use]
    pub fn text_fallback(mut self, fallback: TextFallback) -> Self {
        self.serve = self.serve.text_fallback(fallback);
        self
    }

    /// Chooses what is advertised, withheld and required. See [`negotiate`](crate::negotiate).
    #[must_use]
    pub fn negotiate(mut self, negotiate: Negotiate) -> Self {
        self.negotiate = negotiate;
        self
    }

    /// Does not advertise MCP Apps of its own accord.
    #[must_use]
    pub fn without_advertising(mut self) -> Self {
        self.negotiate = self.negotiate.without_advertising();
        self
    }

    /// Requires that the client declared the extension with this identifier, such as
    /// [`UI_EXTENSION`](crate::protocol::UI_EXTENSION). See [`negotiate`](crate::negotiate#required-extensions).
    #[must_use]
    pub fn require(mut self, identifier: impl Into<Box<str>>) -> Self {
        self.negotiate = self.negotiate.require(identifier);
        self
    }

    /// Chooses what becomes of the deprecated flat key. See [`normalize`](crate::normalize).
    #[must_use]
    pub fn flat_key(mut self, flat_key: FlatKey) -> Self {
        self.normalize = self.normalize.flat_key(flat_key);
        self
    }

    /// Chooses whether OpenAI's keys are read. See [`normalize`](crate::normalize).
    #[must_use]
    pub fn openai_keys(mut self, openai_keys: OpenAiKeys) -> Self {
        self.normalize = self.normalize.openai_keys(openai_keys);
        self
    }

    /// Chooses what clients get that cannot render UIs. See [`normalize`](crate::normalize).
    #[must_use]
    pub fn degradation(mut self, degradation: Degradation) -> Self {
        self.normalize = self.normalize.degradation(degradation);
        self
    }

    /// Says which media types the server's pages have. See [`normalize`](crate::normalize).
    #[must_use]
    pub fn pages(mut self, pages: Pages) -> Self {
        self.normalize = self.normalize.pages(pages);
        self
    }

    /// Holds what UIs declare to a policy. See [`policy`](crate::policy).
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Chooses how visibility is enforced: static declarations, what apps may read, how refusals look. See
    /// [`visibility`](crate::visibility).
    #[must_use]
    pub fn visibility(mut self, visibility: Visibility) -> Self {
        self.visibility = visibility;
        self
    }

    /// Chooses how the inner service is asked for its tools, where a call must be judged.
    #[must_use]
    pub fn look_up(mut self, look_up: LookUp) -> Self {
        self.settings = self.settings.look_up(look_up);
        self
    }

    /// Puts a prefix in front of the server's names and URIs. See [`namespace`](crate::namespace).
    #[must_use]
    pub fn namespace(mut self, namespace: Namespace) -> Self {
        self.namespace = Some(namespace);
        self
    }

    /// Records who called what. See [`audit`](crate::audit).
    #[must_use]
    pub fn audit(mut self, sink: impl Sink) -> Self {
        self.audit = Some(Audit::new(sink));
        self
    }
}

settings_of!(AppsLayer);

impl Default for AppsLayer {
    fn default() -> Self {
        Self::new()
    }
}

impl<S> Layer<S> for AppsLayer {
    type Service = ConcernService<S, Fused>;

    fn layer(&self, inner: S) -> Self::Service {
        let lint = self.lint.clone().map(|lint| match &self.audit {
            Some(audit) => lint.also(audit.clone()),
            None => lint,
        });
        let fused = Chain::new(lint, self.restore.clone())
            .then(self.serve.clone())
            .then(self.negotiate.clone())
            .then(self.normalize.clone())
            .then(self.policy.clone())
            .then(self.visibility.clone())
            .then(self.namespace.clone())
            .then(self.audit.clone());
        ConcernService::new(inner, fused, self.settings.clone())
    }
}
