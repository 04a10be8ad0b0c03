//! Three replicas behind a round-robin give the same answers as one gateway: nothing is remembered in any of them.

use http::{HeaderValue, Request};
use serde_json::{Value, json};
use tower_mcp_apps::testing::Body;

use crate::kit::{Answer, apps_capabilities, modern, post, with};
use crate::servers::{catalogue, mount, rmcp_sessions, tower_mcp};
use crate::world::{Gateway, in_session, list, listen, mcp, upstream};

const REQUESTS: usize = 1000;

/// Who asks.
#[derive(Clone, Copy)]
enum Client {
    /// In the legacy era, as a host with MCP Apps.
    Session,
    /// In the modern era, with MCP Apps.
    Host,
    /// In the modern era, without.
    Model,
    /// The host, for a page of the upstream `b`.
    App,
}

/// What is asked n-th.
fn question(n: usize, cursor: &Value) -> (Client, &'static str, Value) {
    let clients = [Client::Session, Client::Host, Client::Model, Client::App];
    let client = clients[n / 7 % clients.len()];
    let names = ["a__show", "b__poll", "b__plain", "poll", "a__absent", "c__show", "d__x"];
    let view = catalogue::VIEW.trim_start_matches("ui://");
    let uris = [format!("ui://a+{view}"), format!("ui://b+{view}"), catalogue::VIEW.to_owned(), "c+x:1".to_owned()];
    let (method, params) = match n % 7 {
        0 | 1 => ("tools/call", json!({ "name": names[n / 3 % names.len()], "arguments": {} })),
        2 => ("tools/list", json!({})),
        3 => ("resources/read", json!({ "uri": uris[n / 5 % uris.len()] })),
        4 => ("resources/list", json!({})),
        5 if !cursor.is_null() => ("resources/list", json!({ "cursor": cursor })),
        5 => ("resources/templates/list", json!({})),
        _ => (
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": "c__p" }, "argument": { "name": "x", "value": "y" } }),
        ),
    };
    (client, method, params)
}

fn request(n: usize, session: &HeaderValue, (client, method, params): &(Client, &str, Value)) -> Request<Body> {
    if let Client::Session = client {
        let message = json!({ "jsonrpc": "2.0", "id": n, "method": method, "params": params });
        return in_session(session, post(message.to_string()));
    }
    let capabilities = if let Client::Model = client { json!({}) } else { apps_capabilities() };
    let mut request = modern(method, params, &capabilities);
    if let Some(uri) = params["uri"].as_str() {
        request = with(request, "mcp-name", uri);
    }
    if let Client::App = client { with(request, "x-mcp-app", "b") } else { request }
}

/// What a client can tell answers apart by.
fn seen(answer: &Answer) -> (u16, Option<&str>, String) {
    // Who serves from a session counts its events, which are no part of the answer.
    (answer.status.as_u16(), answer.header("content-type"), answer.text())
}

/// A session with all upstreams, begun at one of the replicas.
async fn begin(gateway: &Gateway) -> HeaderValue {
    let session = gateway.session().await;
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    gateway.send(in_session(&session, post(initialized.to_string()))).await;
    session
}

#[tokio::test]
async fn a_thousand_requests_get_the_same_answers() {
    let a = listen(mount(rmcp_sessions::service())).await;
    let b = listen(mount(tower_mcp::service())).await;
    let paged = mcp("c", |method, params| match method {
        "resources/list" => {
            let page: usize = params["cursor"].as_str().map_or(0, |cursor| cursor.parse().unwrap_or(0));
            let next = if page < 5 { format!(r#","nextCursor":"{}""#, page + 1) } else { String::new() };
            Ok(list("resources", &format!(r#"{{"uri":"x:{page}","name":"r"}}"#), &next))
        }
        "resources/read" => Ok(json!({ "contents": [], "of": params["uri"] }).to_string()),
        "completion/complete" => Ok(json!({ "completion": { "values": [params["ref"]["name"]] } }).to_string()),
        _ => Err((-32601, "Method not found")),
    });
    let c = upstream("c", paged).await;
    let named = [("a", a.as_str()), ("b", &b), ("c", &c.url)];
    let flags = ["--app-header", "x-mcp-app"];
    let one = Gateway::start(&named, &flags).await;
    let mut three = Vec::new();
    for _ in 0..3 {
        three.push(Gateway::start(&named, &flags).await);
    }
    let (session, shared) = (begin(&one).await, begin(&three[0]).await);

    let (mut cursor, mut errors, mut pages) = (Value::Null, 0, 0);
    for n in 0..REQUESTS {
        let question = question(n, &cursor);
        let expected = one.send(request(n, &session, &question));
        let answer = three[n % 3].send(request(n, &shared, &question));
        let (expected, answer) = tokio::join!(expected, answer);
        assert_eq!(seen(&answer), seen(&expected), "{n}: {} {}", question.1, question.2);
        let json = expected.json();
        if question.1 == "resources/list" {
            cursor = json["result"]["nextCursor"].clone();
            pages += usize::from(!question.2["cursor"].is_null());
        }
        errors += usize::from(json["result"].is_null());
    }
    // Neither all nor none of it were errors, and cursors were gone on with.
    assert!((50..500).contains(&errors), "{errors} errors");
    assert!(pages > 50, "{pages} pages");
}
