//! Web origins as their serialisation: scheme, host, and a port that is not the scheme's own.

use std::fmt;

use super::host::{host, is_address};
use super::text::checked_text;

/// A scheme that an [`Origin`] can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// `https`.
    Https,
    /// `http`.
    Http,
    /// `wss`.
    Wss,
    /// `ws`.
    Ws,
}

impl Scheme {
    const ALL: [Self; 4] = [Self::Https, Self::Http, Self::Wss, Self::Ws];

    /// The name, without a colon.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Https => "https",
            Self::Http => "http",
            Self::Wss => "wss",
            Self::Ws => "ws",
        }
    }

    /// The port that an origin of this scheme does not name.
    pub fn default_port(self) -> u16 {
        match self {
            Self::Https | Self::Wss => 443,
            Self::Http | Self::Ws => 80,
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One web origin, held as its serialisation (HTML, "Serialization of an origin"), which is also the one
/// host-source that Content Security Policy has for it (CSP 3, section 2.3.1).
///
/// Letters become lower case and the scheme's own port goes. Everything else that would have to be understood is
/// refused: credentials, a path (even `/`), a query, a fragment, wildcards, white space, punctuation, a missing
/// `//`, IPv4 addresses in other than their canonical form, and IPv6 addresses, for which CSP has no source.
/// International names are written in their `xn--` form; whether that decodes is not looked at.
///
/// ```
/// use tower_mcp_apps::protocol::{InvalidOrigin, Origin};
///
/// let origin = Origin::try_from("HTTPS://API.Example.com:443").unwrap();
/// assert_eq!(origin.as_str(), "https://api.example.com");
/// assert_eq!(Origin::try_from("https://a.com;script-src-elem\tevil.com"), Err(InvalidOrigin::Character(';')));
/// assert_eq!(Origin::try_from("https://a.com/"), Err(InvalidOrigin::Path));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    text: String,
    scheme: Scheme,
    /// Where the host ends in `text`.
    host_end: usize,
    port: u16,
}

impl Origin {
    fn parse(text: &str) -> Result<Self, InvalidOrigin> {
        let (scheme, rest) = text.split_once("://").ok_or(InvalidOrigin::Scheme)?;
        let scheme = Scheme::ALL.into_iter().find(|known| known.as_str().eq_ignore_ascii_case(scheme));
        let scheme = scheme.ok_or(InvalidOrigin::Scheme)?;
        rest.chars().find_map(refused).map_or(Ok(()), Err)?;
        let (name, port) = match rest.split_once(':') {
            Some((name, digits)) => (name, port(digits).ok_or(InvalidOrigin::Port)?),
            None => (rest, scheme.default_port()),
        };
        let host = host(name).ok_or(InvalidOrigin::Host)?;
        let mut text = format!("{scheme}://{host}");
        let host_end = text.len();
        if port != scheme.default_port() {
            text.push_str(&format!(":{port}"));
        }
        Ok(Self { text, scheme, host_end, port })
    }

    /// The serialised origin.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The scheme.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The host: a name in lower case or an IPv4 address.
    pub fn host(&self) -> &str {
        &self.text[self.scheme.as_str().len() + "://".len()..self.host_end]
    }

    /// The port, also where it is the scheme's own.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether the host is an IPv4 address.
    pub fn is_address(&self) -> bool {
        is_address(self.host())
    }
}

checked_text!(Origin, InvalidOrigin);

/// Why a character cannot stand behind the `://`.
fn refused(character: char) -> Option<InvalidOrigin> {
    match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '.' | ':' => None,
        '@' => Some(InvalidOrigin::Credentials),
        '/' => Some(InvalidOrigin::Path),
        '?' => Some(InvalidOrigin::Query),
        '#' => Some(InvalidOrigin::Fragment),
        '*' => Some(InvalidOrigin::Wildcard),
        other => Some(InvalidOrigin::Character(other)),
    }
}

fn port(digits: &str) -> Option<u16> {
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    is_plain.then(|| digits.parse().ok()).flatten()
}

/// Why a text is no [`Origin`] or no [`Source`](super::Source).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InvalidOrigin {
    /// It does not begin with one of the four schemes and `://`.
    Scheme,
    /// It has a user name or password.
    Credentials,
    /// It has a path, be it only the slash.
    Path,
    /// It has a query.
    Query,
    /// It has a fragment.
    Fragment,
    /// It has a `*`, or one that is not the whole first label, or one with fewer than two labels behind it.
    Wildcard,
    /// It has a character that no host name has.
    Character(char),
    /// What should be the host is neither a name nor a canonical IPv4 address.
    Host,
    /// What should be the port is no number from 1 to 65535 without leading zeros.
    Port,
}

impl fmt::Display for InvalidOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scheme => "an origin begins with https://, http://, wss:// or ws://",
            Self::Credentials => "an origin has no user name or password",
            Self::Path => "an origin has no path, not even a slash",
            Self::Query => "an origin has no query",
            Self::Fragment => "an origin has no fragment",
            Self::Wildcard => "a wildcard may only be the whole first label, with two labels or more behind it",
            Self::Character(character) if character.is_ascii() => {
                return write!(f, "a host name has no {character:?}");
            }
            Self::Character(character) => {
                return write!(f, "a host name has no {character:?}; international names are written as xn--…");
            }
            Self::Host => "the host is neither a name nor an IPv4 address in its canonical form",
            Self::Port => "a port is a number from 1 to 65535 without leading zeros",
        })
    }
}

impl std::error::Error for InvalidOrigin {}

#[cfg(test)]
mod tests {
    use super::{InvalidOrigin, Origin, Scheme};

    #[test]
    fn what_is_emitted_is_the_serialised_origin() {
        for (text, origin) in [
            ("https://a.com", "https://a.com"),
            ("HTTPS://A.Com", "https://a.com"),
            ("https://a.com:443", "https://a.com"),
            ("http://a.com:443", "http://a.com:443"),
            ("wss://a.com:443", "wss://a.com"),
            ("ws://localhost:80", "ws://localhost"),
            ("http://127.0.0.1:5077", "http://127.0.0.1:5077"),
            ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example"),
            ("https://r3---sn-4g5.example", "https://r3---sn-4g5.example"),
        ] {
            assert_eq!(text.parse::<Origin>().expect(text).to_string(), origin);
        }
    }

    #[test]
    fn parts_are_told() {
        let origin = Origin::try_from("wss://Live.example.com:8443").expect("an origin");
        assert_eq!((origin.scheme(), origin.host(), origin.port()), (Scheme::Wss, "live.example.com", 8443));
        assert!(!origin.is_address());
        assert!(Origin::try_from("http://127.0.0.1").expect("an origin").is_address());
    }

    #[test]
    fn what_would_have_to_be_understood_is_refused() {
        use InvalidOrigin::*;
        for (text, why) in [
            ("", Scheme),
            ("a.com", Scheme),
            ("//a.com", Scheme),
            ("https:a.com", Scheme),
            ("https:/a.com", Scheme),
            ("https:\\\\a.com", Scheme),
            (" https://a.com", Scheme),
            ("ftp://a.com", Scheme),
            ("data:", Scheme),
            ("'self'", Scheme),
            ("*", Scheme),
            ("https://", Host),
            ("https:///a.com", Path),
            ("https://a.com/", Path),
            ("https://a.com/x", Path),
            ("https://a.com?x", Query),
            ("https://a.com#x", Fragment),
            ("https://u@a.com", Credentials),
            ("https://u:p@a.com", Credentials),
            ("https://*", Wildcard),
            ("https://*.a.com", Wildcard),
            ("https://a.com ", Character(' ')),
            ("https://a.com\thttps://b.com", Character('\t')),
            ("https://a.com\n", Character('\n')),
            ("https://a\u{0}.com", Character('\0')),
            ("https://a.com;script-src-elem\tevil.com", Character(';')),
            ("https://a.com,b.com", Character(',')),
            ("https://a.com'", Character('\'')),
            ("https://a.com\"", Character('"')),
            ("https://a.com\\x", Character('\\')),
            ("https://a%2ecom", Character('%')),
            ("https://a_b.com", Character('_')),
            ("https://bücher.example", Character('ü')),
            ("https://[::1]", Character('[')),
            ("https://a..com", Host),
            ("https://a.com.", Host),
            ("https://.a.com", Host),
            ("https://-a.com", Host),
            ("https://a-.com", Host),
            ("https://127.1", Host),
            ("https://0x7f000001", Host),
            ("https://2130706433", Host),
            ("https://127.0.0.01", Host),
            ("https://256.0.0.1", Host),
            ("https://a.0x", Host),
            ("https://a.com:", Port),
            ("https://a.com:0", Port),
            ("https://a.com:0443", Port),
            ("https://a.com:65536", Port),
            ("https://a.com:+80", Character('+')),
            ("https://a.com:8:8", Port),
            ("https://:8080", Host),
        ] {
            assert_eq!(Origin::try_from(text), Err(why), "{text:?}");
        }
    }

    #[test]
    fn names_have_the_lengths_of_dns() {
        let label = "a".repeat(63);
        assert!(Origin::try_from(&*format!("https://{label}.com")).is_ok());
        assert!(Origin::try_from(&*format!("https://{label}a.com")).is_err());
        let longest = format!("{label}.{label}.{label}.{}", "a".repeat(61));
        assert!(Origin::try_from(&*format!("https://{longest}")).is_ok());
        assert!(Origin::try_from(&*format!("https://{longest}a")).is_err());
    }
}
