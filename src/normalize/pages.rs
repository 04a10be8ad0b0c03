//! Which media types a server's pages have.

use std::collections::HashMap;

use crate::exchange::Declared;
use crate::json::{Error, Object, Reader};
use crate::protocol::APP_MEDIA_TYPE;

/// Which media types a server's pages have, so that a link is shown to those who can render what is behind it.
///
/// A link in a resource list, a template list or a content block says it itself (`mimeType`). A tool's link does not, and no
/// other answer is asked for it: then it is what is said here. By default that is MCP Apps' own type, which its pages must
/// have (MCP Apps, "UI Resource Format").
///
/// ```
/// use tower_mcp_apps::normalize::{Degradation, NormalizeLayer, Pages};
///
/// // This server has pages of both kinds. Without a word about a page, a client must have declared both to see its link.
/// let pages = Pages::of(["text/html;profile=mcp-app", "text/x-sketch"])
///     .page("ui://board/main", "text/x-sketch")
///     .page("ui://board/help", "text/html;profile=mcp-app");
/// let layer = NormalizeLayer::new().degradation(Degradation::Strip).pages(pages);
/// # drop(layer);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pages {
    any: Vec<Box<str>>,
    known: HashMap<Box<str>, Box<str>>,
}

impl Pages {
    /// All pages are MCP Apps: `text/html;profile=mcp-app`.
    pub fn new() -> Self {
        Self::of([APP_MEDIA_TYPE])
    }

    /// Each page has one of these media types, such as those that the server advertises. It is not known which: a link is
    /// shown to clients that declared all of them. Nobody declares what is no media type, nor one of none.
    pub fn of<T: Into<Box<str>>>(media_types: impl IntoIterator<Item = T>) -> Self {
        Self { any: media_types.into_iter().map(Into::into).collect(), known: HashMap::new() }
    }

    /// Each page has one of the media types that a server advertises in its settings of MCP Apps (JSON text), as
    /// [`ExtensionSet::said`](crate::negotiate::ExtensionSet::said) gives them; MCP Apps' own where it names none.
    pub fn advertised(settings: &[u8]) -> Self {
        let types = media_types(settings).unwrap_or_default();
        if types.is_empty() { Self::new() } else { Self::of(types) }
    }

    /// The page with this URI has this media type, unless a list says otherwise.
    #[must_use]
    pub fn page(mut self, uri: impl Into<Box<str>>, media_type: impl Into<Box<str>>) -> Self {
        self.known.insert(uri.into(), media_type.into());
        self
    }

    /// Whether a client can render what is behind a link to this URI, where it says its own type or none.
    pub(super) fn can_be_rendered(&self, uri: &str, stated: Option<&str>, declared: &Declared) -> bool {
        if !declared.supports_apps() {
            return false;
        }
        match stated.or_else(|| self.known.get(uri).map(AsRef::as_ref)) {
            Some(known) => declared.supports_media_type(known),
            None => !self.any.is_empty() && self.any.iter().all(|any| declared.supports_media_type(any)),
        }
    }
}

/// What `mimeTypes` lists; what is no text there is no media type.
fn media_types(settings: &[u8]) -> Result<Vec<Box<str>>, Error> {
    let mut object = Object::default();
    object.read(&mut Reader::new(settings))?;
    let mut types = Vec::new();
    let Some(list) = object.get("mimeTypes") else { return Ok(types) };
    let mut reader = list.reader();
    reader.enter_array()?;
    while reader.element()? {
        types.push(reader.value()?.as_str().unwrap_or_default().into());
    }
    Ok(types)
}

impl Default for Pages {
    fn default() -> Self {
        Self::new()
    }
}
