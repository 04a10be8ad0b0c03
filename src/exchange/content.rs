//! What the headers of a body say about it.

use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};

use crate::protocol::MediaType;

/// What a body is, by its `Content-Type`; media types are compared as RFC 9110, section 8.3.1, says.
///
/// ```
/// use http::HeaderMap;
/// use http::header::{CONTENT_TYPE, HeaderValue};
/// use tower_mcp_apps::exchange::Content;
///
/// let content = |value| Content::of(&HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(value))]));
/// assert_eq!(content("Application/JSON; charset=utf-8"), Content::Json);
/// assert_eq!(content("application/json; charset=\"UTF8\""), Content::Json);
/// assert_eq!(content("application/json; charset=utf-16"), Content::ForeignJson);
/// assert_eq!(content("application/json; charset=utf-8; charset=utf-16"), Content::ForeignJson);
/// assert_eq!(content("application/json, text/plain"), Content::Other);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// `application/json`, in UTF-8 as far as it says.
    Json,
    /// `application/json` with another charset.
    ForeignJson,
    /// `text/event-stream`.
    Events,
    /// No `Content-Type`.
    Unlabelled,
    /// Anything else, also several `Content-Type`s.
    Other,
}

impl Content {
    /// Reads the headers of a body.
    pub fn of(headers: &HeaderMap) -> Self {
        headers.get_all(CONTENT_TYPE).iter().fold(Self::Unlabelled, Self::and)
    }

    /// What a body is that has this `Content-Type` beside what made it this.
    pub(super) fn and(self, value: &HeaderValue) -> Self {
        if self != Self::Unlabelled {
            return Self::Other;
        }
        match value.as_bytes() {
            // As nearly everybody writes them.
            b"application/json" => return Self::Json,
            b"text/event-stream" => return Self::Events,
            _ => {}
        }
        let Some(media_type) = value.to_str().ok().and_then(MediaType::parse) else { return Self::Other };
        if media_type.is("text/event-stream") {
            Self::Events
        } else if !media_type.is("application/json") {
            Self::Other
        } else if media_type.values("charset").all(is_utf_8) {
            Self::Json
        } else {
            Self::ForeignJson
        }
    }
}

/// Whether a charset is UTF-8: some write its other label (WHATWG Encoding, "Names and labels").
fn is_utf_8(charset: &str) -> bool {
    ["utf-8", "utf8"].iter().any(|label| charset.eq_ignore_ascii_case(label))
}

/// Whether a body is encoded, by its `Content-Encoding` (RFC 9110, section 8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// It is not.
    Identity,
    /// It is: its bytes say nothing to us.
    Encoded,
}

impl Encoding {
    /// Reads the headers of a body.
    pub fn of(headers: &HeaderMap) -> Self {
        headers.get_all(CONTENT_ENCODING).iter().fold(Self::Identity, Self::and)
    }

    /// Whether a body is encoded that has this `Content-Encoding` beside others.
    pub(super) fn and(self, value: &HeaderValue) -> Self {
        let is_identity = value.to_str().is_ok_and(|codings| {
            codings.split(',').map(str::trim).all(|coding| coding.is_empty() || coding.eq_ignore_ascii_case("identity"))
        });
        if is_identity { self } else { Self::Encoded }
    }
}
