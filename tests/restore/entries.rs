//! What is put back in entries of all kinds: everything that was said, in its very digits, under the aggregator's names.

use serde_json::{Value, json};
use tower::Layer;
use tower_mcp_apps::message::EntryKind;
use tower_mcp_apps::restore::{CaptureLayer, Memory, NamesOnly, RestoreLayer, Unchanged};

use crate::kit::{apps_capabilities, modern, send, with};
use crate::world::{Lossy, aggregator, ask, entry, maps, one_tool, rich, upstream};

fn restored(memory: &Memory) -> RestoreLayer {
    RestoreLayer::new(memory.clone()).upstream("maps", maps())
}

/// What is lost without the layer comes back: asserted on the texts, since a decoder would lose some of it again.
async fn comes_back(method: &str, params: &Value, there: &[&str]) {
    let memory = Memory::new();
    let lost = send(aggregator(&memory), ask(method, params)).await.text();
    for text in there {
        assert!(!lost.contains(text), "the aggregator loses {text}: {lost}");
    }
    let memory = Memory::new();
    let found = send(restored(&memory).layer(aggregator(&memory)), ask(method, params)).await.text();
    for text in there {
        assert_eq!(found.matches(text).count(), 1, "{text} is there once: {found}");
    }
}

#[tokio::test]
async fn tools_get_everything_back_from_all_pages() {
    let there = [
        r#""title":"Show a map""#,
        r#""annotations":{"readOnlyHint":true,"com.example/hint":1.0}"#,
        r#""com.example/unknown":{ "n": 1.0, "big": 123456789012345678901234567890 }"#,
        r#""ui":{"resourceUri":"ui://maps+server/view","com.example/x":-0.0}"#,
        r#""ui/resourceUri":"ui://maps+server/view""#,
        r#""openai/outputTemplate":"ui://maps+server/view""#,
        r#""com.example/k":[1, 2.50]"#,
        r#""ui":{"resourceUri":"ui://maps+server/view","visibility":["app"]}"#,
    ];
    comes_back("tools/list", &json!({}), &there).await;
}

#[tokio::test]
async fn resources_get_everything_back() {
    let there = [
        r#""name":"view""#,
        r#""mimeType":"text/html;profile=mcp-app""#,
        r#""size":10"#,
        r#""ui":{"prefersBorder":true,"csp":{"connectDomains":["https://api.example.com"]}}"#,
    ];
    comes_back("resources/list", &json!({}), &there).await;
}

#[tokio::test]
async fn templates_get_everything_back() {
    let there = [r#""mimeType":"text/html;profile=mcp-app""#, r#""_meta":{"com.example/k":1.0}"#];
    comes_back("resources/templates/list", &json!({}), &there).await;
}

#[tokio::test]
async fn contents_get_everything_back() {
    let there = [
        r#""mimeType":"text/html;profile=mcp-app""#,
        r#""ui":{"csp":{"connectDomains":["https://api.example.com"]},"domain":"a.example"}"#,
        r#""com.example/n":1e2"#,
    ];
    comes_back("resources/read", &json!({ "uri": "ui://maps+server/view" }), &there).await;
}

#[tokio::test]
async fn an_entry_that_lost_nothing_and_what_an_upstream_never_said_stay_as_they_are() {
    let memory = Memory::new();
    let answer = send(restored(&memory).layer(aggregator(&memory)), ask("tools/list", &json!({}))).await;
    assert_eq!(
        *entry(&answer.json(), "tools", "maps__plain"),
        json!({ "name": "maps__plain", "inputSchema": { "type": "object" } })
    );
}

#[tokio::test]
async fn what_is_there_is_never_overwritten() {
    let said = r#"{"name":"a","title":"said","annotations":{"title":"said","readOnlyHint":true},
        "_meta":{"k":"said","new":1,"ui":{"resourceUri":"ui://said","visibility":["app"]}}}"#;
    let memory = Memory::new();
    let layer = CaptureLayer::new("maps", memory.clone());
    drop(send(layer.layer(one_tool(said)), ask("tools/list", &json!({}))).await);

    let kept = r#"{"name":"maps__a","title":"kept","annotations":{"title":"kept","idempotentHint":null},
        "_meta":{"k":"kept","ui":{"resourceUri":"ui://kept","visibility":["model"]}}}"#;
    let answer = send(restored(&memory).layer(one_tool(kept)), ask("tools/list", &json!({}))).await;
    let want = json!({
        "name": "maps__a", "title": "kept",
        "annotations": { "title": "kept", "idempotentHint": null, "readOnlyHint": true },
        "_meta": { "k": "kept", "ui": { "resourceUri": "ui://kept", "visibility": ["model"] }, "new": 1 },
    });
    assert_eq!(*entry(&answer.json(), "tools", "maps__a"), want);
}

/// Hosts run pages of the one type and show those of the other: which it is was the aggregator's word.
#[tokio::test]
async fn a_page_that_became_plain_text_stays_that() {
    let memory = Memory::new();
    let read = |uri: &str| ask("resources/read", &json!({ "uri": uri }));
    drop(send(CaptureLayer::new("maps", memory.clone()).layer(upstream(rich)), read("ui://server/view")).await);
    let kept = r#"{"contents":[{"uri":"ui://maps+server/view","mimeType":"text/plain","text":"<!doctype html>"}]}"#;
    let answer = send(restored(&memory).layer(upstream(|_| kept.to_owned())), read("ui://maps+server/view")).await;
    let contents = &answer.json()["result"]["contents"][0];
    assert_eq!(contents["mimeType"], "text/plain");
    assert!(contents["_meta"]["ui"].is_object(), "what is missing is there again: {contents}");
}

#[tokio::test]
async fn null_says_nothing() {
    let said = r#"{"name":"a","title":"said","_meta":{"k":1,"ui":{"visibility":["app"]}}}"#;
    for kept in [
        r#"{"name":"maps__a","title":null,"_meta":null}"#,
        r#"{"name":"maps__a","title":null,"_meta":{"ui":null,"k":null}}"#,
        r#"{"name":"maps__a","title":null,"_meta":{"ui":{"visibility":null},"k":null}}"#,
    ] {
        let memory = Memory::new();
        drop(
            send(CaptureLayer::new("maps", memory.clone()).layer(one_tool(said)), ask("tools/list", &json!({}))).await,
        );
        let answer = send(restored(&memory).layer(one_tool(kept)), ask("tools/list", &json!({}))).await;
        let want = json!({ "name": "maps__a", "title": "said", "_meta": { "k": 1, "ui": { "visibility": ["app"] } } });
        assert_eq!(*entry(&answer.json(), "tools", "maps__a"), want, "{kept}");
    }
}

#[tokio::test]
async fn null_stays_where_nothing_is_put_back() {
    let kept = r#"{"name":"maps__a","title":null,"_meta":{"ui":null}}"#;
    for said in [r#"{"name":"a"}"#, r#"{"name":"a","_meta":{"ui":{}}}"#, r#"{"name":"a","_meta":{"ui":null}}"#] {
        let memory = Memory::new();
        drop(
            send(CaptureLayer::new("maps", memory.clone()).layer(one_tool(said)), ask("tools/list", &json!({}))).await,
        );
        let answer = send(restored(&memory).layer(one_tool(kept)), ask("tools/list", &json!({}))).await.text();
        assert!(answer.contains(kept), "{said}: {answer}");
    }
}

#[tokio::test]
async fn what_a_ui_asks_for_comes_back_only_where_all_of_it_was_lost() {
    let said = r#"{"resources":[{"uri":"ui://a","_meta":{"openai/widgetCSP":{},"openai/widgetDescription":"d",
        "ui":{"csp":{},"permissions":{},"domain":"a.example","linkTrustedDomains":[],"prefersBorder":true}}}]}"#;
    for (kept, want) in [
        (
            r#"{"uri":"ui://maps+a"}"#,
            r#"{"openai/widgetCSP":{},"openai/widgetDescription":"d",
            "ui":{"csp":{},"permissions":{},"domain":"a.example","linkTrustedDomains":[],"prefersBorder":true}}"#,
        ),
        // Whoever kept a part of it may have taken the rest away on purpose.
        (
            r#"{"uri":"ui://maps+a","_meta":{"openai/widgetDescription":"d","ui":{}}}"#,
            r#"{"openai/widgetDescription":"d","ui":{"prefersBorder":true}}"#,
        ),
    ] {
        let memory = Memory::new();
        let capture = CaptureLayer::new("maps", memory.clone());
        drop(send(capture.layer(upstream(|_| said.to_owned())), ask("resources/list", &json!({}))).await);
        let aggregator = upstream(move |_| format!(r#"{{"resources":[{kept}]}}"#));
        let answer = send(restored(&memory).layer(aggregator), ask("resources/list", &json!({}))).await;
        let want: Value = serde_json::from_str(want).expect("JSON");
        assert_eq!(entry(&answer.json(), "resources", "ui://maps+a")["_meta"], want);
    }
}

#[tokio::test]
async fn what_the_aggregator_itself_would_have_to_keep_comes_back_on_request_only() {
    let said = r#"{"name":"a","title":"t","outputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}"#;
    let kept = r#"{"name":"maps__a"}"#;
    let memory = Memory::new();
    drop(send(CaptureLayer::new("maps", memory.clone()).layer(one_tool(said)), ask("tools/list", &json!({}))).await);
    let answer = send(restored(&memory).layer(one_tool(kept)), ask("tools/list", &json!({}))).await;
    assert_eq!(*entry(&answer.json(), "tools", "maps__a"), json!({ "name": "maps__a", "title": "t" }));

    let chosen = restored(&memory).members(|kind, path| kind == EntryKind::Tool && path == ["outputSchema"]);
    let answer = send(chosen.layer(one_tool(kept)), ask("tools/list", &json!({}))).await;
    let want = json!({ "name": "maps__a", "outputSchema": { "type": "object" } });
    assert_eq!(*entry(&answer.json(), "tools", "maps__a"), want);
}

#[tokio::test]
async fn a_deployers_choice_of_members_does_not_widen() {
    let said = r#"{"name":"a","title":"t","_meta":{"openai/visibility":"private","ui":{"visibility":["app"],"resourceUri":"ui://a"}}}"#;
    let memory = Memory::new();
    drop(send(CaptureLayer::new("maps", memory.clone()).layer(one_tool(said)), ask("tools/list", &json!({}))).await);
    let nothing = restored(&memory).members(|_, _| false);
    let answer = send(nothing.layer(one_tool(r#"{"name":"maps__a"}"#)), ask("tools/list", &json!({}))).await;
    let want =
        json!({ "name": "maps__a", "_meta": { "openai/visibility": "private", "ui": { "visibility": ["app"] } } });
    assert_eq!(*entry(&answer.json(), "tools", "maps__a"), want);
}

#[tokio::test]
async fn a_tool_that_takes_no_metadata_and_is_not_for_everybody_is_hidden() {
    let said = r#"{"name":"a","_meta":{"ui":{"visibility":["app"]}}}"#;
    for kept in [r#"{"name":"maps__a","_meta":[]}"#, r#"{"name":"maps__a","_meta":{"ui":"x"}}"#] {
        let memory = Memory::new();
        drop(
            send(CaptureLayer::new("maps", memory.clone()).layer(one_tool(said)), ask("tools/list", &json!({}))).await,
        );
        let answer = send(restored(&memory).layer(one_tool(kept)), ask("tools/list", &json!({}))).await;
        assert!(answer.tools().is_empty(), "{}", answer.text());
    }
}

#[tokio::test]
async fn what_says_two_things_about_itself_is_for_nobody() {
    for said in [
        r#"{"name":"a","_meta":{"ui":{}},"_meta":{"ui":{"visibility":["app"]}}}"#,
        r#"{"name":"a","name":"b","_meta":{}}"#,
        r#"{"name":"a","_meta":{"ui":{"visibility":["app"]}}},{"name":"a","_meta":{"ui":{"visibility":["model"]}}}"#,
    ] {
        let memory = Memory::new();
        drop(
            send(CaptureLayer::new("maps", memory.clone()).layer(one_tool(said)), ask("tools/list", &json!({}))).await,
        );
        let answer =
            send(restored(&memory).layer(one_tool(r#"{"name":"maps__a"}"#)), ask("tools/list", &json!({}))).await;
        assert_eq!(entry(&answer.json(), "tools", "maps__a")["_meta"], json!({ "ui": { "visibility": [] } }), "{said}");
    }
}

#[tokio::test]
async fn streams_are_heard_and_completed_too() {
    let said = "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"tools\":[{\"name\":\"a\",\"_meta\":{\"k\":1.0}}]}}\n\n";
    let kept = "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"tools\":[{\"name\":\"maps__a\"}]}}\n\n";
    let memory = Memory::new();
    let capture = CaptureLayer::new("maps", memory.clone());
    let heard = send(capture.layer(crate::kit::server::Server::streaming(said)), ask("tools/list", &json!({}))).await;
    assert_eq!(heard.text(), said, "what is captured is not changed");
    let answer =
        send(restored(&memory).layer(crate::kit::server::Server::streaming(kept)), ask("tools/list", &json!({}))).await;
    let want = "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"tools\":[{\"name\":\"maps__a\",\"_meta\":{\"k\":1.0}}]}}\n\n";
    assert_eq!(answer.text(), want);
}

#[tokio::test]
async fn capturing_changes_neither_requests_nor_answers_nor_sessions() {
    let memory = Memory::new();
    let server = upstream(rich);
    let service = CaptureLayer::new("maps", memory.clone()).layer(server.clone());
    let bare = send(server.clone(), ask("tools/list", &json!({}))).await;
    let _ = server.take();
    let answer = send(service.clone(), with(ask("tools/list", &json!({})), "mcp-session-id", "apps1-a.S")).await;
    assert_eq!((answer.bytes(), &answer.headers), (bare.bytes(), &bare.headers));
    let received = server.only();
    assert_eq!(received.header("mcp-session-id"), Some("apps1-a.S"), "an upstream's session is not ours");
    assert_eq!(received.header("accept-encoding"), Some("identity"));

    let initialized = send(service, crate::kit::post(crate::kit::initialize(&apps_capabilities()))).await;
    assert_eq!(initialized.header("mcp-session-id"), None);
}

#[tokio::test]
async fn an_incomplete_result_and_an_error_are_not_remembered() {
    for result in [
        r#""result":{"resultType":"input_required","tools":[{"name":"a","title":"t"}]}"#,
        r#""error":{"code":1,"message":"m"},"tools":[{"name":"a","title":"t"}]"#,
        r#""result":{"tools":[{"name":"a","title":"t"}]},"result":{"tools":[]}"#,
    ] {
        let memory = Memory::new();
        let server = crate::kit::server::Server::saying(format!(r#"{{"jsonrpc":"2.0","id":7,{result}}}"#));
        drop(send(CaptureLayer::new("maps", memory.clone()).layer(server), ask("tools/list", &json!({}))).await);
        assert!(memory.is_empty(), "{result}");
    }
}

#[tokio::test]
async fn names_alone_may_change_or_nothing_at_all() {
    let said = r#"{"name":"a","_meta":{"ui/resourceUri":"ui://v"}}"#;
    let memory = Memory::new();
    drop(send(CaptureLayer::new("maps", memory.clone()).layer(one_tool(said)), ask("tools/list", &json!({}))).await);
    let names = RestoreLayer::new(memory.clone()).upstream("maps", NamesOnly(maps()));
    let answer = send(names.layer(one_tool(r#"{"name":"maps__a"}"#)), ask("tools/list", &json!({}))).await;
    assert_eq!(entry(&answer.json(), "tools", "maps__a")["_meta"], json!({ "ui/resourceUri": "ui://v" }));
    let nothing = RestoreLayer::new(memory).upstream("maps", Unchanged);
    let answer = send(nothing.layer(one_tool(r#"{"name":"a"}"#)), ask("tools/list", &json!({}))).await;
    assert_eq!(entry(&answer.json(), "tools", "a")["_meta"], json!({ "ui/resourceUri": "ui://v" }));
}

#[tokio::test]
async fn two_upstreams_that_may_be_meant_say_the_same_or_nothing() {
    let say =
        |text: &'static str| upstream(move |_| format!(r#"{{"resources":[{{"uri":"ui://v","title":"{text}"}}]}}"#));
    for (other, want) in [("one", json!({ "uri": "ui://v", "title": "one" })), ("two", json!({ "uri": "ui://v" }))] {
        let memory = Memory::new();
        for (name, text) in [("a", "one"), ("b", other)] {
            let capture = CaptureLayer::new(name, memory.clone());
            drop(send(capture.layer(say(text)), ask("resources/list", &json!({}))).await);
        }
        let layer = RestoreLayer::new(memory).upstream("a", Unchanged).upstream("b", Unchanged);
        let bare = upstream(|_| r#"{"resources":[{"uri":"ui://v"}]}"#.to_owned());
        let answer = send(layer.layer(bare), ask("resources/list", &json!({}))).await;
        assert_eq!(*entry(&answer.json(), "resources", "ui://v"), want);
    }
}

#[tokio::test]
async fn the_modern_era_is_told_that_it_depends_on_the_caller() {
    let memory = Memory::new();
    let public = upstream(|_| r#"{"tools":[],"resultType":"complete","ttlMs":5,"cacheScope":"public"}"#.to_owned());
    let answer = send(restored(&memory).layer(public.clone()), modern("tools/list", &json!({}), &json!({}))).await;
    assert_eq!(answer.json()["result"]["cacheScope"], "private");
    let shared = tower_mcp_apps::restore::Credentials::shared();
    let layer = RestoreLayer::new(memory).upstream_with("maps", maps(), shared);
    let answer = send(layer.layer(public), modern("tools/list", &json!({}), &json!({}))).await;
    assert_eq!(answer.json()["result"]["cacheScope"], "public");
}

#[tokio::test]
async fn a_batch_and_an_aggregator_of_two_are_completed() {
    let memory = Memory::new();
    let air = tower_mcp_apps::protocol::Namespace::new("air").expect("a name");
    let both = aggregator(&memory).behind(
        air.clone(),
        &CaptureLayer::new("air", memory.clone()),
        one_tool(r#"{"name":"show","title":"Air"}"#),
    );
    let answer = send(restored(&memory).upstream("air", air).layer(both), ask("tools/list", &json!({}))).await.json();
    assert_eq!(entry(&answer, "tools", "maps__show")["title"], "Show a map");
    assert_eq!(entry(&answer, "tools", "air__show")["title"], "Air");

    let list = upstream(|_| r#"{"tools":[{"name":"maps__show"}]}"#.to_owned());
    let batch = format!("[{}]", json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/list" }));
    let in_a_batch =
        crate::kit::server::Server::saying(r#"[{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"maps__show"}]}}]"#);
    drop(list);
    let answer = send(restored(&memory).layer(in_a_batch), crate::kit::post(batch)).await.json();
    assert_eq!(answer[0]["result"]["tools"][0]["title"], "Show a map");
}

/// Only what it must be: without these the aggregator would not be lossy.
#[tokio::test]
async fn an_aggregator_that_keeps_metadata_is_left_alone() {
    let memory = Memory::new();
    let keeps: &[&str] = &["title", "description", "inputSchema", "annotations", "com.example/unknown", "_meta"];
    let bare = |memory: &Memory| {
        Lossy::new().keeping(keeps).behind(maps(), &CaptureLayer::new("maps", memory.clone()), upstream(rich))
    };
    let want = send(bare(&memory), ask("tools/list", &json!({}))).await.bytes();
    let answer = send(restored(&memory).layer(bare(&memory)), ask("tools/list", &json!({}))).await.bytes();
    assert_eq!(answer, want);
}
