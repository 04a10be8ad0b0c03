//! What a user would write: parse to a `serde_json::Value`, edit, serialise.

use bytes::Bytes;
use serde_json::{Value, json};

pub fn list(body: &Bytes) -> Bytes {
    let mut message = serde_json::from_slice(body).unwrap();
    edit(&mut message);
    serde_json::to_vec(&message).unwrap().into()
}

/// Edits the tools of a message, if it has any.
pub fn edit(message: &mut Value) {
    let Some(tools) = message.pointer_mut("/result/tools").and_then(Value::as_array_mut) else { return };
    tools.retain_mut(|tool| {
        let Some(meta) = tool.get_mut("_meta").and_then(Value::as_object_mut) else { return true };
        if let Some(ui) = meta.get("ui") {
            let visibility = ui.get("visibility").and_then(Value::as_array);
            return visibility.is_none_or(|list| list.iter().any(|audience| audience == "model"));
        }
        if let Some(uri) = meta.get("ui/resourceUri").cloned() {
            meta.insert("ui".into(), json!({ "resourceUri": uri }));
        }
        true
    });
}

pub fn read(body: &Bytes) -> Bytes {
    let mut message: Value = serde_json::from_slice(body).unwrap();
    message["result"]["contents"][0]["_meta"]["ui"]["prefersBorder"] = false.into();
    serde_json::to_vec(&message).unwrap().into()
}

/// A result that is looked through and written again.
pub fn look(body: &Bytes) -> Bytes {
    let message: Value = serde_json::from_slice(body).unwrap();
    assert!(message.get("method").is_none());
    serde_json::to_vec(&message).unwrap().into()
}
