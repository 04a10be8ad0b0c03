//! The upstreams, each with its stack of layers, and which of them a request is about.

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use tower::{Layer, ServiceExt};
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::namespace::NamespaceLayer;
use tower_mcp_apps::normalize::{FlatKey, NormalizeLayer};
use tower_mcp_apps::protocol::Namespace;

use crate::client::UpstreamClient;

use crate::response::Body;

/// What every upstream has around it.
type Apps = <AppsLayer as Layer<UpstreamClient>>::Service;
/// The same, under names with a prefix.
type Prefixed = <NamespaceLayer as Layer<Apps>>::Service;
/// The same, under the names that it has, and in the same sessions: each layer tags their ids, so here is one more as well.
type Bare = <NormalizeLayer as Layer<Apps>>::Service;

/// One server behind the gateway.
#[derive(Clone)]
pub(crate) struct Upstream {
    namespace: Arc<Namespace>,
    bare: Bare,
    prefixed: Prefixed,
    gets_credentials: bool,
}

/// How a request spells what belongs to an upstream, and so how its answer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// With the upstream's prefix, as all lists have it.
    Prefixed,
    /// As the upstream itself has it.
    Bare,
}

impl Upstream {
    pub(crate) fn new(namespace: Namespace, apps: &AppsLayer, client: UpstreamClient, gets_credentials: bool) -> Self {
        let apps = apps.layer(client);
        let prefixed = NamespaceLayer::new(namespace.clone()).layer(apps.clone());
        let bare = NormalizeLayer::new().flat_key(FlatKey::Keep).layer(apps);
        Self { namespace: Arc::new(namespace), bare, prefixed, gets_credentials }
    }

    pub(crate) fn name(&self) -> &str {
        self.namespace.name()
    }

    pub(crate) fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    /// Whether it is sent the caller's credentials.
    pub(crate) fn gets_credentials(&self) -> bool {
        self.gets_credentials
    }

    /// Sends a request through the layers.
    pub(crate) async fn send(&self, spelling: Spelling, request: Request<Full<Bytes>>) -> Response<Body> {
        match spelling {
            Spelling::Prefixed => match self.prefixed.clone().oneshot(request).await {
                Ok(response) => response.map(BodyExt::boxed_unsync),
                Err(never) => match never {},
            },
            Spelling::Bare => match self.bare.clone().oneshot(request).await {
                Ok(response) => response.map(BodyExt::boxed_unsync),
                Err(never) => match never {},
            },
        }
    }
}

/// The upstreams that a request may be about.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'u> {
    all: &'u [Upstream],
    /// The one whose app asks.
    app: Option<&'u Upstream>,
    /// The one that gets names without a prefix.
    bare: Option<&'u Upstream>,
}

impl<'u> Scope<'u> {
    /// All of them.
    pub(crate) fn all(all: &'u [Upstream], bare: Option<&str>) -> Self {
        Self { all, app: None, bare: bare.and_then(|name| find(all, name)) }
    }

    /// Only the one of this name, since one of its apps asks.
    pub(crate) fn app(self, name: &str) -> Option<Self> {
        let app = find(self.all, name)?;
        Some(Self { app: Some(app), bare: Some(app), ..self })
    }

    /// The one whose app asks.
    pub(crate) fn the_app(&self) -> Option<&'u Upstream> {
        self.app
    }

    /// Those that are asked where all are.
    pub(crate) fn upstreams(&self) -> &'u [Upstream] {
        self.app.map_or(self.all, std::slice::from_ref)
    }

    /// How the answers of all spell names: an app knows those of its own server.
    pub(crate) fn spelling(&self) -> Spelling {
        if self.app.is_some() { Spelling::Bare } else { Spelling::Prefixed }
    }

    /// The upstream that has this tool or prompt.
    pub(crate) fn by_name(&self, name: &str) -> Option<(&'u Upstream, Spelling)> {
        self.find(|namespace| namespace.strip_name(name).is_some())
    }

    /// The upstream that has this resource.
    pub(crate) fn by_uri(&self, uri: &str) -> Option<(&'u Upstream, Spelling)> {
        self.find(|namespace| namespace.strip_uri(uri).is_some())
    }

    fn find(&self, is_its: impl Fn(&Namespace) -> bool) -> Option<(&'u Upstream, Spelling)> {
        match self.all.iter().find(|upstream| is_its(upstream.namespace())) {
            // What belongs to another server is not for an app, also where its own had a thing of that name.
            Some(owner) if self.app.is_some_and(|app| app.name() != owner.name()) => None,
            Some(owner) => Some((owner, Spelling::Prefixed)),
            None => self.bare.map(|bare| (bare, Spelling::Bare)),
        }
    }
}

fn find<'u>(all: &'u [Upstream], name: &str) -> Option<&'u Upstream> {
    all.iter().find(|upstream| upstream.name() == name)
}
