//! How long, and by whom, a result of the modern era may be kept: a merged one no longer than each of its parts, and by no more.

use bytes::Bytes;
use tower_mcp_apps::json::{Frames, Object, Reader, Splice};

use crate::lists;

/// Whether the results of a method may be kept at all (MCP 2026-07-28, "Caching").
pub(crate) fn may_be_kept(method: &str) -> bool {
    method == "resources/read" || lists::member(method).is_some()
}

/// A message with a result that its caller alone may keep; `None` where it is as it should be.
pub(crate) fn for_caller_alone(message: &Bytes) -> Option<Frames> {
    let mut members = Object::default();
    members.read(&mut Reader::new(message)).ok()?;
    // Of two results some reader takes the one, some the other.
    members.change("result", |result| {
        let mut members = Object::default();
        members.read(&mut result.reader()).ok()?;
        members.set("cacheScope", "\"private\"");
        let mut text = Vec::new();
        members.render(&mut text);
        Some(text)
    });
    let mut splice = Splice::default();
    members.emit(&mut splice);
    (!splice.is_empty()).then(|| splice.apply(message))
}

/// The caching hints of several results in one (MCP 2026-07-28, "Caching").
#[derive(Debug, Default)]
pub(crate) struct Caching {
    ttl_ms: Option<u64>,
    pub(crate) private: bool,
}

impl Caching {
    /// Adds those of one result. What it does not say, or not as it should, is the strictest.
    pub(crate) fn add(&mut self, result: &Object<'_>) {
        let ttl_ms = result.get("ttlMs").and_then(|ttl| std::str::from_utf8(ttl.bytes()).ok()?.parse().ok());
        let ttl_ms = ttl_ms.unwrap_or(0);
        self.ttl_ms = Some(self.ttl_ms.map_or(ttl_ms, |least| least.min(ttl_ms)));
        self.private |= result.get("cacheScope").and_then(|scope| scope.as_str()).as_deref() != Some("public");
    }

    /// Writes them. A result that is not whole is to be asked for again at once.
    pub(crate) fn write(&self, is_whole: bool, result: &mut Object<'_>) {
        let ttl_ms = if is_whole { self.ttl_ms.unwrap_or(0) } else { 0 };
        result.set("ttlMs", ttl_ms.to_string());
        result.set("cacheScope", if self.private { "\"private\"" } else { "\"public\"" });
    }
}
