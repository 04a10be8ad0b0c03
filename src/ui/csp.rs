//! `_meta.ui.csp`: what a UI may reach, by directive.

use std::fmt;

use serde_json::{Map, Value};

use super::problem::ProblemKind;
use super::walk::Problems;
use crate::protocol::{InvalidOrigin, Scheme, Source};

/// One of the lists in `_meta.ui.csp` (MCP Apps, "UI Resource Format").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Directive {
    /// `connectDomains`: requests of scripts, `connect-src`.
    Connect,
    /// `resourceDomains`: scripts, styles, images, fonts and media.
    Resource,
    /// `frameDomains`: nested frames, `frame-src`.
    Frame,
    /// `baseUriDomains`: `base-uri`.
    BaseUri,
}

impl Directive {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Connect, Self::Resource, Self::Frame, Self::BaseUri];

    /// The member of `csp`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Connect => "connectDomains",
            Self::Resource => "resourceDomains",
            Self::Frame => "frameDomains",
            Self::BaseUri => "baseUriDomains",
        }
    }

    /// Which schemes its sources may have.
    pub fn schemes(self) -> &'static [Scheme] {
        match self {
            Self::Connect => &[Scheme::Https, Scheme::Http, Scheme::Wss, Scheme::Ws],
            Self::Resource | Self::Frame | Self::BaseUri => &[Scheme::Https, Scheme::Http],
        }
    }

    /// The text as a source of this list.
    fn source(self, text: &str) -> Result<Source, SourceFault> {
        let source = Source::try_from(text).map_err(SourceFault::Origin)?;
        let scheme = source.base().scheme();
        if !self.schemes().contains(&scheme) {
            return Err(SourceFault::Scheme(scheme));
        }
        if source.is_wildcard() && self != Self::Resource {
            return Err(SourceFault::Wildcard);
        }
        Ok(source)
    }
}

impl fmt::Display for Directive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The origins that a UI declares it needs. What is not declared is not allowed.
///
/// Every source is one [`Source`], so nothing in it can end a source, a directive or a policy of the header that a host
/// builds from it. A wildcard may stand in `resourceDomains` alone, and `wss` and `ws` in `connectDomains` alone.
///
/// ```
/// use tower_mcp_apps::ui::Csp;
///
/// # fn main() -> Result<(), tower_mcp_apps::ui::InvalidSource> {
/// let csp = Csp::new()
///     .connect("wss://live.example.com")?
///     .resource("https://*.cdn.example.com")?
///     .resource("HTTPS://fonts.example.com:443")?;
/// assert_eq!(csp.to_value(), serde_json::json!({
///     "connectDomains": ["wss://live.example.com"],
///     "resourceDomains": ["https://*.cdn.example.com", "https://fonts.example.com"],
/// }));
/// assert!(Csp::new().frame("https://a.com;script-src-elem\tevil.com").is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Csp {
    /// By [`Directive`]; `None` where the list is not stated.
    lists: [Option<Vec<Source>>; 4],
}

impl Csp {
    /// States nothing, which a host reads as the restrictive default.
    pub fn new() -> Self {
        Self::default()
    }

    /// States all four lists as empty: the same for a host, but a reviewer sees that it was meant.
    pub fn closed() -> Self {
        Self { lists: [const { Some(Vec::new()) }; 4] }
    }

    /// Adds a source to a list, once.
    ///
    /// # Errors
    ///
    /// [`InvalidSource`] where the text is no [`Source`] or one that this list may not have.
    pub fn allow(mut self, directive: Directive, source: impl AsRef<str>) -> Result<Self, InvalidSource> {
        let text = source.as_ref();
        let source =
            directive.source(text).map_err(|fault| InvalidSource { directive, source: text.to_owned(), fault })?;
        self.add(directive, source);
        Ok(self)
    }

    /// Adds an origin to `connectDomains`.
    ///
    /// # Errors
    ///
    /// As [`allow`](Self::allow).
    pub fn connect(self, source: impl AsRef<str>) -> Result<Self, InvalidSource> {
        self.allow(Directive::Connect, source)
    }

    /// Adds an origin, or a wildcard for its subdomains, to `resourceDomains`.
    ///
    /// # Errors
    ///
    /// As [`allow`](Self::allow).
    pub fn resource(self, source: impl AsRef<str>) -> Result<Self, InvalidSource> {
        self.allow(Directive::Resource, source)
    }

    /// Adds an origin to `frameDomains`.
    ///
    /// # Errors
    ///
    /// As [`allow`](Self::allow).
    pub fn frame(self, source: impl AsRef<str>) -> Result<Self, InvalidSource> {
        self.allow(Directive::Frame, source)
    }

    /// Adds an origin to `baseUriDomains`.
    ///
    /// # Errors
    ///
    /// As [`allow`](Self::allow).
    pub fn base_uri(self, source: impl AsRef<str>) -> Result<Self, InvalidSource> {
        self.allow(Directive::BaseUri, source)
    }

    /// The sources of a list, in the order they were added.
    pub fn sources(&self, directive: Directive) -> &[Source] {
        self.lists[directive as usize].as_deref().unwrap_or_default()
    }

    /// The value of `csp`: the lists that are stated.
    pub fn to_value(&self) -> Value {
        let stated = Directive::ALL.into_iter().filter(|directive| self.lists[*directive as usize].is_some());
        let list = |directive| self.sources(directive).iter().map(|source| source.as_str().into()).collect();
        stated
            .map(|directive| (directive.as_str().to_owned(), Value::Array(list(directive))))
            .collect::<Map<_, _>>()
            .into()
    }

    pub(super) fn parse(value: &Value, mut problems: Problems<'_>) -> Option<Self> {
        let members = problems.object(value)?;
        let mut csp = Self::new();
        for (key, value) in members {
            match Directive::ALL.into_iter().find(|directive| directive.as_str() == key) {
                Some(directive) => csp.parse_list(directive, value, problems.member(key)),
                None => problems.member(key).add(ProblemKind::Unknown),
            }
        }
        Some(csp)
    }

    fn parse_list(&mut self, directive: Directive, value: &Value, mut problems: Problems<'_>) {
        let Some(items) = problems.array(value) else { return };
        self.lists[directive as usize].get_or_insert_default();
        for (index, item) in items.iter().enumerate() {
            let mut problems = problems.item(index);
            let Some(text) = problems.text(item) else { continue };
            match directive.source(text) {
                Ok(source) => self.add(directive, source),
                Err(fault) => problems.add(ProblemKind::Source { source: text.to_owned(), fault }),
            }
        }
    }

    fn add(&mut self, directive: Directive, source: Source) {
        let list = self.lists[directive as usize].get_or_insert_default();
        if !list.contains(&source) {
            list.push(source);
        }
    }
}

/// A text that may not stand in a list of `csp`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSource {
    directive: Directive,
    source: String,
    fault: SourceFault,
}

impl InvalidSource {
    /// The list it was meant for.
    pub fn directive(&self) -> Directive {
        self.directive
    }

    /// The text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What is wrong with it.
    pub fn fault(&self) -> SourceFault {
        self.fault
    }
}

impl fmt::Display for InvalidSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}: {}", self.directive, self.source, self.fault)
    }
}

impl std::error::Error for InvalidSource {}

/// Why a text may not stand in a list of `csp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SourceFault {
    /// It is no [`Source`].
    Origin(InvalidOrigin),
    /// This list has no sources of this scheme.
    Scheme(Scheme),
    /// It is a wildcard outside `resourceDomains`.
    Wildcard,
}

impl fmt::Display for SourceFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Origin(why) => why.fmt(f),
            Self::Scheme(scheme) => write!(f, "this list has no {scheme} origins"),
            Self::Wildcard => f.write_str("only resourceDomains may have a wildcard"),
        }
    }
}
