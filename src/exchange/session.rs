//! Session tags: how a negotiation of the legacy era survives restarts and replicas without a store.
//!
//! See the [module docs](super#session-tags).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use sha2::{Digest, Sha256};

use super::{Declared, Text};
use crate::protocol::USUAL_EXTENSIONS;
use crate::protocol::header::SESSION_ID;

const PREFIX: &[u8] = b"apps1-";
/// Between the tag and the id of the inner service.
const WRAPS: u8 = b'.';
/// Between the tag and random characters: the inner service has no session.
const STANDS_ALONE: u8 = b'~';

/// The longest declaration that a tag carries whole; of a longer one only MCP Apps is kept. In base64 and
/// with the inner id this stays well below the 8 KiB that servers allow for a header.
const LONGEST_DECLARATION: usize = 2048;

/// Bytes of randomness in an id of our own: as many as a random UUID has.
const RANDOM_BYTES: usize = 16;

/// The tag that a request carried, or that the answer to an `initialize` is to carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SessionTag {
    /// Nothing was declared.
    Nothing,
    /// The most usual declaration, [`Declared::apps`].
    Apps,
    /// Another code.
    Other(Bytes),
}

impl SessionTag {
    /// The tag for what a client declared.
    pub(crate) fn of(declared: &Declared) -> Self {
        match declared.extensions() {
            None => Self::Nothing,
            Some(USUAL_EXTENSIONS) => Self::Apps,
            Some(extensions) if extensions.len() <= LONGEST_DECLARATION => {
                Self::Other(Bytes::from(format!("x{}", URL_SAFE_NO_PAD.encode(extensions))))
            }
            Some(_) if declared.supports_apps() => Self::Apps,
            Some(_) => Self::Nothing,
        }
    }

    /// The tag with this code.
    fn read(code: &[u8]) -> Self {
        match code {
            b"n" => Self::Nothing,
            b"a" => Self::Apps,
            other => Self::Other(Bytes::copy_from_slice(other)),
        }
    }

    fn code(&self) -> &[u8] {
        match self {
            Self::Nothing => b"n",
            Self::Apps => b"a",
            Self::Other(code) => code,
        }
    }

    /// What the tag says was declared. A code that makes no sense declares nothing.
    pub(crate) fn declared(&self) -> Declared {
        match self {
            Self::Nothing => Declared::NOTHING,
            Self::Apps => Declared::apps(),
            Self::Other(code) => code
                .strip_prefix(b"x")
                .and_then(|encoded| URL_SAFE_NO_PAD.decode(encoded).ok())
                .map_or(Declared::NOTHING, |extensions| Declared::read(extensions.into())),
        }
    }

    /// The tag in front of an id of the inner service.
    fn around(&self, id: &HeaderValue) -> Option<HeaderValue> {
        self.before(WRAPS, id.as_bytes())
    }

    /// An id that is a tag alone. `None` where the system has no randomness: then there is no session, and nothing counts as declared.
    fn alone(&self) -> Option<HeaderValue> {
        let mut random = [0; RANDOM_BYTES];
        getrandom::fill(&mut random).ok()?;
        self.before(STANDS_ALONE, URL_SAFE_NO_PAD.encode(random).as_bytes())
    }

    fn before(&self, separator: u8, rest: &[u8]) -> Option<HeaderValue> {
        HeaderValue::from_maybe_shared(Bytes::from([PREFIX, self.code(), &[separator], rest].concat())).ok()
    }
}

/// A session id with its tag taken off: the tag, and the id of the inner service if there is one.
pub(super) fn untag(id: &HeaderValue) -> Option<(SessionTag, Option<HeaderValue>)> {
    let (code, separator, rest) = split(id.as_bytes())?;
    let inner = (separator == WRAPS).then(|| HeaderValue::from_bytes(rest).ok()).flatten();
    Some((SessionTag::read(code), inner))
}

/// The code of a tagged id, the separator, and what stands behind it.
fn split(id: &[u8]) -> Option<(&[u8], u8, &[u8])> {
    let rest = id.strip_prefix(PREFIX)?;
    let end = rest.iter().position(|byte| matches!(*byte, WRAPS | STANDS_ALONE))?;
    Some((&rest[..end], rest[end], &rest[end + 1..]))
}

/// How many bytes of a hash stand for a session: as many as a random UUID has.
const HASH_BYTES: usize = 16;

/// The hash of a request's session, the same on every replica and whatever layers tagged it: that of the id of
/// the innermost service or, where it gave none, of the random characters. `None` where the header is doubled.
pub(crate) fn session_hash(headers: &HeaderMap) -> Option<Text> {
    let mut values = headers.get_all(SESSION_ID).iter();
    let mut id = values.next()?.as_bytes();
    if values.next().is_some() {
        return None;
    }
    while let Some((_, separator, rest)) = split(id) {
        id = rest;
        if separator == STANDS_ALONE {
            break;
        }
    }
    let hash = Sha256::digest(id);
    let text = hash.iter().take(HASH_BYTES).map(|byte| format!("{byte:02x}")).collect::<String>();
    Some(Text::copy(&text))
}

/// Takes a tag off each of a request's session ids.
pub(super) fn untag_all(headers: &mut HeaderMap) {
    let all: Vec<_> = headers.get_all(SESSION_ID).iter().cloned().collect();
    headers.remove(SESSION_ID);
    for id in all {
        match untag(&id) {
            Some((_, Some(inner))) => drop(headers.append(SESSION_ID, inner)),
            Some((_, None)) => {}
            None => drop(headers.append(SESSION_ID, id)),
        }
    }
}

/// Puts the tag in front of the session id of a 2xx answer. The answer to an `initialize` gets an id of
/// our own where the inner service gave none.
pub(crate) fn tag_answer(tag: &SessionTag, answers_initialize: bool, headers: &mut HeaderMap) {
    // An answer has few headers: to go through them is less than to hash the name.
    let id = headers.iter().find(|(name, _)| **name == SESSION_ID).map(|(_, id)| id);
    let tagged = match id {
        Some(id) => tag.around(id),
        None if answers_initialize => tag.alone(),
        None => None,
    };
    if let Some(tagged) = tagged {
        headers.insert(SESSION_ID, tagged);
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::{HeaderMap, HeaderValue};

    use super::{SESSION_ID, SessionTag, tag_answer};
    use crate::exchange::{Declared, RequestHead};

    fn untag_request(headers: &mut HeaderMap) -> Option<SessionTag> {
        RequestHead::read(headers, true).tag
    }

    fn declarations() -> Vec<Declared> {
        vec![
            Declared::NOTHING,
            Declared::apps(),
            Declared::read(Bytes::from_static(br#"{"com.example/x":{"a":[1.0]}}"#)),
            Declared::read(Bytes::from_static(
                br#"{ "io.modelcontextprotocol/ui" : {"mimeTypes":["text/html;profile=mcp-app","x/y"]}}"#,
            )),
        ]
    }

    #[test]
    fn a_tag_comes_back_as_it_went() {
        for declared in declarations() {
            for id in [Some("S-1"), Some("apps1-a~x"), Some("a.b~c"), None] {
                let mut headers = HeaderMap::new();
                if let Some(id) = id {
                    headers.insert(SESSION_ID, HeaderValue::from_static(id));
                }
                tag_answer(&SessionTag::of(&declared), true, &mut headers);
                let sent = headers[SESSION_ID].clone();
                assert!(sent.as_bytes().iter().all(u8::is_ascii_graphic), "{sent:?}");
                let tag = untag_request(&mut headers).expect("the id has a tag");
                assert_eq!(tag.declared(), declared);
                assert_eq!(headers.get(SESSION_ID).map(HeaderValue::as_bytes), id.map(str::as_bytes));
            }
        }
    }

    #[test]
    fn stacked_tags_come_off_one_by_one() {
        let mut headers = HeaderMap::new();
        tag_answer(&SessionTag::of(&Declared::NOTHING), true, &mut headers);
        tag_answer(&SessionTag::of(&Declared::apps()), true, &mut headers);
        assert!(untag_request(&mut headers).expect("outer").declared().supports_apps());
        assert!(!untag_request(&mut headers).expect("inner").declared().supports_apps());
        assert!(!headers.contains_key(SESSION_ID));
    }

    #[test]
    fn foreign_and_doubled_ids_declare_nothing() {
        for foreign in ["S-1", "apps1-a", "apps2-a.x", ""] {
            let mut headers = HeaderMap::from_iter([(SESSION_ID, HeaderValue::from_static(foreign))]);
            assert_eq!(untag_request(&mut headers), None);
            assert_eq!(headers[SESSION_ID], foreign);
        }
        let mut headers = HeaderMap::new();
        headers.append(SESSION_ID, HeaderValue::from_static("apps1-a.S-1"));
        headers.append(SESSION_ID, HeaderValue::from_static("apps1-a~x"));
        assert_eq!(untag_request(&mut headers), None);
        assert_eq!(headers.get_all(SESSION_ID).iter().collect::<Vec<_>>(), ["S-1"]);
    }

    #[test]
    fn a_long_declaration_keeps_apps_only() {
        let long = format!(
            r#"{{"io.modelcontextprotocol/ui":{{"mimeTypes":["text/html;profile=mcp-app"]}},"x/y":"{}"}}"#,
            "z".repeat(4096)
        );
        let tag = SessionTag::of(&Declared::read(long.into()));
        assert_eq!(tag.declared(), Declared::apps());
    }

    #[test]
    fn ids_of_our_own_differ() {
        let tag = SessionTag::of(&Declared::NOTHING);
        assert_ne!(tag.alone(), tag.alone());
    }

    #[test]
    fn only_initialize_gets_an_id_of_our_own() {
        let mut headers = HeaderMap::new();
        tag_answer(&SessionTag::of(&Declared::apps()), false, &mut headers);
        assert!(headers.is_empty());
    }
}
