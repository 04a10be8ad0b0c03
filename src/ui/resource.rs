//! A UI resource as it stands in a list and in the answer to a read.

use serde_json::{Map, Value};

use super::html::Html;
use super::resource_meta::ResourceMeta;
use crate::protocol::{APP_MEDIA_TYPE, UiUri, meta};

/// A UI resource: its entry in `resources/list`, and its content item in the answer to `resources/read`
/// (MCP Apps, "UI Resource Format").
///
/// Both have the media type of MCP Apps and the same `_meta`, so that hosts that look in one of the two places only
/// see the same declaration.
///
/// ```
/// use tower_mcp_apps::ui::{Csp, Html, ResourceMeta, UiResource};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let html = Html::try_from("<!doctype html><html><title>Usage</title></html>")?;
/// let usage = UiResource::new("ui://accounts/usage".parse()?, "usage")
///     .with_ui(ResourceMeta::new().with_csp(Csp::closed()).with_prefers_border(false));
///
/// let entry = usage.to_entry();
/// assert_eq!(entry["mimeType"], "text/html;profile=mcp-app");
/// let item = usage.to_contents(&html);
/// assert_eq!(item["text"], html.as_str());
/// assert_eq!(item["_meta"], entry["_meta"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct UiResource {
    uri: UiUri,
    name: String,
    title: Option<String>,
    description: Option<String>,
    ui: ResourceMeta,
    meta: Map<String, Value>,
}

impl UiResource {
    /// With a name for programs. It declares nothing.
    pub fn new(uri: UiUri, name: impl Into<String>) -> Self {
        let ui = ResourceMeta::new();
        Self { uri, name: name.into(), title: None, description: None, ui, meta: Map::new() }
    }

    /// Gives another name for programs.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Gives a name for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Says what the UI is for.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Declares what the UI needs and how it wants to be shown.
    #[must_use]
    pub fn with_ui(mut self, ui: ResourceMeta) -> Self {
        self.ui = ui;
        self
    }

    /// Gives the other members of `_meta`. A `ui` or `ui/resourceUri` among them is left out: the one is
    /// [`with_ui`](Self::with_ui)'s, the other is deprecated and a tool's.
    #[must_use]
    pub fn with_meta(mut self, meta: Map<String, Value>) -> Self {
        self.meta = meta;
        self.meta.remove(meta::UI);
        self.meta.remove(meta::FLAT_RESOURCE_URI);
        self
    }

    /// The URI.
    pub fn uri(&self) -> &UiUri {
        &self.uri
    }

    /// The name for programs.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the UI declares.
    pub fn ui(&self) -> &ResourceMeta {
        &self.ui
    }

    /// The whole `_meta`.
    pub fn to_meta(&self) -> Map<String, Value> {
        let mut meta = self.meta.clone();
        self.ui.insert_into(&mut meta);
        meta
    }

    /// The entry in `resources/list`.
    pub fn to_entry(&self) -> Value {
        let mut entry = self.common();
        entry.insert("name".to_owned(), self.name.as_str().into());
        for (key, text) in [("title", &self.title), ("description", &self.description)] {
            if let Some(text) = text {
                entry.insert(key.to_owned(), text.as_str().into());
            }
        }
        entry.into()
    }

    /// The item of `contents` in the answer to `resources/read`.
    pub fn to_contents(&self, html: &Html) -> Value {
        let mut item = self.common();
        item.insert("text".to_owned(), html.as_str().into());
        item.into()
    }

    fn common(&self) -> Map<String, Value> {
        let mut members = Map::new();
        members.insert("uri".to_owned(), self.uri.as_str().into());
        members.insert("mimeType".to_owned(), APP_MEDIA_TYPE.into());
        members.insert("_meta".to_owned(), self.to_meta().into());
        members
    }
}
