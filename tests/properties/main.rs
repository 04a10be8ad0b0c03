//! What holds for any message: the rules on a tree, twice and once, stacked and fused, cut and whole, read and remembered, and no leaks.

#[path = "../kit/mod.rs"]
mod kit;
mod leaks;
mod model;
mod namespaces;
mod remembered;
mod requests;
mod rules;
mod run;
mod splits;
mod stacks;
mod texts;

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;
use tower_mcp_apps::normalize::{FlatKey, OpenAiKeys};
use tower_mcp_apps::protocol::Audience;

/// The methods whose answers a concern may look at, and another. An app may use them all.
const METHODS: [&str; 7] = [
    "tools/list",
    "initialize",
    "server/discover",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "ping",
];

/// Requests with the ids 1 and perhaps 2: the body, and what it asks.
#[derive(Clone, Debug)]
struct Requests {
    body: String,
    methods: Vec<&'static str>,
    is_modern: bool,
}

fn requests() -> impl Strategy<Value = Requests> {
    let method = || prop_oneof![4 => Just("tools/list"), 4 => select(&METHODS[..])];
    (method(), method(), any::<bool>(), prop::bool::weighted(0.2)).prop_map(|(one, two, is_modern, is_batch)| {
        let request = |id: u32, method: &str| {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            let params = if is_modern && !is_batch { json!({ "_meta": meta }) } else { json!({}) };
            json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
        };
        if is_batch {
            let body = json!([request(1, one), request(2, two)]).to_string();
            return Requests { body, methods: vec![one, two], is_modern: false };
        }
        Requests { body: request(1, one).to_string(), methods: vec![one], is_modern: is_modern && one != "initialize" }
    })
}

fn audience() -> impl Strategy<Value = Audience> {
    select(vec![Audience::Host, Audience::Model, Audience::App])
}

fn flat_key() -> impl Strategy<Value = FlatKey> {
    select(vec![FlatKey::Add, FlatKey::Both, FlatKey::Strip, FlatKey::Keep])
}

fn openai_keys() -> impl Strategy<Value = OpenAiKeys> {
    select(vec![OpenAiKeys::Ignore, OpenAiKeys::Read])
}
