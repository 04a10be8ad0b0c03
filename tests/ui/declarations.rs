//! Everything that is emitted is valid by the schemas of MCP Apps and of both eras of MCP.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};
use tower_mcp_apps::protocol::{APP_MEDIA_TYPE, UiUri};
use tower_mcp_apps::ui::{
    Csp, Directive, Html, Permission, ResourceMeta, ToolMeta, ToolResult, ToolVisibility, UiResource,
};

use crate::schema::{APPS, LEGACY, MODERN};

fn resource_meta() -> impl Strategy<Value = ResourceMeta> {
    let source = (select(Directive::ALL.to_vec()), select(vec!["https://a.com", "http://b.com:8080", "https://c.d.e"]));
    let csp = prop_oneof![
        1 => Just(Csp::closed()),
        3 => prop::collection::vec(source, 0..6).prop_map(|sources| {
            sources.into_iter().fold(Csp::new(), |csp, (directive, source)| {
                csp.allow(directive, source).expect("a plain origin")
            })
        }),
    ];
    let permissions = subsequence(Permission::ALL.to_vec(), 0..=4);
    let domain = prop::option::of(Just("a.example.com"));
    (prop::option::of(csp), permissions, domain, any::<Option<bool>>()).prop_map(
        |(csp, permissions, domain, prefers_border)| {
            let mut meta = permissions.into_iter().fold(ResourceMeta::new(), ResourceMeta::with_permission);
            if let Some(csp) = csp {
                meta = meta.with_csp(csp);
            }
            if let Some(domain) = domain {
                meta = meta.with_domain(domain.parse().expect("a name"));
            }
            match prefers_border {
                Some(prefers_border) => meta.with_prefers_border(prefers_border),
                None => meta,
            }
        },
    )
}

fn tool_meta() -> impl Strategy<Value = ToolMeta> {
    let visibility =
        select(vec![ToolVisibility::Both, ToolVisibility::Model, ToolVisibility::App, ToolVisibility::Nobody]);
    (any::<bool>(), prop::option::of(visibility)).prop_map(|(has_link, visibility)| {
        let mut meta = ToolMeta::new();
        if has_link {
            meta = meta.with_resource_uri("ui://s/t".parse().expect("a URI"));
        }
        match visibility {
            Some(visibility) => meta.with_visibility(visibility),
            None => meta,
        }
    })
}

/// A `_meta` of someone else's, with and without declarations of UIs in it.
fn foreign() -> impl Strategy<Value = Map<String, Value>> {
    let members = vec![
        ("com.example/k", json!({"n": 1})),
        ("progressToken", json!("p")),
        ("ui/resourceUri", json!("ui://old/x")),
        ("ui", json!({"csp": {"connectDomains": ["*"]}, "visibility": ["app"], "x": 1})),
    ];
    subsequence(members, 0..=4)
        .prop_map(|members| members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// The members that are about no UI.
fn unrelated(meta: &Map<String, Value>) -> Map<String, Value> {
    let is_ui = |key: &str| key == "ui" || key == "ui/resourceUri";
    meta.iter().filter(|(key, _)| !is_ui(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
}

proptest! {
    #[test]
    fn metadata_of_tools(tool in tool_meta(), mut meta in foreign()) {
        prop_assert_eq!(APPS.validate("McpUiToolMeta", &tool.to_value()), Ok(()));
        prop_assert_eq!(Value::from(tool.to_meta()), json!({"ui": tool.to_value()}));

        let others = unrelated(&meta);
        tool.insert_into(&mut meta);
        prop_assert_eq!(unrelated(&meta), others);
        prop_assert!(tool.resource_uri().is_none() || !meta.contains_key("ui/resourceUri"));
        for (key, value) in tool.to_value().as_object().expect("an object") {
            prop_assert_eq!(&meta["ui"][key], value);
        }
    }

    #[test]
    fn metadata_of_resources(resource in resource_meta(), mut meta in foreign()) {
        prop_assert_eq!(APPS.validate("McpUiResourceMeta", &resource.to_value()), Ok(()));
        let others = unrelated(&meta);
        resource.insert_into(&mut meta);
        prop_assert_eq!(unrelated(&meta), others);
        prop_assert_eq!(&meta["ui"], &resource.to_value());
    }

    #[test]
    fn entries_and_content_items(ui in resource_meta(), meta in foreign()) {
        let uri: UiUri = "ui://s/t".parse().expect("a URI");
        let html = Html::try_from("<!doctype html><html><title>\"T\"</title></html>").expect("a document");
        let others = unrelated(&meta);
        let resource = UiResource::new(uri, "t").with_ui(ui.clone()).with_meta(meta);
        let (entry, item) = (resource.to_entry(), resource.to_contents(&html));
        for value in [&entry, &item] {
            prop_assert_eq!(&value["uri"], "ui://s/t");
            prop_assert_eq!(&value["mimeType"], APP_MEDIA_TYPE);
            prop_assert_eq!(&value["_meta"]["ui"], &ui.to_value());
            let meta = value["_meta"].as_object().expect("an object");
            prop_assert!(!meta.contains_key("ui/resourceUri"));
            prop_assert_eq!(unrelated(meta), others.clone());
        }
        for schema in [&LEGACY, &MODERN] {
            prop_assert_eq!(schema.validate("Resource", &entry), Ok(()));
            prop_assert_eq!(schema.validate("TextResourceContents", &item), Ok(()));
        }
    }

    #[test]
    fn results(text in any::<String>(), number in any::<i64>(), is_error in any::<bool>()) {
        let Ok(result) = ToolResult::new(&*text) else {
            prop_assert!(text.chars().all(|character| character.is_whitespace() || character.is_control()));
            return Ok(());
        };
        let result = result.with_structured(json!({"n": number})).expect("an object");
        let result = if is_error { result.into_error() } else { result };
        let mut value = result.to_value();
        prop_assert_eq!(LEGACY.validate("CallToolResult", &value), Ok(()));
        prop_assert_eq!(&value["content"][0]["text"], &text);
        value["resultType"] = "complete".into();
        prop_assert_eq!(MODERN.validate("CallToolResult", &value), Ok(()));
    }
}
