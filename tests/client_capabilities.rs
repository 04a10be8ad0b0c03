//! What a server hears of its client's capabilities: other bytes where they are declared, and nowhere else.

mod kit;

use bytes::Bytes;
use http::{Request, StatusCode};
use kit::server::Server;
use kit::{LIST, apps_capabilities, initialize, modern, only, post, send, with};
use proptest::prelude::*;
use serde_json::{Value, json};
use tower::Layer;
use tower_mcp_apps::concern::{Chain, ConcernService, Settings};
use tower_mcp_apps::negotiate::{ClientCapabilities, Negotiate, NegotiateLayer};
use tower_mcp_apps::testing::Body;
use tower_mcp_apps::{AppsLayer, McpContext};

const UI: &str = "io.modelcontextprotocol/ui";

fn tools() -> Value {
    json!([{ "name": "open" }, { "name": "poll", "_meta": { "ui": { "visibility": ["app"] } } }])
}

fn withhold_ui() -> ClientCapabilities {
    ClientCapabilities::forwarded().withhold(UI)
}

/// What arrives of a body behind a layer that chooses so.
async fn arrives(client: &ClientCapabilities, body: &str) -> String {
    let server = Server::with_tools(tools());
    let layer = NegotiateLayer::new().client_capabilities(client.clone());
    let request = with(post(body.to_owned()), "content-length", &body.len().to_string());
    let sent = kit::server::record(post(body.to_owned())).await;
    send(layer.layer(server.clone()), request).await;
    let received = server.only();
    let length = received.bytes().len().to_string();
    assert_eq!(received.header("content-length"), Some(&*length));
    for (name, value) in &sent.parts.headers {
        assert!(received.parts.headers.get_all(name).iter().any(|its| its == value), "{name}");
    }
    let is_same = received.bytes() == body;
    assert!(!is_same || received.frames == sent.frames, "what stays is not touched");
    String::from_utf8(received.bytes().to_vec()).expect("the body is UTF-8")
}

/// Messages that declare `HERE` in every place where a message can.
fn declaring(capabilities: &str) -> [String; 3] {
    let messages = [
        r#"{"id": 1.0, "params": {"_meta": {"x" : -0.0, "io.modelcontextprotocol\/clientCapabilities" : HERE}}, "method":"x/y" }"#,
        r#"{"jsonrpc":"2.0","params":{ "capabilities" : HERE ,"_meta":{"io.modelcontextprotocol/clientCapabilities":HERE}},"id":0,"method":"\u0069nitialize"}"#,
        r#"[{"id":1,"method":"x/y","params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":HERE}}},{"id":2,"method":"x/z","params":{"capabilities":{"extensions":{}}}}]"#,
    ];
    messages.map(|message| message.replace("HERE", capabilities))
}

#[tokio::test]
async fn capabilities_are_edited_where_they_are_declared_and_nothing_else_is() {
    let ui = format!(r#"{{"{UI}":{{"a":1.0}}}}"#);
    let replaced = ClientCapabilities::replaced(r#" {"roots": {}} "#).expect("this is an object");
    let in_place = ClientCapabilities::forwarded().replace(UI, r#"{"a":[2.0]}"#).expect("this is an object");
    let both = replaced.clone().replace("a/b", "{}").expect("this is an object").withhold("c/d");
    for (client, declared, heard) in [
        (ClientCapabilities::forwarded(), r#"{ "x" : 1.0 }"#, r#"{ "x" : 1.0 }"#),
        (ClientCapabilities::withheld(), r#"{ "x" : 1.0 }"#, "{}"),
        (ClientCapabilities::withheld(), "{}", "{}"),
        (replaced.clone(), r#"{ "x" : 1.0 }"#, r#"{"roots": {}}"#),
        (both, r#"{ "x" : 1.0 }"#, r#"{"roots": {},"extensions":{"a/b":{}}}"#),
        (
            withhold_ui(),
            r#"{"roots":{},"extensions": {"x/y": {"n": 1.0}, "io.modelcontextprotocol\/ui": {}}}"#,
            r#"{"roots":{},"extensions": {"x/y": {"n": 1.0}}}"#,
        ),
        (withhold_ui(), &format!(r#"{{"extensions":{ui}}}"#), r#"{"extensions":{}}"#),
        (withhold_ui(), r#"{"extensions":null}"#, "{}"),
        (withhold_ui(), r#"{"extensions":{"x/y":null}}"#, r#"{"extensions":{"x/y":null}}"#),
        (
            in_place.clone(),
            &format!(r#"{{ "extensions" : {ui} }}"#),
            r#"{ "extensions" : {"io.modelcontextprotocol/ui":{"a":[2.0]}} }"#,
        ),
        (in_place.clone(), "{}", r#"{"extensions":{"io.modelcontextprotocol/ui":{"a":[2.0]}}}"#),
        (in_place.clone(), r#"{"extensions":[7]}"#, r#"{"extensions":{"io.modelcontextprotocol/ui":{"a":[2.0]}}}"#),
        (in_place.withhold(UI), &format!(r#"{{"extensions":{ui}}}"#), r#"{"extensions":{}}"#),
    ] {
        for (sent, expected) in declaring(declared).iter().zip(declaring(heard)) {
            assert_eq!(arrives(&client, sent).await, expected, "{client:?}");
        }
    }
    assert!(ClientCapabilities::replaced("[]").is_err() && ClientCapabilities::replaced("{} 7").is_err());
    assert!(ClientCapabilities::forwarded().replace(UI, "true").is_err());
}

#[tokio::test]
async fn two_in_one_chain_do_what_two_layers_do() {
    let ui = json!({ "extensions": { UI: { "a": 1.0 }, "x/y": {} }, "roots": {} }).to_string();
    let choices = || {
        [
            ClientCapabilities::forwarded(),
            ClientCapabilities::withheld(),
            withhold_ui(),
            ClientCapabilities::replaced(&ui).expect("an object"),
            ClientCapabilities::replaced(r#"{"extensions":null}"#).expect("an object"),
            ClientCapabilities::forwarded().replace(UI, r#"{"b":2}"#).expect("an object").withhold("x/y"),
        ]
    };
    for (inner, outer) in choices().iter().flat_map(|inner| choices().map(|outer| (inner.clone(), outer))) {
        let negotiate = |client: &ClientCapabilities| Negotiate::new().client_capabilities(client.clone());
        let layer = |client: &ClientCapabilities| NegotiateLayer::new().client_capabilities(client.clone());
        for declared in ["{}", &ui, r#"{ "extensions" : { } }"#, r#"{"extensions":[]}"#] {
            for body in declaring(declared) {
                let (fused, stacked) = (Server::with_tools(tools()), Server::with_tools(tools()));
                let chain = Chain::new(negotiate(&inner), negotiate(&outer));
                let chained = ConcernService::new(fused.clone(), chain, Settings::new());
                send(chained, post(body.clone())).await;
                send(layer(&outer).layer(layer(&inner).layer(stacked.clone())), post(body)).await;
                // Of what one adds and the other takes away again, layers leave an empty map.
                let heard = |server: &Server| {
                    let text = String::from_utf8(server.only().bytes().to_vec()).expect("the body is UTF-8");
                    text.replace(r#""extensions":{}"#, "").replace(r#""extensions" : { }"#, "").replace(",}", "}")
                };
                assert_eq!(heard(&fused), heard(&stacked), "{inner:?} in {outer:?}");
            }
        }
    }
}

#[tokio::test]
async fn where_nothing_is_declared_nothing_is_added() {
    for client in [ClientCapabilities::withheld(), ClientCapabilities::replaced(r#"{"x":1}"#).expect("an object")] {
        for body in [
            LIST,
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":null}}"#,
            r#"{"jsonrpc":"2.0","id":0,"method":"x/y","params":{"capabilities":{"extensions":{}}}}"#,
            r#"{"jsonrpc":"2.0","id":0,"method":"x/y","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
            r#"{"jsonrpc":"2.0","id":0,"method":"x/y","params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":[]}}}"#,
            r#"{"jsonrpc":"2.0","id":0,"method":"x/y","params":{"arguments":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"y":1}}}}}"#,
            r#"{"jsonrpc":"2.0","id":0,"result":{"capabilities":{}}}"#,
        ] {
            assert_eq!(arrives(&client, body).await, body);
        }
    }
}

/// The layers go by what the client said, and so do those who read the context.
#[tokio::test]
async fn the_client_is_who_it_said_it_is() {
    let layer = || AppsLayer::new().negotiate(Negotiate::new().client_capabilities(withhold_ui()).require(UI));
    let server = Server::with_tools(tools());
    let answer = send(layer().layer(server.clone()), modern("tools/list", &json!({}), &apps_capabilities())).await;
    assert_eq!(answer.tools(), ["open", "poll"]);
    let received = server.only();
    assert!(received.parts.extensions.get::<McpContext>().is_some_and(McpContext::supports_apps));
    let key = "io.modelcontextprotocol/clientCapabilities";
    assert_eq!(received.json()["params"]["_meta"][key], json!({ "extensions": {} }));

    let answer = send(layer().layer(server.clone()), post(initialize(&apps_capabilities()))).await;
    assert_eq!(server.only().json()["params"]["capabilities"], json!({ "extensions": {} }));
    let session = answer.header("mcp-session-id").expect("a session is given").to_owned();
    let answer = send(layer().layer(server.clone()), with(post(LIST), "mcp-session-id", &session)).await;
    assert_eq!(answer.tools(), ["open", "poll"]);

    server.take();

    // And who did not say so is a model, whatever the server hears.
    let told = ClientCapabilities::replaced(apps_capabilities().to_string()).expect("an object");
    let layer = AppsLayer::new().negotiate(Negotiate::new().client_capabilities(told));
    let answer = send(layer.layer(server.clone()), modern("tools/list", &json!({}), &json!({}))).await;
    assert_eq!(answer.tools(), ["open"]);
    assert_eq!(server.only().json()["params"]["_meta"][key], apps_capabilities());
}

#[tokio::test]
async fn a_look_up_in_the_callers_name_says_what_its_call_says() {
    let told = ClientCapabilities::forwarded().withhold("a/b");
    let layer = AppsLayer::new().negotiate(Negotiate::new().client_capabilities(told));
    let server = Server::with_tools(tools());
    let capabilities = json!({ "extensions": { "a/b": {}, "c/d": { "n": 1 } } });
    let call = || modern("tools/call", &json!({ "name": "open" }), &capabilities);
    let answer = send(layer.layer(server.clone()), call()).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
    let received = server.take();
    assert_eq!(received.iter().map(|request| request.method()).collect::<Vec<_>>(), ["tools/list", "tools/call"]);
    for request in received {
        let heard = &request.json()["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        assert_eq!(*heard, json!({ "extensions": { "c/d": { "n": 1 } } }), "{}", request.method());
        assert_eq!(request.header("content-length").map(str::to_owned), length_where_said(&request));
    }
}

/// The body's length, if the head says one at all.
fn length_where_said(request: &kit::server::Received) -> Option<String> {
    request.header("content-length").map(|_| request.bytes().len().to_string())
}

#[tokio::test]
async fn a_large_body_is_not_copied() {
    let server = Server::with_tools(tools());
    let layer = NegotiateLayer::new().client_capabilities(withhold_ui());
    let large = "x".repeat(100_000);
    let meta = json!({ "io.modelcontextprotocol/clientCapabilities": apps_capabilities() });
    let params = json!({ "_meta": meta, "arguments": { "large": large } });
    let body = Bytes::from(json!({ "id": 7, "method": "x/y", "params": params }).to_string());
    send(layer.layer(server.clone()), post(body.clone())).await;
    let received = server.only();
    assert!(received.bytes().len() < body.len());
    let range = body.as_ptr_range();
    let is_slice = |frame: &Bytes| frame.len() > 90_000 && range.contains(&frame.as_ptr());
    assert!(received.frames.iter().any(is_slice), "{} frames", received.frames.len());
}

#[tokio::test]
async fn digests_of_an_edited_body_go() {
    let server = Server::with_tools(tools());
    let layer = NegotiateLayer::new().client_capabilities(withhold_ui());
    let request = |capabilities: &Value| {
        let request = with(modern("x/y", &json!({}), capabilities), "content-digest", "sha-256=:x:");
        let (parts, _) = request.into_parts();
        let trailers = [("content-digest", "sha-256=:x:"), ("x-other", "1")];
        let trailers = trailers.into_iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        let meta = json!({ "io.modelcontextprotocol/clientCapabilities": capabilities });
        let body = json!({ "id": 7, "method": "x/y", "params": { "_meta": meta } }).to_string();
        Request::from_parts(parts, Body::frames([Bytes::from(body)]).trailers(trailers.collect()))
    };
    send(layer.layer(server.clone()), request(&apps_capabilities())).await;
    let edited = server.only();
    assert_eq!(edited.header("content-digest"), None);
    let trailers = edited.trailers.expect("other trailers stay");
    assert_eq!(trailers.keys().map(|name| name.as_str()).collect::<Vec<_>>(), ["x-other"]);
    send(layer.layer(server.clone()), request(&json!({}))).await;
    assert_eq!(server.only().header("content-digest"), Some("sha-256=:x:"));
}

#[tokio::test]
async fn what_is_withheld_gets_through_in_no_spelling() {
    let server = Server::with_tools(tools());
    let layer = NegotiateLayer::new().client_capabilities(ClientCapabilities::withheld());
    let ui = apps_capabilities().to_string();
    let key = r#""io.modelcontextprotocol/clientCapabilities""#;
    for (body, status, code) in [
        (format!(r#"{{"id":7,"method":"x/y","params":{{"_meta":{{{key}:{{}},{key}:{ui}}}}}}}"#), 400, -32600),
        (format!(r#"{{"id":7,"method":"x/y","params":{{"_meta":{{}},"_Meta":{{{key}:{ui}}}}}}}"#), 400, -32600),
        (format!(r#"{{"id":7,"method":"x/y","method":"initialize","params":{{"capabilities":{ui}}}}}"#), 400, -32600),
        (
            format!(r#"[{{"id":7,"method":"initialize","params":{{"capabilities":{ui},"capabilities":{{}}}}}}]"#),
            400,
            -32600,
        ),
        (format!("\u{feff}{}", initialize(&apps_capabilities())), 400, -32700),
    ] {
        let answer = send(layer.layer(server.clone()), post(body.clone())).await;
        assert_eq!((answer.status.as_u16(), answer.error_code()), (status, json!(code)), "{body}");
    }
    let encoded = with(post(initialize(&apps_capabilities())), "content-encoding", "gzip");
    assert_eq!(send(layer.layer(server.clone()), encoded).await.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let labelled = only(post(initialize(&apps_capabilities())), "content-type", "text/plain");
    assert_eq!(send(layer.layer(server.clone()), labelled).await.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert!(server.take().is_empty());
}

/// A request that was renamed on its way in is edited as it goes on.
#[tokio::test]
async fn it_goes_with_a_namespace() {
    let server = Server::with_tools(tools());
    let prefix = tower_mcp_apps::namespace::Namespace::new("a").expect("this is a name");
    let layer = AppsLayer::new().namespace(prefix).negotiate(Negotiate::new().client_capabilities(withhold_ui()));
    let call = with(modern("tools/call", &json!({ "name": "a__open" }), &apps_capabilities()), "content-length", "1");
    let answer = send(layer.layer(server.clone()), call).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
    let received = server.only();
    assert_eq!(received.json()["params"]["name"], "open");
    assert_eq!(received.header("mcp-name"), Some("open"));
    let key = "io.modelcontextprotocol/clientCapabilities";
    assert_eq!(received.json()["params"]["_meta"][key], json!({ "extensions": {} }));
    assert_eq!(received.header("content-length"), Some(&*received.bytes().len().to_string()));
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![(0..3).prop_map(Value::from), Just(json!("ä\"")), Just(Value::Null)];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::hash_map(key(), inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Names that decide in their place, and others.
fn key() -> impl Strategy<Value = String> {
    let names = [UI, "a/b", "extensions", "capabilities", "_meta", "io.modelcontextprotocol/clientCapabilities", "x"];
    prop::sample::select(names.to_vec()).prop_map(str::to_owned)
}

fn object() -> impl Strategy<Value = Value> {
    prop::collection::hash_map(key(), value(), 0..4).prop_map(|map| Value::Object(map.into_iter().collect()))
}

/// The same by the book: what stands at this place becomes what the server is to hear of it.
fn model(message: &mut Value, place: &str, edit: &dyn Fn(&mut Value)) {
    if let Some(capabilities) = message.pointer_mut(place).filter(|capabilities| capabilities.is_object()) {
        edit(capabilities);
    }
}

proptest! {
    #[test]
    fn what_arrives_is_what_a_tree_would_make_of_it(params in object(), choice in 0..4, is_initialize in any::<bool>()) {
        let method = if is_initialize { "initialize" } else { "x/y" };
        let mut message = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        let clear_odd = |capabilities: &mut Value| {
            if capabilities.get("extensions").is_some_and(|extensions| !extensions.is_object()) {
                capabilities.as_object_mut().unwrap().remove("extensions");
            }
        };
        let withhold = move |capabilities: &mut Value| {
            clear_odd(capabilities);
            if let Some(Value::Object(extensions)) = capabilities.get_mut("extensions") {
                extensions.remove(UI);
            }
        };
        let replace = move |capabilities: &mut Value| {
            clear_odd(capabilities);
            capabilities["extensions"][UI] = json!({ "n": 1 });
        };
        let whole = |capabilities: &mut Value| *capabilities = json!({ "roots": {} });
        let (client, edit): (_, &dyn Fn(&mut Value)) = match choice {
            0 => (ClientCapabilities::forwarded(), &|_| ()),
            1 => (withhold_ui(), &withhold),
            2 => (ClientCapabilities::forwarded().replace(UI, r#"{"n":1}"#).unwrap(), &replace),
            _ => (ClientCapabilities::replaced(r#"{"roots":{}}"#).unwrap(), &whole),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let arrived = runtime.block_on(arrives(&client, &message.to_string()));
        model(&mut message, "/params/_meta/io.modelcontextprotocol~1clientCapabilities", edit);
        if is_initialize {
            model(&mut message, "/params/capabilities", edit);
        }
        prop_assert_eq!(serde_json::from_str::<Value>(&arrived).unwrap(), message);
    }
}
