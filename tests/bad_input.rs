//! What bad input gets: every row of the design's table, where nothing is enforced and where a filter applies.
//!
//! The look-up of the gate has its own tests; here the server lists the tool that is called.

mod kit;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use kit::body::{Failed, Script};
use kit::server::{Received, Server, event_answer, json_answer, labelled};
use kit::{Answer, LIST, apps_capabilities, initialize, modern, only, post, send, with};
use serde_json::{Value, json};
use tower::Layer;
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::exchange::{ByHeader, Fixed, Limits};
use tower_mcp_apps::json::Depth;
use tower_mcp_apps::negotiate::NegotiateLayer;
use tower_mcp_apps::normalize::NormalizeLayer;
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::visibility::VisibilityLayer;

/// Sends a request through every stack in which nothing is enforced.
async fn unenforced(server: &Server, limits: Limits, request: impl Fn() -> Request<Script>) -> Vec<Answer> {
    let settings = tower_mcp_apps::concern::Settings::new().limits(limits);
    let host = AppsLayer::new().audience(Fixed(Audience::Host)).limits(limits).layer(server.clone());
    let negotiate = NegotiateLayer::new().settings(settings.clone()).layer(server.clone());
    let normalize = NormalizeLayer::new().settings(settings).layer(server.clone());
    vec![send(host, request()).await, send(negotiate, request()).await, send(normalize, request()).await]
}

/// Sends a request through every stack in which a filter applies.
async fn enforced(server: &Server, limits: Limits, request: impl Fn() -> Request<Script>) -> Vec<Answer> {
    let visibility = VisibilityLayer::new().settings(tower_mcp_apps::concern::Settings::new().limits(limits));
    let apps = AppsLayer::new().limits(limits);
    let model = apps.clone().audience(Fixed(Audience::Model)).layer(server.clone());
    let app = apps.clone().audience(Fixed(Audience::App)).layer(server.clone());
    let stacked = apps.layer(apps.layer(server.clone()));
    vec![
        send(visibility.layer(server.clone()), request()).await,
        send(apps.layer(server.clone()), request()).await,
        send(model, request()).await,
        send(app, request()).await,
        send(stacked, request()).await,
    ]
}

/// Where nothing is enforced, the request arrives as it came; a filter refuses it, and the server never hears of it.
async fn forwarded_or_refused(request: impl Fn() -> Request<Script>, status: u16, codes: &[i32], id: &Value) {
    let server = Server::with_tools(json!([{ "name": "open" }]));
    let sent = kit::server::record(request()).await;
    for answer in unenforced(&server, Limits::new(), &request).await {
        assert_eq!(answer.status, StatusCode::OK, "{sent:?}");
    }
    let received = server.take();
    assert_eq!(received.len(), 3, "{sent:?}");
    for received in received {
        assert_eq!(received.frames, sent.frames);
        assert_eq!(received.trailers, sent.trailers);
        for (name, value) in &sent.parts.headers {
            // This one is ours to change.
            assert!(name == "accept-encoding" || received.parts.headers.get_all(name).iter().any(|it| it == value));
        }
    }
    for answer in enforced(&server, Limits::new(), &request).await {
        assert_eq!(answer.status.as_u16(), status, "{sent:?}: {}", answer.text());
        let error = answer.json();
        assert!(codes.iter().any(|code| error["error"]["code"] == *code), "{sent:?}: {error}");
        assert_eq!(error["jsonrpc"], "2.0");
        match id {
            // Never null.
            Value::Null => assert!(error.get("id").is_none(), "{sent:?}: {error}"),
            id => assert_eq!(&error["id"], id, "{sent:?}"),
        }
        assert_eq!(answer.header("content-type"), Some("application/json"));
    }
    assert!(server.take().is_empty(), "{sent:?} went on");
}

#[tokio::test]
async fn a_body_that_is_no_message() {
    let deep =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","x":{}1{}}}"#, "[".repeat(512), "]".repeat(512));
    let bodies: [&[u8]; 18] = [
        b"",
        b" ",
        b"{",
        b"null",
        b"17",
        b"\"tools/list\"",
        b"[]",
        b"[ ]",
        b"{}{}",
        b"{} x",
        b"\xEF\xBB\xBF{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"x\":\"\xFF\"}",
        b"\xFF\xFE{\0}\0",
        b"{'a':1}",
        b"{\"a\":1,}",
        b"{\"a\":NaN}",
        b"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n\n",
        deep.as_bytes(),
    ];
    for body in bodies {
        let request = || post(Bytes::copy_from_slice(body));
        forwarded_or_refused(request, 400, &[-32700, -32600], &Value::Null).await;
    }
    for body in ["{", "{} x", "{'a':1}", deep.as_str()] {
        forwarded_or_refused(|| post(body.to_owned()), 400, &[-32700], &Value::Null).await;
    }
    for body in ["17", "[]", "null"] {
        forwarded_or_refused(|| post(body), 400, &[-32600], &Value::Null).await;
    }
}

#[tokio::test]
async fn members_of_a_batch_that_are_no_messages() {
    for body in ["[1]", "[[]]", r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},null]"#] {
        forwarded_or_refused(|| post(body), 400, &[-32600], &Value::Null).await;
    }
}

#[tokio::test]
async fn a_batch_of_more_messages_than_are_read() {
    let batch =
        |messages: usize| format!("[{}{{}}]", r#"{"jsonrpc":"2.0","method":"notifications/x"},"#.repeat(messages - 1));
    forwarded_or_refused(|| post(batch(1001)), 400, &[-32600], &Value::Null).await;
    let server = Server::with_tools(json!([]));
    for answer in enforced(&server, Limits::new(), || post(batch(1000))).await {
        assert_eq!(answer.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn another_http_method() {
    let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"open","name":"poll"}}"#;
    for method in ["PUT", "PATCH", "QUERY", "GET", "DELETE", "OPTIONS"] {
        let request = || {
            let mut request = post(call);
            *request.method_mut() = method.parse().expect("a method");
            request
        };
        forwarded_or_refused(request, 400, &[-32600], &json!(7)).await;
    }
    for method in ["PUT", "PATCH"] {
        let request = || {
            let mut request = only(post(call), "content-type", "text/plain");
            *request.method_mut() = method.parse().expect("a method");
            request
        };
        forwarded_or_refused(request, 415, &[-32600], &Value::Null).await;
    }
    // Clients send the header even where there is no body.
    let server = Server::with_tools(json!([]));
    for (method, body) in [("GET", ""), ("DELETE", ""), ("OPTIONS", "")] {
        for known_to_be_empty in [true, false] {
            let request = || {
                let mut request = post(body);
                *request.method_mut() = method.parse().expect("a method");
                if known_to_be_empty { request } else { request.map(|_| Script::frames([Bytes::new()])) }
            };
            for answer in enforced(&server, Limits::new(), request).await {
                assert_eq!(answer.status, StatusCode::OK);
            }
        }
    }
}

#[tokio::test]
async fn another_charset() {
    for charset in ["iso-8859-1", "utf-16", "\"UTF-16LE\""] {
        let content_type = format!("application/json; charset={charset}");
        let request = || only(post(LIST), "content-type", &content_type);
        forwarded_or_refused(request, 400, &[-32700, -32600], &Value::Null).await;
    }
}

#[tokio::test]
async fn utf_8_by_any_name_is_read() {
    let server = Server::with_tools(json!([{ "name": "open" }]));
    for content_type in ["application/json;charset=UTF-8", "Application/JSON; Charset=\"utf-8\"; x=y"] {
        for answer in enforced(&server, Limits::new(), || only(post(LIST), "content-type", content_type)).await {
            assert_eq!(answer.tools(), ["open"], "{content_type}");
        }
    }
}

#[tokio::test]
async fn another_media_type() {
    let types = ["text/plain", "application/json-rpc", "text/event-stream", "application/vnd.x+json", "json", ""];
    for content_type in types {
        let request = || only(post(LIST), "content-type", content_type);
        forwarded_or_refused(request, 415, &[-32600], &Value::Null).await;
    }
    let unlabelled = || {
        let mut request = post(LIST);
        request.headers_mut().remove("content-type");
        request
    };
    forwarded_or_refused(unlabelled, 415, &[-32600], &Value::Null).await;
    let doubled = || with(post(LIST), "content-type", "application/json");
    forwarded_or_refused(doubled, 415, &[-32600], &Value::Null).await;
}

#[tokio::test]
async fn an_encoded_request() {
    for coding in ["gzip", "identity, br", "x-unknown"] {
        let request = || with(post(LIST), "content-encoding", coding);
        forwarded_or_refused(request, 415, &[-32600], &Value::Null).await;
    }
    let server = Server::with_tools(json!([{ "name": "open" }]));
    for answer in enforced(&server, Limits::new(), || with(post(LIST), "content-encoding", "identity")).await {
        assert_eq!(answer.tools(), ["open"]);
    }
}

/// Two readers of these may not agree on what they say.
const TWO_FACED: &[(&str, bool)] = &[
    (r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","method":"ping"}"#, true),
    (r#"{"jsonrpc":"2.0","id":7,"method":"ping","\u006dethod":"tools/call"}"#, true),
    (r#"{"jsonrpc":"2.0","id":7,"method":"ping","Method":"tools/call"}"#, true),
    (r#"{"jsonrpc":"2.0","id":8,"id":7,"method":"ping"}"#, false),
    (r#"{"jsonrpc":"2.0","ID":8,"id":7,"method":"ping"}"#, true),
    (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"open"},"params":{"name":"poll"}}"#, true),
    (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"open"},"PARAMS":{"name":"poll"}}"#, true),
    // Go's decoder folds these two letters, as Unicode does: long s, and the sign for kelvin.
    (
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"open\"},\"param\u{17f}\":{}}",
        true,
    ),
    (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"open"},"param\u017f":{"name":"poll"}}"#, true),
    (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"open","name":"poll"}}"#, true),
    (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"open","Name":"poll"}}"#, true),
    (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"open","n\u0041me":"poll"}}"#, true),
    (r#"{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"ui://a","uri":"ui://b"}}"#, true),
    (r#"{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"ui://a","URI":"ui://b"}}"#, true),
    (r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{},"_meta":{}}}"#, true),
    (r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{},"_META":{}}}"#, true),
    (
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"resources/read\",\"params\":{\"uri\":\"ui://a\",\"ur\u{131}\":\"ui://b\"}}",
        true,
    ),
];

#[tokio::test]
async fn a_message_that_says_two_things() {
    for (body, id_is_known) in TWO_FACED {
        let id = if *id_is_known { json!(7) } else { Value::Null };
        forwarded_or_refused(|| post(*body), 400, &[-32600], &id).await;
    }
}

#[tokio::test]
async fn two_faced_declarations_declare_nothing() {
    let apps = apps_capabilities()["extensions"].to_string();
    for capabilities in [
        format!(r#"{{"extensions":{apps},"extensions":{apps}}}"#),
        format!(r#"{{"extensions":{apps},"Extensions":{apps}}}"#),
        format!(r#"{{"extensions":{apps},"exten\u017fions":{apps}}}"#),
    ] {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{capabilities}}}}}}}"#
        );
        let server = Server::with_tools(json!([{ "name": "open" }]));
        for layer in [AppsLayer::new(), AppsLayer::new().audience(ByHeader::new("x-audience".parse().expect("a name")))]
        {
            let answer = send(layer.layer(server.clone()), post(body.clone())).await;
            assert_eq!(answer.error_code(), -32600, "{body}");
            assert_eq!(answer.status, 400);
        }
        assert!(server.take().is_empty());
    }
}

#[tokio::test]
async fn a_name_or_id_that_cannot_be_read() {
    let cases: &[(&str, Value)] = &[
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\ud800"}}"#, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"poll\udc00"}}"#, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"ui://\ud800"}}"#, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"\ud800"}}"#, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{}}"#, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call"}"#, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":["open"]}"#, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":["open"]}}"#, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":null}}"#, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":["tools/call"],"params":{"name":"open"}}"#, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call\ud800","params":{"name":"open"}}"#, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":null}"#, json!(7)),
        (r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"open"}}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"open"}}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":[7],"method":"tools/call","params":{"name":"open"}}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, Value::Null),
    ];
    for (body, id) in cases {
        forwarded_or_refused(|| post(*body), 400, &[-32600], id).await;
    }
    let invalid = b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"po\xC0ll\"}}";
    forwarded_or_refused(|| post(&invalid[..]), 400, &[-32600], &Value::Null).await;
}

#[tokio::test]
async fn ids_come_back_as_they_were_written() {
    let server = Server::with_tools(json!([{ "name": "open" }]));
    for id in ["1.0", "-0", "123456789012345678901234567890", r#""\u0061""#, "1e2", r#""""#] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{}}}}"#);
        for answer in enforced(&server, Limits::new(), || post(body.clone())).await {
            assert!(answer.text().contains(&format!(r#""id":{id},"#)), "{}", answer.text());
        }
    }
}

#[tokio::test]
async fn responses_and_notifications_of_the_client_pass() {
    let server = Server::new(|_| {
        let mut accepted = Response::new(Script::whole(""));
        *accepted.status_mut() = StatusCode::ACCEPTED;
        accepted
    });
    for body in [
        r#"{"jsonrpc":"2.0","id":1,"result":{"name":"x","Name":"y","method":"tools/call"}}"#,
        r#"{"jsonrpc":"2.0","id":"s-1","error":{"code":-1,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","method":"notifications/initialized"}]"#,
    ] {
        for answer in enforced(&server, Limits::new(), || post(body)).await {
            assert_eq!(answer.status, StatusCode::ACCEPTED, "{body}: {}", answer.text());
        }
        let received = server.take();
        assert_eq!(received.len(), 5);
        assert!(received.iter().all(|received| received.bytes() == body));
    }
    // What has a method is no response, whatever else it has.
    let body = r#"{"jsonrpc":"2.0","id":null,"result":{},"METHOD":"tools/call"}"#;
    forwarded_or_refused(|| post(body), 400, &[-32600], &Value::Null).await;
}

fn call(name: &str) -> Request<Script> {
    modern("tools/call", &json!({ "name": name }), &json!({}))
}

#[tokio::test]
async fn headers_that_contradict_the_body() {
    let without = |name: &'static str| {
        let mut request = call("open");
        request.headers_mut().remove(name);
        request
    };
    let mismatched: [&dyn Fn() -> Request<Script>; 13] = [
        &|| only(call("open"), "mcp-name", "other"),
        &|| only(call("open"), "mcp-name", "Open"),
        &|| only(call("open"), "mcp-name", "=?base64?b3RoZXI=?="),
        &|| only(call("open"), "mcp-name", "=?base64?!?="),
        &|| only(call("open"), "mcp-method", "tools/list"),
        &|| only(call("open"), "mcp-method", "TOOLS/CALL"),
        &|| only(call("open"), "mcp-protocol-version", "2025-11-25"),
        &|| only(call("open"), "mcp-protocol-version", "2027-01-01"),
        &|| with(call("open"), "mcp-name", "open"),
        &|| with(call("open"), "mcp-method", "tools/call"),
        &|| without("mcp-name"),
        &|| without("mcp-method"),
        &|| without("mcp-protocol-version"),
    ];
    for request in mismatched {
        forwarded_or_refused(request, 400, &[-32020], &json!(7)).await;
    }
    let beyond_ascii = || {
        let mut request = call("");
        let value = http::HeaderValue::from_bytes(b"\xC3\xA9").expect("obs-text is allowed");
        request.headers_mut().insert("mcp-name", value);
        request
    };
    forwarded_or_refused(beyond_ascii, 400, &[-32020], &json!(7)).await;
}

#[tokio::test]
async fn a_modern_header_without_modern_meta() {
    let plain = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"open"}}"#;
    let version = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"open","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    let capabilities = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"open","_meta":{"io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    for body in [plain, version, capabilities] {
        let request = || {
            let request = with(post(body), "mcp-protocol-version", "2026-07-28");
            with(with(request, "mcp-method", "tools/call"), "mcp-name", "open")
        };
        forwarded_or_refused(request, 400, &[-32602], &json!(7)).await;
    }
}

#[tokio::test]
async fn a_legacy_call_with_modern_headers() {
    let body = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"open"}}"#;
    let contradicting: [&dyn Fn() -> Request<Script>; 3] =
        [&|| with(post(body), "mcp-name", "other"), &|| with(post(body), "mcp-method", "tools/list"), &|| {
            with(with(post(body), "mcp-name", "open"), "mcp-name", "other")
        }];
    for request in contradicting {
        forwarded_or_refused(request, 400, &[-32020], &json!(7)).await;
    }
    let doubled = || with(with(post(body), "mcp-protocol-version", "2025-11-25"), "mcp-protocol-version", "2026-07-28");
    forwarded_or_refused(doubled, 400, &[-32602], &json!(7)).await;
    let server = Server::with_tools(json!([{ "name": "open" }]));
    let agreeing = || with(with(post(body), "mcp-name", "open"), "mcp-method", "tools/call");
    for answer in enforced(&server, Limits::new(), agreeing).await {
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
    }
}

#[tokio::test]
async fn lists_are_filtered_by_the_body_whatever_the_headers_say() {
    let server =
        Server::with_tools(json!([{ "name": "open" }, { "name": "none", "_meta": { "ui": { "visibility": 1 } } }]));
    for (name, value) in [("mcp-method", "ping"), ("mcp-protocol-version", "1"), ("mcp-name", "x")] {
        let request = || only(modern("tools/list", &json!({}), &json!({})), name, value);
        for answer in enforced(&server, Limits::new(), request).await {
            assert_eq!(answer.tools(), ["open"]);
        }
    }
}

#[tokio::test]
async fn a_batch_with_a_member_that_may_not_run() {
    let calls = |second: &str| format!(r#"[{{"jsonrpc":"2.0","id":1,"method":"tools/list"}},{second}]"#);
    for second in [
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{}}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"open"}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"ping","METHOD":"tools/call"}"#,
        // Duplicate ids: the same text, the same text by escapes, the same number.
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1.0,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":10e-1,"method":"ping"}"#,
    ] {
        forwarded_or_refused(|| post(calls(second)), 400, &[-32600], &Value::Null).await;
    }
    let escaped = r#"[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":"\u0061","method":"ping"}]"#;
    forwarded_or_refused(|| post(escaped), 400, &[-32600], &Value::Null).await;
}

#[tokio::test]
async fn a_batch_for_an_app_with_a_method_that_is_not_for_apps() {
    let server = Server::with_tools(json!([]));
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"prompts/list"}]"#;
    let app = AppsLayer::new().audience(Fixed(Audience::App)).layer(server.clone());
    let answer = send(app.clone(), post(batch)).await;
    assert_eq!((answer.status.as_u16(), answer.error_code()), (400, json!(-32600)));
    let alone = r#"{"jsonrpc":"2.0","id":2,"method":"prompts/list"}"#;
    let answer = send(app, post(alone)).await;
    assert_eq!((answer.status.as_u16(), answer.error_code(), &answer.json()["id"]), (200, json!(-32601), &json!(2)));
    assert!(server.take().is_empty());
}

#[tokio::test]
async fn a_request_over_the_limit() {
    let limits = Limits::new().request_bytes(LIST.len());
    let server = Server::with_tools(json!([{ "name": "open" }]));
    let bodies: [&dyn Fn() -> Request<Script>; 3] = [
        &|| post(format!("{LIST} ")),
        &|| post(LIST).map(|_| Script::frames([Bytes::from(LIST), Bytes::from_static(b" ")])),
        &|| post(LIST).map(|_| Script::frames([Bytes::from("x".repeat(4096))])),
    ];
    for request in bodies {
        let mut answers = unenforced(&server, limits, request).await;
        answers.append(&mut enforced(&server, limits, request).await);
        for answer in answers {
            assert_eq!((answer.status.as_u16(), answer.error_code()), (413, json!(-32600)));
            assert!(answer.json().get("id").is_none());
        }
    }
    assert!(server.take().is_empty());
    for answer in enforced(&server, limits, || post(LIST)).await {
        assert_eq!(answer.tools(), ["open"], "the limit itself is within it");
    }
    // What is not read has no limit.
    let foreign = || only(post("x".repeat(4096)), "content-type", "text/plain");
    for answer in unenforced(&server, limits, foreign).await {
        assert_eq!(answer.status, StatusCode::OK);
    }
}

/// A list with one tool that nobody may see, and one for all whose link is spelt the old way.
const ANSWER: &str = r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"none","_meta":{"ui":{"visibility":[]}}},{"name":"open","_meta":{"ui/resourceUri":"ui://s/a"}}]}}"#;

/// Where nothing is enforced, the server's answer to a list passes untouched; a filter puts an error in its place.
async fn untouched_or_error(
    answer: impl Fn(&Received) -> Response<Script> + Clone + Send + Sync + 'static,
    limits: Limits,
    status: u16,
) {
    let received = kit::server::record(post(LIST)).await;
    let sent = kit::read(answer(&received)).await;
    let server = Server::new(answer);
    for got in unenforced(&server, limits, || post(LIST)).await {
        assert_eq!(got.status, sent.status);
        assert_eq!(got.bytes(), sent.bytes());
        assert_eq!(got.error, sent.error);
        assert_eq!(got.trailers, sent.trailers);
        for name in ["content-length", "content-type", "content-encoding", "etag"] {
            assert_eq!(got.headers.get(name), sent.headers.get(name), "{name}");
        }
    }
    for got in enforced(&server, limits, || post(LIST)).await {
        let error = got.json();
        assert_eq!(error["error"]["code"], -32603, "{error}");
        assert_eq!(error["id"], 7);
        assert_eq!(got.status.as_u16(), status, "{error}");
        assert_eq!(got.header("content-encoding"), None);
        assert_eq!(got.error, None);
        assert!(got.header("content-length").is_none_or(|length| length == got.bytes().len().to_string()));
    }
}

#[tokio::test]
async fn an_answer_over_the_limit() {
    let limits = Limits::new().response_bytes(ANSWER.len() - 1);
    untouched_or_error(|_| json_answer(ANSWER), limits, 502).await;
    // Its length is known only when it is read.
    let pieces = || Script::frames(ANSWER.as_bytes().chunks(16).map(Bytes::from_static));
    untouched_or_error(move |_| labelled("application/json", pieces()), limits, 502).await;
    // One event.
    let events = || Script::frames([Bytes::from(format!(": hi\n\ndata: {ANSWER}\n\n"))]);
    let server = Server::new(move |_| event_answer(events()));
    for got in enforced(&server, limits, || post(LIST)).await {
        assert!(got.text().starts_with(": hi\n\n"));
        assert_eq!((got.error_code(), &got.json()["id"]), (json!(-32603), &json!(7)));
    }
    // At the limit it is read.
    let limits = Limits::new().response_bytes(ANSWER.len());
    for got in enforced(&Server::saying(ANSWER), limits, || post(LIST)).await {
        assert_eq!(got.tools(), ["open"]);
    }
}

#[tokio::test]
async fn an_answer_that_is_encoded_although_identity_was_asked_for() {
    let encoded = |received: &Received| {
        assert!(received.header("accept-encoding").is_none_or(|codings| codings == "identity"));
        let mut response = json_answer(&b"\x1f\x8b\x08\x00\x00"[..]);
        response.headers_mut().insert("content-encoding", "gzip".parse().expect("a coding"));
        response
    };
    untouched_or_error(encoded, Limits::new(), 502).await;
}

#[tokio::test]
async fn an_answer_that_cannot_be_read() {
    let invalid = ANSWER.replace("none", "none\u{0}");
    let deep = ANSWER.replace(r#""visibility":[]"#, &format!(r#""visibility":{}{}"#, "[".repeat(99), "]".repeat(99)));
    let limits = Limits::new().depth(Depth::try_from(50).expect("within the most"));
    let cases = [
        ("application/json", ANSWER[..ANSWER.len() - 1].to_owned()),
        ("application/json", format!("{ANSWER}x")),
        ("application/json", format!("\u{feff}{ANSWER}")),
        ("application/json", invalid),
        ("application/json", deep),
        ("application/json", "oops".to_owned()),
        ("application/json; charset=utf-16", "\u{0}{".to_owned()),
        ("text/plain", ANSWER[..ANSWER.len() - 1].to_owned()),
    ];
    for (content_type, body) in cases {
        let answer = move |_: &Received| labelled(content_type, Script::whole(body.clone()));
        untouched_or_error(answer, limits, 502).await;
    }
    // A failure keeps its own status.
    let failure = |_: &Received| {
        let mut response = labelled("application/json", Script::whole("oops"));
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        response
    };
    untouched_or_error(failure, Limits::new(), 503).await;
    // So does what breaks off.
    let broken = |_: &Received| labelled("application/json", Script::failing([Bytes::from(&ANSWER[..40])]));
    untouched_or_error(broken, Limits::new(), 502).await;
}

#[tokio::test]
async fn an_event_that_cannot_be_read() {
    let broken = &ANSWER[..ANSWER.len() - 1];
    let stream = format!(
        "id: 1\ndata: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}}\n\nid: 2\ndata: {broken}\n\n: bye\n\n"
    );
    let server = Server::streaming(stream.clone());
    for got in unenforced(&server, Limits::new(), || post(LIST)).await {
        assert_eq!(got.text(), stream);
    }
    for got in enforced(&server, Limits::new(), || post(LIST)).await {
        let events = got.events();
        assert_eq!(events.len(), 2);
        assert_eq!(events[0]["method"], "notifications/x");
        assert_eq!((&events[1]["error"]["code"], &events[1]["id"]), (&json!(-32603), &json!(7)));
        // The event keeps its other fields, and the stream goes on.
        assert!(got.text().contains("\n\nid: 2\ndata: "));
        assert!(got.text().ends_with(": bye\n\n"));
    }
}

#[tokio::test]
async fn a_content_type_that_lies() {
    let events = format!("data: {ANSWER}\n\n");
    let bodies = [
        ("text/event-stream", ANSWER.to_owned()),
        ("text/event-stream", format!("\r\n {ANSWER}")),
        ("application/json", events.clone()),
        ("application/json", format!(": hello\n\n{events}")),
    ];
    let host = AppsLayer::new().audience(Fixed(Audience::Host));
    for (content_type, body) in bodies {
        let answer = body.clone();
        let server = Server::new(move |_| {
            let mut response = labelled(content_type, Script::frames([Bytes::from(answer.clone())]));
            response.headers_mut().insert("content-length", answer.len().into());
            response
        });
        for got in enforced(&server, Limits::new(), || post(LIST)).await {
            assert_eq!(got.tools(), ["open"], "{content_type}: {body}");
            assert_eq!(got.header("content-type"), Some(content_type));
            assert!(got.header("content-length").is_none_or(|length| length == got.bytes().len().to_string()));
        }
        let got = send(host.layer(server), post(LIST)).await;
        assert_eq!(got.json()["result"]["tools"][1]["_meta"]["ui"]["resourceUri"], "ui://s/a", "{content_type}");
    }
}

#[tokio::test]
async fn unlabelled_and_mislabelled_lists_are_filtered() {
    for content_type in [None, Some("text/plain"), Some("text/html"), Some("application/octet-stream")] {
        let server = Server::new(move |_| {
            let mut response = Response::new(Script::whole(ANSWER));
            if let Some(content_type) = content_type {
                response.headers_mut().insert("content-type", content_type.parse().expect("a type"));
            }
            response
        });
        for got in enforced(&server, Limits::new(), || post(LIST)).await {
            assert_eq!(got.tools(), ["open"], "{content_type:?}");
        }
    }
}

#[tokio::test]
async fn what_is_no_answer_to_a_method_passes() {
    let page = "<!doctype html><title>502</title>";
    for (status, encoding) in [(502, None), (401, None), (401, Some("gzip"))] {
        let server = Server::new(move |_| {
            let mut response = labelled("text/html", Script::whole(page));
            *response.status_mut() = StatusCode::from_u16(status).expect("a status");
            if let Some(encoding) = encoding {
                response.headers_mut().insert("content-encoding", http::HeaderValue::from_static(encoding));
            }
            response
        });
        for got in enforced(&server, Limits::new(), || post(LIST)).await {
            assert_eq!((got.status.as_u16(), got.text()), (status, page.to_owned()));
        }
    }
}

#[tokio::test]
async fn a_request_that_fails_while_it_is_read() {
    let server = Server::saying(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    let frames = [Bytes::from_static(b"{\"json"), Bytes::from_static(b"rpc\":")];
    let request = || post("").map(|_| Script::failing(frames.clone()));
    for answer in unenforced(&server, Limits::new(), request).await {
        assert_eq!(answer.status, StatusCode::OK);
    }
    let received = server.take();
    assert_eq!(received.len(), 3);
    for received in received {
        assert_eq!((&received.frames[..], received.error), (&frames[..], Some(Failed)));
    }
    for answer in enforced(&server, Limits::new(), request).await {
        assert_eq!((answer.status, answer.error_code()), (StatusCode::BAD_REQUEST, json!(-32700)));
    }
    assert!(server.take().is_empty());
}

#[tokio::test]
async fn an_odd_audience_header() {
    let server = Server::with_tools(json!([{ "name": "open" }]));
    let layer = AppsLayer::new().audience(ByHeader::new(http::HeaderName::from_static("x-audience")));
    for value in ["", "Model", "root", "model,app"] {
        let answer = send(layer.layer(server.clone()), with(post(LIST), "x-audience", value)).await;
        assert_eq!(
            (answer.status.as_u16(), answer.error_code(), &answer.json()["id"]),
            (400, json!(-32600), &json!(7))
        );
    }
    let doubled = with(with(post(LIST), "x-audience", "model"), "x-audience", "model");
    let answer = send(layer.layer(server.clone()), doubled).await;
    assert_eq!((answer.status.as_u16(), answer.error_code()), (400, json!(-32600)));
    assert!(server.take().is_empty());

    let answer = send(layer.layer(server.clone()), with(post(LIST), "x-audience", "app")).await;
    assert_eq!(answer.tools(), ["open"]);
    assert_eq!(server.only().header("x-audience"), None);
}

#[tokio::test]
async fn what_a_caller_says_of_itself_grants_nothing() {
    let server = Server::with_tools(json!([{ "name": "poll", "_meta": { "ui": { "visibility": ["app"] } } }]));
    let layer = AppsLayer::new();
    let body = r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{"ui":{"visibility":["app"]},"audience":"host","io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}}"#;
    let request = with(post(body), "origin", "null");
    let request = with(with(request, "user-agent", "claude"), "x-audience", "host");
    assert!(send(layer.layer(server.clone()), request).await.tools().is_empty());
    let init =
        initialize(&json!({ "experimental": apps_capabilities(), "extensions": { "io.modelcontextprotocol/ui": {} } }));
    let opened = send(layer.layer(server.clone()), post(init)).await;
    let session = opened.header("mcp-session-id").expect("a session").to_owned();
    let request = with(post(LIST), "mcp-session-id", &session);
    assert!(send(layer.layer(server), request).await.tools().is_empty());
}
