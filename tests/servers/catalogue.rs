//! What every fixture server offers, as the JSON that belongs on the wire.
//!
//! Each SDK gets these values through its own types, so what a client sees differs between the
//! servers only by what their SDKs add or reorder.

use serde_json::{Value, json};

/// The one UI resource.
pub(crate) const VIEW: &str = "ui://fixture/view";

/// The media type of a UI resource (MCP Apps 2026-01-26, "UI Resource Format").
pub(crate) const APP_HTML: &str = "text/html;profile=mcp-app";

/// The text of the UI resource.
pub(crate) const HTML: &str = "<!doctype html><html><body>fixture</body></html>";

/// The entries of `tools/list`: one with the deprecated flat key only, one for apps only, one plain.
pub(crate) fn tools() -> Value {
    json!([
        {
            "name": "show",
            "inputSchema": { "type": "object" },
            "_meta": { "ui/resourceUri": VIEW, "com.example/k": 1 }
        },
        {
            "name": "poll",
            "inputSchema": { "type": "object" },
            "_meta": { "ui": { "resourceUri": VIEW, "visibility": ["app"] } }
        },
        { "name": "plain", "inputSchema": { "type": "object" } }
    ])
}

/// The names in [`tools`], sorted: tower-mcp sorts its list, the others keep the order.
pub(crate) fn names() -> Vec<String> {
    ["plain", "poll", "show"].map(String::from).to_vec()
}

/// The entry of `resources/list`.
pub(crate) fn resource() -> Value {
    json!({ "uri": VIEW, "name": "view", "mimeType": APP_HTML })
}

/// The content item of `resources/read`.
pub(crate) fn contents() -> Value {
    json!({ "uri": VIEW, "mimeType": APP_HTML, "text": HTML, "_meta": contents_meta() })
}

/// The `_meta` of the content item; the list entry has none.
pub(crate) fn contents_meta() -> Value {
    json!({ "ui": { "csp": { "connectDomains": ["https://api.example.com"] } } })
}

/// What a call of a known tool says.
pub(crate) fn ran(name: &str) -> Option<String> {
    names().iter().any(|known| known == name).then(|| format!("{name} ran"))
}
