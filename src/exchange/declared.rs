//! The extensions that a client declared.

use std::borrow::Cow;

use bytes::Bytes;

use crate::json::{Depth, Error, Kind, Reader, Span};
use crate::protocol::{APP_MEDIA_TYPE, MediaType, UI_EXTENSION, USUAL_EXTENSIONS};

/// What a client declared in `capabilities.extensions`: in its request (modern era), or at `initialize`
/// and since then in the tag of its session (legacy era). See MCP 2026-07-28, "Extension Negotiation".
///
/// ```
/// use tower_mcp_apps::exchange::Declared;
///
/// let declared = Declared::read(r#"{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}"#.into());
/// assert!(declared.supports_apps() && declared.supports_media_type("Text/HTML; profile=\"mcp-app\""));
/// assert!(declared.has_extension("io.modelcontextprotocol/ui") && !declared.has_extension("com.example/x"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared(Declaration);

/// What nearly all clients declare is told apart, so that to copy and to drop it costs nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Declaration {
    #[default]
    Nothing,
    /// [`USUAL_EXTENSIONS`].
    Apps,
    /// Another text.
    Other { extensions: Bytes, has_apps: bool },
}

impl Declared {
    /// Nothing declared.
    pub const NOTHING: Self = Self(Declaration::Nothing);

    /// What this JSON text of an `extensions` object declares. What cannot be read declares nothing.
    pub fn read(extensions: Bytes) -> Self {
        // As nearly everybody writes it.
        if *extensions == *USUAL_EXTENSIONS {
            return Self::apps();
        }
        match declares(&extensions, APP_MEDIA_TYPE) {
            Ok(has_apps) => Self(Declaration::Other { extensions, has_apps }),
            Err(_) => Self::NOTHING,
        }
    }

    /// The most usual declaration: MCP Apps with its one media type, and nothing else.
    pub fn apps() -> Self {
        Self(Declaration::Apps)
    }

    /// Whether the client declared MCP Apps with `text/html;profile=mcp-app` (MCP Apps, "Client\<\>Server
    /// Capability Negotiation"). A declaration that is absent, empty, doubled or of another shape is a no.
    pub fn supports_apps(&self) -> bool {
        match self.0 {
            Declaration::Nothing => false,
            Declaration::Apps => true,
            Declaration::Other { has_apps, .. } => has_apps,
        }
    }

    /// Whether the client declared that it renders pages of this media type: case, spaces, quotes, and parameters other than
    /// the profile do not count. Who declared `text/html;profile=mcp-app` did not declare `text/html`, nor the reverse. No
    /// client declares what is no media type.
    pub fn supports_media_type(&self, media_type: &str) -> bool {
        self.extensions().is_some_and(|extensions| declares(extensions, media_type).unwrap_or(false))
    }

    /// The JSON text of the `extensions` object, as it came; `None` where the client declared none. Of a legacy
    /// declaration above 2 KiB only MCP Apps is known after `initialize`, since a tag has to fit into a header.
    pub fn extensions(&self) -> Option<&[u8]> {
        match &self.0 {
            Declaration::Nothing => None,
            Declaration::Apps => Some(USUAL_EXTENSIONS),
            Declaration::Other { extensions, .. } => Some(extensions),
        }
    }

    /// The JSON text of the settings object that was declared for an extension, as it came. `None` where the extension
    /// stands more than once or its settings are no object: then it is not declared (MCP 2026-07-28, "Extension Negotiation").
    pub fn settings(&self, identifier: &str) -> Option<&[u8]> {
        let extensions = self.extensions()?;
        let find = || -> Result<Option<Span>, Error> {
            let mut reader = Reader::with_depth(extensions, Depth::MAX);
            let (mut found, mut times) = (None, 0);
            reader.enter_object()?;
            while let Some(key) = reader.member()? {
                let is_object = reader.peek()? == Kind::Object;
                let span = reader.skip()?;
                if key.is(identifier) {
                    times += 1;
                    found = is_object.then_some(span);
                }
            }
            Ok(found.filter(|_| times == 1))
        };
        find().ok().flatten().map(|span| &extensions[span.start..span.end])
    }

    /// Whether an extension with this identifier was declared, whatever its settings are. See [`Declared::settings`] for
    /// whether it was declared as it should.
    pub fn has_extension(&self, identifier: &str) -> bool {
        let find = |extensions| -> Result<bool, Error> {
            let mut reader = Reader::with_depth(extensions, Depth::MAX);
            let mut found = false;
            reader.enter_object()?;
            while let Some(key) = reader.member()? {
                found |= key.is(identifier);
                reader.skip()?;
            }
            Ok(found)
        };
        self.extensions().is_some_and(|extensions| find(extensions).unwrap_or(false))
    }
}

/// Whether an `extensions` object declares MCP Apps with this media type.
fn declares(extensions: &[u8], media_type: &str) -> Result<bool, Error> {
    let Some(wanted) = MediaType::parse(media_type) else { return Ok(false) };
    let mut reader = Reader::with_depth(extensions, Depth::MAX);
    let mut found = None;
    let mut is_doubled = false;
    reader.enter_object()?;
    while let Some(key) = reader.member()? {
        if !key.is(UI_EXTENSION) || reader.peek()? != Kind::Object {
            is_doubled |= key.is(UI_EXTENSION) && found.replace(false).is_some();
            reader.skip()?;
            continue;
        }
        let mut has_type = None;
        reader.enter_object()?;
        while let Some(key) = reader.member()? {
            if key.is("mimeTypes") {
                is_doubled |= has_type.replace(lists_type(&mut reader, wanted)?).is_some();
            } else {
                reader.skip()?;
            }
        }
        is_doubled |= found.replace(has_type.unwrap_or(false)).is_some();
    }
    reader.end()?;
    Ok(!is_doubled && found.unwrap_or(false))
}

fn lists_type(reader: &mut Reader<'_>, wanted: MediaType<'_>) -> Result<bool, Error> {
    if reader.peek()? != Kind::Array {
        reader.skip()?;
        return Ok(false);
    }
    let mut found = false;
    reader.enter_array()?;
    while reader.element()? {
        if reader.peek()? == Kind::String {
            let text = reader.string()?.decode().unwrap_or(Cow::Borrowed(""));
            found |= MediaType::parse(&text).is_some_and(|own| own.is_like(wanted));
        } else {
            reader.skip()?;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::Declared;
    use crate::protocol::USUAL_EXTENSIONS;

    #[test]
    fn a_media_type_is_declared_by_its_profile() {
        for (declared, wanted, expected) in [
            ("text/html;profile=mcp-app", "Text/HTML; profile=\"MCP-app\"", true),
            ("text/html;profile=mcp-app", "text/html;profile=mcp-app;charset=utf-8", true),
            ("text/html;charset=utf-8;profile=mcp-app", "text/html;profile=mcp-app", true),
            // It needs the bridge that the profile stands for.
            ("text/html;profile=mcp-app", "text/html", false),
            ("text/html", "text/html;profile=mcp-app", false),
            ("text/html;profile=other", "text/html;profile=mcp-app", false),
            ("text/x;a=1", "text/x;b=2", true),
            ("text/x", "text/y", false),
            ("x", "x", false),
        ] {
            let extensions = serde_json::json!({ "io.modelcontextprotocol/ui": { "mimeTypes": [declared] } });
            let client = Declared::read(extensions.to_string().into());
            assert_eq!(client.supports_media_type(wanted), expected, "{declared} {wanted}");
        }
    }

    #[test]
    fn settings_are_one_object() {
        for (extensions, expected) in [
            (r#"{"a/b":{ "k": 1.0 }}"#, Some(r#"{ "k": 1.0 }"#)),
            (r#"{"x":1,"a\/b":{}}"#, Some("{}")),
            (r#"{"a/b":null}"#, None),
            (r#"{"a/b":true}"#, None),
            (r#"{"a/b":[]}"#, None),
            (r#"{"a/b":{},"a/b":{}}"#, None),
            (r#"{"a/b":{},"a\/b":null}"#, None),
            (r#"{"A/b":{}}"#, None),
            ("{}", None),
        ] {
            let declared = Declared::read(Bytes::from_static(extensions.as_bytes()));
            assert_eq!(declared.settings("a/b"), expected.map(str::as_bytes), "{extensions}");
        }
    }

    #[test]
    fn apps_needs_its_media_type() {
        for (extensions, expected) in [
            (r#"{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}"#, true),
            (
                r#"{"x":1,"io.modelcontextprotocol\/ui":{"a":{},"mimeTypes":[1,"Text/Html; Profile=\"mcp-app\""]}}"#,
                true,
            ),
            (r#"{"io.modelcontextprotocol/ui":{}}"#, false),
            (r#"{"io.modelcontextprotocol/ui":{"mimeTypes":[]}}"#, false),
            (r#"{"io.modelcontextprotocol/ui":{"mimeTypes":"text/html;profile=mcp-app"}}"#, false),
            (r#"{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html"]}}"#, false),
            (r#"{"io.modelcontextprotocol/ui":true}"#, false),
            (r#"{"io.modelcontextprotocol/apps":{"mimeTypes":["text/html;profile=mcp-app"]}}"#, false),
            (
                r#"{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]},"io.modelcontextprotocol/ui":{}}"#,
                false,
            ),
            (
                r#"{"io.modelcontextprotocol/ui":null,"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}"#,
                false,
            ),
            (r#"{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"],"mimeTypes":[]}}"#, false),
            ("[]", false),
            ("{", false),
        ] {
            let declared = Declared::read(Bytes::from_static(extensions.as_bytes()));
            assert_eq!(declared.supports_apps(), expected, "{extensions}");
        }
        for broken in ["[]", "{", r#"{"a":1,}"#, "{} {}", "null"] {
            assert_eq!(Declared::read(Bytes::from_static(broken.as_bytes())), Declared::NOTHING, "{broken}");
        }
        assert!(!Declared::NOTHING.supports_apps());
        assert_eq!(Declared::apps(), Declared::read(Bytes::from_static(USUAL_EXTENSIONS)));
    }
}
