//! Sources of a Content Security Policy: an origin, or the subdomains of one.

use super::origin::{InvalidOrigin, Origin};
use super::text::checked_text;

/// An [`Origin`], or with `*.` in front of its host all subdomains of it: what the lists of `_meta.ui.csp` have
/// (MCP Apps, "UI Resource Format"), and one host-source of CSP 3, section 2.3.1.
///
/// A wildcard needs two labels behind it, so that `https://*.com` is none. A longer public suffix, such as
/// `https://*.github.io`, is not known as one.
///
/// ```
/// use tower_mcp_apps::protocol::{InvalidOrigin, Source};
///
/// let source = Source::try_from("https://*.Example.com:443").unwrap();
/// assert_eq!(source.as_str(), "https://*.example.com");
/// assert!(source.is_wildcard());
/// assert_eq!(Source::try_from("https://*.com"), Err(InvalidOrigin::Wildcard));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source {
    text: String,
    base: Origin,
    is_wildcard: bool,
}

impl Source {
    fn parse(text: &str) -> Result<Self, InvalidOrigin> {
        let Some((scheme, parent)) = text.split_once("://*.") else {
            return Origin::try_from(text).map(Self::from);
        };
        let base = Origin::try_from(&*format!("{scheme}://{parent}"))?;
        if base.is_address() || !base.host().contains('.') {
            return Err(InvalidOrigin::Wildcard);
        }
        let text = base.as_str().replacen("://", "://*.", 1);
        Ok(Self { text, base, is_wildcard: true })
    }

    /// The source as it stands in a policy.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The origin; of a wildcard the one whose subdomains it stands for, which it does not stand for itself.
    pub fn base(&self) -> &Origin {
        &self.base
    }

    /// Whether it stands for the subdomains of its [`base`](Self::base).
    pub fn is_wildcard(&self) -> bool {
        self.is_wildcard
    }
}

checked_text!(Source, InvalidOrigin);

impl From<Origin> for Source {
    fn from(base: Origin) -> Self {
        Self { text: base.as_str().to_owned(), base, is_wildcard: false }
    }
}

#[cfg(test)]
mod tests {
    use super::{InvalidOrigin, Source};

    #[test]
    fn a_wildcard_is_the_whole_first_label_with_two_behind_it() {
        for (text, source) in [
            ("https://*.a.com", "https://*.a.com"),
            ("HTTPS://*.b.A.com:8443", "https://*.b.a.com:8443"),
            ("http://*.a.com:80", "http://*.a.com"),
        ] {
            let read: Source = text.parse().expect(text);
            assert_eq!((read.as_str(), read.is_wildcard()), (source, true));
            assert!(!read.base().as_str().contains('*'));
        }
        for text in [
            "https://*",
            "https://*.",
            "https://*.com",
            "https://*:443",
            "https://*a.b.com",
            "https://a.*.com",
            "https://*.*.a.com",
            "https://a.com:*",
            "https://*.127.0.0.1",
            "https://x://*.a.com",
            "*://*.a.com",
            "*.a.com",
            "https://*.a.com/x",
            "https://*.a.com;x",
        ] {
            assert!(Source::try_from(text).is_err(), "{text}");
        }
        assert_eq!(Source::try_from("https://*.localhost"), Err(InvalidOrigin::Wildcard));
    }
}
