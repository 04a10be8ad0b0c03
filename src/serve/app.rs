//! A UI that a deployer gives to a server.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::CacheScope;
use super::link::{Link, Strength};
use crate::protocol::UiUri;
use crate::ui::{Csp, Html, InvalidHtml, ResourceMeta, UiResource};

/// A UI that a deployer gives to a server: a document, its URI, what it declares, and the tools that point at it.
///
/// It declares nothing unless it is told to, and hosts then allow it nothing. No tool points at it before it is linked.
///
/// ```
/// use tower_mcp_apps::serve::App;
/// use tower_mcp_apps::ui::{Csp, Html};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let html = Html::try_from("<!doctype html><html><title>Usage</title></html>")?;
/// let usage = App::new("ui://accounts/usage".parse()?, html)
///     .title("Usage by day")
///     .csp(Csp::new().connect("https://api.example.com")?)
///     .link("usage_by_day")
///     .link_where(|tool| tool.starts_with("chart_"));
/// assert_eq!(usage.resource().name(), "usage");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct App {
    resource: UiResource,
    html: Html,
    file: Option<File>,
    reload: Reload,
    versions: Versions,
    ttl: Duration,
    scope: CacheScope,
    links: Vec<Link>,
}

/// Where a document comes from.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) path: PathBuf,
    /// When it was changed last before it was read; `None` where the system does not say.
    pub(super) modified: Option<SystemTime>,
}

/// Whether a document is read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reload {
    Never,
    WhenChanged,
}

/// Whether the listed URI tells versions of the content apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Versions {
    Same,
    ByContent,
}

impl App {
    /// A document under a URI. Its name for programs is the last segment of the URI.
    pub fn new(uri: UiUri, html: Html) -> Self {
        let name = uri.path().rsplit('/').find(|segment| !segment.is_empty()).unwrap_or(uri.authority()).to_owned();
        Self {
            resource: UiResource::new(uri, name),
            html,
            file: None,
            reload: Reload::Never,
            versions: Versions::Same,
            ttl: Duration::ZERO,
            scope: CacheScope::Private,
            links: Vec::new(),
        }
    }

    /// A document from a file, which is read now, and not again unless [`reload`](Self::reload) asks for it.
    ///
    /// # Errors
    ///
    /// [`InvalidApp`], which names the file: it cannot be read, is not UTF-8 or no [`Html`].
    pub fn from_file(uri: UiUri, path: impl Into<PathBuf>) -> Result<Self, InvalidApp> {
        let path = path.into();
        let (file, html) = File::read(path)?;
        Ok(Self { file: Some(file), ..Self::new(uri, html) })
    }

    /// Gives a name for programs.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.resource = self.resource.with_name(name);
        self
    }

    /// Gives a name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.resource = self.resource.with_title(title);
        self
    }

    /// Says what the UI is for.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.resource = self.resource.with_description(description);
        self
    }

    /// Declares what the UI may reach.
    #[must_use]
    pub fn csp(mut self, csp: Csp) -> Self {
        let ui = self.resource.ui().clone().with_csp(csp);
        self.resource = self.resource.with_ui(ui);
        self
    }

    /// Declares all that a UI can: CSP, permissions, domain, border. Replaces what was declared before.
    #[must_use]
    pub fn ui(mut self, ui: ResourceMeta) -> Self {
        self.resource = self.resource.with_ui(ui);
        self
    }

    /// Lets the tool of this name point at the UI, instead of one that it points at itself. If several apps are linked
    /// to a tool by its name, the first that was registered counts.
    #[must_use]
    pub fn link(mut self, tool: impl Into<Box<str>>) -> Self {
        self.links.push(Link::Name(tool.into()));
        self
    }

    /// Lets all tools point at the UI for whose name the predicate holds, and that have no UI of their own and no
    /// [link](Self::link) by name.
    #[must_use]
    pub fn link_where(mut self, tool: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.links.push(Link::Where(Arc::new(tool)));
        self
    }

    /// Adds a segment to the URI that is listed and linked, by which versions of the content differ, so that hosts drop
    /// what they keep of an old one. A read of any version, and of none, is answered with the present content: while a new
    /// one is rolled out, hosts ask for that of another replica.
    ///
    /// The segment is the beginning of the SHA-256 of the document and of what it declares.
    #[must_use]
    pub fn content_version(mut self) -> Self {
        self.versions = Versions::ByContent;
        self
    }

    /// Reads the file again when it has changed, for development: every use asks the file system, and waits for it. A
    /// file that cannot be used is told by a `tracing` event, and the document stays as it was.
    ///
    /// No effect on an app from memory.
    #[must_use]
    pub fn reload(mut self) -> Self {
        self.reload = Reload::WhenChanged;
        self
    }

    /// Says how long a client of the modern era may keep what it read (`ttlMs`; MCP 2026-07-28, "Caching"). By default
    /// not at all.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// Says who may keep what was read. By default the caller alone, since clients without Apps get another answer.
    #[must_use]
    pub fn cache_scope(mut self, scope: CacheScope) -> Self {
        self.scope = scope;
        self
    }

    /// The resource, without its document.
    pub fn resource(&self) -> &UiResource {
        &self.resource
    }

    /// The document, as it was read first.
    pub fn html(&self) -> &Html {
        &self.html
    }

    pub(super) fn versions(&self) -> Versions {
        self.versions
    }

    /// How long an answer may be kept, in milliseconds, and by whom.
    pub(super) fn cache(&self) -> (u128, CacheScope) {
        (self.ttl.as_millis(), self.scope)
    }

    /// The file that is to be watched.
    pub(super) fn watched(&self) -> Option<&File> {
        self.file.as_ref().filter(|_| self.reload == Reload::WhenChanged)
    }

    /// Whether lists show it alike each time. What it is called may tell its content, and change with its file; and a closure
    /// that links tools may say something else of each.
    pub(super) fn stays_as_it_is(&self) -> bool {
        self.watched().is_none() && self.links.iter().all(|link| matches!(link, Link::Name(_)))
    }

    pub(super) fn has_links(&self) -> bool {
        !self.links.is_empty()
    }

    /// How strongly a tool is linked.
    pub(super) fn link_strength(&self, tool: &str) -> Option<Strength> {
        self.links.iter().filter_map(|link| link.strength(tool)).max()
    }
}

impl File {
    /// Reads a document.
    pub(super) fn read(path: PathBuf) -> Result<(Self, Html), InvalidApp> {
        // Asked before the content, so that a change in between is seen next time.
        let modified = modified(&path);
        let html = match fs::read_to_string(&path) {
            Ok(text) => Html::try_from(text).map_err(Fault::Html),
            Err(error) => Err(Fault::Io(error)),
        };
        match html {
            Ok(html) => Ok((Self { path, modified }, html)),
            Err(fault) => Err(InvalidApp { path, fault }),
        }
    }
}

/// When a file was changed last.
pub(super) fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

/// Why a file is no app.
#[derive(Debug)]
pub struct InvalidApp {
    path: PathBuf,
    fault: Fault,
}

#[derive(Debug)]
enum Fault {
    Io(io::Error),
    Html(InvalidHtml),
}

impl InvalidApp {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Display for InvalidApp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        match &self.fault {
            Fault::Io(error) => error.fmt(f),
            Fault::Html(invalid) => invalid.fmt(f),
        }
    }
}

impl std::error::Error for InvalidApp {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.fault {
            Fault::Io(error) => Some(error),
            Fault::Html(invalid) => Some(invalid),
        }
    }
}
