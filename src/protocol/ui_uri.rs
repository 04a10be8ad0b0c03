//! `ui://` URIs that every reader takes for the same.

use std::fmt;

use super::UI_SCHEME;
use super::text::checked_text;

/// The URI of a UI resource: `ui://`, an authority, and a path or none (MCP Apps, "UI Resource Format"; RFC 3986).
///
/// Hosts compare and fetch it as text, and some parse it. So it is kept as it is written and has only what every parser
/// leaves alone: no credentials, port, query or fragment, no dot segments (`.`, `..`, also as `%2e`), no character outside
/// those of RFC 3986, no `%` without two hex digits. The scheme is in lower case.
///
/// ```
/// use tower_mcp_apps::protocol::{InvalidUiUri, UiUri};
///
/// let uri = UiUri::try_from("ui://weather/dashboard.html").unwrap();
/// assert_eq!((uri.authority(), uri.path()), ("weather", "/dashboard.html"));
/// assert_eq!(UiUri::try_from("ui://weather/../other"), Err(InvalidUiUri::DotSegment));
/// assert_eq!(UiUri::try_from("ui:///dashboard"), Err(InvalidUiUri::Authority));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UiUri {
    text: String,
}

impl UiUri {
    fn parse(text: &str) -> Result<Self, InvalidUiUri> {
        let rest = text.strip_prefix(UI_SCHEME).ok_or(InvalidUiUri::Scheme)?;
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        for character in rest.chars() {
            match character {
                '?' => return Err(InvalidUiUri::Query),
                '#' => return Err(InvalidUiUri::Fragment),
                'a'..='z' | 'A'..='Z' | '0'..='9' => {}
                _ if character.is_ascii() && b"-._~!$&'()*+,;=:@/%".contains(&(character as u8)) => {}
                other => return Err(InvalidUiUri::Character(other)),
            }
        }
        if authority.contains('@') {
            return Err(InvalidUiUri::Credentials);
        }
        if authority.contains(':') {
            return Err(InvalidUiUri::Port);
        }
        if authority.is_empty() {
            return Err(InvalidUiUri::Authority);
        }
        let mut escapes = rest.split('%').skip(1);
        if !escapes.all(|behind| behind.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2) {
            return Err(InvalidUiUri::Escape);
        }
        if path.split('/').chain([authority]).any(is_dot_segment) {
            return Err(InvalidUiUri::DotSegment);
        }
        Ok(Self { text: text.to_owned() })
    }

    /// The URI as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What stands between `ui://` and the path.
    pub fn authority(&self) -> &str {
        self.split().0
    }

    /// The path with its first slash; empty where there is none.
    pub fn path(&self) -> &str {
        self.split().1
    }

    fn split(&self) -> (&str, &str) {
        let rest = &self.text[UI_SCHEME.len()..];
        rest.split_at(rest.find('/').unwrap_or(rest.len()))
    }
}

checked_text!(UiUri, InvalidUiUri);

/// Whether a path segment is `.` or `..` for a parser that decodes it first (URL standard, "single-dot" and "double-dot").
fn is_dot_segment(segment: &str) -> bool {
    let plain = segment.replace("%2e", ".").replace("%2E", ".");
    plain == "." || plain == ".."
}

/// Why a text is no [`UiUri`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InvalidUiUri {
    /// It does not begin with `ui://`.
    Scheme,
    /// Nothing stands behind the `ui://`.
    Authority,
    /// It has a user name or password.
    Credentials,
    /// It has a port.
    Port,
    /// It has a query.
    Query,
    /// It has a fragment.
    Fragment,
    /// It has a `.` or `..` segment.
    DotSegment,
    /// It has a character that no URI has in this place.
    Character(char),
    /// It has a `%` that two hex digits do not follow.
    Escape,
}

impl fmt::Display for InvalidUiUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scheme => "the URI of a UI begins with ui://",
            Self::Authority => "the URI of a UI has a name behind ui://",
            Self::Credentials => "the URI of a UI has no user name or password",
            Self::Port => "the URI of a UI has no port",
            Self::Query => "the URI of a UI has no query",
            Self::Fragment => "the URI of a UI has no fragment",
            Self::DotSegment => "the URI of a UI has no . or .. segment",
            Self::Character(character) => return write!(f, "the URI of a UI has no {character:?}"),
            Self::Escape => "a % in a URI is followed by two hex digits",
        })
    }
}

impl std::error::Error for InvalidUiUri {}

#[cfg(test)]
mod tests {
    use super::{InvalidUiUri, UiUri};

    #[test]
    fn a_uri_stays_as_it_is_written() {
        for text in [
            "ui://weather-dashboard",
            "ui://Weather/Dash%20board.HTML",
            "ui://a/",
            "ui://a//b",
            "ui://ns+server/page/3f2a@x:y",
            "ui://a/...",
            "ui://a/.well-known",
        ] {
            let uri: UiUri = text.parse().expect(text);
            assert_eq!(uri.to_string(), text);
            assert_eq!(format!("ui://{}{}", uri.authority(), uri.path()), text);
        }
    }

    #[test]
    fn what_parsers_differ_on_is_refused() {
        use InvalidUiUri::*;
        for (text, why) in [
            ("", Scheme),
            ("UI://a", Scheme),
            ("ui:/a", Scheme),
            ("ui:a", Scheme),
            (" ui://a", Scheme),
            ("https://a", Scheme),
            ("ui://", Authority),
            ("ui:///a", Authority),
            ("ui://u@a", Credentials),
            ("ui://u:p@a", Credentials),
            ("ui://a:80/x", Port),
            ("ui://a:", Port),
            ("ui://a?x", Query),
            ("ui://a/b?", Query),
            ("ui://a#x", Fragment),
            ("ui://a/b#", Fragment),
            ("ui://a/.", DotSegment),
            ("ui://a/../b", DotSegment),
            ("ui://a/%2e%2E/b", DotSegment),
            ("ui://a/.%2e", DotSegment),
            ("ui://..", DotSegment),
            ("ui://a/b c", Character(' ')),
            ("ui://a/b\n", Character('\n')),
            ("ui://a/\u{0}", Character('\0')),
            ("ui://a\\b", Character('\\')),
            ("ui://a/ü", Character('ü')),
            ("ui://a/{x}", Character('{')),
            ("ui://a/\"x\"", Character('"')),
            ("ui://[::1]/", Character('[')),
            ("ui://a/%", Escape),
            ("ui://a/%4", Escape),
            ("ui://a/%zz", Escape),
            ("ui://a%/20", Escape),
        ] {
            assert_eq!(UiUri::try_from(text), Err(why), "{text:?}");
        }
    }
}
