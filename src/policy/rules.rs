//! The policy: what it has rules for, and its presets.

use super::pattern::{Pattern, Rules};
use super::pins::{Digest, Pins};
use super::{InvalidRule, List, OnViolation, UnknownDirectives};
use crate::protocol::Origin;

/// What UIs may declare. See the [module docs](super).
///
/// Without any rule it allows everything, and no answer is even read.
///
/// ```
/// use tower_mcp_apps::policy::{List, OnViolation, Policy};
///
/// # fn main() -> Result<(), tower_mcp_apps::policy::InvalidRule> {
/// let policy = Policy::new()
///     .allow(List::Connect, "https://api.example.com")?
///     .allow(List::Connect, "wss://api.example.com")?
///     .allow(List::Resource, "https://*.cdn.example.com")?
///     .deny(List::Resource, "https://ads.cdn.example.com")?
///     .allow_nothing(List::Permissions)
///     .on_violation(OnViolation::Refuse);
/// # drop(policy);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Policy {
    rules: [Rules; List::COUNT],
    pub(super) unknown_directives: UnknownDirectives,
    pub(super) pins: Pins,
    pub(super) on_violation: OnViolation,
}

impl Policy {
    /// No rules, and [`OnViolation::Restrict`].
    pub fn new() -> Self {
        Self::default()
    }

    /// No origin at all: no connection, no resource, frame, base URI or trusted link from anywhere, and none by
    /// a directive that is not known here. A page then consists of what its template has.
    pub fn no_network() -> Self {
        let nowhere = List::OF_SOURCES.into_iter().fold(Self::new(), Self::allow_nothing);
        nowhere.unknown_directives(UnknownDirectives::Drop)
    }

    /// This origin alone: as [`Policy::no_network`] but for sources of the origin.
    ///
    /// A WebSocket is another origin, for its scheme is: [allow](Self::allow) it where one is used.
    pub fn same_origin(origin: Origin) -> Self {
        let mut policy = Self::no_network();
        for list in List::OF_SOURCES {
            let pattern = Pattern::Source { base: origin.clone(), is_wildcard: false, names_port_80: false };
            policy.rules[list as usize].allow(pattern);
        }
        policy
    }

    /// Allows something. The first rule makes the list: from then on, what no rule of it covers is not allowed.
    ///
    /// # Errors
    ///
    /// [`InvalidRule`] where the text is none for this [`List`].
    pub fn allow(mut self, list: List, rule: impl AsRef<str>) -> Result<Self, InvalidRule> {
        let pattern = read(list, rule.as_ref())?;
        self.rules[list as usize].allow(pattern);
        Ok(self)
    }

    /// Denies something, also where a rule allows it. A denied origin is denied under every scheme and port, and
    /// an entry goes if anything that it matches is denied.
    ///
    /// # Errors
    ///
    /// [`InvalidRule`] where the text is none for this [`List`].
    pub fn deny(mut self, list: List, rule: impl AsRef<str>) -> Result<Self, InvalidRule> {
        let pattern = read(list, rule.as_ref())?;
        self.rules[list as usize].deny(pattern);
        Ok(self)
    }

    /// Allows nothing, until something is [allowed](Self::allow) again.
    #[must_use]
    pub fn allow_nothing(mut self, list: List) -> Self {
        self.rules[list as usize].allow_nothing();
        self
    }

    /// Chooses what becomes of members of `csp` that are not known here.
    #[must_use]
    pub fn unknown_directives(mut self, unknown_directives: UnknownDirectives) -> Self {
        self.unknown_directives = unknown_directives;
        self
    }

    /// Pins a template: content of this URI must have this digest. Of several digests for one URI any will do, so
    /// that a new version can be rolled out.
    #[must_use]
    pub fn pin(mut self, uri: impl Into<String>, digest: Digest) -> Self {
        self.pins.add(uri.into(), digest);
        self
    }

    /// Allows no template but the [pinned](Self::pin) ones.
    #[must_use]
    pub fn only_pinned(mut self) -> Self {
        self.pins.refuse_others();
        self
    }

    /// Chooses what becomes of a violation.
    #[must_use]
    pub fn on_violation(mut self, on_violation: OnViolation) -> Self {
        self.on_violation = on_violation;
        self
    }

    pub(super) fn rules(&self, list: List) -> &Rules {
        &self.rules[list as usize]
    }

    /// Whether there are rules about metadata, wherever it stands.
    pub(super) fn judges_metadata(&self) -> bool {
        let lists = [List::Permissions, List::Domain].into_iter().chain(List::OF_SOURCES);
        self.unknown_directives == UnknownDirectives::Drop || lists.into_iter().any(|list| self.rules(list).is_set())
    }

    /// Whether there are rules about the media types of pages.
    pub(super) fn judges_media_types(&self) -> bool {
        self.rules(List::MediaTypes).is_set()
    }
}

fn read(list: List, rule: &str) -> Result<Pattern, InvalidRule> {
    Pattern::rule(list, rule).map_err(|fault| InvalidRule { list, rule: rule.to_owned(), fault })
}
