//! What is advertised in a server's name, beside MCP Apps.

use std::fmt;
use std::sync::Arc;

use http::request::Parts;

use super::ExtensionSet;
use crate::exchange::Exchange;
use crate::message::Capabilities;
use crate::protocol::UI_EXTENSION;

/// Who says what the server said: see [`ExtensionSet::said`].
const SERVER: &str = "server";

/// Decides for each request what is advertised, such as for the principal that an outer layer left among its extensions.
///
/// Closures implement it:
///
/// ```
/// use http::request::Parts;
/// use tower_mcp_apps::negotiate::{ExtensionSet, NegotiateLayer};
///
/// #[derive(Clone)]
/// struct Tenant(&'static str);
///
/// let layer = NegotiateLayer::new().advertise_by(|request: &Parts, server: ExtensionSet| {
///     match request.extensions.get::<Tenant>() {
///         Some(Tenant("trial")) | None => server.deny("com.example/export"),
///         Some(_) => server,
///     }
/// });
/// # drop(layer);
/// ```
pub trait Advertise: Send + Sync + 'static {
    /// What is advertised to the sender of this request, given what the server says (said by `"server"`) and what is
    /// advertised in any case. The [`McpContext`](crate::McpContext) is among the request's extensions.
    fn advertise(&self, request: &Parts, extensions: ExtensionSet) -> ExtensionSet;
}

impl<F> Advertise for F
where
    F: Fn(&Parts, ExtensionSet) -> ExtensionSet + Send + Sync + 'static,
{
    fn advertise(&self, request: &Parts, extensions: ExtensionSet) -> ExtensionSet {
        self(request, extensions)
    }
}

/// What a deployer wants to have advertised.
#[derive(Clone, Default)]
pub(super) struct Choice {
    pub(super) also: ExtensionSet,
    pub(super) withheld: Vec<Box<str>>,
    pub(super) by: Option<Arc<dyn Advertise>>,
}

impl Choice {
    /// Whether what the server says stays as it is.
    pub(super) fn is_none(&self) -> bool {
        self.also.is_empty() && !self.narrows()
    }

    /// Whether something may be taken out: then what cannot be read must not pass.
    pub(super) fn narrows(&self) -> bool {
        !self.withheld.is_empty() || self.by.is_some()
    }

    /// Whether it depends on the request.
    pub(super) fn varies(&self) -> bool {
        self.by.is_some()
    }

    pub(super) fn apply(&self, exchange: &Exchange, capabilities: &mut Capabilities<'_>) {
        if capabilities.has_odd_extensions() && !self.narrows() {
            return;
        }
        let said = said(capabilities);
        let can_serve_apps =
            capabilities.has("resources") || said.as_ref().is_some_and(|said| said.contains(UI_EXTENSION));
        let is_readable = said.is_some();
        let mut wanted = said.unwrap_or_default().union(&self.also);
        if let Some(by) = &self.by {
            wanted = match exchange.head() {
                Some(head) => by.advertise(head, wanted),
                None => ExtensionSet::new(),
            };
        }
        wanted = self.withheld.iter().fold(wanted, |wanted, withheld| wanted.deny(withheld));
        if !can_serve_apps {
            wanted = wanted.deny(UI_EXTENSION);
        }
        if is_readable {
            let here = capabilities.extensions().filter_map(|(name, _)| Some(name.decode().ok()?.into_owned()));
            for gone in here.filter(|name| !wanted.contains(name)).collect::<Vec<_>>() {
                capabilities.remove_extension(&gone);
            }
        } else if self.narrows() {
            capabilities.clear_extensions();
        } else {
            // Two settings of one extension, say: what else is there stays as it is.
            wanted = wanted.retain(|identifier, _| capabilities.count_extension(identifier) == 0);
        }
        for identifier in wanted.identifiers() {
            if let Some(settings) = wanted.settings(identifier) {
                capabilities.set_extension(identifier, settings);
            }
        }
    }
}

impl fmt::Debug for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Choice")
            .field("also", &self.also)
            .field("withheld", &self.withheld)
            .field("varies", &self.varies())
            .finish()
    }
}

/// What the capabilities say as they are now; `None` where readers may differ on it.
fn said(capabilities: &Capabilities<'_>) -> Option<ExtensionSet> {
    if capabilities.has_odd_extensions() {
        return None;
    }
    let mut said = ExtensionSet::new();
    for (name, settings) in capabilities.extensions() {
        let name = name.decode().ok()?;
        if said.contains(&name) {
            return None;
        }
        said = said.with(SERVER, name.into_owned(), settings.bytes()).ok()?;
    }
    Some(said)
}
