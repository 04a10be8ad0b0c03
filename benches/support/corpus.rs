//! The bodies that are measured.

use std::fmt::Write;

use bytes::Bytes;
use serde_json::Value;

/// How many bodies are in the mix, and how many tools each has. One body in a loop teaches the branch predictor, and
/// flatters everyone.
const MIX: usize = 100;

/// `tools/list` answers of 100 tools, each another.
pub fn mix() -> Vec<Bytes> {
    (0..MIX).map(|seed| tools(seed, 100)).collect()
}

/// A `tools/list` answer with tools of 1.08 kB: half with `_meta`, a tenth for apps only, a tenth with the flat key.
pub fn tools(seed: usize, count: usize) -> Bytes {
    let mut out = String::from(r#"{"jsonrpc":"2.0","id":7,"result":{"tools":["#);
    for number in 0..count {
        if number > 0 {
            out.push(',');
        }
        tool(&mut out, number, seed * count + number);
    }
    out += r#"],"nextCursor":"bmV4dA=="}}"#;
    Bytes::from(out)
}

fn tool(out: &mut String, number: usize, id: usize) {
    write!(out, r#"{{"name":"tool_{id}_search","title":"Search the archive, shelf {id}","description":""#).unwrap();
    *out += "Looks through the documents of one archive and returns those that match the query, ordered by relevance. ";
    *out +=
        "Use it before `get_document`; an empty query lists the newest documents. Results come in pages of at most ";
    *out += "one hundred, with a cursor for the next. ";
    *out += &"It pages. "[..id % 11];
    *out += r#"","inputSchema":{"type":"object","properties":{"query":{"type":"string","description":"What to look for, in plain words","minLength":1,"maxLength":"#;
    write!(out, r#"{}}},"limit":{{"type":"integer","minimum":1,"maximum":100,"default":20}},"#, 100 + id % 900)
        .unwrap();
    *out += r#""sort":{"type":"string","enum":["relevance","newest","oldest"],"default":"relevance"},"since":{"type":["string","null"],"format":"date-time","description":"Only documents changed after this time"},"tags":{"type":"array","items":{"type":"string","maxLength":64},"uniqueItems":true,"description":"All of these must be set"}},"required":["query"],"additionalProperties":false},"annotations":{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}"#;
    match number % 10 {
        0 => write!(out, r#","_meta":{{"ui/resourceUri":"ui://archive/{id}.html","shelf":{id}.50}}"#),
        1 => {
            write!(out, r#","_meta":{{"ui":{{"resourceUri":"ui://archive/{id}.html","visibility":["app"]}}}}"#)
        }
        2..5 => write!(
            out,
            r#","_meta":{{"ui":{{"resourceUri":"ui://archive/{id}.html","visibility":["model","app"]}},"shelf":{id}.50}}"#
        ),
        _ => Ok(()),
    }
    .unwrap();
    out.push('}');
}

/// The same message with white space, as some servers send it.
pub fn pretty(message: &[u8]) -> Bytes {
    let value: Value = serde_json::from_slice(message).unwrap();
    serde_json::to_vec_pretty(&value).unwrap().into()
}

/// A `resources/read` answer with a page of `bytes`: markup, styles and a bundled script in about equal parts.
pub fn page(bytes: usize) -> Bytes {
    let mut page = String::from("<!doctype html>\n<html><head><meta charset=\"utf-8\"><title>Archive</title>\n");
    for part in 0.. {
        match part % 3 {
            0 => writeln!(page, "  <li class=\"row\" data-id=\"{part}\"><a href=\"#doc-{part}\">Document {part}</a> <em>über alles</em></li>"),
            1 => writeln!(page, "  .row-{part} {{ display: grid; grid-template-columns: 1fr auto; gap: 8px; color: var(--text-{part}) }}"),
            _ => write!(page, "function f{part}(e,t){{if(!e||!e.length)return t;for(var n=0,r=e.length;n<r;n++){{t=h(t,e[n].key===\"{part}\")}}return t}}"),
        }
        .unwrap();
        if page.len() >= bytes {
            break;
        }
    }
    let text = Value::from(page);
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"result":{{"contents":[{{"uri":"ui://archive/page.html","mimeType":"text/html;profile=mcp-app","text":{text},"_meta":{{"ui":{{"prefersBorder":true}}}}}}]}}}}"#
    )
    .into()
}

/// A `tools/call` answer with an image of `bytes` in base64.
pub fn image(bytes: usize) -> Bytes {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut state = 7_u32;
    let data: String = (0..bytes)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(DIGITS[(state >> 26) as usize])
        })
        .collect();
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"result":{{"content":[{{"type":"image","mimeType":"image/png","data":"{data}"}}],"isError":false}}}}"#
    )
    .into()
}

/// A small `tools/call` answer.
pub fn called() -> Bytes {
    Bytes::from_static(
        br#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"12 documents, the newest of today"}],"isError":false}}"#,
    )
}

/// An event stream: this many `notifications/progress`, a chunk each, then the answer.
pub fn progress(events: usize) -> Vec<Bytes> {
    let event = |number| {
        format!(
            "event: message\nid: {number}\ndata: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\"progressToken\":\"t\",\"progress\":{number},\"total\":{events}}}}}\n\n"
        )
    };
    (0..events).map(|number| event(number).into()).chain([one_event(&called())]).collect()
}

/// This message as an event.
pub fn one_event(message: &[u8]) -> Bytes {
    [b"event: message\ndata: ", message, b"\n\n"].concat().into()
}

/// The same bytes in chunks of this size.
pub fn chunks(bytes: &Bytes, size: usize) -> Vec<Bytes> {
    (0..bytes.len()).step_by(size).map(|at| bytes.slice(at..bytes.len().min(at + size))).collect()
}
