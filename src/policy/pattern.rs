//! What a rule names and what a declaration states, and whether the one takes in the other.
//!
//! Both are the same kind of thing, since a rule may be whatever a declaration may be. Only the reading
//! differs: a rule that is not plain is refused, a declaration that is not plain is not allowed.

use super::List;
use super::options::Fault;
use crate::protocol::{InvalidOrigin, MediaType, Origin, host, is_address};

/// Schemes that can be sources as such.
const SCHEMES: [&str; 8] = ["https", "http", "wss", "ws", "data", "blob", "filesystem", "mediastream"];

/// Those of them whose URLs have hosts.
const NETWORK_SCHEMES: &[&str] = SCHEMES.split_at(4).0;

/// One entry of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// An origin, or with a wildcard those of its subdomains. Whether a wildcard may be as wide as a top-level
    /// domain is for the deployer to say.
    Source {
        base: Origin,
        is_wildcard: bool,
        /// Port 80 is written out, so that `https` on that port is matched, too (CSP 3, "port-part matches").
        names_port_80: bool,
    },
    /// Every URL of this scheme.
    Scheme(&'static str),
    /// A host name, or its subdomains.
    Host { name: String, is_wildcard: bool },
    /// A name that is compared exactly.
    Name(String),
    /// A media type, with its narrower forms.
    MediaType(String),
}

impl Pattern {
    /// Reads a rule.
    pub(super) fn rule(list: List, text: &str) -> Result<Self, Fault> {
        match list {
            List::Connect | List::Resource | List::Frame | List::BaseUri | List::LinkTrusted => match scheme(text) {
                Some(scheme) => Ok(scheme),
                None => source(text).map_err(Fault::Source),
            },
            List::Permissions if text.is_empty() => Err(Fault::Empty),
            List::Permissions => Ok(Self::Name(text.to_owned())),
            List::Domain => domain(text).ok_or(Fault::Domain),
            List::MediaTypes if MediaType::parse(text).is_some() => Ok(Self::MediaType(text.to_owned())),
            List::MediaTypes => Err(Fault::MediaType),
        }
    }

    /// Reads what a declaration states; `None` where it is not plain.
    ///
    /// A source may have a path, which is left out of account: all that it matches is of its origin.
    pub(super) fn stated(list: List, text: &str) -> Option<Self> {
        Self::rule(list, if List::OF_SOURCES.contains(&list) { without_path(text)? } else { text }).ok()
    }

    /// Whether everything that `stated` matches is matched by this.
    ///
    /// Schemes and ports must be the same ones. So what a browser adds to a source of its own accord, such as
    /// `https` to `http`, it adds to both.
    pub(super) fn covers(&self, stated: &Self) -> bool {
        match (self, stated) {
            (
                Self::Source { base: rule, names_port_80, .. },
                Self::Source { base: stated, names_port_80: also_names_port_80, .. },
            ) if (rule.scheme(), rule.port()) != (stated.scheme(), stated.port())
                || (*also_names_port_80 && !names_port_80) =>
            {
                false
            }
            (Self::Scheme(rule), Self::Scheme(stated)) => rule == stated,
            (Self::Scheme(rule), Self::Source { base, .. }) => *rule == base.scheme().as_str(),
            (Self::Name(rule), Self::Name(stated)) => rule == stated,
            (Self::MediaType(rule), Self::MediaType(stated)) => is_narrower(stated, rule),
            _ => matches!((self.hosts(), stated.hosts()), (Some(rule), Some(stated)) if rule.cover(stated)),
        }
    }

    /// Whether anything that `stated` matches is what this denies.
    ///
    /// A denied source is denied under every scheme and port: the rule is about who is spoken to.
    pub(super) fn denies(&self, stated: &Self) -> bool {
        match (self, stated) {
            (Self::Source { .. }, Self::Scheme(stated)) => NETWORK_SCHEMES.contains(stated),
            (Self::Scheme(rule), Self::Scheme(stated)) => reach(stated).contains(rule),
            (Self::Scheme(rule), Self::Source { base, .. }) => reach(base.scheme().as_str()).contains(rule),
            _ => match (self.hosts(), stated.hosts()) {
                (Some(rule), Some(stated)) => rule.cover(stated) || stated.cover(rule),
                _ => self.covers(stated),
            },
        }
    }

    fn hosts(&self) -> Option<Hosts<'_>> {
        match self {
            Self::Source { base, is_wildcard, .. } => Some(Hosts { name: base.host(), is_wildcard: *is_wildcard }),
            Self::Host { name, is_wildcard } => Some(Hosts { name, is_wildcard: *is_wildcard }),
            Self::Scheme(_) | Self::Name(_) | Self::MediaType(_) => None,
        }
    }
}

/// The schemes of the URLs that a source of this scheme matches (CSP 3, "scheme-part matches").
fn reach(scheme: &str) -> &'static [&'static str] {
    match scheme {
        "http" => &["http", "https"],
        "ws" => &["ws", "wss", "http", "https"],
        "wss" => &["wss", "https"],
        other => SCHEMES.iter().position(|known| *known == other).map_or(&[], |at| &SCHEMES[at..=at]),
    }
}

/// One host, or all that are below it.
#[derive(Clone, Copy)]
struct Hosts<'a> {
    name: &'a str,
    is_wildcard: bool,
}

impl Hosts<'_> {
    fn cover(self, other: Self) -> bool {
        match (self.is_wildcard, other.is_wildcard) {
            (false, false) => self.name == other.name,
            (false, true) => false,
            (true, false) => is_below(other.name, self.name),
            (true, true) => self.name == other.name || is_below(other.name, self.name),
        }
    }
}

fn is_below(name: &str, parent: &str) -> bool {
    name.strip_suffix(parent).is_some_and(|rest| rest.ends_with('.'))
}

fn scheme(text: &str) -> Option<Pattern> {
    let name = text.strip_suffix(':')?;
    SCHEMES.into_iter().find(|known| known.eq_ignore_ascii_case(name)).map(Pattern::Scheme)
}

fn source(text: &str) -> Result<Pattern, InvalidOrigin> {
    let (base, is_wildcard) = match text.split_once("://*.") {
        Some((scheme, parent)) => (Origin::try_from(&*format!("{scheme}://{parent}"))?, true),
        None => (Origin::try_from(text)?, false),
    };
    if is_wildcard && base.is_address() {
        return Err(InvalidOrigin::Wildcard);
    }
    let names_port_80 = base.scheme().default_port() == 80 && text.ends_with(":80");
    Ok(Pattern::Source { base, is_wildcard, names_port_80 })
}

fn domain(text: &str) -> Option<Pattern> {
    let (name, is_wildcard) = match text.strip_prefix("*.") {
        Some(parent) => (parent, true),
        None => (text, false),
    };
    let name = host(name).filter(|name| !is_wildcard || !is_address(name))?;
    Some(Pattern::Host { name, is_wildcard })
}

/// The source without its path; `None` where the path has anything that could end the source or begin a query.
fn without_path(text: &str) -> Option<&str> {
    let Some(authority) = text.find("://").map(|at| at + "://".len()) else { return Some(text) };
    let Some(path) = text[authority..].find('/').map(|at| authority + at) else { return Some(text) };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&*+=:@%/".contains(&byte);
    text[path..].bytes().all(is_plain).then(|| &text[..path])
}

fn is_narrower(stated: &str, rule: &str) -> bool {
    match (MediaType::parse(stated), MediaType::parse(rule)) {
        (Some(stated), Some(rule)) => stated.is_covered_by(rule),
        _ => false,
    }
}

/// The rules for one list.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    /// If there is such a list, what it does not cover is not allowed.
    allow: Option<Vec<Pattern>>,
    deny: Vec<Pattern>,
}

impl Rules {
    pub(super) fn allow(&mut self, pattern: Pattern) {
        self.allow.get_or_insert_default().push(pattern);
    }

    pub(super) fn deny(&mut self, pattern: Pattern) {
        self.deny.push(pattern);
    }

    pub(super) fn allow_nothing(&mut self) {
        self.allow = Some(Vec::new());
    }

    /// Whether there are any.
    pub(super) fn is_set(&self) -> bool {
        self.allow.is_some() || !self.deny.is_empty()
    }

    /// Whether what is stated is allowed. What could not be read is not, unless there are no rules.
    pub(super) fn allows(&self, stated: Option<&Pattern>) -> bool {
        let Some(stated) = stated else { return !self.is_set() };
        let is_listed = |list: &Vec<Pattern>| list.iter().any(|rule| rule.covers(stated));
        self.allow.as_ref().is_none_or(is_listed) && !self.deny.iter().any(|rule| rule.denies(stated))
    }
}
