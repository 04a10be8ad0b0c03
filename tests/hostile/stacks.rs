//! The stacks that hostile bytes are sent through.

use http::{Request, Response};
use tower::layer::util::Stack as Both;
use tower::{Layer, Service};
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::audit::AuditLayer;
use tower_mcp_apps::concern::{MetaTools, Settings};
use tower_mcp_apps::exchange::{Fixed, Record};
use tower_mcp_apps::lint::Lint;
use tower_mcp_apps::negotiate::NegotiateLayer;
use tower_mcp_apps::normalize::{Degradation, FlatKey, NormalizeLayer, OpenAiKeys};
use tower_mcp_apps::policy::{List, Policy};
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::serve::{App, TextFallback};
use tower_mcp_apps::testing::Body;
use tower_mcp_apps::ui::Html;
use tower_mcp_apps::visibility::VisibilityLayer;

use super::dress::namespace;
use crate::kit::body::BoxError;
use crate::kit::server::Server;
use crate::kit::{Answer, send};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stack {
    /// As it comes, for models, and all that can be switched on.
    Model,
    Full,
    App,
    /// The audience is what the client declares.
    Auto,
    /// One layer on another, the filter outermost but for the record.
    Stacked,
    /// The filter alone, which only takes away.
    Filter,
    /// Nothing is filtered.
    Host,
    /// A prefix around a filter.
    Namespaced,
    /// The catalogue is behind meta-tools.
    MetaTools,
}

pub(crate) const STACKS: [Stack; 9] = [
    Stack::Model,
    Stack::Full,
    Stack::App,
    Stack::Auto,
    Stack::Stacked,
    Stack::Filter,
    Stack::Host,
    Stack::Namespaced,
    Stack::MetaTools,
];

impl Stack {
    /// Whom it answers; `None` where the client says so.
    pub(crate) fn audience(self) -> Option<Audience> {
        match self {
            Self::Model | Self::Full | Self::Stacked | Self::Filter | Self::Namespaced | Self::MetaTools => {
                Some(Audience::Model)
            }
            Self::App => Some(Audience::App),
            Self::Host => Some(Audience::Host),
            Self::Auto => None,
        }
    }

    /// Sends a request through it, and reads the answer to its end.
    pub(crate) async fn send(self, server: Server, request: Request<Body>) -> Answer {
        let settings = || Settings::new().audience(Fixed(Audience::Model));
        let fixed = |audience| AppsLayer::new().audience(Fixed(audience));
        match self {
            Self::Model => through(fixed(Audience::Model), server, request).await,
            Self::App => through(fixed(Audience::App), server, request).await,
            Self::Host => through(fixed(Audience::Host), server, request).await,
            Self::Auto => through(AppsLayer::new(), server, request).await,
            Self::Full => through(full(fixed(Audience::Model)), server, request).await,
            Self::Filter => through(VisibilityLayer::new().settings(settings()), server, request).await,
            Self::Namespaced => through(fixed(Audience::Model).namespace(namespace()), server, request).await,
            Self::MetaTools => {
                let meta_tools = MetaTools::new().list_tools("list_tools").call_tool("call_tool", "name");
                through(fixed(Audience::Model).meta_tools(meta_tools), server, request).await
            }
            Self::Stacked => {
                let inner = Both::new(
                    NegotiateLayer::new().settings(settings()),
                    NormalizeLayer::new().flat_key(FlatKey::Both).settings(settings()),
                );
                let outer = Both::new(
                    VisibilityLayer::new().settings(settings()),
                    AuditLayer::new(|_: &Record| {}).settings(settings()),
                );
                through(Both::new(inner, outer), server, request).await
            }
        }
    }
}

async fn through<L, R>(layer: L, server: Server, request: Request<Body>) -> Answer
where
    L: Layer<Server>,
    L::Service: Service<Request<Body>, Response = Response<R>>,
    <L::Service as Service<Request<Body>>>::Error: std::fmt::Debug,
    R: http_body::Body<Data = bytes::Bytes>,
    R::Error: Into<BoxError>,
{
    send(layer.layer(server), request).await
}

/// All that can be switched on.
fn full(layer: AppsLayer) -> AppsLayer {
    let policy = Policy::new().allow(List::Connect, "https://a.example").expect("an origin");
    let html = Html::try_from("<!doctype html><html></html>").expect("a page");
    layer
        .lint(Lint::new(|_: &_| {}))
        .app(App::new("ui://served/by-us".parse().expect("a URI"), html).link("get-cohort-data"))
        .text_fallback(TextFallback::StructuredContent)
        .flat_key(FlatKey::Both)
        .openai_keys(OpenAiKeys::Read)
        .degradation(Degradation::Strip)
        .policy(policy)
        .audit(|_: &Record| {})
}
