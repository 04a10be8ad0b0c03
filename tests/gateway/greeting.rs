//! `initialize` and `server/discover`: what several servers are together.

use std::sync::Mutex;
use std::time::Duration;

use http::StatusCode;
use http::header::HeaderValue;
use serde_json::{Value, json};
use tower_mcp_apps::testing::Body;

use crate::kit::server::{Server, json_answer, labelled};
use crate::kit::{apps_capabilities, initialize, modern, post};
use crate::world::{Gateway, Upstream, greeting, host, legacy, mcp, nowhere, status, tools, unavailable, upstream};

/// A server that greets so in both eras.
fn greets(name: &'static str, version: &'static str, capabilities: Value, more: Value) -> Server {
    mcp(name, move |method, _| {
        let mut result: Value = match method {
            "initialize" => serde_json::from_str(&greeting(version, capabilities.clone())).expect("JSON"),
            "server/discover" => json!({
                "resultType": "complete", "supportedVersions": ["2026-07-28", version],
                "capabilities": capabilities, "ttlMs": 50, "cacheScope": "public",
            }),
            _ => return Err((-32601, "Method not found")),
        };
        more.as_object().into_iter().flatten().for_each(|(key, value)| result[key] = value.clone());
        Ok(result.to_string())
    })
}

#[tokio::test]
async fn together_they_can_what_one_of_them_can() {
    let ui = json!({ "io.modelcontextprotocol/ui": { "mimeTypes": ["text/html;profile=mcp-app", "x/y"] },
        "io.modelcontextprotocol/tasks": {} });
    let one = json!({ "tools": { "listChanged": true }, "tasks": { "list": {} }, "extensions": ui });
    let other = json!({ "tools": {}, "resources": { "subscribe": true, "odd": true }, "completions": {},
        "experimental": { "x": {} }, "extensions": { "com.example/x": { "a": 1.0 } } });
    let one = upstream("one", greets("one", "2025-11-25", one, json!({ "instructions": "Be kind." }))).await;
    let other =
        upstream("other", greets("other", "2025-11-25", other, json!({ "instructions": "Be \"quick\"." }))).await;
    let gateway = Gateway::before(&[&one, &other], &[]).await;

    let answer = gateway.send(post(initialize(&apps_capabilities()))).await;
    let result = &answer.json()["result"];
    let capabilities = json!({
        "completions": {},
        "tools": { "listChanged": true },
        "resources": { "subscribe": true },
        "extensions": {
            "io.modelcontextprotocol/ui": { "mimeTypes": ["text/html;profile=mcp-app", "x/y"] },
            "com.example/x": { "a": 1.0 },
        },
    });
    assert_eq!(result["capabilities"], capabilities);
    assert_eq!(result["protocolVersion"], "2025-11-25");
    assert_eq!(result["serverInfo"]["name"], "tower-mcp-apps-gateway");
    let instructions = "About what begins with one__:\nBe kind.\n\nAbout what begins with other__:\nBe \"quick\".";
    assert_eq!(result["instructions"], instructions);
    assert_eq!(unavailable(&answer.json()), &Value::Null);
    assert!(answer.headers["mcp-session-id"].as_bytes().iter().all(u8::is_ascii_graphic));

    let answer = gateway.ask("server/discover", json!({})).await.json();
    let result = &answer["result"];
    assert_eq!(result["capabilities"], capabilities);
    assert_eq!(result["supportedVersions"], json!(["2026-07-28", "2025-11-25"]));
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "tower-mcp-apps-gateway");
    assert_eq!(json!([result["ttlMs"], result["cacheScope"], result["resultType"]]), json!([50, "public", "complete"]));
    assert_eq!(result["instructions"], instructions);
}

#[tokio::test]
async fn each_server_gets_its_own_session_id_back() {
    let (a, b) = (upstream("a", tools("a", "")).await, upstream("b", tools("b", "")).await);
    let gateway = Gateway::before(&[&a, &b], &[]).await;
    let session = gateway.session().await;
    let (_, _) = (a.server.take(), b.server.take());
    let answer = gateway.send(legacy(&session, json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }))).await;
    assert_eq!(answer.header("mcp-session-id"), None, "an upstream's id would be taken for the whole");
    assert_eq!(a.server.only().header("mcp-session-id"), Some("a-1"));
    assert_eq!(b.server.only().header("mcp-session-id"), Some("b-1"));

    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(gateway.send(legacy(&session, initialized.clone())).await.status, StatusCode::ACCEPTED);
    assert_eq!([a.server.only().json(), b.server.only().json()], [initialized.clone(), initialized]);

    for foreign in ["S-1", "gw1.a", "gw1.a~@"] {
        let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
        let answer = gateway.send(legacy(&HeaderValue::from_static(foreign), list)).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{foreign}");
        assert_eq!(answer.json()["id"], 1);
    }
    assert!(a.server.take().is_empty());
}

/// A server that answers with the version that it is asked for, if it is one of these, else with the first.
fn speaks(name: &'static str, versions: &'static [&'static str]) -> Server {
    mcp(name, move |method, params| match method {
        "initialize" => {
            let asked = versions.iter().find(|version| params["protocolVersion"] == **version);
            Ok(greeting(asked.unwrap_or(&versions[0]), json!({ "tools": {} })))
        }
        _ => Err((-32601, "Method not found")),
    })
}

#[tokio::test]
async fn a_session_has_one_version() {
    let new = upstream("new", speaks("new", &["2025-11-25", "2025-06-18"])).await;
    let old = upstream("old", speaks("old", &["2025-06-18"])).await;
    let gateway = Gateway::before(&[&new, &old], &[]).await;
    let answer = gateway.send(post(initialize(&apps_capabilities()))).await.json();
    assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(unavailable(&answer), &Value::Null);
    let asked = |server: &Server| {
        let received = server.take();
        let asked = received.iter().filter(|received| received.method() == "initialize");
        asked.map(|received| received.json()["params"]["protocolVersion"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(asked(&new.server), ["2025-11-25", "2025-06-18"]);
    assert_eq!(asked(&old.server), ["2025-11-25"]);

    // One that insists is left out.
    let proud = upstream("proud", speaks("proud", &["2025-11-25"])).await;
    let gateway = Gateway::before(&[&proud, &old], &[]).await;
    let answer = gateway.send(post(initialize(&apps_capabilities()))).await.json();
    assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(unavailable(&answer), &json!({ "proud": "it does not speak 2025-06-18, as others do" }));
}

#[tokio::test]
async fn servers_are_not_offered_what_the_gateway_could_not_pass() {
    let a = upstream("a", tools("a", "")).await;
    let gateway = Gateway::before(&[&a], &[]).await;
    let mut capabilities = apps_capabilities();
    let extensions = capabilities["extensions"].clone();
    for withheld in ["sampling", "elicitation", "roots", "tasks"] {
        capabilities[withheld] = json!({ "listChanged": true });
    }
    gateway.send(post(initialize(&capabilities))).await;
    assert_eq!(a.server.only().json()["params"]["capabilities"], json!({ "extensions": extensions }));

    capabilities["extensions"]["io.modelcontextprotocol/tasks"] = json!({});
    for (method, params) in [("server/discover", json!({})), ("tools/call", json!({ "name": "a__x" }))] {
        gateway.send(modern(method, &params, &capabilities)).await;
        let received = a.server.only().json();
        let declared = &received["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        assert_eq!(declared["extensions"], extensions, "{received}");
        assert_eq!(declared["elicitation"], capabilities["elicitation"], "part of results, so it passes");
    }
}

#[tokio::test]
async fn a_client_of_both_eras_falls_back_where_one_server_is_of_the_legacy_one() {
    let old = Server::new(|received| {
        let message = received.json();
        let said = match message["method"].as_str() {
            Some("initialize") => Ok(greeting("2025-11-25", json!({ "tools": {} }))),
            // As the SDKs before 2026-07-28 do, outside a session.
            _ => Err((-32000, "Bad Request: Server not initialized")),
        };
        crate::world::answer(received, said)
    });
    let curt = Server::new(|received| match received.method().as_str() {
        "initialize" => crate::world::answer(received, Ok(greeting("2025-11-25", json!({ "tools": {} })))),
        _ => status(400),
    });
    let new = upstream("new", tools("new", "")).await;
    for old in [old, curt] {
        let old = upstream("old", old).await;
        let gateway = Gateway::before(&[&new, &old], &[]).await;
        let answer = gateway.ask("server/discover", json!({})).await;
        assert_eq!((answer.status, answer.error_code()), (StatusCode::NOT_FOUND, json!(-32601)));
        assert!(answer.text().contains("the upstream old"), "{}", answer.text());
        let answer = gateway.send(post(initialize(&apps_capabilities()))).await.json();
        assert_eq!(unavailable(&answer), &Value::Null);
    }
}

#[tokio::test]
async fn a_version_that_not_all_speak_is_refused_with_those_that_they_do() {
    let picky = mcp("picky", |_, _| Err((-32601, "Method not found")));
    let refuses = Server::new(|received| {
        let id = received.json()["id"].clone();
        let data = json!({ "supported": ["2027-01-01", "2026-07-28"], "requested": "2028-01-01" });
        let error = json!({ "code": -32022, "message": "Unsupported protocol version", "data": data });
        crate::kit::server::json_answer(json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string())
    });
    let (a, b) = (upstream("a", picky).await, upstream("b", refuses).await);
    let gateway = Gateway::before(&[&a, &b], &[]).await;
    let answer = gateway.ask("server/discover", json!({})).await;
    assert_eq!((answer.status, answer.error_code()), (StatusCode::BAD_REQUEST, json!(-32022)));
    let data = json!({ "supported": ["2026-07-28"], "requested": "2026-07-28" });
    assert_eq!(answer.json()["error"]["data"], data);
    // Whoever lists without asking before hears the same.
    let answer = gateway.ask("tools/list", json!({})).await;
    assert_eq!((answer.status, answer.error_code()), (StatusCode::BAD_REQUEST, json!(-32022)));
    assert_eq!(answer.json()["error"]["data"]["supported"], json!(["2027-01-01", "2026-07-28"]));
}

#[tokio::test]
async fn a_server_that_is_away_is_named_and_the_others_are_served() {
    let a = upstream("a", tools("a", r#"{"name":"x"}"#)).await;
    let gone = nowhere().await;
    let gateway = Gateway::start(&[("a", &a.url), ("gone", &gone)], &[]).await;
    let answer = gateway.ask("server/discover", json!({})).await.json();
    let what = json!({ "gone": "error -32603: the upstream gone cannot be reached" });
    assert_eq!((unavailable(&answer), &answer["result"]["ttlMs"]), (&what, &json!(0)));
    assert_eq!(answer["result"]["cacheScope"], "private", "others may get all of it");

    let answer = gateway.send(post(initialize(&apps_capabilities()))).await;
    assert_eq!(unavailable(&answer.json()), &what);
    let session = answer.headers["mcp-session-id"].clone();
    let list = gateway.send(legacy(&session, json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }))).await;
    assert_eq!(list.tools(), ["a__x"]);
    let what = "it was not available when this session began: initialize again";
    assert_eq!(unavailable(&list.json()), &json!({ "gone": what }));
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "gone__x" } });
    let answer = gateway.send(legacy(&session, call)).await;
    assert_eq!((answer.status, answer.error_code()), (StatusCode::BAD_GATEWAY, json!(-32603)));
    assert!(answer.text().contains("the upstream gone was not available"), "{}", answer.text());

    let alone = Gateway::start(&[("gone", &gone)], &[]).await;
    for request in [post(initialize(&apps_capabilities())), host("server/discover", json!({}))] {
        let answer = alone.send(request).await;
        assert_eq!((answer.status, answer.error_code()), (StatusCode::BAD_GATEWAY, json!(-32603)));
        assert!(answer.text().contains("gone cannot be reached"), "{}", answer.text());
    }
}

/// Waits until a server is asked to end this session.
async fn ended(upstream: &Upstream, session: &str) {
    for _ in 0..10_000 {
        let received = upstream.server.take();
        if received.iter().any(|it| it.parts.method == "DELETE" && it.header("mcp-session-id") == Some(session)) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    panic!("the session of {} goes on", upstream.name);
}

#[tokio::test]
async fn a_session_of_which_the_client_never_heard_is_ended() {
    let quick = upstream("quick", tools("quick", "")).await;
    let (feed, script) = Body::channel();
    let held = Mutex::new(Some(script));
    let slow = Server::new(move |received| match (received.method().as_str(), held.lock().unwrap().take()) {
        ("initialize", Some(script)) => with_session("slow-1", labelled("application/json", script)),
        _ => status(204),
    });
    let slow = upstream("slow", slow).await;
    let gateway = Gateway::before(&[&quick, &slow], &[]).await;
    {
        let greeting = gateway.open(post(initialize(&apps_capabilities())));
        tokio::select! {
            _ = greeting => panic!("one of them has not answered"),
            () = async {
                while slow.server.take().is_empty() {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
            } => {}
        }
    }
    // The client is gone. One had opened a session by then, the other does so only now.
    ended(&quick, "quick-1").await;
    assert!(slow.server.take().is_empty(), "it is not known yet whether there is a session");
    let result = greeting("2025-11-25", json!({ "tools": {} }));
    feed.send_data(format!(r#"{{"jsonrpc":"2.0","id":0,"result":{result}}}"#));
    drop(feed);
    ended(&slow, "slow-1").await;
}

fn with_session(id: &str, mut response: http::Response<Body>) -> http::Response<Body> {
    response.headers_mut().insert("mcp-session-id", id.parse().expect("visible ASCII"));
    response
}

#[tokio::test]
async fn sessions_are_ended_where_there_is_none_in_the_end() {
    let good = upstream("good", tools("good", "")).await;
    // Longer than a header of the gateway's may be.
    let long: &'static str = "x".repeat(6000).leak();
    let long_id = upstream(
        "long",
        Server::new(move |received| {
            let said = Ok(greeting("2025-11-25", json!({ "tools": {} })));
            with_session(long, crate::world::answer(received, said))
        }),
    );
    let long_id = long_id.await;
    let gateway = Gateway::before(&[&good, &long_id], &[]).await;
    let answer = gateway.send(post(initialize(&apps_capabilities()))).await;
    assert_eq!((answer.status, answer.error_code()), (StatusCode::BAD_GATEWAY, json!(-32603)));
    tokio::join!(ended(&good, "good-1"), ended(&long_id, long));

    // One that answers nonsense, one that is late, and one that speaks only what the others do not.
    let nonsense = Server::new(|_| with_session("bad-1", json_answer("{}")));
    let late = Server::new(|received| match received.method().as_str() {
        "initialize" => with_session("bad-1", labelled("application/json", Body::channel().1)),
        _ => status(204),
    });
    let proud = speaks("bad", &["2025-11-25"]);
    for bad in [nonsense, late, proud] {
        let old = upstream("old", speaks("old", &["2025-06-18"])).await;
        let bad = upstream("bad", bad).await;
        let gateway = Gateway::before(&[&old, &bad], &["--answer-timeout", "2"]).await;
        let answer = gateway.send(post(initialize(&apps_capabilities()))).await;
        assert!(unavailable(&answer.json())["bad"].is_string(), "{}", answer.text());
        ended(&bad, "bad-1").await;
        let received = old.server.take();
        assert!(received.iter().all(|received| received.parts.method == "POST"), "the session of the others is there");
    }
}
