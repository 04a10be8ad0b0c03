//! `_meta.ui` of a resource: what its UI needs and how it wants to be shown.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::csp::Csp;
use super::domain::SandboxDomain;
use super::permission::{Permission, parse_permissions, permissions_value};
use super::problem::{Parsed, ProblemKind};
use super::walk::{Problems, walk_ui};
use crate::protocol::meta;

/// `_meta.ui` of a UI resource, on its entry in a list and on its content item alike (MCP Apps, "UI Resource Format").
///
/// What is not stated is the host's restrictive default: no network, no frames, no permissions.
///
/// ```
/// use tower_mcp_apps::ui::{Csp, Permission, ResourceMeta};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let meta = ResourceMeta::new()
///     .with_csp(Csp::new().connect("https://api.example.com")?)
///     .with_permission(Permission::ClipboardWrite)
///     .with_domain("usage.example.com".parse()?)
///     .with_prefers_border(true);
/// assert_eq!(meta.to_value(), serde_json::json!({
///     "csp": {"connectDomains": ["https://api.example.com"]},
///     "permissions": {"clipboardWrite": {}},
///     "domain": "usage.example.com",
///     "prefersBorder": true,
/// }));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceMeta {
    csp: Option<Csp>,
    permissions: BTreeSet<Permission>,
    domain: Option<SandboxDomain>,
    prefers_border: Option<bool>,
}

impl ResourceMeta {
    /// States nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// States what the UI may reach.
    #[must_use]
    pub fn with_csp(mut self, csp: Csp) -> Self {
        self.csp = Some(csp);
        self
    }

    /// Asks for a browser capability.
    #[must_use]
    pub fn with_permission(mut self, permission: Permission) -> Self {
        self.permissions.insert(permission);
        self
    }

    /// Asks for a sandbox on this domain.
    #[must_use]
    pub fn with_domain(mut self, domain: SandboxDomain) -> Self {
        self.domain = Some(domain);
        self
    }

    /// Asks for a border and background around the UI, or for none. The defaults of hosts differ.
    #[must_use]
    pub fn with_prefers_border(mut self, prefers_border: bool) -> Self {
        self.prefers_border = Some(prefers_border);
        self
    }

    /// What the UI may reach, where it is stated.
    pub fn csp(&self) -> Option<&Csp> {
        self.csp.as_ref()
    }

    /// The capabilities that the UI asks for.
    pub fn permissions(&self) -> &BTreeSet<Permission> {
        &self.permissions
    }

    /// The domain that the sandbox should have.
    pub fn domain(&self) -> Option<&SandboxDomain> {
        self.domain.as_ref()
    }

    /// Whether the UI wants a border, where it is stated.
    pub fn prefers_border(&self) -> Option<bool> {
        self.prefers_border
    }

    /// The value of `ui`.
    pub fn to_value(&self) -> Value {
        let mut ui = Map::new();
        if let Some(csp) = &self.csp {
            ui.insert("csp".to_owned(), csp.to_value());
        }
        if !self.permissions.is_empty() {
            ui.insert("permissions".to_owned(), permissions_value(&self.permissions));
        }
        if let Some(domain) = &self.domain {
            ui.insert("domain".to_owned(), domain.as_str().into());
        }
        if let Some(prefers_border) = self.prefers_border {
            ui.insert("prefersBorder".to_owned(), prefers_border.into());
        }
        ui.into()
    }

    /// A `_meta` with `ui` alone.
    pub fn to_meta(&self) -> Map<String, Value> {
        let mut meta = Map::new();
        self.insert_into(&mut meta);
        meta
    }

    /// Puts `ui` into a `_meta`, whose other members stay. A `ui` that is there is replaced as a whole, so that nothing
    /// that it allowed is left.
    pub fn insert_into(&self, meta: &mut Map<String, Value>) {
        meta.insert(meta::UI.to_owned(), self.to_value());
    }

    /// Reads the `_meta` of a resource that someone else wrote.
    ///
    /// Of members that stand twice `serde_json` has kept the last.
    ///
    /// ```
    /// use tower_mcp_apps::ui::{Directive, ResourceMeta};
    ///
    /// let parsed = ResourceMeta::parse(&serde_json::json!({"ui": {
    ///     "csp": {"connectDomains": ["https://a.com", "https://b.com/x"], "resourceDomains": "https://c.com"},
    ///     "domain": "https://a.com",
    /// }}));
    /// let csp = parsed.value.csp().unwrap();
    /// assert_eq!(csp.sources(Directive::Connect), ["https://a.com".parse().unwrap()]);
    /// assert!(csp.sources(Directive::Resource).is_empty());
    /// let mut problems: Vec<_> = parsed.problems.iter().map(ToString::to_string).collect();
    /// problems.sort();
    /// assert_eq!(problems, [
    ///     "_meta.ui.csp.connectDomains[1]: \"https://b.com/x\": an origin has no path, not even a slash",
    ///     "_meta.ui.csp.resourceDomains: should be an array",
    ///     "_meta.ui.domain: \"https://a.com\": a sandbox domain has no scheme",
    /// ]);
    /// ```
    pub fn parse(meta: &Value) -> Parsed<Self> {
        let mut value = Self::new();
        let mut found = Vec::new();
        walk_ui(meta, &mut found, |key, member, problems| value.parse_member(key, member, problems));
        Parsed { value, problems: found }
    }

    fn parse_member(&mut self, key: &str, value: &Value, mut problems: Problems<'_>) {
        match key {
            "csp" => self.csp = Csp::parse(value, problems),
            "permissions" => self.permissions = parse_permissions(value, problems),
            "domain" => {
                let Some(domain) = problems.text(value) else { return };
                match domain.parse() {
                    Ok(domain) => self.domain = Some(domain),
                    Err(fault) => problems.add(ProblemKind::Domain { domain: domain.to_owned(), fault }),
                }
            }
            "prefersBorder" => self.prefers_border = problems.boolean(value),
            meta::RESOURCE_URI | meta::VISIBILITY => problems.add(ProblemKind::Misplaced),
            _ => problems.add(ProblemKind::Unknown),
        }
    }
}
