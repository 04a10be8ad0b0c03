//! Where the audience of a request is known from.
//!
//! An audience decides what is shown and what may be called. It is **not authorisation**: a caller that
//! may reach the service at all can declare any capability, and so choose to be treated as a host. Who may
//! do what is for the layers outside to decide; what they found out can be handed in by [`ByExtension`].

use std::fmt;

use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue};

use super::Declared;
use crate::protocol::Audience;

/// How the audience of a request is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KnownBy {
    /// By the capabilities that the client declared ([`Auto`]).
    Declaration,
    /// By the deployer's setting for the route ([`Fixed`]).
    Setting,
    /// By a header that the edge writes ([`ByHeader`]).
    Header,
    /// By a request extension that an outer layer wrote ([`ByExtension`]).
    Extension,
    /// By a closure of the deployer's.
    Closure,
}

impl KnownBy {
    /// The lower-case name, as it stands in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Declaration => "declaration",
            Self::Setting => "setting",
            Self::Header => "header",
            Self::Extension => "extension",
            Self::Closure => "closure",
        }
    }
}

/// An audience, and how it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResolvedAudience {
    /// Who will read the answer.
    pub audience: Audience,
    /// How that is known.
    pub known_by: KnownBy,
}

/// What should name the audience is there, but doubled or without meaning. The request gets 400: guessing would be an opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OddAudience;

impl fmt::Display for OddAudience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the audience given for this request is doubled, or none of host, model and app")
    }
}

impl std::error::Error for OddAudience {}

/// Finds out who an answer is for.
///
/// Never trust what the caller writes about itself: `_meta`, `Origin`, `clientInfo` and `User-Agent` grant
/// nothing, since a model's client can write them, too. Closures on the request's head implement the trait:
///
/// ```
/// use tower_mcp_apps::{AppsLayer, protocol::Audience};
///
/// let layer = AppsLayer::new().audience(|parts: &http::request::Parts| {
///     if parts.uri.path().starts_with("/app/") { Audience::App } else { Audience::Model }
/// });
/// # drop(layer);
/// ```
pub trait AudienceSource: Send + Sync + 'static {
    /// The audience of this request.
    ///
    /// # Errors
    ///
    /// [`OddAudience`] where what should name the audience makes no sense: the request is refused with 400.
    fn resolve(&self, parts: &Parts, declared: &Declared) -> Result<ResolvedAudience, OddAudience>;

    /// Whether two callers can be of different audiences; if so, filtered lists are marked `private`
    /// (MCP 2026-07-28, "Caching"). By default they can.
    fn varies(&self) -> bool {
        true
    }

    /// Removes headers that are for the layer alone, before the inner service sees the request. By default there are none.
    fn remove_headers(&self, headers: &mut HeaderMap) {
        let _ = headers;
    }
}

impl<F> AudienceSource for F
where
    F: Fn(&Parts) -> Audience + Send + Sync + 'static,
{
    fn resolve(&self, parts: &Parts, _: &Declared) -> Result<ResolvedAudience, OddAudience> {
        Ok(ResolvedAudience { audience: self(parts), known_by: KnownBy::Closure })
    }
}

/// By what the client declared: [`Audience::Host`] with MCP Apps, else [`Audience::Model`]. The default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Auto;

impl AudienceSource for Auto {
    fn resolve(&self, _: &Parts, declared: &Declared) -> Result<ResolvedAudience, OddAudience> {
        let audience = if declared.supports_apps() { Audience::Host } else { Audience::Model };
        Ok(ResolvedAudience { audience, known_by: KnownBy::Declaration })
    }
}

/// The same audience for every request: for a route that only models, or only apps, can reach.
///
/// ```
/// use axum::{Router, routing::any};
/// use tower_mcp_apps::{AppsLayer, exchange::Fixed, protocol::Audience};
///
/// # let mcp = any(|| async {});
/// let router: Router = Router::new()
///     .route("/mcp", mcp.clone().layer(AppsLayer::new()))
///     .route("/app/mcp", mcp.layer(AppsLayer::new().audience(Fixed(Audience::App))));
/// # drop(router);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Fixed(pub Audience);

impl AudienceSource for Fixed {
    fn resolve(&self, _: &Parts, _: &Declared) -> Result<ResolvedAudience, OddAudience> {
        Ok(ResolvedAudience { audience: self.0, known_by: KnownBy::Setting })
    }

    fn varies(&self) -> bool {
        false
    }
}

/// By a header (`host`, `model` or `app`), else by another source.
///
/// Only for a header that the edge in front **overwrites on every request**: a header that a caller can
/// send itself grants whatever the caller likes. The layer removes it before the inner service sees it. A
/// header that stands twice, or has another value, is [`OddAudience`]: the request gets 400.
///
/// ```
/// use http::HeaderName;
/// use tower_mcp_apps::{AppsLayer, exchange::{ByHeader, Fixed}, protocol::Audience};
///
/// let audience = ByHeader::new(HeaderName::from_static("x-mcp-audience")).otherwise(Fixed(Audience::Model));
/// let layer = AppsLayer::new().audience(audience);
/// # drop(layer);
/// ```
#[derive(Clone, Debug)]
pub struct ByHeader<E = Auto> {
    name: HeaderName,
    otherwise: E,
}

impl ByHeader {
    /// By the header of this name; where it is missing, by the declared capabilities.
    pub fn new(name: HeaderName) -> Self {
        Self { name, otherwise: Auto }
    }
}

impl<E> ByHeader<E> {
    /// Where the header is missing, by this source.
    pub fn otherwise<O: AudienceSource>(self, otherwise: O) -> ByHeader<O> {
        ByHeader { name: self.name, otherwise }
    }
}

impl<E: AudienceSource> AudienceSource for ByHeader<E> {
    fn resolve(&self, parts: &Parts, declared: &Declared) -> Result<ResolvedAudience, OddAudience> {
        let mut values = parts.headers.get_all(&self.name).iter();
        let Some(value) = values.next() else { return self.otherwise.resolve(parts, declared) };
        if values.next().is_some() {
            return Err(OddAudience);
        }
        let read = |value: &HeaderValue| value.to_str().ok()?.parse().ok();
        let audience = read(value).ok_or(OddAudience)?;
        Ok(ResolvedAudience { audience, known_by: KnownBy::Header })
    }

    fn remove_headers(&self, headers: &mut HeaderMap) {
        headers.remove(&self.name);
        self.otherwise.remove_headers(headers);
    }
}

/// By an [`Audience`] among the request's extensions, written by an outer layer (one that knows the
/// caller's token, say), else by another source.
///
/// ```
/// use tower::ServiceBuilder;
/// use tower_mcp_apps::{AppsLayer, exchange::ByExtension, protocol::Audience};
///
/// let stack = ServiceBuilder::new()
///     .layer(axum::Extension(Audience::App)) // in the place of a layer that reads a token
///     .layer(AppsLayer::new().audience(ByExtension::new()));
/// # drop(stack);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ByExtension<E = Auto> {
    otherwise: E,
}

impl ByExtension {
    /// By the extension; where it is missing, by the declared capabilities.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<E> ByExtension<E> {
    /// Where the extension is missing, by this source.
    pub fn otherwise<O: AudienceSource>(self, otherwise: O) -> ByExtension<O> {
        ByExtension { otherwise }
    }
}

impl<E: AudienceSource> AudienceSource for ByExtension<E> {
    fn resolve(&self, parts: &Parts, declared: &Declared) -> Result<ResolvedAudience, OddAudience> {
        match parts.extensions.get::<Audience>() {
            Some(audience) => Ok(ResolvedAudience { audience: *audience, known_by: KnownBy::Extension }),
            None => self.otherwise.resolve(parts, declared),
        }
    }

    fn remove_headers(&self, headers: &mut HeaderMap) {
        self.otherwise.remove_headers(headers);
    }
}
