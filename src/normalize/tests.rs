//! What becomes of the links of tools, by each choice.

use super::{Degradation, FlatKey, NormalizeLayer, OpenAiKeys, Pages};
use crate::exchange::Fixed;
use crate::protocol::Audience;
use crate::tried::through;

/// The only member of a list, behind the layer.
async fn listed(layer: &NormalizeLayer, method: &str, list: &str, entry: &str) -> String {
    let (before, after) = (format!(r#"{{"id":1,"result":{{"{list}":["#), "]}}");
    let request = format!(r#"{{"id":1,"method":"{method}"}}"#);
    let answer = through(layer, &request, &format!("{before}{entry}{after}")).await;
    answer.strip_prefix(&before).unwrap().strip_suffix(after).unwrap().to_owned()
}

/// The `_meta` of a tool, behind the layer.
async fn tool(layer: &NormalizeLayer, meta: &str) -> String {
    let (before, after) = (r#"{"name":"t","_meta":"#, "}");
    let tool = listed(layer, "tools/list", "tools", &format!("{before}{meta}{after}")).await;
    tool.strip_prefix(before).unwrap().strip_suffix(after).unwrap().to_owned()
}

/// Checks what each choice makes of a `_meta`: `Add`, `Both`, `Strip`. Nothing is what `Keep` makes of any.
async fn links(meta: &str, [add, both, strip]: [&str; 3]) {
    for (choice, want) in [(FlatKey::Add, add), (FlatKey::Both, both), (FlatKey::Strip, strip), (FlatKey::Keep, meta)] {
        let layer = NormalizeLayer::new().flat_key(choice);
        let got = tool(&layer, meta).await;
        assert_eq!(got, want, "{choice:?} of {meta}");
        assert_eq!(tool(&layer, &got).await, got, "{choice:?} twice of {meta}");
    }
}

#[tokio::test]
async fn a_flat_key_alone() {
    let meta = r#"{ "ui/resourceUri" : "ui://a", "x":1.0 }"#;
    let nested = r#"{ "ui/resourceUri" : "ui://a", "x":1.0,"ui":{"resourceUri":"ui://a"} }"#;
    links(meta, [nested, nested, r#"{ "x":1.0,"ui":{"resourceUri":"ui://a"} }"#]).await;
    let meta = r#"{"ui/resourceUri":"ui://a","ui":{"visibility":["app"]}}"#;
    let nested = r#"{"ui/resourceUri":"ui://a","ui":{"visibility":["app"],"resourceUri":"ui://a"}}"#;
    links(meta, [nested, nested, r#"{"ui":{"visibility":["app"],"resourceUri":"ui://a"}}"#]).await;
}

#[tokio::test]
async fn a_nested_key_alone() {
    let meta = r#"{"ui":{"resourceUri":"ui://a"}}"#;
    links(meta, [meta, r#"{"ui":{"resourceUri":"ui://a"},"ui/resourceUri":"ui://a"}"#, meta]).await;
}

#[tokio::test]
async fn of_two_links_the_nested_one_wins() {
    let meta = r#"{"ui/resourceUri":"ui://old","ui":{"resourceUri":"ui:\/\/new"}}"#;
    let both = r#"{"ui/resourceUri":"ui:\/\/new","ui":{"resourceUri":"ui:\/\/new"}}"#;
    links(meta, [both, both, r#"{"ui":{"resourceUri":"ui:\/\/new"}}"#]).await;
}

#[tokio::test]
async fn two_spellings_of_one_link_are_one_link() {
    let meta = r#"{"ui/resourceUri":"ui://a","ui":{"resourceUri":"ui:\/\/\u0061"}}"#;
    links(meta, [meta, meta, r#"{"ui":{"resourceUri":"ui:\/\/\u0061"}}"#]).await;
}

#[tokio::test]
async fn keys_and_schemes_are_seen_through_escapes() {
    let meta = r#"{"\u0075i/resourceUri":"\u0075i://a"}"#;
    let nested = r#"{"\u0075i/resourceUri":"\u0075i://a","ui":{"resourceUri":"\u0075i://a"}}"#;
    links(meta, [nested, nested, r#"{"ui":{"resourceUri":"\u0075i://a"}}"#]).await;
}

#[tokio::test]
async fn odd_values_stay() {
    for meta in [
        "{}",
        "null",
        "[]",
        r#""ui/resourceUri""#,
        r#"{"ui/resourceUri":"https://a"}"#,
        r#"{"ui/resourceUri":"UI://a"}"#,
        r#"{"ui/resourceUri":1}"#,
        r#"{"ui/resourceUri":null}"#,
        r#"{"ui/resourceUri":"ui://a","ui":[]}"#,
        r#"{"ui/resourceUri":"ui://a","ui":null}"#,
        r#"{"ui/resourceUri":"ui://a","ui":{"resourceUri":1}}"#,
        r#"{"ui/resourceUri":"ui://a","ui":{"resourceUri":"https://a"}}"#,
        r#"{"ui/resourceUri":1,"ui":{"resourceUri":"ui://a"}}"#,
    ] {
        links(meta, [meta; 3]).await;
    }
}

#[tokio::test]
async fn what_says_two_things_stays() {
    for meta in [
        r#"{"ui/resourceUri":"ui://a","ui/resourceUri":"ui://b","ui":{"resourceUri":"ui://c"}}"#,
        r#"{"ui/resourceUri":"ui://a","ui/resourceUri":"ui://a"}"#,
        r#"{"ui/resourceUri":"ui://a","ui":{},"ui":{}}"#,
        r#"{"ui/resourceUri":"ui://a","ui":{"resourceUri":1,"resourceUri":"ui://c"}}"#,
        r#"{"ui/resourceUri":"ui://a","ui":{"visibility":["app"],"visib\u0069lity":[]}}"#,
    ] {
        links(meta, [meta; 3]).await;
    }
}

#[tokio::test]
async fn a_tool_without_meta_is_not_a_link() {
    let layer = NormalizeLayer::new().flat_key(FlatKey::Both);
    for entry in [r#"{"name":"t"}"#, "{ }", "1", "[]", "null"] {
        assert_eq!(listed(&layer, "tools/list", "tools", entry).await, entry);
    }
}

#[tokio::test]
async fn openai_keys_add_what_is_missing() {
    let layer = NormalizeLayer::new().openai_keys(OpenAiKeys::Read);
    for (meta, want) in [
        (
            r#"{"openai/outputTemplate":"ui://a"}"#,
            r#"{"openai/outputTemplate":"ui://a","ui":{"resourceUri":"ui://a","visibility":["model"]}}"#,
        ),
        (
            r#"{"openai/outputTemplate":"ui://a","openai/widgetAccessible":true}"#,
            r#"{"openai/outputTemplate":"ui://a","openai/widgetAccessible":true,"ui":{"resourceUri":"ui://a"}}"#,
        ),
        (
            r#"{"openai/visibility":"private","openai/widgetAccessible":true}"#,
            r#"{"openai/visibility":"private","openai/widgetAccessible":true,"ui":{"visibility":["app"]}}"#,
        ),
        (r#"{"openai/visibility":"private"}"#, r#"{"openai/visibility":"private","ui":{"visibility":[]}}"#),
        // What MCP Apps' own keys say stands.
        (
            r#"{"openai/outputTemplate":"ui://b","ui":{"resourceUri":"ui://a","visibility":["app"]}}"#,
            r#"{"openai/outputTemplate":"ui://b","ui":{"resourceUri":"ui://a","visibility":["app"]}}"#,
        ),
        (r#"{"openai/outputTemplate":"https://a"}"#, r#"{"openai/outputTemplate":"https://a"}"#),
        (r#"{"openai/toolInvocation/invoking":"…"}"#, r#"{"openai/toolInvocation/invoking":"…"}"#),
    ] {
        assert_eq!(tool(&layer, meta).await, want, "{meta}");
        assert_eq!(tool(&layer, want).await, want, "twice: {want}");
        assert_eq!(tool(&NormalizeLayer::new(), meta).await, meta, "not asked for");
    }
}

#[tokio::test]
async fn openai_keys_of_pages_add_what_is_missing() {
    let layer = NormalizeLayer::new().openai_keys(OpenAiKeys::Read);
    let page = r#"{"uri":"ui://a","mimeType":"text/html+skybridge","_meta":{"openai/widgetDomain":"https://d","openai/widgetPrefersBorder":true,"openai/widgetCSP":{"connect_domains":["https://c"],"x":1}}}"#;
    let ui = r#","ui":{"domain":"https://d","prefersBorder":true,"csp":{"connectDomains":["https://c"]}}}}"#;
    let want = format!("{}{ui}", page.strip_suffix("}}").unwrap());
    for (method, list) in [
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("resources/read", "contents"),
    ] {
        assert_eq!(listed(&layer, method, list, page).await, want);
        assert_eq!(listed(&layer, method, list, &want).await, want, "twice");
        assert_eq!(listed(&NormalizeLayer::new(), method, list, page).await, page, "not asked for");
    }
}

/// The only member of a list for a client that declared these media types, or no MCP Apps.
async fn degraded(layer: &NormalizeLayer, types: Option<&str>, method: &str, list: &str, entry: &str) -> String {
    let extensions = types.map(|types| format!(r#""io.modelcontextprotocol/ui":{{"mimeTypes":[{types}]}}"#));
    let request = format!(
        r#"{{"id":1,"method":"{method}","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{"extensions":{{{}}}}}}}}}}}"#,
        extensions.unwrap_or_default()
    );
    let (before, after) = (format!(r#"{{"id":1,"result":{{"{list}":["#), r#"],"cacheScope":"private"}}"#);
    let answer = through(layer, &request, &format!("{before}{entry}{after}")).await;
    let got = answer.strip_prefix(&before).unwrap().strip_suffix(after).unwrap().to_owned();
    assert_eq!(through(layer, &request, &answer).await, answer, "twice");
    got
}

const APP: &str = r#""text/html;profile=mcp-app""#;

#[tokio::test]
async fn text_clients_hear_nothing_of_uis() {
    let layer = NormalizeLayer::new().degradation(Degradation::Strip);
    for (tool, want) in [
        (r#"{"name":"t","_meta":{"k":1.0,"ui":{"resourceUri":"ui://a"}}}"#, r#"{"name":"t","_meta":{"k":1.0}}"#),
        (r#"{"name":"t","_meta":{"k":1.0,"ui/resourceUri":"ui://a"}}"#, r#"{"name":"t","_meta":{"k":1.0}}"#),
        // For apps alone: without its metadata nobody could tell.
        (r#"{"name":"t","_meta":{"ui":{"visibility":["app"]}}}"#, ""),
        (r#"{"name":"t"}"#, r#"{"name":"t"}"#),
    ] {
        assert_eq!(degraded(&layer, None, "tools/list", "tools", tool).await, want);
        let host = layer.clone().audience(Fixed(Audience::Host));
        assert_eq!(degraded(&host, None, "tools/list", "tools", tool).await, want, "its declaration counts");
        let apps = degraded(&layer, Some(APP), "tools/list", "tools", tool).await;
        assert_eq!(apps, listed(&NormalizeLayer::new(), "tools/list", "tools", tool).await, "a host gets it all");
    }
    for (method, list, uri) in
        [("resources/list", "resources", "uri"), ("resources/templates/list", "resourceTemplates", "uriTemplate")]
    {
        let ui = format!(r#"{{"{uri}":"ui://a","mimeType":"text/html;profile=mcp-app"}}"#);
        assert_eq!(degraded(&layer, None, method, list, &ui).await, "");
        assert_eq!(degraded(&layer, Some(APP), method, list, &ui).await, ui);
        let file = format!(r#"{{"{uri}":"file:///a","mimeType":"text/html"}}"#);
        assert_eq!(degraded(&layer, None, method, list, &file).await, file);
    }
}

#[tokio::test]
async fn a_ui_of_a_media_type_that_was_not_declared_is_left_out() {
    let layer = NormalizeLayer::new().degradation(Degradation::Strip);
    let both = format!(r#"{APP},"text/x-other""#);
    let other = r#"{"uri":"ui://a","mimeType":"text/x-other"}"#;
    assert_eq!(degraded(&layer, Some(APP), "resources/list", "resources", other).await, "");
    assert_eq!(degraded(&layer, Some(&both), "resources/list", "resources", other).await, other);
    let untyped = r#"{"uri":"ui://a"}"#;
    assert_eq!(degraded(&layer, Some(APP), "resources/list", "resources", untyped).await, untyped);
}

#[tokio::test]
async fn what_depends_on_the_client_is_kept_for_it_alone() {
    let request = r#"{"id":1,"method":"tools/list"}"#;
    let public = r#"{"id":1,"result":{"tools":[],"ttlMs":1000,"cacheScope":"public"}}"#;
    let layer = NormalizeLayer::new().degradation(Degradation::Strip);
    assert_eq!(through(&layer, request, public).await, public.replace("public", "private"));
    assert_eq!(through(&NormalizeLayer::new(), request, public).await, public);
}

#[tokio::test]
async fn an_app_gets_all_of_its_ui_and_nobody_loses_what_was_not_asked_for() {
    let tool = r#"{"name":"t","_meta":{"ui":{"visibility":["app"]}}}"#;
    let layer = NormalizeLayer::new().degradation(Degradation::Strip).audience(Fixed(Audience::App));
    assert_eq!(degraded(&layer, None, "tools/list", "tools", tool).await, tool);
    assert_eq!(degraded(&NormalizeLayer::new(), None, "tools/list", "tools", tool).await, tool);
}

/// Members stand in the order in which they were asked for, as they would behind one layer for each.
#[tokio::test]
async fn what_is_added_stands_where_it_was_asked_for() {
    let layer = NormalizeLayer::new().flat_key(FlatKey::Both).openai_keys(OpenAiKeys::Read);
    let got = tool(&layer, r#"{"openai/outputTemplate":"ui://a/b"}"#).await;
    let ui = r#""ui":{"resourceUri":"ui://a/b","visibility":["model"]}"#;
    assert_eq!(got, format!(r#"{{"openai/outputTemplate":"ui://a/b",{ui},"ui/resourceUri":"ui://a/b"}}"#));
}

#[tokio::test]
async fn a_tools_link_is_shown_to_those_who_can_render_its_page() {
    let strip = || NormalizeLayer::new().degradation(Degradation::Strip);
    let sketch = r#""text/x-sketch""#;
    let both = format!("{APP},{sketch}");
    let tool = r#"{"name":"t","_meta":{"k":1.0,"ui":{"resourceUri":"ui://a/b","visibility":["app"]}}}"#;
    let unlinked = r#"{"name":"t","_meta":{"k":1.0,"ui":{"visibility":["app"]}}}"#;
    let sketches = Pages::of(["text/x-sketch"]);
    let either = Pages::of(["text/html;profile=mcp-app", "text/x-sketch"]);
    for (pages, types, want) in [
        (Pages::new(), APP, tool),
        // Whom it is for stays.
        (sketches.clone(), APP, unlinked),
        (sketches.clone(), &both, tool),
        (either.clone(), APP, unlinked),
        (either.clone(), &both, tool),
        // This one is known.
        (either.clone().page("ui://a/b", "Text/HTML; profile=mcp-app"), APP, tool),
        (either.page("ui://a/c", "text/html;profile=mcp-app"), APP, unlinked),
        (Pages::new().page("ui://a/b", "text/x-sketch"), APP, unlinked),
        (Pages::new().page("ui://a/b", "no type"), &both, unlinked),
        (Pages::of::<&str>([]), &both, unlinked),
    ] {
        let layer = strip().pages(pages.clone());
        assert_eq!(degraded(&layer, Some(types), "tools/list", "tools", tool).await, want, "{pages:?} {types}");
    }
    // What the server says of itself, if that is a list.
    assert_eq!(Pages::advertised(br#"{"mimeTypes":["text/x-sketch"],"x":1}"#), sketches);
    for nothing in ["{}", r#"{"mimeTypes":[]}"#, r#"{"mimeTypes":"text/x-sketch"}"#, "[]", "{"] {
        assert_eq!(Pages::advertised(nothing.as_bytes()), Pages::new(), "{nothing}");
    }
    let layer = strip().pages(sketches);
    // A type for which there is no MCP Apps at all makes no host.
    let for_models = r#"{"name":"t","_meta":{"ui":{"resourceUri":"ui://a/b"}}}"#;
    assert_eq!(degraded(&layer, Some(sketch), "tools/list", "tools", for_models).await, r#"{"name":"t","_meta":{}}"#);
    let flat = r#"{"name":"t","_meta":{"ui/resourceUri":"ui://a/b","x":1}}"#;
    assert_eq!(degraded(&layer, Some(APP), "tools/list", "tools", flat).await, r#"{"name":"t","_meta":{"x":1}}"#);
    let odd = r#"{"name":"t","_meta":{"ui":{"resourceUri":"https://a"},"ui/resourceUri":7}}"#;
    assert_eq!(degraded(&layer, Some(APP), "tools/list", "tools", odd).await, odd);
}

#[tokio::test]
async fn links_in_content_go_with_their_blocks() {
    let layer = NormalizeLayer::new().degradation(Degradation::Strip);
    let text = r#"{"type":"text","text":"x"}"#;
    let link = r#"{"type":"resource_link","uri":"ui:\/\/a","mimeType":"text/html;profile=mcp-app","name":"a"}"#;
    let embedded = r#"{ "type":"resource", "resource":{"uri":"ui://a","mimeType":"text/html","text":"<p>"} }"#;
    let file = r#"{"type":"resource_link","uri":"file:///a","mimeType":"text/html"}"#;
    let all = format!("{text} , {link} , {embedded}, {file},7");
    for method in ["tools/call", "tasks/result"] {
        let got = degraded(&layer, None, method, "content", &all).await;
        assert_eq!(got, format!("{text}, {file},7"), "{method}");
        let got = degraded(&layer, Some(APP), method, "content", &all).await;
        assert_eq!(got, format!("{text} , {link}, {file},7"), "{method}");
        let both = format!(r#"{APP},"text/html""#);
        assert_eq!(degraded(&layer, Some(&both), method, "content", &all).await, all, "{method}");
        assert_eq!(degraded(&NormalizeLayer::new(), None, method, "content", &all).await, all, "{method}");
    }
    assert_eq!(degraded(&layer, None, "tools/call", "content", link).await, "");
    assert_eq!(degraded(&layer, None, "tools/call", "content", &format!("{link},{text}")).await, text);
    // Contents that were asked for by their URI come.
    let contents = r#"{"uri":"ui://a","mimeType":"text/html","text":"<p>"}"#;
    assert_eq!(degraded(&layer, None, "resources/read", "contents", contents).await, contents);
    // A link in the metadata of a block, or of the result.
    let linked = r#"{"type":"text","_meta":{"ui":{"resourceUri":"ui://a"},"x":1.0}}"#;
    let unlinked = r#"{"type":"text","_meta":{"ui":{},"x":1.0}}"#;
    assert_eq!(degraded(&layer, None, "tools/call", "content", linked).await, unlinked);
    assert_eq!(degraded(&layer, Some(APP), "tools/call", "content", linked).await, linked);

    // So do links in the metadata of what is itself no such link, and stays.
    let meta = r#""_meta":{"ui/resourceUri":"ui:\/\/a","x":1.0,"ui":{"resourceUri":"ui://a","k":1}}"#;
    let without = r#""_meta":{"x":1.0,"ui":{"k":1}}"#;
    for (method, list, entry) in [
        ("tools/call", "content", r#"{"type":"resource_link",META,"uri":"file:///a"}"#),
        ("tools/call", "content", r#"{"type":"resource_link","name":"no URI",META}"#),
        ("tools/call", "content", r#"{"type":"resource","resource":{"uri":"file:///a","text":"x",META}}"#),
        ("prompts/get", "messages", r#"{"role":"user","content":{"type":"resource_link","uri":"file:///a",META}}"#),
        ("resources/list", "resources", r#"{"uri":"file:///a",META}"#),
        ("resources/templates/list", "resourceTemplates", r#"{"uriTemplate":"file:///{a}",META}"#),
    ] {
        let linked = entry.replace("META", meta);
        assert_eq!(degraded(&layer, None, method, list, &linked).await, entry.replace("META", without));
        assert_eq!(degraded(&layer, Some(APP), method, list, &linked).await, linked);
        let sketches = layer.clone().pages(Pages::of(["text/x-sketch"]));
        assert_eq!(degraded(&sketches, Some(APP), method, list, &linked).await, entry.replace("META", without));
        assert_eq!(degraded(&NormalizeLayer::new(), None, method, list, &linked).await, linked);
    }

    let message = |content: &str| format!(r#"{{"role":"user","content":{content}}}"#);
    let messages = format!("{},{},{}", message(text), message(embedded), message(&format!("[{link},{text}]")));
    let got = degraded(&layer, None, "prompts/get", "messages", &messages).await;
    assert_eq!(got, format!("{},{}", message(text), message(&format!("[{text}]"))));

    let app = NormalizeLayer::new().degradation(Degradation::Strip).audience(Fixed(Audience::App));
    assert_eq!(degraded(&app, None, "tools/call", "content", &all).await, all);
}
