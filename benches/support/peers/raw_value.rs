//! Structs of `RawValue`: only what is edited is parsed further. Members that the structs do not know are lost.

use std::borrow::Cow;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

#[derive(Deserialize, Serialize)]
struct Message<'a> {
    #[serde(borrow)]
    jsonrpc: &'a RawValue,
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(borrow)]
    result: ListResult<'a>,
}

#[derive(Deserialize, Serialize)]
struct ListResult<'a> {
    #[serde(borrow)]
    tools: Vec<Cow<'a, RawValue>>,
    #[serde(borrow, rename = "nextCursor", skip_serializing_if = "Option::is_none")]
    next_cursor: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Probe<'a> {
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Meta {
    ui: Option<Ui>,
    #[serde(rename = "ui/resourceUri")]
    uri: Option<String>,
}

#[derive(Deserialize)]
struct Ui {
    visibility: Option<Vec<String>>,
}

pub fn list(body: &Bytes) -> Bytes {
    let mut message: Message<'_> = serde_json::from_slice(body).unwrap();
    message.result.tools.retain_mut(|tool| {
        let probe: Probe<'_> = serde_json::from_str(tool.get()).unwrap();
        let Some(meta) = probe.meta else { return true };
        match serde_json::from_str(meta.get()).unwrap() {
            Meta { ui: Some(Ui { visibility: Some(list) }), .. } => list.iter().any(|audience| audience == "model"),
            Meta { ui: None, uri: Some(uri) } => {
                let mut fields: Map<String, Value> = serde_json::from_str(tool.get()).unwrap();
                fields["_meta"]["ui"] = json!({ "resourceUri": uri });
                *tool = Cow::Owned(to_raw_value(&fields).unwrap());
                true
            }
            Meta { .. } => true,
        }
    });
    serde_json::to_vec(&message).unwrap().into()
}
