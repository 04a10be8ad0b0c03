//! What a caller gets whose call does not run, and which calls do not.

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use serde_json::{Value, json};
use tower::{Layer, ServiceExt};
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::exchange::{Decision, Fixed};
use tower_mcp_apps::message::Reason;
use tower_mcp_apps::namespace::{Namespace, NamespaceLayer};
use tower_mcp_apps::protocol::{Audience, ToolVisibility};
use tower_mcp_apps::testing::Body;
use tower_mcp_apps::visibility::{Visibility, VisibilityLayer};

use crate::kit::server::{Server, json_answer};
use crate::kit::{Answer, LIST, modern, only, post, send, with};
use crate::world::{
    Seen, call, events, for_apps, for_models, gate, has_run, is_hidden, legacy_call, listing, look_ups, result, runs,
    seen, tool, tools, with_page,
};

fn server() -> Server {
    with_page(json!({ "tools": tools() }))
}

/// A batch of calls of these tools, with a `ping` and a notification between.
fn batch(names: &[&str]) -> Request<Body> {
    let mut messages = vec![json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })];
    for (id, name) in names.iter().enumerate() {
        messages.push(json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": name } }));
    }
    messages.push(json!({ "jsonrpc": "2.0", "id": "p", "method": "ping" }));
    with(post(Value::Array(messages).to_string()), "mcp-protocol-version", "2025-03-26")
}

#[tokio::test]
async fn a_hidden_tool_is_one_that_does_not_exist() {
    for request in [call, legacy_call] {
        for (layer, own, others) in [(for_models(), "admin", "poll"), (for_apps(), "poll", "admin")] {
            let server = server();
            let gate = layer.layer(server.clone());
            is_hidden(&gate, request(others)).await;
            runs(&gate, request(own)).await;
            runs(&gate, request("open")).await;
            assert_eq!(seen(&server), Seen { look_ups: 1, ran: vec![own.into(), "open".into()] });
        }
    }
}

#[tokio::test]
async fn the_caller_is_told_no_more_than_the_name_that_it_sent() {
    let name = "po\"ll\u{1}\u{1f600}";
    let gate = gate(&with_page(json!({ "tools": [tool(name, &["app"])] })));
    let body = json!({ "jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": { "name": name } });
    let answer = send(gate, post(body.to_string())).await;
    let expected =
        json!({ "jsonrpc": "2.0", "id": "a", "error": { "code": -32602, "message": format!("Unknown tool: {name}") } });
    assert_eq!(answer.json(), expected);
}

#[tokio::test]
async fn a_hidden_tool_behind_a_namespace_is_named_as_its_server_names_it() {
    let namespace = || Namespace::new("a").expect("a name");
    let server = server();
    let fused = AppsLayer::new().namespace(namespace()).audience(Fixed(Audience::Model)).layer(server.clone());
    let stacked = NamespaceLayer::new(namespace()).layer(for_models().layer(server.clone()));
    for request in [call, legacy_call] {
        for answer in [send(fused.clone(), request("a__poll")).await, send(stacked.clone(), request("a__poll")).await] {
            let error = json!({ "code": -32602, "message": "Unknown tool: poll" });
            assert_eq!(answer.json(), json!({ "jsonrpc": "2.0", "id": 7, "error": error }));
        }
        // What lacks the prefix is not looked for.
        let answer = send(fused.clone(), request("poll")).await;
        assert_eq!(answer.json()["error"]["message"], "Unknown tool: poll");
    }
    assert_eq!(seen(&server).ran, [""; 0]);
}

#[tokio::test]
async fn the_real_reason_is_for_the_record_alone() {
    let response = gate(&server()).oneshot(call("poll")).await.expect("an answer");
    let decision = response.extensions().get::<Decision>().expect("a decision").clone();
    assert_eq!((decision.is_refused(), decision.reason()), (true, Some(Reason::Hidden)));
    assert_eq!(decision.visibility("poll"), Some(ToolVisibility::App));
    let answer = crate::kit::read(response).await;
    let text = format!("{:?} {}", answer.headers, answer.text()).to_ascii_lowercase();
    assert!(
        !["hidden", "app", "visib", "audience", "model"]
            .iter()
            .any(|word| text.replace("application/json", "").contains(word)),
        "{text}"
    );
}

#[tokio::test]
async fn a_batch_runs_whole_or_not_at_all() {
    let server = server();
    let gate = gate(&server);
    for names in [&["poll"][..], &["open", "poll"], &["poll", "open"], &["admin", "no-such", "poll", "open"]] {
        let answer = send(gate.clone(), batch(names)).await;
        assert_eq!((answer.status.as_u16(), answer.error_code()), (400, json!(-32600)), "{}", answer.text());
        assert!(answer.json().get("id").is_none());
        assert!(server.take().iter().all(|received| received.method() == "tools/list"), "nothing ran");
    }
    let request = batch(&["open", "admin", "no-such"]);
    let sent = crate::kit::server::record(batch(&["open", "admin", "no-such"])).await;
    let answer = send(gate.clone(), request).await;
    assert_eq!(answer.json().as_array().map(Vec::len), Some(5), "{}", answer.text());
    assert_eq!(server.only().frames, sent.frames, "as it came");
    // Nothing of it needs a look-up.
    let server = with_page(json!({}));
    let answer = send(crate::world::gate(&server), batch(&[])).await;
    assert_eq!(answer.status, StatusCode::OK);
    server.only();
}

#[tokio::test]
async fn a_batch_is_refused_where_the_catalogue_cannot_be_had() {
    let server = with_page(json!({}));
    let answer = send(gate(&server), batch(&["open"])).await;
    assert_eq!((answer.status.as_u16(), answer.error_code()), (502, json!(-32603)));
    assert!(answer.json().get("id").is_none());
    assert_eq!(server.only().method(), "tools/list");
}

/// What a hidden call gets by what its sender accepts.
async fn accepting(accept: Option<&str>, request: Request<Body>) -> Answer {
    let mut request = request;
    request.headers_mut().remove("accept");
    if let Some(accept) = accept {
        request = only(request, "accept", accept);
    }
    send(gate(&server()), request).await
}

#[tokio::test]
async fn a_refusal_is_json_or_an_event_by_what_the_client_accepts() {
    for request in [call, legacy_call] {
        for (accept, is_stream) in [
            (Some("application/json, text/event-stream"), false),
            (Some("text/event-stream, application/json"), false),
            (Some("application/json"), false),
            (Some("Application/JSON;q=0.1, Text/Event-Stream"), false),
            (Some("application/*"), false),
            (Some("*/*"), false),
            (Some("text/event-stream, */*;q=0.1"), false),
            (Some("text/html"), false),
            (Some(""), false),
            (None, false),
            (Some("text/event-stream"), true),
            (Some("Text/Event-Stream; q=1"), true),
            (Some("text/event-stream, text/html"), true),
            (Some("text/*"), true),
            (Some("text/event-stream, application/json;q=0"), true),
            (Some("application/json; Q=0.000, text/event-stream"), true),
            (Some("text/event-stream;q=0, application/json"), false),
        ] {
            let answer = accepting(accept, request("poll")).await;
            let expected = if is_stream { "text/event-stream" } else { "application/json" };
            assert_eq!(answer.header("content-type"), Some(expected), "{accept:?}");
            assert_eq!(answer.text().starts_with("event: message\ndata: {"), is_stream, "{accept:?}");
            assert_eq!(answer.text().ends_with("\n\n"), is_stream);
            assert_eq!(
                (answer.status.as_u16(), answer.error_code(), &answer.json()["id"]),
                (200, json!(-32602), &json!(7))
            );
        }
    }
}

#[tokio::test]
async fn what_is_no_success_is_json_whatever_the_client_accepts() {
    let answer = accepting(Some("text/event-stream"), batch(&["poll"])).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert!(answer.text().starts_with('{'));
}

#[tokio::test]
async fn a_deployer_chooses_the_answer_to_a_hidden_call() {
    let visibility = VisibilityLayer::new().refusal(StatusCode::FORBIDDEN, -32001);
    let apps = AppsLayer::new().visibility(Visibility::new().refusal(StatusCode::FORBIDDEN, -32001));
    let server = server();
    let (visibility, apps) = (visibility.layer(server.clone()), apps.layer(server.clone()));
    for request in [call, legacy_call] {
        for accept in ["application/json", "text/event-stream"] {
            let request = || only(request("poll"), "accept", accept);
            for answer in [send(visibility.clone(), request()).await, send(apps.clone(), request()).await] {
                assert_eq!((answer.status.as_u16(), answer.error_code()), (403, json!(-32001)));
                assert_eq!(answer.header("content-type"), Some("application/json"));
                assert_eq!(answer.json()["id"], 7);
            }
        }
    }
    // A batch has no one answer of its own.
    assert_eq!(send(apps, batch(&["poll"])).await.error_code(), -32600);
    assert_eq!(seen(&server).ran, [""; 0]);
}

#[tokio::test]
async fn what_a_deployer_declares_only_narrows() {
    let everyone = [Audience::Model, Audience::App];
    let rules = Visibility::new()
        .tool("open", [Audience::App])
        .tool("poll", everyone)
        .tool("admin", [])
        .tool("twice", [Audience::Model])
        .tool("twice", [Audience::App])
        .tool("unlisted", [Audience::App]);
    for (audience, runs) in [(Audience::Model, &[][..]), (Audience::App, &["open", "poll", "unlisted"])] {
        let server = server();
        let gate = AppsLayer::new().visibility(rules.clone()).audience(Fixed(audience)).layer(server.clone());
        for name in ["open", "poll", "admin", "twice", "unlisted"] {
            let answer = send(gate.clone(), call(name)).await;
            assert_eq!(has_run(&answer), runs.contains(&name), "{name} {audience}");
        }
        let listed: &[&str] = if audience == Audience::App { &["open", "poll"] } else { &[] };
        assert_eq!(send(gate, post(LIST)).await.tools(), listed);
    }
    let host = AppsLayer::new().visibility(rules.clone()).audience(Fixed(Audience::Host)).layer(server());
    assert!(has_run(&send(host, call("admin")).await), "a host filters itself");
    // What is declared needs no look-up to be refused.
    let server = server();
    is_hidden(&VisibilityLayer::new().tool("open", [Audience::App]).layer(server.clone()), call("open")).await;
    assert_eq!(server.take().len(), 0);
}

#[tokio::test]
async fn a_name_listed_twice_is_what_all_its_entries_allow() {
    for entries in [
        json!([tool("poll", &["app"]), { "name": "poll" }]),
        json!([{ "name": "poll" }, tool("poll", &["app"])]),
        json!([tool("poll", &["model"]), tool("poll", &["app"])]),
        json!([{ "name": "poll" }, tool("poll", &[])]),
    ] {
        let server = with_page(json!({ "tools": entries }));
        is_hidden(&gate(&server), call("poll")).await;
        assert_eq!(look_ups(&server), 1);
    }
    // Also on different pages.
    let server = listing(|received| {
        let page = match received.json()["params"]["cursor"].as_str() {
            None => json!({ "tools": [{ "name": "poll" }], "nextCursor": "2" }),
            Some(_) => json!({ "tools": [tool("poll", &["app"])] }),
        };
        json_answer(result(received, &page))
    });
    is_hidden(&gate(&server), call("poll")).await;
}

#[tokio::test]
async fn a_tool_that_says_two_things_about_itself_runs_by_none_of_its_names() {
    for (entry, names) in [
        (r#"{"name":"a","name":"b"}"#, &["a", "b"][..]),
        (r#"{"name":"b","n\u0061me":"\u0061"}"#, &["a", "b"]),
        (r#"{"name":7,"name":"a"}"#, &["a"]),
        (r#"{"name":"a","name":7}"#, &["a"]),
        (r#"{"name":"a","name":"\ud800"}"#, &["a"]),
        (r#"{"name":"a","_meta":{"ui":{"visibility":["model"]}},"_meta":{}}"#, &["a"]),
        (r#"{"name":"a","_meta":{"ui":{},"ui":{}}}"#, &["a"]),
        (r#"{"name":"a","_meta":{"ui":{"visibility":["model"],"visibility":["model"]}}}"#, &["a"]),
        (r#"{"name":"a","_meta":{"ui":{"visibility":"model"}}}"#, &["a"]),
        (r#"{"name":"a","_meta":{"ui":{"visibility":null}}}"#, &["a"]),
    ] {
        for layer in [for_models(), for_apps()] {
            let server = listing(move |received| {
                let id = &received.json()["id"];
                json_answer(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{entry},{{"name":"c"}}]}}}}"#))
            });
            let gate = layer.layer(server);
            for name in names {
                is_hidden(&gate, call(name)).await;
            }
            runs(&gate, call("c")).await;
            assert_eq!(send(gate, post(LIST)).await.tools(), ["c"], "list and call agree on {entry}");
        }
    }
}

#[tokio::test]
async fn a_meta_that_is_no_object_says_nothing() {
    for entry in [
        json!({ "name": "a", "_meta": 1 }),
        json!({ "name": "a", "_meta": { "ui": [] } }),
        json!({ "name": "a", "_meta": { "ui": { "visibility": ["model", "app", 1] } } }),
    ] {
        for layer in [for_models(), for_apps()] {
            runs(&layer.layer(with_page(json!({ "tools": [entry, 1, null, []] }))), call("a")).await;
        }
    }
}

#[tokio::test]
async fn what_runs_is_the_request_as_it_came() {
    let body = r#"{ "jsonrpc":"2.0","params":{"arguments":{"n":1.0,"n":-0.0},"name":"op\u0065n"} ,"id":1e0,"method":"tools\/call"}"#;
    let mut request = with(post(""), "idempotency-key", "once");
    *request.body_mut() = Body::frames(body.as_bytes().chunks(10).map(Bytes::from_static));
    let server = server();
    let answer = send(gate(&server), request).await;
    assert_eq!(answer.status, StatusCode::OK);
    let received = server.take();
    assert_eq!(received.len(), 2);
    assert_eq!(received[1].frames, body.as_bytes().chunks(10).collect::<Vec<_>>());
    assert_eq!(received[1].header("idempotency-key"), Some("once"));
}

/// A request with this method and body.
fn by(method: &str, body: &str) -> Request<Body> {
    let mut request = post(body.to_owned());
    *request.method_mut() = Method::from_bytes(method.as_bytes()).expect("a method");
    request
}

#[tokio::test]
async fn a_call_by_another_method_than_post_is_judged_too() {
    let poll = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"poll"}}"#;
    for method in ["PUT", "PATCH", "QUERY", "GET", "HEAD", "DELETE", "OPTIONS", "post", "X"] {
        let server = server();
        let gate = gate(&server);
        is_hidden(&gate, by(method, poll)).await;
        runs(&gate, by(method, &poll.replace("poll", "open"))).await;
        assert_eq!(seen(&server).ran, ["open"], "{method}");
        // One that is no JSON, and a body whose length is not told.
        let answer = send(gate.clone(), only(by(method, poll), "content-type", "text/plain")).await;
        assert_eq!(answer.status.as_u16(), 415, "{method}");
        let mut chunked = by(method, "").map(|_| Body::frames([Bytes::from(poll)]));
        is_hidden(&gate, chunked).await;
        chunked = with(by(method, "").map(|_| Body::frames([Bytes::from(poll)])), "transfer-encoding", "chunked");
        chunked.headers_mut().remove("content-type");
        assert_eq!(send(gate, chunked).await.status.as_u16(), 415, "{method}");
        assert!(seen(&server).ran.is_empty());
    }
}

#[tokio::test]
async fn what_has_no_body_is_no_call() {
    for method in ["GET", "HEAD", "DELETE", "OPTIONS"] {
        let server = Server::new(|_| events(&["{}"]));
        let answer = send(gate(&server), by(method, "")).await;
        assert_eq!(answer.status, StatusCode::OK, "{method}");
        assert_eq!(server.only().parts.method, method);
    }
}

#[tokio::test]
async fn a_stream_that_is_opened_with_a_body_is_filtered_as_one_without() {
    let replayed = json!({ "jsonrpc": "2.0", "id": 99, "result": { "tools": tools() } }).to_string();
    for body in ["", r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#] {
        let replayed = replayed.clone();
        let server = Server::new(move |_| events(&[&replayed]));
        let answer = send(gate(&server), by("GET", body)).await;
        assert_eq!(answer.tools(), ["open", "admin"], "{body}");
    }
}

#[tokio::test]
async fn headers_of_a_gated_call_say_what_its_body_says() {
    let server = server();
    let gate = gate(&server);
    for (name, value) in [("mcp-name", "admin"), ("mcp-method", "ping"), ("mcp-protocol-version", "2027-01-01")] {
        let answer = send(gate.clone(), only(call("open"), name, value)).await;
        assert_eq!((answer.status.as_u16(), answer.error_code()), (400, json!(-32020)), "{name}");
        let answer = send(gate.clone(), with(call("open"), name, value)).await;
        assert_eq!((answer.status.as_u16(), answer.error_code()), (400, json!(-32020)), "{name} twice");
        let mut missing = call("open");
        missing.headers_mut().remove(name);
        let answer = send(gate.clone(), missing).await;
        assert_eq!((answer.status.as_u16(), answer.error_code()), (400, json!(-32020)), "no {name}");
    }
    let answer = send(gate, with(legacy_call("open"), "mcp-protocol-version", "2026-07-28")).await;
    assert_eq!((answer.status.as_u16(), answer.error_code()), (400, json!(-32602)));
    assert!(server.take().is_empty(), "no look-up for what is refused anyway");
}

#[tokio::test]
async fn a_mirrored_name_may_be_encoded() {
    let gate = gate(&with_page(json!({ "tools": [{ "name": "größe" }] })));
    let request = modern("tools/call", &json!({ "name": "größe" }), &json!({}));
    runs(&gate, only(request, "mcp-name", "=?base64?Z3LDtsOfZQ==?=")).await;
}
