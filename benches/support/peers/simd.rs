//! simd-json: a tree of borrowed values. It parses in place, so the body is copied first.

use bytes::Bytes;
use simd_json::prelude::*;
use simd_json::{BorrowedValue, json};

pub fn list(body: &Bytes) -> Bytes {
    let mut copy = body.to_vec();
    let mut message = simd_json::to_borrowed_value(&mut copy).unwrap();
    if let Some(tools) =
        message.get_mut("result").and_then(|result| result.get_mut("tools")).and_then(|tools| tools.as_array_mut())
    {
        tools.retain_mut(visible);
    }
    message.encode().into()
}

fn visible(tool: &mut BorrowedValue<'_>) -> bool {
    let Some(meta) = tool.get_mut("_meta") else { return true };
    if let Some(ui) = meta.get("ui") {
        let visibility = ui.get("visibility").and_then(|list| list.as_array());
        return visibility.is_none_or(|list| list.iter().any(|audience| audience.as_str() == Some("model")));
    }
    if let Some(uri) = meta.get("ui/resourceUri").cloned()
        && let Some(meta) = meta.as_object_mut()
    {
        let mut ui: BorrowedValue<'_> = json!({}).into();
        if let Some(ui) = ui.as_object_mut() {
            ui.insert("resourceUri".into(), uri);
        }
        meta.insert("ui".into(), ui);
    }
    true
}

pub fn read(body: &Bytes) -> Bytes {
    let mut copy = body.to_vec();
    let mut message = simd_json::to_borrowed_value(&mut copy).unwrap();
    message["result"]["contents"][0]["_meta"]["ui"]["prefersBorder"] = false.into();
    message.encode().into()
}

/// A result that is looked through and written again.
pub fn look(body: &Bytes) -> Bytes {
    let mut copy = body.to_vec();
    let message = simd_json::to_borrowed_value(&mut copy).unwrap();
    assert!(message.get("method").is_none());
    message.encode().into()
}
