//! The command line of the proxy: one plain struct, read by clap.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use http::HeaderName;

use tower::BoxError;
use tower_mcp_apps::exchange::{AudienceSource, Auto, ByHeader, Fixed, Limits};
use tower_mcp_apps::namespace::Namespace;
use tower_mcp_apps::normalize::{Degradation, OpenAiKeys};
use tower_mcp_apps::{AppsLayer, normalize, protocol};

use crate::apps::{self, AppFile, ToolLink};
use crate::endpoint::Endpoint;
use crate::policy::PolicyFlags;

/// An Apps-aware reverse proxy in front of an MCP server.
#[derive(Debug, Parser)]
#[command(name = "reverse_proxy")]
pub(crate) struct Flags {
    /// Address to listen on; port 0 picks a free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    pub(crate) listen: SocketAddr,

    /// The MCP endpoint to stand in front of; without it, a small server of the proxy's own.
    #[arg(long, value_name = "URL")]
    pub(crate) upstream: Option<Endpoint>,

    /// For whom the answers are, unless the audience header says it.
    #[arg(long, value_name = "WHO", default_value = "auto")]
    pub(crate) audience: Audience,

    /// A header that names the audience: set by a trusted edge, obeyed where present, not forwarded.
    #[arg(long, value_name = "NAME")]
    pub(crate) audience_header: Option<HeaderName>,

    /// Do not advertise the Apps extension in the server's name.
    #[arg(long)]
    pub(crate) no_advertise: bool,

    /// Refuse clients that did not declare MCP Apps.
    #[arg(long)]
    pub(crate) require_apps: bool,

    /// What becomes of the deprecated `_meta["ui/resourceUri"]`.
    #[arg(long, value_name = "HOW", default_value = "add")]
    pub(crate) flat_key: FlatKey,

    /// Read the keys of OpenAI's Apps SDK where those of MCP Apps are missing.
    #[arg(long)]
    pub(crate) openai_keys: bool,

    /// Put this prefix in front of the server's names and URIs: NAME__tool, ui://NAME+…, NAME+scheme:….
    #[arg(long, value_name = "NAME", value_parser = |name: &str| Namespace::new(name))]
    pub(crate) namespace: Option<Namespace>,

    /// Clients that did not declare MCP Apps hear nothing of UIs, also with `--audience host`.
    #[arg(long)]
    pub(crate) strip_ui_for_text_clients: bool,

    /// Add a line of JSON to this file for every call, read and refusal.
    #[arg(long, value_name = "FILE")]
    pub(crate) audit: Option<PathBuf>,

    /// Serve a file as a UI; may be repeated.
    #[arg(long = "app", value_name = "URI=FILE")]
    pub(crate) apps: Vec<AppFile>,

    /// Let a tool point at a UI that is served; may be repeated.
    #[arg(long = "link", value_name = "TOOL=URI")]
    pub(crate) links: Vec<ToolLink>,

    #[command(flatten)]
    pub(crate) policy: PolicyFlags,

    /// Longest request body that is read, in bytes.
    #[arg(long, value_name = "N", default_value_t = 4 << 20)]
    pub(crate) max_request_bytes: usize,

    /// Longest response body, or event of a stream, that is read, in bytes.
    #[arg(long, value_name = "N", default_value_t = 16 << 20)]
    pub(crate) max_response_bytes: usize,

    /// Most bytes of lists that are remembered, so that equal ones are not read again; 0 for none.
    #[arg(long, value_name = "N", default_value_t = 4 << 20)]
    pub(crate) max_remembered_bytes: usize,
}

impl Flags {
    /// The layer that the flags ask for.
    pub(crate) fn layer(&self) -> Result<AppsLayer, BoxError> {
        let limits = Limits::new().request_bytes(self.max_request_bytes).response_bytes(self.max_response_bytes);
        let mut layer = AppsLayer::new().limits(limits).remembered_bytes(self.max_remembered_bytes);
        layer = layer.flat_key(self.flat_key.into());
        if self.no_advertise {
            layer = layer.without_advertising();
        }
        if let Some(namespace) = &self.namespace {
            layer = layer.namespace(namespace.clone());
        }
        if self.require_apps {
            layer = layer.require(protocol::UI_EXTENSION);
        }
        if self.openai_keys {
            layer = layer.openai_keys(OpenAiKeys::Read);
        }
        if self.strip_ui_for_text_clients {
            layer = layer.degradation(Degradation::Strip);
        }
        layer = apps::register(layer, &self.apps, &self.links)?.policy(self.policy.policy()?);
        Ok(match self.audience {
            Audience::Auto => self.or_header(layer, Auto),
            Audience::Host => self.or_header(layer, Fixed(protocol::Audience::Host)),
            Audience::Model => self.or_header(layer, Fixed(protocol::Audience::Model)),
            Audience::App => self.or_header(layer, Fixed(protocol::Audience::App)),
        })
    }

    fn or_header(&self, layer: AppsLayer, otherwise: impl AudienceSource) -> AppsLayer {
        match &self.audience_header {
            Some(name) => layer.audience(ByHeader::new(name.clone()).otherwise(otherwise)),
            None => layer.audience(otherwise),
        }
    }
}

/// Who gets the answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Audience {
    /// What the client's declared capabilities say.
    Auto,
    /// A host that filters for its own agent: everything.
    Host,
    /// A model: no app-only tools.
    Model,
    /// An app: no model-only tools.
    App,
}

/// What becomes of the deprecated flat key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FlatKey {
    /// The nested member is added where it is missing; a flat key that is there follows it.
    Add,
    /// Both are written.
    Both,
    /// The flat key goes.
    Strip,
    /// Both stay as they are.
    Keep,
}

impl From<FlatKey> for normalize::FlatKey {
    fn from(flat_key: FlatKey) -> Self {
        match flat_key {
            FlatKey::Add => Self::Add,
            FlatKey::Both => Self::Both,
            FlatKey::Strip => Self::Strip,
            FlatKey::Keep => Self::Keep,
        }
    }
}
