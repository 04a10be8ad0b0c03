//! For any entry and anything that was said: what is put back is what a slow twin on trees says, and never more.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tower::Layer;
use tower_mcp_apps::restore::{CaptureLayer, Memory, RestoreLayer};

use crate::kit::send;
use crate::kit::server::Server;
use crate::world::{ask, maps, upstream};

const GRANTS: [&str; 4] = ["csp", "permissions", "domain", "linkTrustedDomains"];
const LINKS: [&str; 3] = ["resourceUri", "ui/resourceUri", "openai/outputTemplate"];

fn is_missing(value: Option<&Value>) -> bool {
    value.is_none_or(Value::is_null)
}

fn mapped(key: &str, value: &Value) -> Value {
    match value.as_str().filter(|_| LINKS.contains(&key)) {
        Some(uri) => maps().add_to_uri(uri).into(),
        None => value.clone(),
    }
}

/// What must come of a tool; `None` where it must be hidden.
fn twin(kept: &Value, said: &Value) -> Option<Value> {
    let mut tool = kept.as_object().expect("an object").clone();
    for (key, value) in said.as_object().expect("an object") {
        match key.as_str() {
            "name" | "inputSchema" | "_meta" | "outputSchema" | "execution" => {}
            "annotations" if tool.get(key).is_some_and(Value::is_object) && value.is_object() => {
                let annotations = tool[key].as_object_mut().expect("an object");
                for (key, value) in value.as_object().expect("an object") {
                    if is_missing(annotations.get(key)) {
                        annotations.insert(key.clone(), value.clone());
                    }
                }
            }
            _ if is_missing(tool.get(key)) => drop(tool.insert(key.clone(), value.clone())),
            _ => {}
        }
    }
    let Some(said) = said.get("_meta").and_then(Value::as_object) else { return Some(tool.into()) };
    let restricts = said.get("ui").and_then(Value::as_object).is_some_and(|ui| ui.contains_key("visibility"));
    let mut meta = match tool.get("_meta") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(meta)) => meta.clone(),
        Some(_) => return (!restricts).then(|| tool.into()),
    };
    let had_openai = meta.iter().any(|(key, value)| key.starts_with("openai/") && !value.is_null());
    for (key, value) in said {
        let is_withheld = had_openai && ["openai/widgetCSP", "openai/widgetDomain"].contains(&key.as_str());
        match value {
            Value::Object(said) if key == "ui" => {
                let had_ui = !is_missing(meta.get("ui"));
                let mut ui = match meta.get("ui") {
                    None | Some(Value::Null) => Map::new(),
                    Some(Value::Object(ui)) => ui.clone(),
                    Some(_) if restricts => return None,
                    Some(_) => continue,
                };
                for (key, value) in said {
                    if is_missing(ui.get(key)) && !(had_ui && GRANTS.contains(&key.as_str())) {
                        ui.insert(key.clone(), mapped(key, value));
                    }
                }
                if !ui.is_empty() || had_ui {
                    meta.insert("ui".to_owned(), ui.into());
                }
            }
            _ if key == "ui" || is_withheld => {}
            _ if is_missing(meta.get(key)) => drop(meta.insert(key.clone(), mapped(key, value))),
            _ => {}
        }
    }
    if !meta.is_empty() {
        tool.insert("_meta".to_owned(), meta.into());
    }
    Some(tool.into())
}

/// Some of these members, with some of these values.
fn object(members: &'static [(&'static str, &'static [&'static str])]) -> impl Strategy<Value = Map<String, Value>> {
    let each: Vec<_> = members
        .iter()
        .map(|(key, values)| {
            let value = proptest::option::of(proptest::sample::select(*values));
            value.prop_map(|value| value.map(|value| ((*key).to_owned(), serde_json::from_str(value).expect("JSON"))))
        })
        .collect();
    each.prop_map(|members: Vec<Option<(String, Value)>>| members.into_iter().flatten().collect())
}

const UI: &[(&str, &[&str])] = &[
    ("resourceUri", &[r#""ui://a/b""#, r#""x:y""#, "7", "null"]),
    ("visibility", &[r#"["app"]"#, r#"["model"]"#, r#"["model","app"]"#, "[]", r#""app""#, "null"]),
    ("csp", &["{}", "null"]),
    ("permissions", &[r#"{"camera":{}}"#]),
    ("domain", &[r#""a.example""#]),
    ("linkTrustedDomains", &["[]"]),
    ("k", &["1.0", "null"]),
];

const META: &[(&str, &[&str])] = &[
    ("ui/resourceUri", &[r#""ui://a/b""#, "7"]),
    ("openai/outputTemplate", &[r#""ui://a/b""#]),
    ("openai/widgetCSP", &["{}"]),
    ("openai/widgetDomain", &[r#""a.example""#, "null"]),
    ("openai/visibility", &[r#""private""#, r#""public""#]),
    ("com.example/k", &["1.50", "null"]),
];

const TOOL: &[(&str, &[&str])] = &[
    ("title", &[r#""a""#, r#""b""#, "null"]),
    (
        "annotations",
        &[r#"{"readOnlyHint":true}"#, r#"{"readOnlyHint":false,"title":"t"}"#, r#"{"title":null}"#, "null", "1"],
    ),
    ("outputSchema", &["{}"]),
    ("execution", &["{}"]),
    ("x", &["1", "[1.0]"]),
];

fn tool(name: &'static str) -> impl Strategy<Value = Value> {
    let ui = prop_oneof![6 => object(UI).prop_map(Value::from), 1 => Just(Value::Null), 1 => Just(json!("odd"))];
    let meta = (object(META), proptest::option::of(ui)).prop_map(|(mut meta, ui)| {
        if let Some(ui) = ui {
            meta.insert("ui".to_owned(), ui);
        }
        Value::from(meta)
    });
    let meta = prop_oneof![6 => meta, 1 => Just(Value::Null), 1 => Just(json!([]))];
    (object(TOOL), proptest::option::of(meta)).prop_map(move |(mut tool, meta)| {
        tool.insert("name".to_owned(), name.into());
        if let Some(meta) = meta {
            tool.insert("_meta".to_owned(), meta);
        }
        tool.into()
    })
}

fn list(tool: &Value) -> Server {
    let result = json!({ "tools": [tool] }).to_string();
    upstream(move |_| result.clone())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn what_is_put_back_is_what_the_twin_says(kept in tool("maps__a"), said in tool("a")) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let answer = runtime.block_on(async {
            let memory = Memory::new();
            drop(send(CaptureLayer::new("maps", memory.clone()).layer(list(&said)), ask("tools/list", &json!({}))).await);
            let layer = RestoreLayer::new(memory).upstream("maps", maps());
            send(layer.layer(list(&kept)), ask("tools/list", &json!({}))).await.json()
        });
        let tools = answer["result"]["tools"].as_array().expect("a list");
        let want = twin(&kept, &said);
        prop_assert_eq!(tools.first(), want.as_ref());
    }
}
