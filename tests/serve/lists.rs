//! What becomes of the server's lists: entries that join them, clashes, batches, links.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::StatusCode;
use serde_json::{Value, json};
use tower::Layer;
use tower_mcp_apps::concern::Settings;
use tower_mcp_apps::exchange::Fixed;
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::serve::App;
use tower_mcp_apps::testing::Body;

use crate::client::*;
use crate::kit::server::{Server, json_answer};
use crate::kit::{Answer, LIST, post, send};

/// A server with two pages of resources, of which the first is this array.
fn with_resources(first: &'static str) -> Server {
    Server::new(move |received| {
        let list = if received.json()["params"]["cursor"].is_null() { first } else { r#"[{"uri":"file:///b"}]"# };
        json_answer(format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"resources":{list},"nextCursor":"n"}}}}"#))
    })
}

async fn list(server: Server, params: Value) -> Answer {
    Client::connect(serve(), server, Era::Legacy, Kind::Apps).await.ask("resources/list", params).await
}

#[tokio::test]
async fn entries_join_the_first_page_behind_the_servers_own() {
    let entry = serde_json::to_string(&app().resource().to_entry()).expect("JSON");
    for (array, joined) in [
        ("[]", "[ENTRY]"),
        ("[ ]", "[ENTRY ]"),
        (r#"[{"uri":"file:///a","size":1.0}]"#, r#"[{"uri":"file:///a","size":1.0},ENTRY]"#),
        ("[ 1.50 , {} ]", "[ 1.50 , {},ENTRY ]"),
    ] {
        let answer = list(with_resources(array), json!({"cursor": null})).await;
        let expected = r#"{"jsonrpc":"2.0","id":7,"result":{"resources":LIST,"nextCursor":"n"}}"#;
        assert_eq!(answer.text(), expected.replace("LIST", &joined.replace("ENTRY", &entry)));
    }
    let further = list(with_resources("[]"), json!({"cursor": "n"})).await;
    assert!(!further.text().contains("ui://"), "{}", further.text());
}

#[tokio::test]
async fn a_clash_names_both() {
    let server = with_resources(r#"[{"uri":"ui:\/\/accounts/usage","name":"theirs"}]"#);
    let answer = list(server.clone(), json!({})).await;
    assert_eq!(answer.error_code(), -32603);
    let message = answer.json()["error"]["message"].to_string();
    assert!(["theirs", "usage", URI].iter().all(|part| message.contains(part)), "{message}");

    let plain = Client::connect(serve(), server, Era::Legacy, Kind::Text).await;
    assert!(plain.ask("resources/list", json!({})).await.text().contains("theirs"));
}

#[tokio::test]
async fn a_batch_is_joined_and_a_read_in_it_refused() {
    let server = Server::new(|_| {
        let list = |id| json!({"jsonrpc": "2.0", "id": id, "result": {"resources": []}});
        let unknown = json!({"jsonrpc": "2.0", "id": "t", "error": {"code": -32601, "message": "no"}});
        json_answer(json!([list("l"), unknown]).to_string())
    });
    let layer = serve().settings(Settings::new().audience(Fixed(Audience::Host)));
    let send_batch = async |batch: Value| send(layer.layer(server.clone()), post(batch.to_string())).await;

    // Ids of the server's requests are counted by themselves: a response may have the id of a request beside it.
    let response = json!({"jsonrpc": "2.0", "id": "l", "result": {}});
    for beside in [None, Some(response)] {
        let mut lists = json!([
            {"jsonrpc": "2.0", "id": "l", "method": "resources/list"},
            {"jsonrpc": "2.0", "id": "t", "method": "resources/templates/list"},
        ]);
        beside.into_iter().for_each(|beside| lists.as_array_mut().expect("a batch").insert(0, beside));
        let answer = send_batch(lists).await.json();
        assert_eq!(answer[0]["result"]["resources"][0]["uri"], URI);
        assert_eq!(answer[1], json!({"jsonrpc": "2.0", "id": "t", "result": {"resourceTemplates": []}}));
    }

    server.take();
    let read = json!([
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "pay"}},
        {"jsonrpc": "2.0", "id": 2, "method": "resources/read", "params": {"uri": URI}},
    ]);
    let answer = send_batch(read).await;
    assert_eq!((answer.status, answer.error_code()), (StatusCode::BAD_REQUEST, json!(-32600)));
    assert!(server.take().is_empty());
}

#[tokio::test]
async fn tools_with_a_ui_of_their_own_are_linked_anew_by_name_alone() {
    let server = Server::with_tools(json!([
        {"name": "usage", "_meta": {"ui": {"resourceUri": "ui://own/a", "visibility": ["model"]}}},
        {"name": "chart_a", "_meta": {"ui/resourceUri": "ui://own/b"}},
        {"name": "chart_b", "_meta": {"ui/resourceUri": 1, "ui": {"visibility": ["app"]}}},
        {"name": "pay"},
    ]));
    let charts = App::new("ui://accounts/charts".parse().expect("a URI"), app().html().clone());
    let layer = serve().app(charts.link_where(|tool| tool.starts_with("chart_") || tool == "usage"));
    let client = Client::connect(layer, server, Era::Modern, Kind::Apps).await;
    let tools = client.ask("tools/list", json!({})).await.json();
    let metas = [0, 1, 2, 3].map(|index| tools["result"]["tools"][index]["_meta"].clone());
    assert_eq!(metas[0], json!({"ui": {"resourceUri": URI, "visibility": ["model"]}}));
    assert_eq!(metas[1], json!({"ui/resourceUri": "ui://own/b"}));
    assert_eq!(metas[2]["ui"], json!({"visibility": ["app"], "resourceUri": "ui://accounts/charts"}));
    assert_eq!(metas[3], Value::Null);
}

#[tokio::test]
async fn a_closure_that_links_is_asked_for_each_list() {
    let says = Arc::new(AtomicBool::new(true));
    let asked = Arc::clone(&says);
    let charts = App::new("ui://accounts/charts".parse().expect("a URI"), app().html().clone());
    let layer = serve().app(charts.link_where(move |_| asked.load(Ordering::Relaxed)));
    // Long enough to be remembered.
    let server = Server::with_tools(json!([{"name": "chart", "description": "x".repeat(2000)}]));
    let client = Client::connect(layer, server, Era::Modern, Kind::Apps).await;
    for linked in [true, true, true, false, true, false] {
        says.store(linked, Ordering::Relaxed);
        let tools = client.ask("tools/list", json!({})).await.json();
        assert_eq!(tools["result"]["tools"][0].get("_meta").is_some(), linked);
    }
}

#[tokio::test]
async fn a_list_that_comes_again_but_not_as_long_as_it_says_is_read() {
    // Long enough to be remembered.
    let tool = json!({"name": "chart", "description": "x".repeat(2000), "_meta": {"ui/resourceUri": "ui://a"}});
    let list = json!({"jsonrpc": "2.0", "id": 7, "result": {"tools": [tool]}}).to_string();
    for (sends, expected) in [(list.len() - 1, None), (list.len() + 1, Some(" "))] {
        let (whole, asked) = (list.clone(), AtomicBool::new(false));
        let server = Server::new(move |_| {
            let sent = if asked.swap(true, Ordering::Relaxed) { sends } else { whole.len() };
            let padded = format!("{whole} ");
            let frames = [padded[..1000].to_owned(), padded[1000..sent].to_owned()];
            json_answer("").map(|_| Body::frames(frames).of_length(whole.len() as u64))
        });
        let service = serve().settings(Settings::new().audience(Fixed(Audience::Host))).layer(server);
        let first = send(service.clone(), post(LIST)).await;
        assert!(first.text().contains("resourceUri\":\"ui://a\"}"), "{}", first.text());
        let again = send(service, post(LIST)).await;
        match expected {
            Some(behind) => assert_eq!(again.text(), first.text() + behind),
            // What cannot be read passes as it came.
            None => assert_eq!(again.text(), list[..sends]),
        }
    }
}

#[tokio::test]
async fn a_tool_whose_metadata_is_null_is_linked() {
    let list =
        |meta: &str| format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"tools":[{{"name":"usage","_meta":{meta}}}]}}}}"#);
    let linked = json!({"ui": {"resourceUri": URI}}).to_string();
    for (meta, expected) in [("null", linked.as_str()), ("1.0", "1.0")] {
        let server = Server::saying(list(meta));
        let layer = serve().settings(Settings::new().audience(Fixed(Audience::Host)));
        let answer = send(layer.layer(server), post(LIST)).await;
        assert_eq!(answer.text(), list(expected));
    }
}

#[tokio::test]
async fn only_a_missing_method_is_made_up_for() {
    for (status, code, is_mended) in [
        (StatusCode::OK, -32601, true),
        (StatusCode::NOT_FOUND, -32601, true),
        (StatusCode::UNAUTHORIZED, -32601, false),
        (StatusCode::BAD_REQUEST, -32601, false),
        (StatusCode::OK, -32603, false),
        (StatusCode::NOT_FOUND, -32001, false),
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","error":{{"message":"no","code":{code}}},"id":7}}"#);
        let said = body.clone();
        let server = Server::new(move |_| {
            let mut response = json_answer(said.clone());
            *response.status_mut() = status;
            response
        });
        let client = Client::connect(serve(), server, Era::Modern, Kind::Apps).await;
        let answer = client.ask("resources/list", json!({})).await;
        if is_mended {
            assert_eq!(answer.status, StatusCode::OK);
            assert_eq!(answer.json()["result"]["resources"][0]["uri"], URI);
        } else {
            assert_eq!((answer.status, answer.text()), (status, body));
        }
    }
}

#[tokio::test]
async fn an_answer_is_known_by_its_id_however_that_is_spelt() {
    for (asked, answered, is_known) in [
        ("7", "7.0", true),
        ("70e-1", "7", true),
        (r#""a/b""#, r#""a\/b""#, true),
        (r#""\u00e9""#, r#""é""#, true),
        ("7", r#""7""#, false),
        ("7", "8", false),
    ] {
        let list = format!(r#"{{"jsonrpc":"2.0","id":{asked},"method":"resources/list"}}"#);
        let said = format!(r#"{{"jsonrpc":"2.0","id":{answered},"result":{{"resources":[]}}}}"#);
        let layer = serve().settings(Settings::new().audience(Fixed(Audience::Host)));
        let answer = send(layer.layer(Server::saying(said)), post(list)).await;
        assert_eq!(answer.text().contains(URI), is_known, "{asked} {answered}: {}", answer.text());
    }
}
