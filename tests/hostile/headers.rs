//! Mutations of a request's headers, and what the audience may be.

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use super::dice::Dice;

const VALUES: [&str; 24] = [
    "application/json",
    "application/json; charset=utf-16",
    "text/plain",
    "text/event-stream",
    "gzip",
    "identity",
    "*/*",
    "tools/call",
    "tools/list",
    "resources/read",
    "initialize",
    "2026-07-28",
    "2025-11-25",
    "2024-11-05",
    "0",
    "",
    "=?base64?cG9sbA==?=",
    "=?base64?!?=",
    "=?BASE64?cG9sbA==?=",
    "poll",
    "hidden-from-models",
    "Hidden-From-Models",
    "hidden-from-models ",
    "null",
];

const NAMES: [&str; 8] = [
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "content-type",
    "content-encoding",
    "accept",
    "origin",
];

/// Mutates headers in one way: one is swapped with another, goes, comes, stands twice or says something else.
pub(crate) fn mutate(headers: &mut HeaderMap, dice: &mut Dice, other: &HeaderMap) {
    let names: Vec<HeaderName> = headers.keys().cloned().collect();
    let value = |dice: &mut Dice| {
        let value = dice.pick(&VALUES);
        HeaderValue::from_static(value)
    };
    let there = |dice: &mut Dice| if names.is_empty() { None } else { Some(dice.pick(&names).clone()) };
    match dice.below(7) {
        0 => {
            let (Some(one), Some(two)) = (there(dice), there(dice)) else { return };
            let (first, second) = (headers[&one].clone(), headers[&two].clone());
            headers.insert(one, second);
            headers.insert(two, first);
        }
        1 => {
            let Some(name) = there(dice) else { return };
            headers.remove(name);
        }
        2 => {
            let Some(name) = there(dice) else { return };
            let twin = if dice.once_in(2) { headers[&name].clone() } else { value(dice) };
            headers.append(name, twin);
        }
        3 => {
            let Some(name) = there(dice) else { return };
            headers.insert(name, value(dice));
        }
        4 => {
            let Some(name) = there(dice) else { return };
            let mut bytes = headers[&name].as_bytes().to_vec();
            if let Some(at) = (!bytes.is_empty()).then(|| dice.below(bytes.len())) {
                bytes[at] = *dice.pick(b" \t,;\"=?a\xff\x80Z");
            }
            let Ok(value) = HeaderValue::from_bytes(&bytes) else { return };
            headers.insert(name, value);
        }
        5 => {
            let name = dice.pick(&NAMES);
            headers.append(HeaderName::from_static(name), value(dice));
        }
        _ => *headers = other.clone(),
    }
}

/// Lets the mirrored headers follow the body, as a client does that wants to get through.
pub(crate) fn mirror(headers: &mut HeaderMap, body: &[u8]) {
    let message: Value = serde_json::from_slice(body).unwrap_or_default();
    let name =
        if message["method"] == "resources/read" { &message["params"]["uri"] } else { &message["params"]["name"] };
    for (header, value) in [("mcp-method", &message["method"]), ("mcp-name", name)] {
        if headers.contains_key(header)
            && let Some(Ok(value)) = value.as_str().map(HeaderValue::from_str)
        {
            headers.insert(header, value);
        }
    }
}
