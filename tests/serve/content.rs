//! What is read: versions, events, cache hints, files that change; and texts for results that have none.

use std::time::Duration;

use http::StatusCode;
use serde_json::json;
use tower::{Layer, ServiceExt};
use tower_mcp_apps::exchange::{Decision, Record};
use tower_mcp_apps::serve::{App, CacheScope, ServeLayer, TextFallback};
use tower_mcp_apps::ui::{Csp, Html};
use tower_mcp_apps::{AppsLayer, McpContext};

use crate::client::*;
use crate::kit::server::Server;
use crate::kit::{only, read as read_answer, send};

#[tokio::test]
async fn versions_of_the_content_are_told_apart_and_read_alike() {
    let other = Html::try_from(HTML.replace("Usage", "Used")).expect("a document");
    let versions = [app(), app().csp(Csp::closed()), App::new(URI.parse().expect("a URI"), other).link("usage")];
    let mut links = Vec::new();
    for app in versions {
        let layer = ServeLayer::new().app(app.content_version());
        let client = Client::connect(layer, account(Era::Modern, Form::Json), Era::Modern, Kind::Apps).await;
        let tools = client.ask("tools/list", json!({})).await.json();
        let link = tools["result"]["tools"][0]["_meta"]["ui"]["resourceUri"].as_str().expect("a link").to_owned();
        let listed = client.ask("resources/list", json!({})).await.json();
        assert_eq!(listed["result"]["resources"][0]["uri"], link.as_str());
        let segment = link.strip_prefix(URI).and_then(|rest| rest.strip_prefix('/')).expect("a segment");
        assert_eq!(segment.len(), 16);
        for uri in [URI, &link, "ui://accounts/usage/0123456789abcdef"] {
            let read = client.ask("resources/read", json!({"uri": uri})).await.json();
            assert_eq!(read["result"]["contents"][0]["uri"], uri);
        }
        for uri in
            ["ui://accounts/usage/", "ui://accounts/usage/0123456789ABCDEF", "ui://accounts/usage/1/0123456789abcdef"]
        {
            let read = client.ask("resources/read", json!({"uri": uri})).await;
            assert_eq!(read.error_code(), -32601, "{uri}");
        }
        links.push(link);
    }
    links.sort();
    links.dedup();
    assert_eq!(links.len(), 3);
}

#[tokio::test]
async fn a_read_is_an_event_for_who_takes_nothing_else() {
    let server = account(Era::Legacy, Form::Json);
    let client = Client::connect(serve(), server.clone(), Era::Legacy, Kind::Apps).await;
    let request = only(client.request("resources/read", &json!({"uri": URI})), "accept", "text/event-stream");
    let response = serve().layer(server).oneshot(request).await.expect("an answer");
    assert!(response.extensions().get::<Decision>().is_some_and(Decision::is_answered));
    assert!(response.extensions().get::<McpContext>().is_some_and(|context| context.uri() == Some(URI)));
    let answer = read_answer(response).await;
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    assert_eq!(answer.json()["result"]["contents"][0]["text"], HTML);
}

#[tokio::test]
async fn cache_hints_of_reads_can_be_chosen() {
    let app = app().ttl(Duration::from_secs(60)).cache_scope(CacheScope::Public);
    let layer = ServeLayer::new().app(app);
    let client = Client::connect(layer, account(Era::Modern, Form::Json), Era::Modern, Kind::Apps).await;
    let read = client.ask("resources/read", json!({"uri": URI})).await.json();
    assert_eq!((&read["result"]["ttlMs"], &read["result"]["cacheScope"]), (&json!(60_000), &json!("public")));
    let list = client.ask("resources/list", json!({})).await.json();
    assert_eq!((&list["result"]["ttlMs"], &list["result"]["cacheScope"]), (&json!(60_000), &json!("private")));
}

#[tokio::test]
async fn a_result_without_a_text_gets_one_on_request() {
    for (era, form) in ERAS.into_iter().flat_map(|era| FORMS.map(|form| (era, form))) {
        let layer = ServeLayer::new().text_fallback(TextFallback::StructuredContent);
        let client = Client::connect(layer, account(era, form), era, Kind::Text).await;
        let call = client.ask("tools/call", json!({"name": "usage"})).await;
        let expected =
            r#""result":{"content":[{"type":"text","text":"{\"a\": [1.0]}"}],"structuredContent":{"a": [1.0]}}"#;
        assert!(call.text().contains(expected), "{}", call.text());
    }
    for (said, expected) in [
        (r#"{"content":[{}],"structuredContent":{}}"#, r#"{"content":[{}],"structuredContent":{}}"#),
        (r#"{"content":null,"structuredContent":{}}"#, r#"{"content":null,"structuredContent":{}}"#),
        (r#"{"content":[]}"#, r#"{"content":[]}"#),
        (r#"{"structuredContent":{} }"#, r#"{"structuredContent":{},"content":[{"type":"text","text":"{}"}] }"#),
        (
            r#"{"structuredContent":1,"resultType":"complete"}"#,
            r#"{"structuredContent":1,"resultType":"complete","content":[{"type":"text","text":"1"}]}"#,
        ),
        (r#"{"structuredContent":{},"task":{}}"#, r#"{"structuredContent":{},"task":{}}"#),
        (
            r#"{"resultType":"input_required","structuredContent":{}}"#,
            r#"{"resultType":"input_required","structuredContent":{}}"#,
        ),
    ] {
        let server = Server::saying(format!(r#"{{"jsonrpc":"2.0","id":7,"result":{said}}}"#));
        let layer = ServeLayer::new().text_fallback(TextFallback::StructuredContent);
        let client = Client::connect(layer, server, Era::Legacy, Kind::Text).await;
        let call = client.ask("tools/call", json!({"name": "usage"})).await;
        assert!(call.text().ends_with(&format!("\"result\":{expected}}}")), "{}", call.text());
    }
}

#[tokio::test]
async fn a_file_is_read_again_when_it_changes() {
    let path = std::env::temp_dir().join(format!("tower-mcp-apps-serve-{}.html", std::process::id()));
    let uri = || URI.parse().expect("a URI");
    let write = |text: &str, second: u64| {
        std::fs::write(&path, text).expect("the file is written");
        let file = std::fs::File::options().write(true).open(&path).expect("the file is there");
        file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(second)).expect("the time is set");
    };
    let missing = App::from_file(uri(), &path).expect_err("there is no file");
    assert!(missing.to_string().contains("tower-mcp-apps-serve-"), "{missing}");
    write("<p>", 1);
    let invalid = App::from_file(uri(), &path).expect_err("a fragment");
    assert!(invalid.to_string().ends_with("does not begin with <!doctype html>"), "{invalid}");

    write("<!doctype html><html>1", 2);
    let app = App::from_file(uri(), &path).expect("a document");
    let layer = ServeLayer::new().app(app.clone().reload().content_version());
    let fixed = ServeLayer::new().app(app);
    // Long enough to be remembered.
    let long = json!({"jsonrpc": "2.0", "id": 7, "result": {"resources": [{"uri": "file:///x".repeat(500)}]}});
    let server = Server::saying(long.to_string());
    let with_long_list = Client::connect(layer.clone(), server, Era::Legacy, Kind::Apps).await;
    let client = Client::connect(layer, account(Era::Modern, Form::Json), Era::Modern, Kind::Apps).await;
    let fixed = Client::connect(fixed, account(Era::Modern, Form::Json), Era::Modern, Kind::Apps).await;
    let read = async |document: &str| {
        let read = client.ask("resources/read", json!({"uri": URI})).await.json();
        assert_eq!(read["result"]["contents"][0]["text"], document);
        let listed = client.ask("resources/list", json!({})).await.json();
        let version = listed["result"]["resources"][0]["uri"].clone();
        for _ in 0..3 {
            let listed = with_long_list.ask("resources/list", json!({})).await.json();
            assert_eq!(listed["result"]["resources"][1]["uri"], version);
        }
        version
    };
    let first = read("<!doctype html><html>1").await;
    write("<!doctype html><html>2", 3);
    let second = read("<!doctype html><html>2").await;
    assert_ne!(first, second);
    write("<p>", 4);
    assert_eq!(read("<!doctype html><html>2").await, second);
    std::fs::remove_file(&path).expect("the file is removed");
    assert_eq!(read("<!doctype html><html>2").await, second);
    let read = fixed.ask("resources/read", json!({"uri": URI})).await.json();
    assert_eq!(read["result"]["contents"][0]["text"], "<!doctype html><html>1");
}

#[tokio::test]
async fn a_record_says_that_a_read_was_answered() {
    let (records, kept) = std::sync::mpsc::channel();
    let records = std::sync::Mutex::new(records);
    let layer = AppsLayer::new().app(app()).audit(move |record: &Record| {
        let record = (record.is_answered(), record.is_refused(), record.uri().map(str::to_owned), record.bytes());
        records.lock().expect("no panic").send(record).expect("somebody listens");
    });
    let client = Client::connect(layer, account(Era::Modern, Form::Json), Era::Modern, Kind::Apps).await;
    let read = client.ask("resources/read", json!({"uri": URI})).await;
    let length = read.bytes().len() as u64;
    assert_eq!(kept.try_recv(), Ok((true, false, Some(URI.to_owned()), length)));
}

#[tokio::test]
async fn a_read_whose_headers_say_something_else_is_refused() {
    for (header, value, status) in [
        ("mcp-name", "ui://accounts/other", 400),
        ("mcp-method", "tools/list", 400),
        ("mcp-protocol-version", "2025-11-25", 400),
        ("mcp-name", URI, 200),
    ] {
        for era in ERAS {
            let client = Client::connect(serve(), account(era, Form::Json), era, Kind::Apps).await;
            let mut request = client.request("resources/read", &json!({"uri": URI}));
            request.headers_mut().insert(header, value.parse().expect("a value"));
            let answer = send(client.service.clone(), request).await;
            // A legacy message has no version of its own.
            let is_refused = status == 400 && (era, header) != (Era::Legacy, "mcp-protocol-version");
            if is_refused {
                assert_eq!(
                    (answer.status, answer.error_code()),
                    (StatusCode::BAD_REQUEST, json!(-32020)),
                    "{header} {era:?}"
                );
                assert!(answer.json()["error"]["message"].as_str().is_some_and(|message| message.contains(header)));
            } else {
                assert_eq!(answer.json()["result"]["contents"][0]["text"], HTML, "{header} {era:?}");
            }
        }
    }
}
