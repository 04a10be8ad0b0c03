//! `ExtensionSet`: what one or several servers say that they extend MCP by, and who said what.

mod conflict;
mod intersect;
mod read;
mod same;
#[cfg(test)]
mod tests;
mod unite;

use std::sync::Arc;

use bytes::Bytes;

use crate::json::write_string;

pub use conflict::Conflict;
pub use read::InvalidExtensions;

/// The extensions that servers advertise, with their settings as they said them.
///
/// For whatever stands in front of many servers and must say one thing in the place of all. Extensions are in the order in
/// which they were first said. An identifier is text, known or not; settings are JSON texts that no typed value ever
/// stands for, so numbers keep their digits and unknown members stay. A set never says more than somebody behind it said.
///
/// # Union
///
/// Where two servers advertise one extension, their settings become one, first come first: arrays are united in order with
/// equal values once, objects member by member. Where they cannot be united, such as `1` and `2`, the first one's value
/// stands, and the [`Conflict`] tells what each one said. Values are equal by what they mean, but for numbers, which are by
/// their digits: `1` and `1.0` are two. The `mimeTypes` of MCP Apps are equal as media types.
///
/// # Provenance
///
/// [`said`](Self::said) gives back what each server said of an extension, and [`of`](Self::of) all that one said.
///
/// ```
/// use tower_mcp_apps::negotiate::ExtensionSet;
///
/// # fn main() -> Result<(), tower_mcp_apps::negotiate::InvalidExtensions> {
/// let maps = ExtensionSet::read("maps", br#"{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}"#)?;
/// let mail = ExtensionSet::read("mail", br#"{"io.modelcontextprotocol/ui":{"mimeTypes":["a/b"],"x":1.0},"com.example/y":{}}"#)?;
///
/// let both = maps.union(&mail).deny("com.example/y");
/// let said = br#"{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app","a/b"],"x":1.0}}"#;
/// assert_eq!(both.to_json(), said);
/// assert_eq!(both.said("io.modelcontextprotocol/ui").map(|(server, _)| server).collect::<Vec<_>>(), ["maps", "mail"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtensionSet {
    extensions: Vec<Extension>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Extension {
    identifier: Arc<str>,
    /// Never empty.
    said: Vec<Said>,
}

/// What one server says of one extension.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Said {
    server: Arc<str>,
    /// JSON text, checked.
    settings: Bytes,
}

impl ExtensionSet {
    /// No extension.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether there is no extension.
    pub fn is_empty(&self) -> bool {
        self.extensions.is_empty()
    }

    /// Whether there is an extension with this identifier.
    pub fn contains(&self, identifier: &str) -> bool {
        self.find(identifier).is_some()
    }

    /// The identifiers, in order.
    pub fn identifiers(&self) -> impl Iterator<Item = &str> {
        self.extensions.iter().map(|extension| &*extension.identifier)
    }

    /// The JSON text of the settings of an extension: as they were said where one server said them, or all the same; else
    /// united.
    pub fn settings(&self, identifier: &str) -> Option<Bytes> {
        self.find(identifier).map(|extension| unite::unite(extension, &mut Vec::new()))
    }

    /// Who said what of an extension: the name of the server and the JSON text of its settings.
    pub fn said(&self, identifier: &str) -> impl Iterator<Item = (&str, &[u8])> {
        let said = self.find(identifier).map_or(&[][..], |extension| &extension.said);
        said.iter().map(|said| (&*said.server, &*said.settings))
    }

    /// What one server said, in the order of the set.
    #[must_use]
    pub fn of(&self, server: &str) -> Self {
        let mut own = self.clone();
        own.extensions.iter_mut().for_each(|extension| extension.said.retain(|said| *said.server == *server));
        own.without_unsaid()
    }

    /// Where servers said different things that do not unite, in order.
    pub fn conflicts(&self) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        for extension in &self.extensions {
            unite::unite(extension, &mut conflicts);
        }
        conflicts
    }

    /// What at least one of both sets has, these first. See [above](Self#union).
    #[must_use]
    pub fn union(mut self, other: &Self) -> Self {
        for extension in &other.extensions {
            extension.said.iter().for_each(|said| self.add(&extension.identifier, said.clone()));
        }
        self
    }

    /// What both sets have. Of the settings that stays which somebody in the other set said, too: of an array its equal
    /// elements, of an object its members likewise. So settings that only one side understands are advertised no more.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let mut common = Self::new();
        for extension in &self.extensions {
            let Some(others) = other.find(&extension.identifier) else { continue };
            let identifier = &extension.identifier;
            let both = [(extension, others), (others, extension)];
            for said in both.into_iter().flat_map(|(these, those)| intersect::intersect(these, those)) {
                common.add(identifier, said);
            }
        }
        common
    }

    /// Without the extension with this identifier.
    #[must_use]
    pub fn deny(self, identifier: &str) -> Self {
        self.retain(|other, _| other != identifier)
    }

    /// With those extensions alone of which this holds, given the identifier and the JSON text of the settings.
    #[must_use]
    pub fn retain(mut self, mut keep: impl FnMut(&str, &[u8]) -> bool) -> Self {
        self.extensions.retain(|extension| keep(&extension.identifier, &unite::unite(extension, &mut Vec::new())));
        self
    }

    /// The JSON text of the map, to stand in `capabilities.extensions`.
    pub fn to_json(&self) -> Vec<u8> {
        let mut text = b"{".to_vec();
        for extension in &self.extensions {
            if text.len() > 1 {
                text.push(b',');
            }
            write_string(&extension.identifier, &mut text);
            text.push(b':');
            text.extend_from_slice(&unite::unite(extension, &mut Vec::new()));
        }
        text.push(b'}');
        text
    }

    fn find(&self, identifier: &str) -> Option<&Extension> {
        self.extensions.iter().find(|extension| *extension.identifier == *identifier)
    }

    /// One more word of a server, unless it said the same before.
    fn add(&mut self, identifier: &Arc<str>, said: Said) {
        match self.extensions.iter_mut().find(|extension| extension.identifier == *identifier) {
            Some(extension) if extension.said.contains(&said) => {}
            Some(extension) => extension.said.push(said),
            None => self.extensions.push(Extension { identifier: Arc::clone(identifier), said: vec![said] }),
        }
    }

    fn without_unsaid(mut self) -> Self {
        self.extensions.retain(|extension| !extension.said.is_empty());
        self
    }
}
