//! Meta-tools of an aggregator whose names carry a prefix: what their results name is named back in their arguments.

use std::sync::mpsc;

use http::StatusCode;
use serde_json::{Value, json};
use tower::{Layer, ServiceBuilder, ServiceExt};
use tower_mcp_apps::McpContext;
use tower_mcp_apps::audit::Record;
use tower_mcp_apps::concern::MetaTools;
use tower_mcp_apps::exchange::{Decision, Reason};
use tower_mcp_apps::namespace::NamespaceLayer;
use tower_mcp_apps::protocol::{Audience, Namespace, ToolVisibility};

use crate::kit::{post, send};
use crate::world::{aggregator, layer, legacy, now, ran_tools, text, tools};

fn namespace() -> NamespaceLayer {
    NamespaceLayer::new(Namespace::new("a").unwrap()).meta_tools(MetaTools::muster())
}

#[tokio::test]
async fn names_behind_a_namespace_are_judged_without_it() {
    let server = aggregator(tools());
    let stack = ServiceBuilder::new().layer(namespace()).layer(layer(Audience::Model)).service(server.clone());
    let list = send(stack.clone(), legacy("a__list_tools", json!({}))).await;
    let shown = list.json()["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let names: Vec<_> = shown["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["a__open", "a__admin"]);
    server.take();
    for call in [legacy, now] {
        for name in &names {
            let answer = send(stack.clone(), call("a__call_tool", json!({ "arguments": {}, "name": name }))).await;
            let own = name.strip_prefix("a__").unwrap();
            assert_eq!(answer.json()["result"], text(format!("ran {own}")), "{}", answer.text());
            assert_eq!(ran_tools(&server), [own]);
        }
        // Hidden, another server's, and without its prefix.
        for name in ["a__poll", "b__open", "open"] {
            let answer = send(stack.clone(), call("a__call_tool", json!({ "name": name }))).await;
            assert_eq!((answer.status, answer.error_code()), (StatusCode::OK, json!(-32602)), "{}", answer.text());
            assert!(ran_tools(&server).is_empty());
        }
        for arguments in [json!({ "name": "a__open", "Name": "a__poll" }), json!({ "name": "a__list_tools" })] {
            let answer = send(stack.clone(), call("a__call_tool", arguments)).await;
            assert_eq!((answer.status, answer.error_code()), (StatusCode::BAD_REQUEST, json!(-32600)));
            assert!(ran_tools(&server).is_empty());
        }
    }
}

#[tokio::test]
async fn what_is_called_reaches_the_server_as_it_came_but_for_the_prefixes() {
    let server = aggregator(tools());
    let service = namespace().layer(server.clone());
    let body = r#"{"jsonrpc":"2.0","id":7, "method":"tools/call","params":{"arguments":{"x":1.0,"name" : "a__\u006fpen"},"name":"a__call_tool"}}"#;
    send(service.clone(), post(body)).await;
    assert_eq!(server.only().bytes(), body.replace("a__", ""));
    // Arguments of other tools are theirs.
    let body =
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a__open","arguments":{"name":"a__x"}}}"#;
    send(service, post(body)).await;
    assert_eq!(server.only().bytes(), body.replace("a__open", "open"));
}

#[tokio::test]
async fn records_and_contexts_outside_name_what_the_caller_named() {
    let (records, kept) = mpsc::channel();
    let sink = move |record: &Record| records.send(record.clone()).unwrap();
    let layer = layer(Audience::Model).namespace(Namespace::new("a").unwrap()).audit(sink);
    let service = layer.layer(aggregator(tools()));
    let (open, poll) = (Some(ToolVisibility::Both), Some(ToolVisibility::App));
    for (name, visibility, reason) in
        [("a__open", open, None), ("a__poll", poll, Some(Reason::Hidden)), ("b__open", None, Some(Reason::Foreign))]
    {
        let call = legacy("a__call_tool", json!({ "name": name }));
        let response = service.clone().oneshot(call).await.unwrap();
        let context = response.extensions().get::<McpContext>().unwrap();
        assert_eq!((context.tool(), context.target()), (Some("a__call_tool"), Some(name)));
        let decision = response.extensions().get::<Decision>().unwrap();
        assert_eq!(decision.visibility(name), visibility);
        drop(response);
        let record = kept.recv().unwrap();
        assert_eq!((record.tool(), record.target()), (Some("a__call_tool"), Some(name)));
        assert_eq!((record.visibility(), record.reason()), (visibility, reason));
    }

    let call = |id: u8, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
    let behind = json!({ "name": "a__call_tool", "arguments": { "name": "a__admin" } });
    let batch = json!([call(1, json!({ "name": "a__open", "arguments": { "name": "x" } })), call(2, behind)]);
    drop(send(service, post(batch.to_string())).await);
    let named = kept.try_iter().map(|record| {
        let target = record.target().map(str::to_owned);
        (record.tool().map(str::to_owned), target, record.visibility())
    });
    let some = |text: &str| Some(text.to_owned());
    let admin = Some(ToolVisibility::Model);
    let expected = [(some("a__open"), None, open), (some("a__call_tool"), some("a__admin"), admin)];
    assert_eq!(named.collect::<Vec<_>>(), expected);
}
