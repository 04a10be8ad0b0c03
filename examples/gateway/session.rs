//! The gateway's session ids of the legacy era: those of all upstreams in one, so that nothing is remembered here.
//!
//! `gw1.NAME~ID.NAME~ID…`, each ID in base64url. An upstream that gave no id has an empty one; an upstream that is not
//! named took no part when the session began. Nothing is signed: whoever forges an id could as well send the forged parts
//! to the upstreams, which are who must make theirs unguessable.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderValue;

/// The longest id, since servers and proxies commonly allow 8 KiB for all header fields.
const LONGEST: usize = 6 * 1024;

/// The upstreams of one session, and the ids that they gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Session(Vec<(String, Option<HeaderValue>)>);

impl Session {
    /// The upstream takes part.
    pub(crate) fn join(&mut self, upstream: &str, id: Option<HeaderValue>) {
        self.0.push((upstream.to_owned(), id));
    }

    /// Whether the upstream takes part.
    pub(crate) fn has(&self, upstream: &str) -> bool {
        self.0.iter().any(|(name, _)| name == upstream)
    }

    /// The id that the upstream gave.
    pub(crate) fn id_of(&self, upstream: &str) -> Option<&HeaderValue> {
        self.0.iter().find(|(name, _)| name == upstream).and_then(|(_, id)| id.as_ref())
    }

    /// The header; `None` where it would be too long.
    pub(crate) fn encode(&self) -> Option<HeaderValue> {
        let mut text = String::from("gw1");
        for (name, id) in &self.0 {
            text.push_str(&format!(".{name}~"));
            URL_SAFE_NO_PAD.encode_string(id.as_ref().map_or(&b""[..], HeaderValue::as_bytes), &mut text);
        }
        HeaderValue::try_from(text).ok().filter(|id| id.len() <= LONGEST)
    }

    /// The session of this header; `None` for what [`encode`](Self::encode) did not write.
    pub(crate) fn decode(id: &HeaderValue) -> Option<Self> {
        let mut parts = id.to_str().ok().filter(|id| id.len() <= LONGEST)?.split('.');
        if parts.next() != Some("gw1") {
            return None;
        }
        let mut session = Self::default();
        for part in parts {
            let (name, encoded) = part.split_once('~')?;
            let id = URL_SAFE_NO_PAD.decode(encoded).ok()?;
            if session.has(name) {
                return None;
            }
            let id =
                if id.is_empty() { None } else { Some(HeaderValue::from_maybe_shared(bytes::Bytes::from(id)).ok()?) };
            session.join(name, id);
        }
        Some(session)
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::{LONGEST, Session};

    #[test]
    fn it_comes_back_as_it_went() {
        let mut session = Session::default();
        session.join("maps", Some(HeaderValue::from_static("apps1-a.S-1!~.x")));
        session.join("notes", None);
        let id = session.encode().expect("it is short");
        assert!(id.as_bytes().iter().all(u8::is_ascii_graphic), "{id:?}");
        assert_eq!(Session::decode(&id), Some(session.clone()));
        assert_eq!(session.id_of("maps").map(HeaderValue::as_bytes), Some(&b"apps1-a.S-1!~.x"[..]));
        assert!(session.has("notes") && !session.has("other"));
    }

    #[test]
    fn what_is_foreign_is_none() {
        let doubled = "gw1.a~eA.a~eA";
        for foreign in ["", "S-1", "gw2.a~eA", "gw1.a", "gw1.a~@", "gw1.a~eA==", "gw1.a~AA", doubled] {
            assert_eq!(Session::decode(&HeaderValue::from_static(foreign)), None, "{foreign}");
        }
    }

    #[test]
    fn it_is_bounded() {
        let mut session = Session::default();
        session.join("a", HeaderValue::try_from("x".repeat(LONGEST)).ok());
        assert_eq!(session.encode(), None);
    }
}
