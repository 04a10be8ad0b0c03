//! The prefix that tells the names and URIs of one server from those of others behind the same gateway.

use std::borrow::Cow;
use std::fmt;

use super::UI_SCHEME;

/// A prefix for names and URIs, and the way back.
///
/// Names become `NAME__name`; the URIs of UIs keep their scheme, since hosts go by it, and become `ui://NAME+rest`;
/// all others become `NAME+scheme:rest`. Nothing is parsed: exactly one prefix is put in front, and exactly one is taken
/// off, so what comes back is what was there, whatever it was.
///
/// ```
/// use tower_mcp_apps::protocol::{Namespace, UiShape};
///
/// let maps = Namespace::new("maps").unwrap();
/// assert_eq!(maps.add_to_name("show"), "maps__show");
/// assert_eq!(maps.add_to_uri("ui://server/view"), "ui://maps+server/view");
/// assert_eq!(maps.add_to_uri("file:///x"), "maps+file:///x");
/// assert_eq!(maps.strip_uri("ui://maps+server/view").as_deref(), Some("ui://server/view"));
/// assert_eq!(maps.strip_name("other__show"), None);
///
/// let maps = maps.separator(".").unwrap().ui_shape(UiShape::Path);
/// assert_eq!(maps.add_to_name("show"), "maps.show");
/// assert_eq!(maps.add_to_uri("ui://server/view"), "ui://maps/server/view");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Namespace {
    name: Box<str>,
    /// The name and what separates it from the names of tools and prompts.
    name_prefix: Box<str>,
    /// The scheme of a UI, the name, and what separates it from the rest.
    ui_start: Box<str>,
    /// The name and what separates it from any other URI.
    uri_prefix: Box<str>,
}

/// Where the prefix stands in the URI of a UI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UiShape {
    /// `ui://NAME+rest`: the path stays as it is, so relative links from the page do, too.
    #[default]
    Plus,
    /// `ui://NAME/rest`: the name is the whole authority, for hosts that tell servers apart by it.
    Path,
}

impl Namespace {
    /// A namespace of this name: a lower-case letter, then lower-case letters, digits and `-`.
    ///
    /// # Errors
    ///
    /// [`InvalidNamespace::Name`] for any other.
    pub fn new(name: impl AsRef<str>) -> Result<Self, InvalidNamespace> {
        let name = name.as_ref();
        let is_right = name.starts_with(|first: char| first.is_ascii_lowercase())
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if !is_right {
            return Err(InvalidNamespace::Name);
        }
        Ok(Self {
            name: name.into(),
            name_prefix: format!("{name}__").into(),
            ui_start: format!("{UI_SCHEME}{name}+").into(),
            uri_prefix: format!("{name}+").into(),
        })
    }

    /// Chooses what stands between the name and those of tools and prompts; `__` unless chosen.
    ///
    /// # Errors
    ///
    /// [`InvalidNamespace::Separator`] for what no tool's name may have (MCP 2025-11-25, "Tools", Tool Names: letters,
    /// digits, `_`, `-` and `.`; `/` is taken, too), for an empty one, and for one that begins with what a namespace's
    /// name may have: it must be plain where that ends.
    pub fn separator(mut self, separator: impl AsRef<str>) -> Result<Self, InvalidNamespace> {
        let separator = separator.as_ref();
        let is_right = separator.starts_with(['_', '.', '/'])
            && separator.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte));
        if !is_right {
            return Err(InvalidNamespace::Separator);
        }
        self.name_prefix = format!("{}{separator}", self.name).into();
        Ok(self)
    }

    /// Chooses where the prefix stands in the URI of a UI.
    #[must_use]
    pub fn ui_shape(mut self, shape: UiShape) -> Self {
        let separator = match shape {
            UiShape::Plus => '+',
            UiShape::Path => '/',
        };
        self.ui_start = format!("{UI_SCHEME}{}{separator}", self.name).into();
        self
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What stands in front of names.
    pub fn name_prefix(&self) -> &str {
        &self.name_prefix
    }

    /// What stands in the URIs of UIs, behind `ui://`.
    pub fn ui_prefix(&self) -> &str {
        &self.ui_start[UI_SCHEME.len()..]
    }

    /// The same with the `ui://`.
    pub(crate) fn ui_start(&self) -> &str {
        &self.ui_start
    }

    /// What stands in front of all other URIs.
    pub fn uri_prefix(&self) -> &str {
        &self.uri_prefix
    }

    /// A server's own name for a tool or prompt, with the prefix.
    pub fn add_to_name(&self, name: &str) -> String {
        format!("{}{name}", self.name_prefix)
    }

    /// The server's own name; `None` where the prefix is not there, so that the name is another server's.
    pub fn strip_name<'n>(&self, name: &'n str) -> Option<&'n str> {
        name.strip_prefix(&*self.name_prefix)
    }

    /// A server's own URI, or URI template, with the prefix.
    pub fn add_to_uri(&self, uri: &str) -> String {
        match uri.strip_prefix(UI_SCHEME) {
            Some(rest) => format!("{}{rest}", self.ui_start),
            None => format!("{}{uri}", self.uri_prefix),
        }
    }

    /// The server's own URI; `None` where the prefix is not there, so that the URI is another server's.
    ///
    /// A template whose scheme is an expression can also give `NAME+ui://…`, which is taken back as it stands.
    pub fn strip_uri<'u>(&self, uri: &'u str) -> Option<Cow<'u, str>> {
        match uri.strip_prefix(UI_SCHEME) {
            Some(rest) => rest.strip_prefix(self.ui_prefix()).map(|rest| format!("{UI_SCHEME}{rest}").into()),
            None => uri.strip_prefix(&*self.uri_prefix).map(Cow::Borrowed),
        }
    }
}

/// Why a text is no part of a [`Namespace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InvalidNamespace {
    /// It is no name.
    Name,
    /// It is no separator.
    Separator,
}

impl fmt::Display for InvalidNamespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name => "a namespace is a lower-case letter, then lower-case letters, digits and -",
            Self::Separator => "a separator begins with _ . or / and has letters, digits, _ - . and / only",
        })
    }
}

impl std::error::Error for InvalidNamespace {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{InvalidNamespace, Namespace, UiShape};

    #[test]
    fn names_and_separators_are_checked() {
        for name in ["a", "a1", "a-b", "maps2-"] {
            assert!(Namespace::new(name).is_ok(), "{name}");
        }
        for name in ["", "A", "1", "-a", "a_b", "a.b", "a/b", "a+b", "ä", "a b"] {
            assert_eq!(Namespace::new(name), Err(InvalidNamespace::Name), "{name}");
        }
        let namespace = Namespace::new("a").unwrap();
        for separator in ["__", "_", ".", "/", "_-", "._x"] {
            assert!(namespace.clone().separator(separator).is_ok(), "{separator}");
        }
        for separator in ["", "-", "x", " ", "+", "_ ", "_ä", ":"] {
            assert_eq!(namespace.clone().separator(separator), Err(InvalidNamespace::Separator), "{separator}");
        }
    }

    #[test]
    fn an_expanded_template_comes_back() {
        let namespace = Namespace::new("a").unwrap();
        assert_eq!(namespace.add_to_uri("{scheme}://x"), "a+{scheme}://x");
        assert_eq!(namespace.strip_uri("a+ui://x").as_deref(), Some("ui://x"));
    }

    proptest! {
        #[test]
        fn the_way_back_is_the_inverse(
            text in "(ui://)?(a\\+|a__|b\\+|a/)?\\PC{0,8}",
            separator in "(__|\\.|/)",
            is_path: bool,
        ) {
            let shape = if is_path { UiShape::Path } else { UiShape::Plus };
            let a = Namespace::new("a").unwrap().separator(&separator).unwrap().ui_shape(shape);
            let b = Namespace::new("ab").unwrap().separator(&separator).unwrap().ui_shape(shape);
            let (name, uri) = (a.add_to_name(&text), a.add_to_uri(&text));
            prop_assert_eq!(a.strip_name(&name), Some(&*text));
            let own = a.strip_uri(&uri);
            prop_assert_eq!(own.as_deref(), Some(&*text));
            prop_assert_eq!(uri.starts_with("ui://"), text.starts_with("ui://"));
            // Nobody else takes it for his own.
            prop_assert_eq!(b.strip_name(&name), None);
            prop_assert_eq!(b.strip_uri(&uri), None);
        }
    }
}
