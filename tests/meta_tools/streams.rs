//! Results of meta-tools that come as events, also such that nobody here knows the question of.

use bytes::Bytes;
use http::Request;
use serde_json::{Value, json};
use tower::Layer;
use tower_mcp_apps::concern::MetaTools;
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::testing::Body;

use crate::kit::send;
use crate::kit::server::{Server, event_answer};
use crate::world::{layer, legacy, saying, text, tools};

fn stream(messages: &[Value]) -> Server {
    let events: String = messages.iter().map(|message| format!("event: message\ndata: {message}\n\n")).collect();
    saying(move || event_answer(Body::frames([Bytes::from(events.clone())])))
}

fn answer(id: u8, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

#[tokio::test]
async fn a_list_as_an_event_is_filtered_and_one_that_cannot_be_read_is_an_error() {
    let list = json!({ "tools": tools() }).to_string();
    let progress = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": 1, "progress": 1 } });
    let server = stream(&[progress.clone(), answer(7, text(list))]);
    let got = send(layer(Audience::Model).layer(server), legacy("list_tools", json!({}))).await;
    let events = got.events();
    assert_eq!(events[0], progress);
    assert!(!events[1].to_string().contains("poll") && events[1].to_string().contains("admin"), "{}", events[1]);

    let server = stream(&[progress, answer(7, text("- poll"))]);
    let got = send(layer(Audience::Model).layer(server), legacy("list_tools", json!({}))).await;
    assert_eq!(got.events()[1]["error"]["code"], -32603);
    assert_eq!(got.events()[1]["id"], 7);
}

#[tokio::test]
async fn what_a_stream_replays_is_judged_by_its_shape() {
    let hidden = [
        text(json!({ "tools": tools() }).to_string()),
        text(tools().to_string()),
        text(tools()[1].to_string()),
        text(json!({ "servers": [{ "name": "s", "tools": tools() }] }).to_string()),
        json!({ "content": [], "structuredContent": { "tools": tools() } }),
        json!({ "taskId": "1", "status": "completed", "result": text(tools().to_string()) }),
    ];
    let other = [text("- poll"), text("[\"poll\"]"), text("{\"poll\":1}"), text("[{\"name\":\"poll\"}]")];
    let messages: Vec<Value> = hidden.iter().chain(&other).map(|result| answer(9, result.clone())).collect();
    let get =
        || Request::get("http://127.0.0.1/mcp").header("accept", "text/event-stream").body(Body::new("")).unwrap();
    let got = send(layer(Audience::Model).layer(stream(&messages)), get()).await.events();
    assert_eq!(got.len(), messages.len());
    for (got, sent) in got.iter().zip(&messages) {
        let is_other = other.contains(&sent["result"]);
        assert_eq!(got.to_string().contains("poll"), is_other, "{got}");
        assert!(!is_other || got == sent, "{got}");
    }
    let undeclared = layer(Audience::Model).meta_tools(MetaTools::new());
    let got = send(undeclared.layer(stream(&messages)), get()).await.events();
    assert_eq!(got, messages);
}

#[tokio::test]
async fn the_result_of_a_task_is_judged_by_its_shape() {
    let list = text(json!({ "tools": tools() }).to_string());
    for (method, result) in
        [("tasks/result", list.clone()), ("tasks/get", json!({ "taskId": "1", "status": "completed", "result": list }))]
    {
        let sent = answer(7, result.clone());
        let server = saying(move || crate::kit::server::json_answer(sent.to_string()));
        let ask = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": { "taskId": "1" } });
        let got = send(layer(Audience::Model).layer(server), crate::kit::post(ask.to_string())).await.text();
        assert!(!got.contains("poll") && got.contains("admin"), "{method}: {got}");
    }
    let told =
        json!({ "jsonrpc": "2.0", "method": "notifications/tasks", "params": { "taskId": "1", "result": list } });
    let server = stream(&[told, answer(7, text("ran"))]);
    let got = send(layer(Audience::Model).layer(server), legacy("open", json!({}))).await.events();
    assert!(!got[0].to_string().contains("poll") && got[0].to_string().contains("admin"), "{}", got[0]);
    assert_eq!(got[1]["result"], text("ran"));
}

/// Wherever tasks are, their results may come on any stream.
#[tokio::test]
async fn the_result_of_a_task_that_cannot_be_read_does_not_pass() {
    const ODD: &str =
        r#"{"method":"notifications/tasks","params":{"result":{"content":[{"text":"[{\"name\":\"poll\"}]"},]}}}"#;
    let events = || Bytes::from(format!("data: {ODD}\n\n"));
    let server = || saying(move || event_answer(Body::frames([events()])));
    let got = send(layer(Audience::Model).layer(server()), legacy("open", json!({}))).await;
    assert!(!got.text().contains("poll"), "{}", got.text());
    assert_eq!(got.events()[0]["error"]["code"], -32603);
    let undeclared = layer(Audience::Model).meta_tools(MetaTools::new());
    let got = send(undeclared.layer(server()), legacy("open", json!({}))).await;
    assert_eq!(got.bytes(), events(), "nobody looks for entries there");
}

/// Also one that nobody needs to read for what it says, however it is cut.
#[tokio::test]
async fn an_event_that_cannot_be_read_does_not_pass_where_a_task_may_end() {
    for cut in [0, 9] {
        let events = Bytes::from_static(b"data: {\"method\":\"notifications/progress\",}\n\n");
        let frames = [events.slice(..cut), events.slice(cut..)];
        let server = saying(move || event_answer(Body::frames(frames.clone())));
        let got = send(layer(Audience::Model).layer(server), legacy("open", json!({}))).await;
        assert_eq!(got.events()[0]["error"]["code"], -32603, "cut at {cut}");
    }
}
