//! A round trip through rmcp's types, as an SDK on both sides makes it. What the types do not know is lost.

use bytes::Bytes;
use rmcp::model::{JsonRpcMessage, MetaObject, ServerJsonRpcMessage, ServerResult, Tool};
use serde_json::{Value, json};

pub fn list(body: &Bytes) -> Bytes {
    let mut message: ServerJsonRpcMessage = serde_json::from_slice(body).unwrap();
    if let JsonRpcMessage::Response(response) = &mut message
        && let ServerResult::ListToolsResult(list) = &mut response.result
    {
        list.tools.retain_mut(visible);
    }
    serde_json::to_vec(&message).unwrap().into()
}

fn visible(tool: &mut Tool) -> bool {
    let Some(MetaObject(meta)) = &mut tool.meta else { return true };
    if let Some(ui) = meta.get("ui") {
        let visibility = ui.get("visibility").and_then(Value::as_array);
        return visibility.is_none_or(|list| list.iter().any(|audience| audience == "model"));
    }
    if let Some(uri) = meta.get("ui/resourceUri").cloned() {
        meta.insert("ui".into(), json!({ "resourceUri": uri }));
    }
    true
}
