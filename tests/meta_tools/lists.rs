//! Entries in results of meta-tools are treated as those of the real lists.

use http::StatusCode;
use serde_json::{Value, json};
use tower::Layer;
use tower_mcp_apps::concern::MetaTools;
use tower_mcp_apps::normalize::FlatKey;
use tower_mcp_apps::policy::{Digest, Policy};
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::serve::App;
use tower_mcp_apps::ui::Html;

use crate::kit::server::{Server, json_answer};
use crate::kit::{Answer, post, send, with};
use crate::world::{aggregator, layer, legacy, now, result, saying, text, tools, with_result};

/// The names in a text that has tools.
fn names(answer: &Answer) -> Vec<String> {
    let text = answer.json()["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    let list: Value = serde_json::from_str(&text).unwrap();
    list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_list_shows_what_is_for_the_caller() {
    let server = aggregator(tools());
    for (audience, expected) in [
        (Audience::Model, &["open", "admin"][..]),
        (Audience::App, &["open", "poll"]),
        (Audience::Host, &["open", "poll", "admin"]),
    ] {
        for call in [legacy, now] {
            let answer = send(layer(audience).layer(server.clone()), call("list_tools", json!({}))).await;
            assert_eq!(names(&answer), expected);
            assert_eq!(answer.header("content-length"), Some(answer.bytes().len().to_string().as_str()));
            assert_eq!(answer.json()["result"].get("cacheScope"), None, "a result of a call has none");
        }
    }
    let undeclared = layer(Audience::Model).meta_tools(MetaTools::new());
    let answer = send(undeclared.layer(server), legacy("list_tools", json!({}))).await;
    assert_eq!(names(&answer), ["open", "poll", "admin"], "the loss without the declaration");
}

#[tokio::test]
async fn only_what_is_edited_changes_and_the_rest_keeps_its_bytes() {
    let list = r#"{\u0022tools\": [\n  {\"name\":\"p\u006fll\",\"_meta\":{\"ui\":{\"visibility\":[\"app\"]}}} ,\n  {\"name\":\"\\u006fpen\",\"n\":1.0,\"d\":\"\u00e9\ud83d\ude00\\\"\\/\/\",\"_meta\":{\"ui\/resourceUri\":\"ui:\/\/a\"}}\n], \"total\": -0.0 }"#;
    let edited = r#"{\u0022tools\": [\n  {\"name\":\"\\u006fpen\",\"n\":1.0,\"d\":\"\u00e9\ud83d\ude00\\\"\\/\/\",\"_meta\":{\"ui\/resourceUri\":\"ui:\/\/a\",\"ui\":{\"resourceUri\":\"ui://a\"}}}\n], \"total\": -0.0 }"#;
    let answer = |text: &str| {
        format!(r#"{{"jsonrpc":"2.0", "result":{{"x":1.0,"content":[ {{"text" : "{text}","type":"text"}}]}},"id":7}}"#)
    };
    let says_text = |text: &str| {
        let body = answer(text);
        saying(move || json_answer(body.clone()))
    };
    let server = says_text(list);
    let got = send(layer(Audience::Model).layer(server), legacy("list_tools", json!({}))).await;
    assert_eq!(got.text(), answer(edited));

    // A host gets its links repaired alone; and where nothing is to be done, the frames are the server's own.
    let server = says_text(list);
    let keeps = layer(Audience::Host).flat_key(FlatKey::Keep);
    let got = send(keeps.layer(server), legacy("list_tools", json!({}))).await;
    assert_eq!(got.text(), answer(list));
}

#[tokio::test]
async fn structured_content_and_text_are_both_filtered() {
    let tools = tools();
    let list = json!({ "tools": tools });
    let both = json!({ "content": [{ "type": "text", "text": list.to_string() }], "structuredContent": list });
    let wrapped =
        json!({ "content": [{ "type": "text", "text": tools.to_string() }], "structuredContent": { "result": tools } });
    for result_of in [both, wrapped] {
        let server = with_result(result_of);
        let answer = send(layer(Audience::Model).layer(server), legacy("list_tools", json!({}))).await;
        assert!(answer.text().contains("admin") && !answer.text().contains("poll"), "{}", answer.text());
        assert_eq!(answer.text().matches("open").count(), 2);
    }
}

#[tokio::test]
async fn a_description_of_a_hidden_tool_is_that_of_one_that_does_not_exist() {
    let server = aggregator(tools());
    let describe = |name: &str| legacy("describe_tool", json!({ "name": name }));
    let told = |answer: &Answer| (answer.status, answer.bytes());
    let gate = layer(Audience::Model).layer(server.clone());
    let hidden = send(gate.clone(), describe("poll")).await;
    assert_eq!((hidden.status, hidden.error_code()), (StatusCode::OK, json!(-32602)), "{}", hidden.text());
    assert_eq!(told(&hidden), told(&send(gate.clone(), describe("nowhere")).await));
    let answer = send(gate, describe("admin")).await;
    assert!(answer.text().contains("admin"), "{}", answer.text());
    let error = json!({ "jsonrpc": "2.0", "id": 7, "error": { "code": -32602, "message": "no tool nowhere" } });
    let says = error.to_string();
    let says = saying(move || json_answer(says.clone()));
    assert_eq!(told(&hidden), told(&send(layer(Audience::Model).layer(says), describe("nowhere")).await));
    let answer = send(layer(Audience::Host).layer(server), describe("nowhere")).await;
    assert!(answer.text().contains("Tool not found: nowhere"), "a host hears the server's own word");
}

#[tokio::test]
async fn a_description_within_an_object_with_a_name_is_the_one_that_counts() {
    let hidden = json!({ "name": "x", "_meta": { "ui": { "visibility": ["app"] } } });
    for (described, passes) in [
        (json!({ "name": "x", "tool": hidden }), false),
        (json!({ "name": "x", "tools": [hidden] }), true),
        (json!({ "name": "x", "inputSchema": {}, "tool": { "name": "x" } }), false),
        (json!({ "name": "x", "tool": { "name": "x", "inputSchema": {} } }), true),
    ] {
        let server = with_result(text(described.to_string()));
        let answer = send(layer(Audience::Model).layer(server), legacy("describe_tool", json!({ "name": "x" }))).await;
        assert_eq!(answer.json()["result"].is_object(), passes, "{described}: {}", answer.text());
        assert!(passes || answer.error_code() == -32602, "{described}: {}", answer.text());
        assert!(!answer.text().contains("visibility"), "{described}: {}", answer.text());
    }
}

#[tokio::test]
async fn what_has_another_shape_does_not_pass_where_a_filter_applies() {
    let poll = r#"{"name":"poll"}"#;
    let deep = format!("{}{}", "[".repeat(600), "]".repeat(600));
    let far = (0..9).fold(json!({ "tools": [{ "name": "poll" }] }), |inner, _| json!({ "x": inner }));
    for odd in [
        text("# Tools\n- poll"),
        text(format!("```json\n[{poll}]\n```")),
        text(format!("[{poll}")),
        text(format!("[{poll}] and more")),
        text(format!("\u{feff}[{poll}]")),
        text(format!("{{\"tools\":[{poll}],\"x\":{deep}}}")),
        text(json!({ "poll": { "description": "x" } }).to_string()),
        text(json!({ "tools": { "poll": {} } }).to_string()),
        text(json!(poll).to_string()),
        text(far.to_string()),
        text("poll"),
        text(""),
        json!({ "content": [{ "type": "text", "text": [poll] }] }),
        json!({ "content": [{ "type": "image", "data": "cG9sbA==" }] }),
        json!({ "content": [{ "type": "resource", "resource": { "uri": "x:", "text": poll } }] }),
        json!({ "content": ["poll"] }),
        json!({ "content": { "text": poll } }),
        json!({ "content": [], "structuredContent": { "poll": {} } }),
        json!({ "content": [], "structuredContent": "poll" }),
        json!({ "content": [], "structuredContent": { "tools": [], "x": { "tools": { "poll": 1 } } } }),
        json!({ "content": [], "toolResult": { "tools": ["poll"] } }),
        text(json!([{ "name": "poll", "inputSchema": {} }, { "server": "a", "tools": [] }]).to_string()),
        text(json!([{ "name": "poll" }, { "server": "a", "tools": [] }]).to_string()),
        text(json!({ "tools": [], "items": [{ "name": "poll", "inputSchema": {} }] }).to_string()),
        text(json!({ "tools": [], "best": { "name": "poll", "_meta": {} } }).to_string()),
        json!({ "content": [{ "type": "text", "text": "poll" }], "isError": true }),
        json!([{ "name": "poll" }]),
    ] {
        let server = with_result(odd.clone());
        for audience in [Audience::Model, Audience::App] {
            let answer = send(layer(audience).layer(server.clone()), legacy("list_tools", json!({}))).await;
            assert_eq!(answer.error_code(), -32603, "{odd}: {}", answer.text());
            assert_eq!(answer.json()["id"], 7);
            assert!(!answer.text().contains("poll"), "{odd}");
        }
        let answer = send(layer(Audience::Host).layer(server.clone()), legacy("list_tools", json!({}))).await;
        assert_eq!(answer.json()["result"], odd, "nothing is enforced for hosts");
    }
    // A lone surrogate has no text.
    let lone =
        r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"[{\"name\":\"poll\\\ud800\"}]"}]}}"#;
    let answer =
        send(layer(Audience::Model).layer(saying(move || json_answer(lone))), legacy("list_tools", json!({}))).await;
    assert_eq!(answer.error_code(), -32603);
}

#[tokio::test]
async fn an_answer_whose_id_cannot_be_read_is_read_as_the_answer() {
    let ids = ["", r#""ID":7,"#, r#""id":null,"#, r#""id":8,"#, r#""id":"7","#, r#""id":7,"id":7,"#, r#""id":[7],"#];
    let list = json!({ "tools": tools() }).to_string();
    for id in ids {
        for (text, passes) in [(list.clone(), true), (format!("{list} and more"), false)] {
            let result = json!({ "content": [{ "type": "text", "text": text }] });
            let answer = format!(r#"{{"jsonrpc":"2.0",{id}"result":{result}}}"#);
            let server = saying(move || json_answer(answer.clone()));
            let got = send(layer(Audience::Model).layer(server), legacy("list_tools", json!({}))).await;
            assert!(!got.text().contains("poll"), "{id}: {}", got.text());
            assert_eq!(got.text().contains("open"), passes, "{id}: {}", got.text());
        }
    }
}

#[tokio::test]
async fn texts_without_entries_pass_if_they_are_declared() {
    let says = |said: &str| with_result(text(said));
    let list = || legacy("list_tools", json!({}));
    let answer = send(layer(Audience::Model).layer(says("No tools available")), list()).await;
    assert_eq!(answer.json()["result"], text("No tools available"));
    let lax = layer(Audience::Model).meta_tools(MetaTools::muster().prose(""));
    for (said, passes) in [("- poll", true), ("\u{a0}[{\"name\":\"poll\"", false), ("\u{feff}{}", false)] {
        let answer = send(lax.layer(says(said)), list()).await;
        assert_eq!(answer.json()["result"] == text(said), passes, "{said}");
    }
}

#[tokio::test]
async fn resources_are_held_to_the_policy() {
    let page = |text: &str| json!({ "uri": "ui://a", "mimeType": "text/html;profile=mcp-app", "text": text });
    let entry = json!({ "uri": "ui://a", "name": "a", "_meta": { "ui": { "csp": { "connectDomains": ["https://x.example"] } } } });
    let answers = json!({
        "list_resources": [entry],
        "describe_resource": entry,
        "get_resource": { "contents": [page("good")] },
    });
    let server = Server::new(move |received| {
        let name = received.json()["params"]["name"].as_str().unwrap().to_owned();
        result(received, &text(answers[name].to_string()))
    });
    let policy = Policy::no_network().pin("ui://a", Digest::of(b"good"));
    let layer = layer(Audience::Host).policy(policy);
    let ask = |name: &str| legacy(name, json!({ "uri": "ui://a" }));
    for name in ["list_resources", "describe_resource"] {
        let answer = send(layer.layer(server.clone()), ask(name)).await;
        assert!(!answer.text().contains("x.example") && answer.text().contains("ui://a"), "{}", answer.text());
    }
    let answer = send(layer.layer(server), ask("get_resource")).await;
    assert!(answer.text().contains("good"), "{}", answer.text());
    // Content in another shape, or of another page.
    let bad = page("bad").to_string();
    for (content, passes) in [
        (text("good"), true),
        (text("bad"), false),
        (text(json!({ "contents": [page("bad")] }).to_string()), false),
        (text(bad), false),
        (json!({ "content": [{ "type": "resource", "resource": page("good") }] }), true),
        (json!({ "content": [{ "type": "resource", "resource": page("bad") }] }), false),
        (json!({ "content": [], "structuredContent": { "contents": [page("bad")] } }), false),
    ] {
        let answers = content.clone();
        let server = Server::new(move |received| result(received, &answers));
        let answer = send(layer.layer(server), ask("get_resource")).await;
        assert_eq!(answer.json()["result"].is_object(), passes, "{content}: {}", answer.text());
    }
}

#[tokio::test]
async fn tools_are_linked_to_apps_that_are_served() {
    let html = Html::try_from("<!doctype html><html><title>a</title></html>").unwrap();
    let app = App::new("ui://served/a".parse().unwrap(), html).link("open");
    let answer = send(
        layer(Audience::Host).app(app).layer(aggregator(tools())),
        legacy("describe_tool", json!({ "name": "open" })),
    )
    .await;
    let described = answer.json()["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    let tool: Value = serde_json::from_str(&described).unwrap();
    assert_eq!(tool["_meta"]["ui"]["resourceUri"], "ui://served/a");
}

#[tokio::test]
async fn each_answer_of_a_batch_is_read_as_what_it_answers() {
    let server = Server::new(|_| {
        let list = json!({ "tools": tools() });
        let real = json!({ "jsonrpc": "2.0", "id": 1, "result": list });
        let hidden = json!({ "jsonrpc": "2.0", "id": 2, "result": text(list.to_string()) });
        let other = json!({ "jsonrpc": "2.0", "id": 3, "result": text(list.to_string()) });
        json_answer(json!([other, hidden, real]).to_string())
    });
    let call =
        |id: u8, name: &str| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": name } });
    let batch = json!([
        { "jsonrpc": "2.0", "id": 1, "method": "tools/list" },
        call(2, "list_tools"),
        call(3, "other"),
    ]);
    let request = with(post(batch.to_string()), "mcp-protocol-version", "2025-03-26");
    let layer = layer(Audience::Model).meta_tools(MetaTools::new().list_tools("list_tools"));
    // Nothing tells what is behind it, or it could not be asked.
    let answer = send(layer.clone().layer(server.clone()), request).await;
    assert_eq!(answer.status, StatusCode::BAD_GATEWAY, "{}", answer.text());

    let host = layer.audience(tower_mcp_apps::exchange::Fixed(Audience::Host));
    let host = host.visibility(tower_mcp_apps::visibility::Visibility::new().tool("open", [Audience::App]));
    let request = with(post(batch.to_string()), "mcp-protocol-version", "2025-03-26");
    let answer = send(host.layer(server), request).await.json();
    let stated = |text: &str| text.matches("visibility").count();
    assert_eq!(answer[0]["id"], 3);
    assert_eq!(stated(&answer[0].to_string()), 2, "another tool's result is its own");
    assert_eq!(stated(&answer[1].to_string()), 3);
    assert_eq!(stated(&answer[2].to_string()), 3);
}
