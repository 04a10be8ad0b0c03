//! sonic-rs: lazy values, checked, and the output put together from their texts. One pass finds the tools, another
//! their `_meta`.

use std::ops::Range;

use bytes::Bytes;
use serde::Deserialize;
use sonic_rs::{JsonValueTrait, LazyValue};

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    result: ListResult<'a>,
}

#[derive(Deserialize)]
struct ListResult<'a> {
    #[serde(borrow)]
    tools: Vec<LazyValue<'a>>,
}

#[derive(Deserialize)]
struct Probe<'a> {
    #[serde(borrow, rename = "_meta")]
    meta: Option<LazyValue<'a>>,
}

pub fn list(body: &Bytes) -> Bytes {
    let Message { result: ListResult { tools } } = sonic_rs::from_slice(body).unwrap();
    let (Some(first), Some(last)) = (tools.first(), tools.last()) else { return body.clone() };
    let range = range(body, first).start..range(body, last).end;
    let mut out = Vec::with_capacity(body.len());
    out.extend_from_slice(&body[..range.start]);
    let start = out.len();
    for tool in tools {
        let raw = tool.as_raw_str().as_bytes();
        let Probe { meta } = sonic_rs::from_slice(raw).unwrap();
        let (ui, flat) = meta.as_ref().map_or((None, None), |meta| (meta.get("ui"), meta.get("ui/resourceUri")));
        let added = match (ui, flat, &meta) {
            (Some(ui), ..) => {
                let list = ui.get("visibility").and_then(LazyValue::into_array_iter);
                if list.is_some_and(|mut list| !list.any(|it| it.is_ok_and(|it| it.as_str() == Some("model")))) {
                    continue;
                }
                None
            }
            (None, Some(flat), Some(meta)) => Some((self::range(raw, meta).end - 1, flat)),
            _ => None,
        };
        if out.len() > start {
            out.push(b',');
        }
        match added {
            Some((end, uri)) => {
                out.extend_from_slice(&raw[..end]);
                out.extend_from_slice(br#","ui":{"resourceUri":"#);
                out.extend_from_slice(uri.as_raw_str().as_bytes());
                out.push(b'}');
                out.extend_from_slice(&raw[end..]);
            }
            None => out.extend_from_slice(raw),
        }
    }
    out.extend_from_slice(&body[range.end..]);
    out.into()
}

/// The same for the answer to a read.
pub fn read(body: &Bytes) -> Bytes {
    let message: LazyValue<'_> = sonic_rs::from_slice(body).unwrap();
    let contents = message.pointer(["result", "contents"]).unwrap();
    let mut contents = contents.into_array_iter().unwrap();
    let page = contents.next().unwrap().unwrap();
    let range = range(body, &page.pointer(["_meta", "ui", "prefersBorder"]).unwrap());
    [&body[..range.start], b"false", &body[range.end..]].concat().into()
}

/// Where a value stands in the text that it was read from.
fn range(text: &[u8], value: &LazyValue<'_>) -> Range<usize> {
    let raw = value.as_raw_str();
    let start = raw.as_ptr() as usize - text.as_ptr() as usize;
    start..start + raw.len()
}
