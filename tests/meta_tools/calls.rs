//! A call through a meta-tool runs if the tool that it names is for the caller.

use std::sync::mpsc;

use http::{Request, StatusCode};
use serde_json::{Value, json};
use tower::{Layer, ServiceExt};
use tower_mcp_apps::audit::Record;
use tower_mcp_apps::concern::{MetaTools, Unlisted};
use tower_mcp_apps::exchange::{Decision, Reason};
use tower_mcp_apps::protocol::{Audience, ToolVisibility};
use tower_mcp_apps::testing::Body;
use tower_mcp_apps::visibility::{AppResources, Visibility};
use tower_mcp_apps::{AppsLayer, McpContext};

use crate::kit::server::Server;
use crate::kit::{modern, post, send, with};
use crate::world::{aggregator, layer, legacy, now, ran_tools, text, through, tools};

async fn runs(layer: &AppsLayer, server: &Server, request: Request<Body>, name: &str) {
    let answer = send(layer.layer(server.clone()), request).await;
    assert_eq!(answer.json()["result"], text(format!("ran {name}")), "{}", answer.text());
    assert_eq!(ran_tools(server), [name]);
}

async fn is_refused(layer: &AppsLayer, server: &Server, request: Request<Body>) -> String {
    let answer = send(layer.layer(server.clone()), request).await;
    assert_eq!((answer.status, answer.error_code()), (StatusCode::OK, json!(-32602)), "{}", answer.text());
    assert_eq!(ran_tools(server), [""; 0]);
    answer.json()["error"]["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn without_the_declaration_a_hidden_tool_runs_through_a_meta_tool() {
    let server = aggregator(tools());
    let layer = layer(Audience::Model).meta_tools(MetaTools::new());
    runs(&layer, &server, through("poll"), "poll").await;
}

#[tokio::test]
async fn a_hidden_tool_runs_through_no_meta_tool() {
    for (audience, own, others) in [(Audience::Model, "admin", "poll"), (Audience::App, "poll", "admin")] {
        let server = aggregator(tools());
        let layer = layer(audience);
        let by_name = |name: &str| [through(name), now("call_tool", json!({ "arguments": {}, "name": name }))];
        for request in by_name(others) {
            assert_eq!(is_refused(&layer, &server, request).await, format!("Unknown tool: {others}"));
        }
        for name in [own, "open"] {
            for request in by_name(name) {
                runs(&layer, &server, request, name).await;
            }
        }
    }
}

#[tokio::test]
async fn nor_by_its_own_name_where_the_server_runs_it_so() {
    let server = aggregator(tools());
    let direct = |name: &str| [legacy(name, json!({})), now(name, json!({}))];
    for request in direct("poll") {
        is_refused(&layer(Audience::Model), &server, request).await;
    }
    // What neither list has is the server's word, as ever.
    for name in ["open", "admin", "nowhere"] {
        for request in direct(name) {
            runs(&layer(Audience::Model), &server, request, name).await;
        }
    }
}

#[tokio::test]
async fn a_name_that_the_catalogue_does_not_have_is_refused_unless_it_is_forwarded() {
    // The aggregator takes the space off and runs `poll`.
    let server = aggregator(tools());
    for name in [" poll", "Poll", "po\u{202f}ll", "nowhere", ""] {
        let message = is_refused(&layer(Audience::Model), &server, through(name)).await;
        assert_eq!(message, format!("Unknown tool: {name}"), "as a hidden one");
    }
    let forwards = || MetaTools::muster().unlisted(Unlisted::Forward);
    let layer = layer(Audience::Model).meta_tools(forwards());
    runs(&layer, &server, through("nowhere"), "nowhere").await;
    is_refused(&layer, &server, through("poll")).await;
    // Where there is nothing to ask, only what the deployer declares is known.
    let searches = MetaTools::new().call_tool("call_tool", "name");
    is_refused(&layer.clone().meta_tools(searches.clone()), &server, through("open")).await;
    let layer = layer.meta_tools(searches.unlisted(Unlisted::Forward));
    let layer = layer.visibility(Visibility::new().tool("poll", [Audience::App]));
    runs(&layer, &server, through("open"), "open").await;
    is_refused(&layer, &server, through("poll")).await;
}

#[tokio::test]
async fn a_meta_tool_by_another_spelling_is_judged_as_one() {
    // An aggregator that takes the space off, or ignores case, would call `poll`.
    let server = aggregator(tools());
    for name in ["call_tool ", "\u{a0}call_tool", "Call_Tool"] {
        let request = legacy(name, json!({ "name": "poll", "arguments": {} }));
        assert_eq!(is_refused(&layer(Audience::Model), &server, request).await, "Unknown tool: poll");
        let answer = send(layer(Audience::Model).layer(server.clone()), through(name)).await;
        assert_eq!(
            (answer.status, answer.error_code()),
            (StatusCode::BAD_REQUEST, json!(-32600)),
            "one through another"
        );
        assert_eq!(ran_tools(&server), [""; 0]);
    }
}

#[tokio::test]
async fn hosts_call_what_they_want() {
    let server = aggregator(tools());
    for name in ["poll", "nowhere"] {
        runs(&layer(Audience::Host), &server, through(name), name).await;
    }
}

#[tokio::test]
async fn a_host_that_calls_a_meta_tool_through_another_is_still_a_host() {
    let server = aggregator(tools());
    let capabilities =
        json!({ "extensions": { "io.modelcontextprotocol/ui": { "mimeTypes": ["text/html;profile=mcp-app"] } } });
    let params = json!({ "name": "call_tool", "arguments": { "name": "list_tools" } });
    let service = AppsLayer::new().meta_tools(MetaTools::muster()).layer(server.clone());
    let answer = send(service, modern("tools/call", &params, &capabilities)).await;
    assert_eq!(answer.json()["result"], text("ran list_tools"), "{}", answer.text());
}

#[tokio::test]
async fn what_is_named_is_named_once_and_as_text() {
    let server = aggregator(tools());
    let body = |arguments: &str| {
        let params = format!(r#"{{"name":"call_tool",{arguments}}}"#);
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{params}}}"#)
    };
    let call = |arguments: &str| post(body(arguments));
    for arguments in [
        r#""arguments":{"name":"open","name":"poll"}"#,
        r#""arguments":{"name":"poll","n\u0061me":"open"}"#,
        r#""arguments":{"name":"open","Name":"poll"}"#,
        r#""arguments":{"NAME":"poll","name":"open"}"#,
        r#""arguments":{"Name":"open"}"#,
        r#""arguments":{"name":"open\ud800"}"#,
        r#""arguments":{"name":["poll"]}"#,
        r#""arguments":{"name":null}"#,
        r#""arguments":{}"#,
        r#""arguments":"{\"name\":\"poll\"}""#,
        r#""arguments":[{"name":"poll"}]"#,
        r#""arguments":{"name":"open"},"arguments":{"name":"poll"}"#,
        r#""arguments":{"name":"open"},"Arguments":{"name":"poll"}"#,
        r#""argumentſ":{"name":"poll"},"arguments":{"name":"open"}"#,
        r#""x":1"#,
        // A meta-tool through a meta-tool: what runs in the end is not judged.
        r#""arguments":{"name":"call_tool","arguments":{"name":"poll"}}"#,
        r#""arguments":{"name":"list_tools"}"#,
    ] {
        for audience in [Audience::Model, Audience::App] {
            let answer = send(layer(audience).layer(server.clone()), call(arguments)).await;
            let told = (answer.status, answer.error_code(), answer.json()["id"].clone());
            assert_eq!(told, (StatusCode::BAD_REQUEST, json!(-32600), json!(7)), "{arguments}: {}", answer.text());
        }
        assert_eq!(server.take().len(), 0, "{arguments}");
        // Where nothing is enforced, it is the server's to judge.
        send(layer(Audience::Host).layer(server.clone()), call(arguments)).await;
        assert_eq!(server.only().bytes(), body(arguments), "{arguments}");
    }
    // Arguments of other tools are theirs.
    let other = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"arguments":{"name":"a","name":"b"},"arguments":1,"name":"call_tools"}}"#;
    let answer = send(layer(Audience::Model).layer(server.clone()), post(other)).await;
    assert_eq!(answer.json()["result"], text("ran call_tools"), "{}", answer.text());
}

#[tokio::test]
async fn a_batch_runs_whole_or_not_at_all() {
    let server = aggregator(tools());
    let batch = |names: &[&str]| {
        let call = |(id, name): (usize, &&str)| {
            let params = json!({ "name": "call_tool", "arguments": { "name": name } });
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
        };
        let calls = Value::Array(names.iter().enumerate().map(call).collect());
        with(post(calls.to_string()), "mcp-protocol-version", "2025-03-26")
    };
    let gate = layer(Audience::Model).layer(server.clone());
    let answer = send(gate.clone(), batch(&["open", "poll", "admin"])).await;
    assert_eq!((answer.status, answer.error_code()), (StatusCode::BAD_REQUEST, json!(-32600)), "{}", answer.text());
    assert_eq!(ran_tools(&server), [""; 0]);
    let answer = send(gate, batch(&["open", "admin"])).await;
    assert_eq!(answer.json().as_array().unwrap().len(), 2, "{}", answer.text());
    assert_eq!(ran_tools(&server), ["open", "admin"]);
}

#[tokio::test]
async fn an_app_reads_through_a_meta_tool_what_it_may_read() {
    let server = aggregator(tools());
    let narrow = layer(Audience::App).visibility(Visibility::new().app_resources(AppResources::Ui));
    for tool in ["get_resource", "describe_resource"] {
        let call = |uri: Value| legacy(tool, json!({ "uri": uri }));
        for uri in [json!("file:///etc/passwd"), json!(["ui://a"]), Value::Null] {
            let answer = send(narrow.layer(server.clone()), call(uri)).await;
            assert_eq!(answer.json()["error"]["message"], "Resource not found", "{}", answer.text());
            assert!(ran_tools(&server).is_empty());
        }
        for (layer, uri) in [(narrow.clone(), "ui://a"), (layer(Audience::App), "file:///a")] {
            let answer = send(layer.layer(server.clone()), call(json!(uri))).await;
            assert!(answer.json()["result"].is_object(), "{}", answer.text());
            assert_eq!(ran_tools(&server), [tool]);
        }
    }
}

#[tokio::test]
async fn records_and_contexts_say_what_was_called_through_what() {
    let (records, kept) = mpsc::channel();
    let sink = move |record: &Record| records.send(record.clone()).unwrap();
    let layer = layer(Audience::Model).audit(sink);
    let (contexts, seen) = mpsc::channel();
    let server = aggregator(tools());
    let noting = tower::util::MapRequestLayer::new(move |request: Request<_>| {
        let context = request.extensions().get::<McpContext>().cloned().unwrap();
        contexts.send((context.tool().map(str::to_owned), context.target().map(str::to_owned))).unwrap();
        request
    });
    let service = layer.layer(noting.layer(server.clone()));
    for name in ["open", "poll"] {
        let response = service.clone().oneshot(through(name)).await.unwrap();
        let decision = response.extensions().get::<Decision>().cloned().unwrap();
        assert_eq!(decision.is_refused(), name == "poll");
        drop(response);
        let record = kept.recv().unwrap();
        assert_eq!((record.tool(), record.target()), (Some("call_tool"), Some(name)));
        let visibility = if name == "poll" { ToolVisibility::App } else { ToolVisibility::Both };
        assert_eq!(record.visibility(), Some(visibility));
        assert_eq!(record.reason(), (name == "poll").then_some(Reason::Hidden));
        let line = String::from_utf8(record.to_json()).unwrap();
        assert!(line.contains(r#""tool":"call_tool""#), "{line}");
        assert!(line.contains(&format!(r#""target":"{name}""#)), "{line}");
    }
    let seen: Vec<_> = seen.try_iter().collect();
    let some = |text: &str| Some(text.to_owned());
    let expected = [
        (None, None),
        (some("describe_tool"), some("open")),
        (some("call_tool"), some("open")),
        (some("describe_tool"), some("poll")),
    ];
    assert_eq!(seen, expected, "the look-ups are told as what they are");
}

#[tokio::test]
async fn the_mirrored_name_is_that_of_the_meta_tool() {
    let server = aggregator(tools());
    let params = json!({ "name": "call_tool", "arguments": { "name": "open" } });
    let mut request = modern("tools/call", &params, &json!({}));
    request.headers_mut().insert("mcp-name", "open".parse().unwrap());
    let answer = send(layer(Audience::Model).layer(server.clone()), request).await;
    assert_eq!((answer.status, answer.error_code()), (StatusCode::BAD_REQUEST, json!(-32020)));
    assert_eq!(server.take().len(), 0);
}
