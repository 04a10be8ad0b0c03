//! How a client speaks to a stack that names things otherwise than the server: with a prefix, or through a meta-tool; and, slowly, what
//! the server must then hear.

use serde_json::{Value, json};
use tower_mcp_apps::namespace::Namespace;

use super::headers;
use super::lax::Lax;
use super::requests::Sent;
use super::stacks::Stack;

pub(crate) fn namespace() -> Namespace {
    Namespace::new("ours").expect("a name")
}

/// The request as a client sends it that knows the server through this stack.
pub(crate) fn dress(stack: Stack, sent: &mut Sent) {
    let Ok(mut message) = serde_json::from_slice::<Value>(&sent.body) else { return };
    match stack {
        Stack::Namespaced => name(&mut message),
        Stack::MetaTools if message["method"] == "tools/call" => {
            let arguments = json!({ "name": message["params"]["name"], "arguments": message["params"]["arguments"] });
            message["params"]["name"] = "call_tool".into();
            message["params"]["arguments"] = arguments;
        }
        _ => return,
    }
    sent.body = message.to_string().into();
    headers::mirror(&mut sent.headers, &sent.body);
}

fn name(message: &mut Value) {
    let method = message["method"].as_str().unwrap_or_default().to_owned();
    let with_name = |name: &str| namespace().add_to_name(name);
    let with_uri = |uri: &str| namespace().add_to_uri(uri);
    let add = |of: &mut Value, key: &str, with: &dyn Fn(&str) -> String| {
        if let Some(text) = of.get_mut(key).and_then(|text| text.as_str().map(with).map(|it| (text, it))) {
            *text.0 = text.1.into();
        }
    };
    let Some(params) = message.get_mut("params") else { return };
    match &*method {
        "tools/call" | "prompts/get" => add(params, "name", &with_name),
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => add(params, "uri", &with_uri),
        "completion/complete" => {
            let Some(reference) = params.get_mut("ref") else { return };
            add(reference, "name", &with_name);
            add(reference, "uri", &with_uri);
        }
        _ => {}
    }
}

/// What the server must hear of a request with the prefix. Where it has none, or is another server's, it is as it was: it must not
/// arrive at all.
pub(crate) fn strip(body: &Lax) -> Lax {
    match body {
        Lax::List(messages) => Lax::List(messages.iter().map(strip).collect()),
        message => {
            let method = message.all("method").filter_map(Lax::text).last().unwrap_or_default();
            within(message, "params", |params| match method {
                "tools/call" | "prompts/get" => within(params, "name", without_name),
                "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
                    within(params, "uri", without_uri)
                }
                "completion/complete" => within(params, "ref", |reference| {
                    within(&within(reference, "name", without_name), "uri", without_uri)
                }),
                "subscriptions/listen" => within(params, "notifications", |notifications| {
                    within(notifications, "resourceSubscriptions", |uris| match uris {
                        Lax::List(uris) => Lax::List(uris.iter().map(without_uri).collect()),
                        other => other.clone(),
                    })
                }),
                _ => params.clone(),
            })
        }
    }
}

/// The object with other values for this member.
fn within(of: &Lax, name: &str, change: impl Fn(&Lax) -> Lax) -> Lax {
    let Lax::Object(members) = of else { return of.clone() };
    let changed = members.iter().map(|(key, value)| {
        let value = if key == name { change(value) } else { value.clone() };
        (key.clone(), value)
    });
    Lax::Object(changed.collect())
}

fn without_name(name: &Lax) -> Lax {
    text(name, |name| name.strip_prefix("ours__").map(str::to_owned))
}

fn without_uri(uri: &Lax) -> Lax {
    text(uri, |uri| match uri.strip_prefix("ui://") {
        Some(rest) => rest.strip_prefix("ours+").map(|rest| format!("ui://{rest}")),
        None => uri.strip_prefix("ours+").map(str::to_owned),
    })
}

fn text(value: &Lax, change: impl Fn(&str) -> Option<String>) -> Lax {
    match value.text().and_then(change) {
        Some(text) => Lax::Text(text),
        None => value.clone(),
    }
}
