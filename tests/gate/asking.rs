//! How the inner service is asked for its tools: as the caller, with a request of our own.

use std::collections::HashSet;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderName, HeaderValue};
use serde_json::{Value, json};
use tower::Layer;
use tower_mcp_apps::McpContext;
use tower_mcp_apps::concern::LookUp;
use tower_mcp_apps::exchange::ByHeader;
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::testing::Body;
use tower_mcp_apps::visibility::VisibilityLayer;

use crate::kit::server::{Received, Server, json_answer};
use crate::kit::{LIST, apps_capabilities, initialize, post, send, with};
use crate::world::{asked, call, for_models, gate, is_hidden, legacy_call, listing, result, runs, tools, with_page};

fn server() -> Server {
    with_page(json!({ "tools": tools() }))
}

/// The one look-up that a call causes.
async fn look_up(request: http::Request<Body>) -> Received {
    let server = server();
    runs(&gate(&server), request).await;
    let mut asked = asked(&server);
    assert_eq!(asked.len(), 1);
    asked.remove(0)
}

#[tokio::test]
async fn a_look_up_has_an_unguessable_string_id_of_its_own() {
    let mut ids = HashSet::new();
    for _ in 0..20 {
        for request in [call("open"), legacy_call("open")] {
            let asked = look_up(request).await;
            let id = asked.json()["id"].as_str().expect("a string").to_owned();
            assert!(id.len() >= 22 && !id.contains('7'.to_string().repeat(20).as_str()), "{id}");
            assert!(ids.insert(id), "an id came again");
            assert_eq!(asked.json()["jsonrpc"], "2.0");
        }
    }
}

#[tokio::test]
async fn its_answer_is_known_by_its_id_however_that_is_spelt() {
    let server = listing(|received| {
        let answer = result(received, &json!({ "tools": tools() }));
        json_answer(answer.replace(r#""apps-"#, r#""\u0061pps-"#))
    });
    for request in [call, legacy_call] {
        let gate = gate(&server);
        runs(&gate, request("open")).await;
        is_hidden(&gate, request("poll")).await;
    }
}

#[tokio::test]
async fn a_look_up_goes_where_the_call_goes() {
    let mut request = call("open");
    *request.uri_mut() = "http://127.0.0.1/a/mcp?tenant=1".parse().expect("a URI");
    let asked = look_up(request).await;
    assert_eq!(asked.parts.uri, "http://127.0.0.1/a/mcp?tenant=1");
    assert_eq!(asked.parts.method, http::Method::POST);
    assert_eq!(asked.header("content-type"), Some("application/json"));
    assert_eq!(asked.header("accept"), Some("application/json, text/event-stream"));
    assert_eq!(asked.header("accept-encoding"), Some("identity"));
    assert_eq!(asked.header("content-length"), Some(asked.bytes().len().to_string().as_str()));
}

#[tokio::test]
async fn headers_bound_to_one_request_are_left_out() {
    const BOUND: [&str; 25] = [
        "content-encoding-x",
        "content-digest",
        "digest",
        "repr-digest",
        "if-none-match",
        "range",
        "content-language",
        "content-disposition",
        "mcp-name",
        "mcp-param-region",
        "idempotency-key",
        "dpop",
        "signature",
        "signature-input",
        "signature-agent",
        "x-payment",
        "payment-signature",
        "last-event-id",
        // Of the connection, not of the caller.
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "expect",
        "upgrade",
        "proxy-connection",
    ];
    let mut request = legacy_call("open");
    for name in BOUND {
        let value = if name == "mcp-name" { "open" } else { "x" };
        request.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    let asked = look_up(request).await;
    for name in BOUND {
        assert!(!asked.parts.headers.contains_key(name), "{name}");
    }
}

/// A proxy inside takes off what `Connection` names (RFC 9110, section 7.6.1): of the call, and so of the look-up by which it is judged.
#[tokio::test]
async fn what_is_for_the_next_server_alone_is_so_in_a_look_up_too() {
    let mut request = legacy_call("open");
    request.headers_mut().insert("connection", HeaderValue::from_static("x-tenant"));
    request.headers_mut().insert("x-tenant", HeaderValue::from_static("b"));
    let asked = look_up(request).await;
    assert_eq!(asked.header("connection"), Some("x-tenant"));
    assert_eq!(asked.header("x-tenant"), Some("b"));
}

#[tokio::test]
async fn all_other_headers_of_the_caller_go_along() {
    let kept = [
        ("authorization", "Bearer secret"),
        ("cookie", "a=b"),
        ("x-api-key", "key"),
        ("x-tenant", "one"),
        ("x-tenant", "two"),
        ("user-agent", "client/1"),
        ("traceparent", "00-1-1-00"),
        ("forwarded", "for=1.2.3.4"),
        ("mcp-protocol-version", "2025-11-25"),
    ];
    let request = kept.iter().fold(legacy_call("open"), |request, (name, value)| with(request, name, value));
    let asked = look_up(request).await;
    for (name, value) in kept {
        assert!(asked.parts.headers.get_all(name).iter().any(|there| there == value), "{name}");
    }
    assert_eq!(asked.header("mcp-method"), None, "legacy servers know no such header");
}

#[tokio::test]
async fn the_modern_era_gets_its_headers_and_metadata() {
    let params = r#"{"name":"open","_meta":{"progressToken":5,"io.modelcontextprotocol/protocolVersion":"2026-07-28","x/y": 1.0 ,"io.modelcontextprotocol/clientCapabilities":{"sampling":{}},"progress\u0054oken":6,"io.modelcontextprotocol/clientInfo":{"name":"c"}}}"#;
    let body = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{params}}}"#);
    let request = with(post(body), "mcp-protocol-version", "2026-07-28");
    let request = with(with(request, "mcp-method", "tools/call"), "mcp-name", "open");
    let asked = look_up(request).await;
    let expected = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","x/y":1.0,"io.modelcontextprotocol/clientCapabilities":{"sampling":{}},"io.modelcontextprotocol/clientInfo":{"name":"c"}}"#;
    let text = String::from_utf8(asked.bytes().to_vec()).expect("text");
    assert!(text.replace(' ', "").contains(expected), "{text}");
    assert!(!text.contains("oken"), "{text}");
    assert_eq!(asked.header("mcp-method"), Some("tools/list"));
    assert_eq!(asked.header("mcp-protocol-version"), Some("2026-07-28"));
    assert_eq!(asked.json()["params"].as_object().map(serde_json::Map::len), Some(1));
}

#[tokio::test]
async fn the_legacy_era_gets_no_metadata() {
    let body = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"open","_meta":{"progressToken":5}}}"#;
    assert_eq!(look_up(post(body)).await.json()["params"], json!({}));
}

#[tokio::test]
async fn a_session_goes_along_as_the_server_gave_it() {
    let server = Server::new(|received| {
        let list = json!({ "tools": tools(), "protocolVersion": "2025-11-25", "capabilities": {}, "content": ["ran"] });
        let mut response = json_answer(result(received, &list));
        if received.method() == "initialize" {
            response.headers_mut().insert("mcp-session-id", HeaderValue::from_static("S-1"));
        }
        response
    });
    let gate = gate(&server);
    let opened = send(gate.clone(), post(initialize(&apps_capabilities()))).await;
    let session = opened.header("mcp-session-id").expect("a session").to_owned();
    runs(&gate, with(legacy_call("open"), "mcp-session-id", &session)).await;
    let asked = asked(&server);
    assert_eq!(asked[0].header("mcp-session-id"), Some("S-1"));
}

#[tokio::test]
async fn extensions_go_along_with_a_context_of_the_look_up() {
    #[derive(Clone)]
    struct User(u8);

    let mut request = call("open");
    request.extensions_mut().insert(User(9));
    let asked = look_up(request).await;
    assert_eq!(asked.parts.extensions.get::<User>().expect("the user").0, 9);
    let context = asked.parts.extensions.get::<McpContext>().expect("a context");
    assert_eq!((context.method(), context.audience(), context.tool()), (Some("tools/list"), Audience::Model, None));
    assert_eq!(context.id(), Some(asked.json()["id"].to_string().as_bytes()));
}

#[tokio::test]
async fn a_header_for_the_layer_alone_does_not_go_along() {
    let server = server();
    let audience = ByHeader::new(HeaderName::from_static("x-audience"));
    let gate = VisibilityLayer::new().audience(audience).layer(server.clone());
    is_hidden(&gate, with(call("admin"), "x-audience", "app")).await;
    assert_eq!(asked(&server)[0].header("x-audience"), None);
}

#[tokio::test]
async fn a_hook_makes_the_head_of_each_look_up() {
    let server = listing(|received| {
        let page = match received.json()["params"]["cursor"].as_str() {
            None => json!({ "tools": [{ "name": "a" }], "nextCursor": "2" }),
            Some(_) => json!({ "tools": tools() }),
        };
        json_answer(result(received, &page))
    });
    let prepare = |call: &Parts, look_up: &mut Parts| {
        let proof = call.headers.get("dpop").expect("the call has its own").to_str().expect("text");
        assert!(!look_up.headers.contains_key("dpop"));
        assert_eq!(look_up.headers["content-type"], "application/json");
        look_up.headers.insert("dpop", format!("after {proof}").parse().expect("a header"));
    };
    let gate = for_models().look_up(LookUp::new().prepare(prepare)).layer(server.clone());
    is_hidden(&gate, with(call("poll"), "dpop", "proof")).await;
    let asked = asked(&server);
    assert_eq!(asked.len(), 2);
    assert!(asked.iter().all(|asked| asked.header("dpop") == Some("after proof")));
}

#[tokio::test]
async fn all_pages_are_asked_for_with_their_cursors_as_they_came() {
    let server = listing(|received| {
        let text = String::from_utf8(received.bytes().to_vec()).expect("text");
        let page = if text.contains(r#""cursor":"p\u0032""#) {
            r#"{"tools":[],"nextCursor":{"odd":3.0}}"#
        } else if text.contains(r#""cursor":{"odd":3.0}"#) {
            r#"{"tools":[{"name":"poll","_meta":{"ui":{"visibility":["app"]}}}],"nextCursor":null}"#
        } else {
            assert!(!text.contains("cursor"), "{text}");
            r#"{"tools":[{"name":"open"}],"nextCursor":"p\u0032"}"#
        };
        json_answer(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{page}}}"#, received.json()["id"]))
    });
    let gate = gate(&server);
    is_hidden(&gate, call("poll")).await;
    runs(&gate, call("open")).await;
    is_hidden(&gate, legacy_call("poll")).await;
    // One look-up for each era, three pages each.
    let asked = asked(&server);
    assert_eq!(asked.len(), 6);
    let ids: Vec<_> = asked.iter().map(|asked| asked.json()["id"].clone()).collect();
    assert!(ids[..3].iter().all(|id| *id == ids[0]) && ids[3..].iter().all(|id| *id == ids[3]));
}

#[tokio::test]
async fn catalogues_come_as_json_or_as_a_stream_however_it_is_cut() {
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}"#;
    let foreign = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"poll"}]}}"#;
    for chunk in [1, 7, 4096] {
        for ending in ["\n", "\r\n", "\r"] {
            let server = listing(move |received| {
                // The answer stands behind what is not ours, and some servers leave the stream open.
                let answer = result(received, &json!({ "tools": tools() }));
                let blocks = [": hello\n\nid: 1\ndata: \n\n".to_owned()].into_iter().chain(
                    [progress.to_owned(), foreign.to_owned(), answer].map(|message| format!("data: {message}\n\n")),
                );
                let stream = blocks.collect::<String>().replace('\n', ending);
                let (feed, body) = Body::channel();
                stream.as_bytes().chunks(chunk).for_each(|chunk| feed.send_data(Bytes::copy_from_slice(chunk)));
                std::mem::forget(feed);
                crate::kit::server::event_answer(body)
            });
            let gate = gate(&server);
            is_hidden(&gate, call("poll")).await;
            runs(&gate, call("admin")).await;
        }
        let server = listing(move |received| {
            let answer = result(received, &json!({ "tools": tools() }));
            let frames = answer.as_bytes().chunks(chunk).map(Bytes::copy_from_slice).collect::<Vec<_>>();
            crate::kit::server::labelled("application/json", Body::frames(frames))
        });
        let gate = gate(&server);
        is_hidden(&gate, call("poll")).await;
        runs(&gate, call("admin")).await;
    }
}

#[tokio::test]
async fn a_catalogue_is_read_whatever_its_content_type_says() {
    for (content_type, is_stream) in [("text/event-stream", false), ("application/json", true), ("text/plain", false)] {
        let server = listing(move |received| {
            let answer = result(received, &json!({ "tools": tools() }));
            let body = if is_stream { format!("data: {answer}\n\n") } else { answer };
            crate::kit::server::labelled(content_type, Body::new(body))
        });
        let gate = gate(&server);
        is_hidden(&gate, call("poll")).await;
        runs(&gate, call("open")).await;
    }
}

#[tokio::test]
async fn only_calls_of_models_and_apps_cost_a_look_up() {
    let server = server();
    let gate = VisibilityLayer::new().layer(server.clone());
    let host = crate::kit::modern("tools/call", &json!({ "name": "poll" }), &apps_capabilities());
    runs(&gate, host).await;
    for body in [LIST, r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#, r#"{"jsonrpc":"2.0","id":7,"result":{}}"#] {
        send(gate.clone(), post(body)).await;
    }
    let received: Vec<Value> = server.take().iter().map(|received| received.json()["id"].clone()).collect();
    assert_eq!(received, [json!(7), json!(7), json!(7), json!(7)], "nothing of our own");
}
