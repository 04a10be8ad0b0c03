//! Media types, compared as RFC 9110 says: without regard to case, white space, quotes and order.

use std::fmt;

/// A media type read from a header or a JSON string, borrowed from it (RFC 9110, section 8.3.1).
///
/// ```
/// use tower_mcp_apps::protocol::{APP_MEDIA_TYPE, MediaType};
///
/// let app = MediaType::parse(APP_MEDIA_TYPE).unwrap();
/// assert!(MediaType::parse("Text/HTML; charset=utf-8; Profile=\"mcp-app\"").unwrap().is_covered_by(app));
/// assert!(!MediaType::parse("text/html").unwrap().is_covered_by(app));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MediaType<'a> {
    essence: &'a str,
    parameters: &'a str,
}

impl<'a> MediaType<'a> {
    /// Reads a media type; `None` where the text is none.
    pub fn parse(text: &'a str) -> Option<Self> {
        let (essence, parameters) = match text.split_once(';') {
            Some((essence, parameters)) => (essence.trim_matches([' ', '\t']), parameters),
            None => (text.trim_matches([' ', '\t']), ""),
        };
        let (kind, subtype) = essence.split_once('/')?;
        if !is_token(kind) || !is_token(subtype) {
            return None;
        }
        let read = Self { essence, parameters };
        let mut parameters = read.parameters();
        parameters.by_ref().for_each(drop);
        parameters.is_whole().then_some(read)
    }

    /// Whether type and subtype are these, such as `application/json`; parameters do not count.
    pub fn is(&self, essence: &str) -> bool {
        self.essence.eq_ignore_ascii_case(essence)
    }

    /// The value of a parameter, with its quotes taken off but escapes left; the first of doubles.
    pub fn parameter(&self, name: &str) -> Option<&'a str> {
        self.values(name).next()
    }

    /// The values of a parameter, as [`parameter`](Self::parameter) gives them. More than one is an error that readers
    /// get over in different ways (RFC 6838, section 4.3).
    pub(crate) fn values<'n>(&self, name: &'n str) -> impl Iterator<Item = &'a str> + use<'a, 'n> {
        self.parameters().filter(move |(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Whether this type is `wanted` or a narrower form of it: the same type and subtype, and every parameter of `wanted`,
    /// each with no other value beside.
    pub fn is_covered_by(&self, wanted: MediaType<'_>) -> bool {
        self.is(wanted.essence)
            && wanted.parameters().all(|(key, value)| {
                let mut own = self.values(key).map(|own| own.eq_ignore_ascii_case(value));
                own.next() == Some(true) && own.all(|is_same| is_same)
            })
    }

    /// Whether both are of one kind: the same type, subtype and `profile`, which says by what a page is run (RFC 6906 and
    /// MCP Apps, "UI Resource Format"). Other parameters do not count.
    pub fn is_like(&self, other: MediaType<'_>) -> bool {
        let profiles = (self.parameter("profile"), other.parameter("profile"));
        self.is(other.essence)
            && match profiles {
                (Some(own), Some(theirs)) => own.eq_ignore_ascii_case(theirs),
                (own, theirs) => own.is_none() && theirs.is_none(),
            }
    }

    fn parameters(&self) -> Parameters<'a> {
        Parameters { rest: self.parameters, broken: false }
    }
}

impl fmt::Display for MediaType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.essence)?;
        self.parameters().try_for_each(|(key, value)| write!(f, ";{key}={value}"))
    }
}

struct Parameters<'a> {
    rest: &'a str,
    broken: bool,
}

impl Parameters<'_> {
    fn is_whole(&self) -> bool {
        !self.broken
    }
}

impl<'a> Iterator for Parameters<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        self.rest = self.rest.trim_start_matches([' ', '\t', ';']);
        if self.rest.is_empty() {
            return None;
        }
        let found = parameter(self.rest);
        self.broken = found.is_none();
        self.rest = found.map_or("", |(_, rest)| rest);
        found.map(|(pair, _)| pair)
    }
}

/// One `key=value` at the start of the text, and what follows it.
fn parameter(text: &str) -> Option<((&str, &str), &str)> {
    let (key, after) = text.split_once('=')?;
    let key = key.trim_matches([' ', '\t']);
    let after = after.trim_start_matches([' ', '\t']);
    let (value, rest) = if let Some(quoted) = after.strip_prefix('"') {
        let mut escaped = false;
        let end = quoted.bytes().position(|byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        })?;
        (&quoted[..end], &quoted[end + 1..])
    } else {
        let end = after.find(';').unwrap_or(after.len());
        let value = after[..end].trim_end_matches([' ', '\t']);
        if !is_token(value) {
            return None;
        }
        (value, &after[end..])
    };
    let rest = rest.trim_start_matches([' ', '\t']);
    (is_token(key) && (rest.is_empty() || rest.starts_with(';'))).then_some(((key, value), rest))
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::MediaType;
    use crate::protocol::APP_MEDIA_TYPE;

    fn is_app(text: &str) -> bool {
        let wanted = MediaType::parse(APP_MEDIA_TYPE).expect("the constant is a media type");
        MediaType::parse(text).is_some_and(|read| read.is_covered_by(wanted))
    }

    #[test]
    fn spelling_does_not_matter() {
        for same in [
            "text/html;profile=mcp-app",
            "TEXT/HTML ; PROFILE=MCP-APP",
            " text/html;\tprofile=\"mcp-app\" ",
            "text/html; charset=utf-8; profile=mcp-app",
            "text/html;profile=mcp-app;",
            "text/html;profile=mcp-app;Profile=\"mcp-app\"",
        ] {
            assert!(is_app(same), "{same}");
        }
    }

    #[test]
    fn another_type_is_another_type() {
        for other in [
            "",
            "text/html",
            "text/html;profile=mcp",
            "text/html;profile=\"mcp-app",
            "text/html+skybridge",
            "text/plain;profile=mcp-app",
            "text/html;profile=mcp-app x",
            "text html;profile=mcp-app",
            "text/html;x=profile=mcp-app",
            "text/html;profile=mcp-app;profile=other",
            "text/html;profile=other;profile=mcp-app",
        ] {
            assert!(!is_app(other), "{other}");
        }
    }
}
