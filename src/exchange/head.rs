//! What the headers of a request say before anything else of it is read.

use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};

use super::session::{SessionTag, untag, untag_all};
use super::{Content, Encoding, Text};
use crate::protocol::header::{PROTOCOL_VERSION, SESSION_ID};

/// What the headers of a request say of its body, its session and its version.
#[derive(Debug)]
pub(crate) struct RequestHead {
    pub(crate) content: Content,
    pub(crate) encoding: Encoding,
    /// The tag that was taken off the session id, so that the inner service sees the id that it gave, or none.
    pub(crate) tag: Option<SessionTag>,
    /// The protocol version that is named first.
    pub(crate) version: Option<Text>,
}

impl RequestHead {
    /// Reads the headers in one pass, since to look each up by its name is to hash that. Takes one tag off the session id, where
    /// ids have tags; an id without one stays. Where the header stands more than once, no tag counts.
    pub(crate) fn read(headers: &mut HeaderMap, has_tags: bool) -> Self {
        let (mut content, mut encoding) = (Content::Unlabelled, Encoding::Identity);
        let (mut id, mut ids): (Option<&mut HeaderValue>, usize) = (None, 0);
        let mut version: Option<&HeaderValue> = None;
        for (name, value) in headers.iter_mut() {
            if *name == CONTENT_TYPE {
                content = content.and(value);
            } else if *name == CONTENT_ENCODING {
                encoding = encoding.and(value);
            } else if *name == SESSION_ID && has_tags {
                id = Some(value);
                ids += 1;
            } else if *name == PROTOCOL_VERSION {
                version = version.or(Some(value));
            }
        }
        let version = version.and_then(|version| {
            Text::known_version(version.as_bytes()).or_else(|| version.to_str().ok().map(Text::copy))
        });
        let tag = match id {
            Some(id) if ids == 1 => match untag(id) {
                Some((tag, Some(inner))) => {
                    *id = inner;
                    Some(tag)
                }
                Some((tag, None)) => {
                    headers.remove(SESSION_ID);
                    Some(tag)
                }
                None => None,
            },
            Some(_) => {
                untag_all(headers);
                None
            }
            None => None,
        };
        Self { content, encoding, tag, version }
    }
}
