//! An app as it stands on the wire, written once and not for each request.

use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::CacheScope;
use super::app::Versions;
use crate::json::{Frames, write_string};
use crate::protocol::Era;
use crate::ui::{Html, UiResource};

/// How many bytes of the digest tell versions apart. Nobody gains by two that are the same.
const VERSION_BYTES: usize = 8;

/// An app as it stands on the wire.
#[derive(Debug)]
pub(super) struct Page {
    /// The URI that is listed and linked.
    pub(super) uri: String,
    /// The entry in `resources/list`.
    pub(super) entry: Bytes,
    /// The content item from behind its URI on.
    item: Bytes,
}

impl Page {
    pub(super) fn new(resource: &UiResource, html: &Html, versions: Versions) -> Self {
        let base = resource.uri().as_str();
        let uri = match versions {
            Versions::Same => base.to_owned(),
            Versions::ByContent => format!("{base}/{}", version(resource, html)),
        };
        let mut entry = resource.to_entry();
        let mut item = resource.to_contents(html);
        if let Some(members) = entry.as_object_mut() {
            members.insert("uri".to_owned(), uri.as_str().into());
        }
        if let Some(members) = item.as_object_mut() {
            members.remove("uri");
        }
        let item = Bytes::from(item.to_string());
        Self { uri, entry: entry.to_string().into(), item: item.slice(1..) }
    }

    /// The result of a read under this URI.
    pub(super) fn result(&self, uri: &str, hints: &str) -> Frames {
        let mut head = br#"{"contents":[{"uri":"#.to_vec();
        write_string(uri, &mut head);
        head.push(b',');
        let tail = format!("]{hints}}}");
        Frames::from(vec![head.into(), self.item.clone(), tail.into()])
    }
}

/// What a complete result of this era says about itself, behind its other members (MCP 2026-07-28, "Caching").
pub(super) fn hints(era: Era, (ttl_ms, scope): (u128, CacheScope)) -> String {
    match era {
        Era::Legacy => String::new(),
        Era::Modern => {
            format!(r#","resultType":"complete","ttlMs":{ttl_ms},"cacheScope":"{}""#, scope.as_str())
        }
    }
}

fn version(resource: &UiResource, html: &Html) -> String {
    let mut digest = Sha256::new();
    digest.update(serde_json::Value::from(resource.to_meta()).to_string());
    digest.update(html.as_str());
    digest.finalize().iter().take(VERSION_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a path segment can be a version.
pub(super) fn is_version(segment: &str) -> bool {
    segment.len() == 2 * VERSION_BYTES && segment.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
