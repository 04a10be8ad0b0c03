//! What the client sends in each era, and what it makes of answers.

use http::{HeaderName, Request, Response, StatusCode};
use serde_json::{Value, json};
use tower::{Layer, service_fn};
use tower_mcp_apps::exchange::{ByExtension, ByHeader};
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::testing::{Body, FakeServer, Received, Reply, TestClient, Unanswered};
use tower_mcp_apps::{AppsLayer, McpContext};

/// A server that has one tool, and answers everything.
fn server() -> FakeServer {
    FakeServer::new().tool(r#"{"name":"t"}"#)
}

async fn only(server: &FakeServer, client: &mut TestClient<FakeServer>, method: &str, params: Value) -> Received {
    client.request(method, params).await.expect("an answer");
    let mut requests = server.take_requests();
    assert_eq!(requests.len(), 1, "{requests:?}");
    requests.remove(0)
}

#[tokio::test]
async fn modern_requests_say_everything() {
    let server = server();
    let mut client = TestClient::new(server.clone()).with_apps();
    let params = json!({ "name": "größe", "_meta": { "progressToken": 1 } });
    let request = only(&server, &mut client, "tools/call", params).await;
    let meta = &request.json()["params"]["_meta"];
    let apps = &meta["io.modelcontextprotocol/clientCapabilities"]["extensions"]["io.modelcontextprotocol/ui"];
    assert_eq!(apps["mimeTypes"], json!(["text/html;profile=mcp-app"]));
    assert_eq!(
        (&meta["progressToken"], &meta["io.modelcontextprotocol/protocolVersion"]),
        (&json!(1), &json!("2026-07-28"))
    );
    for (name, value) in [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "=?base64?Z3LDtsOfZQ==?="),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("host", "localhost"),
    ] {
        assert_eq!(request.header(name), Some(value));
    }
    let read = only(&server, &mut client, "resources/read", json!({ "uri": "ui://t" })).await;
    assert_eq!((read.header("mcp-name"), read.id()), (Some("ui://t"), Some("2")));
    let list = only(&server, &mut client, "tools/list", json!({})).await;
    assert_eq!(list.header("mcp-name"), None);
}

#[tokio::test]
async fn params_are_sent_as_they_are_written() {
    let server = server();
    TestClient::new(server.clone()).call("t", r#"{"a": 1.00, "a": -0.0}"#).await.expect("an answer");
    let sent = String::from_utf8(server.requests()[0].bytes().to_vec()).expect("text");
    assert!(sent.contains(r#""params":{"name":"t","arguments":{"a": 1.00, "a": -0.0},"_meta":{"#), "{sent}");
}

#[tokio::test]
async fn a_legacy_client_shakes_hands_once() {
    let old = r#"{"protocolVersion":"2025-06-18","capabilities":{}}"#;
    let server = server().on("initialize", move |request| Reply::result(request, old).header("mcp-session-id", "s"));
    let mut client = TestClient::new(server.clone()).legacy().with_apps();
    client.call("t", "{}").await.expect("an answer");
    client.call("t", "{}").await.expect("an answer");
    client.close().await.expect("an answer");
    let requests = server.take_requests();
    let methods: Vec<_> = requests.iter().map(|request| request.rpc_method().unwrap_or("DELETE")).collect();
    assert_eq!(methods, ["initialize", "notifications/initialized", "tools/call", "tools/call", "DELETE"]);
    let declared = &requests[0].json()["params"];
    assert_eq!(declared["protocolVersion"], "2025-11-25");
    assert!(declared["capabilities"]["extensions"]["io.modelcontextprotocol/ui"].is_object());
    assert_eq!(requests[0].header("mcp-protocol-version"), None);
    for request in &requests[1..] {
        assert_eq!(
            (request.header("mcp-session-id"), request.header("mcp-protocol-version")),
            (Some("s"), Some("2025-06-18"))
        );
        assert!(!request.json()["params"]["_meta"].is_object());
    }
    // It is over: the next request begins again.
    client.call("t", "{}").await.expect("an answer");
    assert_eq!(server.methods()[0], "initialize");
}

#[tokio::test]
async fn each_era_is_found() {
    for (server, methods) in [
        (FakeServer::new(), &["server/discover"][..]),
        (FakeServer::modern(), &["server/discover"]),
        (FakeServer::legacy(), &["server/discover", "initialize", "notifications/initialized"]),
    ] {
        TestClient::new(server.clone()).connect().await.expect("it speaks one");
        assert_eq!(server.methods(), methods);
    }
    let refused = TestClient::new(FakeServer::modern()).legacy().call("t", "{}").await.expect_err("it does not");
    assert_eq!(
        refused.to_string(),
        "initialize: the answer is error -32602, \"No io.modelcontextprotocol/protocolVersion in _meta\""
    );
}

#[tokio::test]
async fn lists_are_followed_to_their_end() {
    let server = ["a", "b", "c", "d", "e"].into_iter().fold(FakeServer::new().page_size(2), |server, name| {
        server
            .tool(json!({ "name": name }))
            .resource(json!({ "uri": name }))
            .template(json!({ "uriTemplate": name }))
            .prompt(json!({ "name": name }))
    });
    let mut client = TestClient::new(server.clone());
    assert_eq!(client.tool_names().await.expect("a list"), ["a", "b", "c", "d", "e"]);
    assert_eq!(server.take_requests().len(), 3);
    let lengths = [
        client.tools().await.expect("a list").len(),
        client.resources().await.expect("a list").len(),
        client.templates().await.expect("a list").len(),
        client.prompts().await.expect("a list").len(),
    ];
    assert_eq!(lengths, [5; 4]);
}

#[tokio::test]
async fn who_asks_is_told_as_the_stack_wants_it() {
    let audience = HeaderName::from_static("x-audience");
    let tools = FakeServer::new()
        .tool(r#"{"name":"m","_meta":{"ui":{"visibility":["model"]}}}"#)
        .tool(r#"{"name":"a","_meta":{"ui":{"visibility":["app"]}}}"#);
    let by_extension = AppsLayer::new().audience(ByExtension::new()).layer(tools.clone());
    let by_header = AppsLayer::new().audience(ByHeader::new(audience.clone())).layer(tools.clone());
    let by_path =
        |parts: &http::request::Parts| if parts.uri.path() == "/app" { Audience::App } else { Audience::Model };
    let by_path = AppsLayer::new().audience(by_path).layer(tools);
    let names = [
        TestClient::new(by_extension.clone()).as_app().tool_names().await,
        TestClient::new(by_extension.clone()).audience(Audience::Host).tool_names().await,
        TestClient::new(by_extension).legacy().with_apps().tool_names().await,
        TestClient::new(by_header.clone()).as_app().audience_header(audience).tool_names().await,
        TestClient::new(by_header.clone()).header("x-audience", "model").tool_names().await,
        TestClient::new(by_header).tool_names().await,
        TestClient::new(by_path.clone()).path("/app").tool_names().await,
        TestClient::new(by_path).tool_names().await,
    ];
    let names = names.map(|names| names.expect("a list").concat());
    assert_eq!(names, ["a", "ma", "ma", "a", "m", "m", "a", "m"]);
}

#[tokio::test]
async fn the_answer_is_found_among_others() {
    let messages = [
        r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#,
        r#"{"jsonrpc":"2.0","id":9,"result":{"other":true}}"#,
        r#"{"jsonrpc":"2.0", "id":1,"result":{"tools":[{"name":"x"}]}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
    ];
    let server = FakeServer::answering(move |_| Reply::events(messages));
    let answer = TestClient::new(server).request("tools/list", "{}").await.expect("an answer");
    assert_eq!((answer.message(), answer.tool_names()), (&messages[2].into(), vec!["x"]));
    assert_eq!((answer.messages().len(), answer.events().len(), answer.frames().len()), (4, 4, 4));
    assert!(answer.answers_the_request() && answer.is_stream());
}

#[tokio::test]
async fn a_label_that_lies_hides_nothing() {
    let list = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"x"}]}}"#;
    for reply in [
        Reply::json(list).content_type("text/event-stream"),
        Reply::json(list).as_events().content_type("application/json"),
    ] {
        let mut client = TestClient::new(FakeServer::answering(move |_| reply.clone()));
        assert_eq!(client.request("tools/list", "{}").await.expect("an answer").tool_names(), ["x"]);
        let again = client.raw(r#"{"id":1}"#);
        assert_eq!(client.send(again).await.expect("an answer").messages(), [list]);
    }
}

#[tokio::test]
async fn what_is_no_answer_is_there_to_look_at() {
    let broken = FakeServer::answering(|_| Reply::json("[1").status(StatusCode::BAD_GATEWAY).cut_after(2));
    let mut client = TestClient::new(broken);
    let answer = client.request("tools/list", "{}").await.expect("an answer");
    assert_eq!((answer.status(), answer.text().as_str(), answer.json()), (StatusCode::BAD_GATEWAY, "[1", &Value::Null));
    assert_eq!((answer.result(), answer.error_code(), answer.answers_the_request()), (&Value::Null, None, false));
    assert_eq!(answer.error(), Some("the body broke off, as the test has it"));
    // Lists want a result.
    let unanswered = client.tools().await.expect_err("there is none");
    assert_eq!(
        (unanswered.method(), unanswered.to_string().as_str()),
        ("tools/list", "tools/list: the answer broke off")
    );
}

#[tokio::test]
async fn a_service_that_fails_is_an_error() {
    let down = service_fn(|_: Request<Body>| async { Err::<Response<Body>, _>("down") });
    let unanswered: Unanswered = TestClient::new(down).call("t", "{}").await.expect_err("it is down");
    assert_eq!(unanswered.to_string(), "tools/call: the service failed");
    let cause = std::error::Error::source(&unanswered).expect("a cause");
    assert_eq!(cause.to_string(), "down");
}

#[tokio::test]
async fn streams_are_read_while_they_come() {
    let (sender, body) = Body::channel();
    let stream = Reply::body(body).content_type("text/event-stream");
    let server = FakeServer::new().on("GET", move |_| stream.clone());
    let mut client = TestClient::new(AppsLayer::new().layer(server.clone()));
    let get = client.get();
    let mut answer = client.open(get).await.expect("the head is there");
    assert_eq!(answer.status(), StatusCode::OK);
    sender.send_data(": hello\n\nid: 7\ndata: {\"n\"");
    assert_eq!(answer.next_event().await.expect("an event").len(), 9);
    sender.send_data(":1}\n\n");
    assert_eq!(answer.next_message().await.expect("a message")["n"], 1);
    assert!(!sender.is_closed());
    drop((answer, client, server));
    assert!(sender.is_closed(), "who drops it hangs up");
}

#[tokio::test]
async fn what_was_read_of_a_stream_is_part_of_the_answer() {
    let server = FakeServer::new().streaming().tamper("ping", |reply| reply.after("{}"));
    let mut client = TestClient::new(server);
    let ping = client.prepare("ping", "{}");
    let mut answer = client.open(ping).await.expect("the head is there");
    answer.next_event().await.expect("an event");
    let answer = answer.finish().await;
    assert_eq!((answer.events().len(), &answer.result()["resultType"]), (2, &json!("complete")));
}

#[tokio::test]
async fn what_layers_tell_is_in_the_head() {
    let mut client = TestClient::new(AppsLayer::new().layer(server()));
    let answer = client.call("t", "{}").await.expect("an answer");
    let context = answer.parts().extensions.get::<McpContext>().expect("it is there");
    assert_eq!(context.method(), Some("tools/call"));
}

#[tokio::test]
async fn a_raw_body_is_sent_as_it_is() {
    let server = server();
    let mut client = TestClient::new(server.clone());
    let request = client.raw(Body::frames(["[", "{]"]));
    let answer = client.send(request).await.expect("an answer");
    assert_eq!((answer.status(), answer.error_code()), (StatusCode::BAD_REQUEST, Some(-32700)));
    let mut requests = server.take_requests();
    assert_eq!(requests.remove(0).frames(), ["[", "{]"]);
    let request = client.raw(Body::frames(["{"]).then_fail());
    client.send(request).await.expect("an answer");
    assert_eq!(server.take_requests()[0].error(), Some("the body broke off, as the test has it"));
}

#[test]
#[should_panic(expected = r#""a b" is no path"#)]
fn a_path_that_is_none() {
    drop(TestClient::new(server()).path("a b"));
}

#[tokio::test]
async fn it_is_ready_before_it_is_called() {
    let service = tower::ServiceBuilder::new().concurrency_limit(1).service(server());
    TestClient::new(service).call("t", "{}").await.expect("its permit was awaited");
}
