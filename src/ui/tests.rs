//! The builders and parsers by behaviour; what needs other parsers or schemas stands in `tests/ui`.

use serde_json::{Map, Value, json};

use super::{
    Csp, Directive, Html, InvalidHtml, Permission, ProblemKind, ResourceMeta, SandboxDomain, SourceFault, ToolMeta,
    ToolResult, ToolVisibility, UiResource,
};
use crate::protocol::{InvalidOrigin, Scheme, UiUri};

fn uri(text: &str) -> UiUri {
    text.parse().expect("a ui:// URI")
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("no object: {other}"),
    }
}

fn problems<T>(parsed: &super::Parsed<T>) -> Vec<String> {
    let mut texts: Vec<_> = parsed.problems.iter().map(ToString::to_string).collect();
    texts.sort();
    texts
}

mod building {
    use super::*;

    #[test]
    fn each_list_has_its_schemes() {
        for directive in Directive::ALL {
            for scheme in [Scheme::Https, Scheme::Http, Scheme::Wss, Scheme::Ws] {
                let built = Csp::new().allow(directive, format!("{scheme}://a.com"));
                let expected = directive == Directive::Connect || matches!(scheme, Scheme::Https | Scheme::Http);
                assert_eq!(built.is_ok(), expected, "{directive} {scheme}");
                if let Err(error) = built {
                    assert_eq!(error.fault(), SourceFault::Scheme(scheme));
                    assert_eq!(error.directive(), directive);
                }
            }
        }
    }

    #[test]
    fn only_resources_have_wildcards() {
        for directive in Directive::ALL {
            let built = Csp::new().allow(directive, "https://*.a.com");
            assert_eq!(built.is_ok(), directive == Directive::Resource, "{directive}");
        }
        let error = Csp::new().resource("https://*.com").expect_err("one label");
        assert_eq!(error.fault(), SourceFault::Origin(InvalidOrigin::Wildcard));
    }

    #[test]
    fn an_error_names_the_list_and_shows_the_text_escaped() {
        let error = Csp::new().connect("https://a.com;script-src-elem\tevil.com").expect_err("an injection");
        assert_eq!(
            error.to_string(),
            r#"connectDomains: "https://a.com;script-src-elem\tevil.com": a host name has no ';'"#
        );
    }

    #[test]
    fn omitted_is_omitted_and_closed_is_said() {
        assert_eq!(Csp::new().to_value(), json!({}));
        let closed = json!({"connectDomains": [], "resourceDomains": [], "frameDomains": [], "baseUriDomains": []});
        assert_eq!(Csp::closed().to_value(), closed);
        assert_eq!(ResourceMeta::new().to_value(), json!({}));
        assert_eq!(ToolMeta::new().to_value(), json!({}));
    }

    #[test]
    fn a_source_stands_once_in_its_list() -> Result<(), super::super::InvalidSource> {
        let csp = Csp::new().frame("https://a.com")?.frame("https://A.com:443")?.base_uri("https://a.com")?;
        assert_eq!(csp.to_value(), json!({"frameDomains": ["https://a.com"], "baseUriDomains": ["https://a.com"]}));
        Ok(())
    }

    #[test]
    fn a_domain_is_a_bare_name() {
        assert_eq!(SandboxDomain::try_from("A.Example.com").expect("a name").as_str(), "a.example.com");
        for text in ["", "https://a.com", "a.com:443", "a.com/", "*.a.com", "127.0.0.1", "a.com;", "a b", "a.com."] {
            assert!(SandboxDomain::try_from(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_tool_keeps_what_it_said_about_itself() {
        let mut meta = object(json!({
            "com.example/k": 1, "ui/resourceUri": "ui://old", "ui": {"visibility": ["app"], "x": true},
        }));
        ToolMeta::new().with_resource_uri(uri("ui://s/t")).insert_into(&mut meta);
        let expected = json!({"com.example/k": 1, "ui": {"visibility": ["app"], "x": true, "resourceUri": "ui://s/t"}});
        assert_eq!(Value::from(meta), expected);

        let mut meta = object(json!({"ui": "odd"}));
        ToolMeta::new().with_visibility(ToolVisibility::Nobody).insert_into(&mut meta);
        assert_eq!(Value::from(meta), json!({"ui": {"visibility": []}}));
    }

    #[test]
    fn a_resource_keeps_other_metadata_but_no_other_allowance() {
        let mut meta = object(json!({"com.example/k": 1, "ui": {"csp": {"connectDomains": ["https://evil.com"]}}}));
        ResourceMeta::new().with_prefers_border(false).insert_into(&mut meta);
        assert_eq!(Value::from(meta), json!({"com.example/k": 1, "ui": {"prefersBorder": false}}));
    }

    #[test]
    fn entry_and_content_item_say_the_same() {
        let html = Html::try_from("<!doctype html><html></html>").expect("a document");
        let resource = UiResource::new(uri("ui://s/t"), "t")
            .with_title("T")
            .with_description("Shows T.")
            .with_ui(ResourceMeta::new().with_permission(Permission::Camera))
            .with_meta(object(json!({
                "com.example/k": 1, "ui/resourceUri": "ui://x", "ui": {"csp": {"frameDomains": ["https://evil.com"]}},
            })));
        let meta = json!({"com.example/k": 1, "ui": {"permissions": {"camera": {}}}});
        assert_eq!(
            resource.to_entry(),
            json!({
                "uri": "ui://s/t", "name": "t", "title": "T", "description": "Shows T.",
                "mimeType": "text/html;profile=mcp-app", "_meta": meta,
            })
        );
        assert_eq!(
            resource.to_contents(&html),
            json!({"uri": "ui://s/t", "mimeType": "text/html;profile=mcp-app", "text": html.as_str(), "_meta": meta})
        );
    }

    #[test]
    fn a_result_always_has_a_text() {
        for blank in ["", " ", "\n\t", "\u{a0}\u{0}"] {
            assert!(ToolResult::new(blank).is_err());
        }
        assert!(ToolResult::from_structured(json!([1])).is_err());
        let result = ToolResult::from_structured(json!({"a": 1})).expect("an object").into_error();
        let result = result.with_meta(object(json!({"k": 1}))).to_value();
        let content = json!([{"type": "text", "text": "{\"a\":1}"}]);
        assert_eq!(
            result,
            json!({"content": content, "structuredContent": {"a": 1}, "isError": true, "_meta": {"k": 1}})
        );
    }
}

mod documents {
    use super::*;

    #[test]
    fn a_document_begins_with_doctype_and_root() {
        for text in [
            "<!doctype html><html>",
            "<!DOCTYPE\nHTML >\n<HTML lang=de>",
            " \n<!-- one --><!---->\n<!doctype html><!-- two --> <html\n>",
        ] {
            assert!(Html::try_from(text).is_ok(), "{text}");
        }
        for (text, why) in [
            ("", InvalidHtml::Doctype),
            ("<html>", InvalidHtml::Doctype),
            ("<!doctypehtml><html>", InvalidHtml::Doctype),
            ("<!doctype htmlx><html>", InvalidHtml::Doctype),
            ("<!doctype svg><html>", InvalidHtml::Doctype),
            (r#"<!doctype html public "-//W3C//DTD HTML 4.01//EN"><html>"#, InvalidHtml::Doctype),
            ("<!--><p>--><!doctype html><html>", InvalidHtml::Doctype),
            ("<!-- --!><p>--><!doctype html><html>", InvalidHtml::Doctype),
            ("<!-- <!doctype html><html>", InvalidHtml::Doctype),
            ("x<!doctype html><html>", InvalidHtml::Doctype),
            ("<!doctype html>", InvalidHtml::Root),
            ("<!doctype html><body>", InvalidHtml::Root),
            ("<!doctype html><htmlx>", InvalidHtml::Root),
            ("<!doctype html><!-- <html> -->", InvalidHtml::Root),
            ("<!doctype html><html", InvalidHtml::Root),
            ("<!doctype html><html>\0", InvalidHtml::Nul),
            ("\u{feff}<!doctype html><html>", InvalidHtml::ByteOrderMark),
        ] {
            assert_eq!(Html::try_from(text), Err(why), "{text:?}");
        }
    }

    #[test]
    fn many_comments_are_no_deep_recursion() {
        let text = format!("{}<!doctype html><html>", "<!---->".repeat(200_000));
        assert!(Html::try_from(text).is_ok());
    }
}

mod parsing {
    use super::*;

    #[test]
    fn what_is_built_is_read_back_without_problems() -> Result<(), Box<dyn std::error::Error>> {
        let resource = ResourceMeta::new()
            .with_csp(Csp::closed().connect("ws://a.com:8080")?.resource("https://*.a.com")?)
            .with_permission(Permission::Geolocation)
            .with_domain("a.example.com".parse()?)
            .with_prefers_border(true);
        let parsed = ResourceMeta::parse(&resource.to_meta().into());
        assert_eq!((parsed.value, parsed.problems), (resource, vec![]));

        for visibility in [ToolVisibility::Both, ToolVisibility::Model, ToolVisibility::App, ToolVisibility::Nobody] {
            let tool = ToolMeta::new().with_resource_uri(uri("ui://s/t")).with_visibility(visibility);
            let parsed = ToolMeta::parse(&tool.to_meta().into());
            assert_eq!((parsed.value, parsed.problems), (tool, vec![]));
        }
        Ok(())
    }

    #[test]
    fn odd_sources_are_left_out_and_told() {
        let parsed = ResourceMeta::parse(&json!({"ui": {"csp": {
            "connectDomains": ["https://a.com/", "wss://*.a.com", "https://b.com", 7, "http://localhost:5077"],
            "resourceDomains": ["data:", "blob:", "'unsafe-eval'", "wss://a.com", "https://*.x"],
            "frameDomains": {"0": "https://a.com"},
            "redirectDomains": ["https://a.com"],
        }}}));
        let expected = json!({"connectDomains": ["https://b.com", "http://localhost:5077"], "resourceDomains": []});
        assert_eq!(parsed.value.csp().expect("a csp").to_value(), expected);
        let paths: Vec<_> = problems(&parsed);
        assert_eq!(
            paths,
            [
                r#"_meta.ui.csp.connectDomains[0]: "https://a.com/": an origin has no path, not even a slash"#,
                r#"_meta.ui.csp.connectDomains[1]: "wss://*.a.com": only resourceDomains may have a wildcard"#,
                "_meta.ui.csp.connectDomains[3]: should be a string",
                "_meta.ui.csp.frameDomains: should be an array",
                "_meta.ui.csp.redirectDomains: is not known to MCP Apps",
                r#"_meta.ui.csp.resourceDomains[0]: "data:": an origin begins with https://, http://, wss:// or ws://"#,
                r#"_meta.ui.csp.resourceDomains[1]: "blob:": an origin begins with https://, http://, wss:// or ws://"#,
                r#"_meta.ui.csp.resourceDomains[2]: "'unsafe-eval'": an origin begins with https://, http://, wss:// or ws://"#,
                r#"_meta.ui.csp.resourceDomains[3]: "wss://a.com": this list has no wss origins"#,
                r#"_meta.ui.csp.resourceDomains[4]: "https://*.x": a wildcard may only be the whole first label, with two labels or more behind it"#,
            ]
        );
    }

    #[test]
    fn odd_members_grant_nothing() {
        let parsed = ResourceMeta::parse(&json!({"io.modelcontextprotocol/ui": {"domain": "a.com"}, "ui": {
            "csp": "none", "permissions": {"camera": true, "microphone": {}, "usb": {}}, "domain": 1,
            "prefersBorder": "yes", "visibility": ["app"], "a\nb": 1,
        }}));
        assert_eq!(parsed.value, ResourceMeta::new().with_permission(Permission::Microphone));
        assert_eq!(
            problems(&parsed),
            [
                "_meta.io.modelcontextprotocol/ui: is the name of the extension: metadata belongs in ui",
                "_meta.ui.a\\nb: is not known to MCP Apps",
                "_meta.ui.csp: should be an object",
                "_meta.ui.domain: should be a string",
                "_meta.ui.permissions.camera: should be an object",
                "_meta.ui.permissions.usb: is not known to MCP Apps",
                "_meta.ui.prefersBorder: should be true or false",
                "_meta.ui.visibility: has no meaning here: links and visibility belong to tools, all else to resources",
            ]
        );
    }

    #[test]
    fn metadata_that_is_no_object_says_nothing() {
        for meta in [json!(null), json!([]), json!({"ui": null}), json!({"ui": "ui://s/t"})] {
            let tool = ToolMeta::parse(&meta);
            assert_eq!(tool.value, ToolMeta::new(), "{meta}");
            assert_eq!(tool.problems[0].kind(), &ProblemKind::NotAnObject);
            assert_eq!(ResourceMeta::parse(&meta).value, ResourceMeta::new());
        }
    }

    #[test]
    fn a_visibility_that_cannot_be_read_is_nobodys() {
        for (visibility, expected, odd) in [
            (json!(["model", "app"]), ToolVisibility::Both, 0),
            (json!(["app", "app"]), ToolVisibility::App, 0),
            (json!(["model", "robot", 1]), ToolVisibility::Model, 2),
            (json!(["Model"]), ToolVisibility::Nobody, 1),
            (json!([]), ToolVisibility::Nobody, 0),
            (json!("model"), ToolVisibility::Nobody, 1),
            (json!(null), ToolVisibility::Nobody, 1),
            (json!({"model": true}), ToolVisibility::Nobody, 1),
        ] {
            let parsed = ToolMeta::parse(&json!({"ui": {"visibility": visibility}}));
            assert_eq!((parsed.value.visibility(), parsed.problems.len()), (Some(expected), odd), "{visibility}");
        }
    }

    #[test]
    fn links_are_taken_from_where_they_stand() {
        for (meta, link, told) in [
            (json!({"ui": {"resourceUri": "ui://s/t"}}), Some("ui://s/t"), vec![]),
            (json!({"ui": {"resourceUri": "ui://s/t"}, "ui/resourceUri": "ui://s/t"}), Some("ui://s/t"), vec![]),
            (
                json!({"ui": {"resourceUri": "ui://s/t"}, "ui/resourceUri": "ui://s/u"}),
                Some("ui://s/t"),
                vec!["_meta.ui/resourceUri: is deprecated and differs from ui.resourceUri"],
            ),
            (
                json!({"ui/resourceUri": "ui://s/t"}),
                Some("ui://s/t"),
                vec!["_meta.ui/resourceUri: is deprecated: the link belongs in ui.resourceUri"],
            ),
            (
                json!({"ui": {"resourceUri": "ui://s/t?v=1"}}),
                Some("ui://s/t?v=1"),
                vec![r#"_meta.ui.resourceUri: "ui://s/t?v=1": the URI of a UI has no query"#],
            ),
            (
                json!({"ui": {"resourceUri": "https://s/t"}}),
                None,
                vec![r#"_meta.ui.resourceUri: "https://s/t": the URI of a UI begins with ui://"#],
            ),
            (json!({"ui": {"resourceUri": 1}}), None, vec!["_meta.ui.resourceUri: should be a string"]),
            (
                json!({"ui": {"csp": {}}}),
                None,
                vec!["_meta.ui.csp: has no meaning here: links and visibility belong to tools, all else to resources"],
            ),
        ] {
            let parsed = ToolMeta::parse(&meta);
            assert_eq!(parsed.value.resource_uri(), link, "{meta}");
            assert_eq!(problems(&parsed), told);
        }
    }
}
