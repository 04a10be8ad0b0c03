//! The server as it should be in each era, and as it should not.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use tower_mcp_apps::testing::{Answer, Body, FakeServer, Hold, Reply, TestClient, assert_refused};

const TOOL: &str = r#"{"name":"t", "n":1.00}"#;

fn server() -> FakeServer {
    FakeServer::new()
        .tool(TOOL)
        .prompt(r#"{"name":"p"}"#)
        .ui("ui://t", "<p>")
        .contents("file:///x", r#"{"uri":"file:///x","text":"x"}"#)
}

async fn ask(server: &FakeServer, method: &str, params: Value) -> Answer {
    TestClient::new(server.clone()).request(method, params).await.expect("an answer")
}

async fn ask_legacy(server: &FakeServer, method: &str, params: Value) -> Answer {
    TestClient::new(server.clone()).legacy().request(method, params).await.expect("an answer")
}

#[tokio::test]
async fn results_in_both_eras() {
    let text = |text: &str| json!({ "type": "text", "text": text });
    let page = json!({ "uri": "ui://t", "mimeType": "text/html;profile=mcp-app" });
    let (mut listed, mut read) = (page.clone(), page);
    listed["name"] = json!("ui://t");
    read["text"] = json!("<p>");
    for (method, params, mut result, is_cacheable) in [
        ("ping", json!({}), json!({}), false),
        ("tools/list", json!({}), json!({ "tools": [{ "name": "t", "n": 1.0 }] }), true),
        ("tools/call", json!({ "name": "t" }), json!({ "content": [text("t was called")] }), false),
        ("resources/list", json!({}), json!({ "resources": [listed] }), true),
        ("resources/templates/list", json!({}), json!({ "resourceTemplates": [] }), true),
        ("resources/read", json!({ "uri": "ui://t" }), json!({ "contents": [read] }), true),
        (
            "resources/read",
            json!({ "uri": "file:///x" }),
            json!({ "contents": [{ "uri": "file:///x", "text": "x" }] }),
            true,
        ),
        ("prompts/list", json!({}), json!({ "prompts": [{ "name": "p" }] }), true),
        (
            "prompts/get",
            json!({ "name": "p" }),
            json!({ "messages": [{ "role": "user", "content": text("p") }] }),
            false,
        ),
    ] {
        let legacy = ask_legacy(&server(), method, params.clone()).await;
        assert_eq!(legacy.result(), &result, "{method}");
        assert_eq!(legacy.header("content-type"), Some("application/json"));
        result["resultType"] = json!("complete");
        if is_cacheable {
            result["ttlMs"] = json!(0);
            result["cacheScope"] = json!("private");
        }
        assert_eq!(ask(&server(), method, params).await.result(), &result, "{method}");
    }
}

#[tokio::test]
async fn errors_in_both_eras() {
    for (method, params, code, status) in [
        ("tools/call", json!({ "name": "no" }), -32602, 200),
        ("tools/call", json!({}), -32602, 200),
        ("tools/list", json!({ "cursor": "99" }), -32602, 200),
        ("tools/list", json!({ "cursor": "x" }), -32602, 200),
        ("resources/read", json!({ "uri": "ui://no" }), -32602, 200),
        ("prompts/get", json!({ "name": "no" }), -32602, 200),
        ("no/such", json!({}), -32601, 404),
    ] {
        let modern = ask(&server(), method, params.clone()).await;
        assert_refused(&modern, code);
        assert_eq!(modern.status(), status, "{method}");
        let legacy = ask_legacy(&server(), method, params).await;
        assert_refused(&legacy, code);
        assert_eq!(legacy.status(), 200, "{method}");
    }
}

#[tokio::test]
async fn handshakes() {
    let answer = ask(&server(), "server/discover", json!({})).await;
    let declared = json!({ "tools": {}, "resources": {}, "prompts": {} });
    assert_eq!(
        (&answer.result()["capabilities"], &answer.result()["supportedVersions"]),
        (&declared, &json!(["2026-07-28"]))
    );
    let answer = TestClient::new(server()).version("2025-03-26").initialize().await.expect("an answer");
    assert_eq!(
        (&answer.result()["capabilities"], &answer.result()["protocolVersion"]),
        (&declared, &json!("2025-03-26"))
    );
    assert_refused(&ask(&FakeServer::legacy(), "server/discover", json!({})).await, -32601);
    assert_refused(&TestClient::new(FakeServer::modern()).legacy().initialize().await.expect("an answer"), -32602);
    let answer =
        ask(&FakeServer::new().capabilities(r#"{"x":1}"#).cache(5, "public"), "server/discover", json!({})).await;
    assert_eq!(answer.result()["capabilities"], json!({ "x": 1 }));
    assert_eq!((&answer.result()["ttlMs"], &answer.result()["cacheScope"]), (&json!(5), &json!("public")));
}

#[tokio::test]
async fn what_is_given_keeps_its_bytes() {
    let result = r#"{ "content":[],"n":1.00 , "n":2, "resultType":"complete" }"#;
    let server = server().result("t", result);
    let called = ask(&server, "tools/call", json!({ "name": "t" })).await;
    assert_eq!(called.text(), format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#));
    assert!(ask_legacy(&server, "tools/list", json!({})).await.text().contains(TOOL));
}

#[tokio::test]
async fn the_mirror_must_be_true() {
    for (header, value) in [
        ("mcp-name", Some("other")),
        ("mcp-name", None),
        ("mcp-method", Some("tools/list")),
        ("mcp-protocol-version", None),
    ] {
        let mut client = TestClient::new(server());
        let mut request = client.prepare("tools/call", json!({ "name": "t" }));
        request.headers_mut().remove(header);
        request
            .headers_mut()
            .extend(value.map(|value| (http::HeaderName::from_static(header), http::HeaderValue::from_static(value))));
        let answer = client.send(request).await.expect("an answer");
        assert_refused(&answer, -32020);
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
    }
}

#[tokio::test]
async fn messages_that_are_no_single_request() {
    let mut client = TestClient::new(server());
    for (body, status, answer) in [
        (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, 202, ""),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, 202, ""),
        (r#"[{"method":"n"}]"#, 202, ""),
        (
            r#"[{"id":1,"method":"ping"},{"method":"n"},{"id":"b","method":"ping"}]"#,
            200,
            r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":"b","result":{}}]"#,
        ),
        ("[]", 400, r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"}}"#),
        ("1", 400, r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"}}"#),
        ("{", 400, r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}"#),
    ] {
        let request = client.raw(body);
        let got = client.send(request).await.expect("an answer");
        assert_eq!((got.status().as_u16(), got.text().as_str()), (status, answer), "{body}");
    }
    let get = client.get();
    let answer = client.send(get).await.expect("an answer");
    assert_eq!((answer.status(), answer.header("allow")), (StatusCode::METHOD_NOT_ALLOWED, Some("POST")));
}

#[tokio::test]
async fn sessions_are_needed_where_there_are_some() {
    let server = server().sessions();
    let mut client = TestClient::new(server.clone()).legacy();
    assert_eq!(client.initialize().await.expect("an answer").header("mcp-session-id"), Some("fake-session-1"));
    assert_eq!(client.tool_names().await.expect("a list"), ["t"]);
    let request = client.prepare("tools/list", "{}");
    client.close().await.expect("an answer");
    assert_eq!(client.send(request).await.expect("an answer").status(), StatusCode::NOT_FOUND);
    let request = client.prepare("tools/list", "{}");
    assert_eq!(client.send(request).await.expect("an answer").status(), StatusCode::BAD_REQUEST);
    // The modern era has none.
    assert_eq!(ask(&server, "tools/list", json!({})).await.tool_names(), ["t"]);
}

#[tokio::test]
async fn each_way_to_misbehave() {
    let whole = ask(&server(), "tools/list", json!({})).await;
    let text = whole.text();
    let spoilt = |tamper: fn(Reply) -> Reply| {
        let server = server().tamper("tools/list", tamper);
        async move { ask(&server, "tools/list", json!({})).await }
    };
    let answer =
        spoilt(|reply| reply.status(StatusCode::IM_A_TEAPOT).header("x-a", "1").append_header("x-a", "2")).await;
    assert_eq!(
        (answer.status(), answer.text(), answer.headers().get_all("x-a").iter().count()),
        (StatusCode::IM_A_TEAPOT, text.clone(), 2)
    );
    let answer = spoilt(|reply| reply.content_type("text/event-stream")).await;
    assert_eq!((answer.header("content-type"), answer.text()), (Some("text/event-stream"), text.clone()));
    let answer = spoilt(Reply::as_events).await;
    assert_eq!(
        (answer.header("content-type"), answer.text()),
        (Some("text/event-stream"), format!("event: message\ndata: {text}\n\n"))
    );
    let answer = spoilt(|reply| reply.id(r#""x""#)).await;
    assert_eq!((answer.answers_the_request(), &answer.json()["id"]), (false, &json!("x")));
    let answer = spoilt(|reply| reply.doubled("id").as_events()).await;
    assert!(
        answer.text().contains(r#""id":1,"result":"#) && answer.text().ends_with(",\"id\":1}\n\n"),
        "{}",
        answer.text()
    );
    let answer = spoilt(|reply| reply.edit(|text| text.replace('t', "T"))).await;
    assert_eq!(answer.text(), text.replace('t', "T"));
    let answer = spoilt(|reply| reply.cut_at([1, 1, 3, 9999])).await;
    assert_eq!(
        (answer.frames()[..3].concat(), answer.frames().len(), answer.text()),
        (b"{\"j".to_vec(), 4, text.clone())
    );
    let answer = spoilt(|reply| reply.cut_at([1]).cut_after(3)).await;
    assert_eq!(
        (answer.frames(), answer.error()),
        (&["{".into(), "\"j".into()][..], Some("the body broke off, as the test has it"))
    );
    assert_eq!(answer.header("content-length"), Some(&*text.len().to_string()));
    let answer = spoilt(|reply| reply.slow(Duration::from_millis(1))).await;
    assert_eq!(answer.text(), text);
}

#[tokio::test]
async fn a_coded_body_is_what_clients_decode() {
    let long = server().result("t", json!({ "text": "x".repeat(70_000) }));
    for server in [long.clone(), long.streaming(), server().result("t", "")] {
        let coded = server.clone().tamper_all(Reply::gzipped);
        let decoded = tower_http::decompression::Decompression::new(coded.clone());
        let whole = ask(&server, "tools/call", json!({ "name": "t" })).await;
        assert_eq!(ask(&coded, "tools/call", json!({ "name": "t" })).await.header("content-encoding"), Some("gzip"));
        let answer = TestClient::new(decoded).request("tools/call", json!({ "name": "t" })).await.expect("an answer");
        assert_eq!((answer.error(), answer.bytes()), (None, whole.bytes()));
    }
}

#[tokio::test]
async fn what_never_comes() {
    let short = Duration::from_millis(20);
    let silent = server().on("ping", |_| Reply::never());
    let mut client = TestClient::new(silent.clone());
    tokio::time::timeout(short, client.request("ping", "{}")).await.expect_err("there is not even a head");
    assert_eq!(silent.methods(), ["ping"], "it was asked, though");

    let hanging = server().tamper("ping", |reply| reply.hang_after(4));
    let mut client = TestClient::new(hanging);
    let ping = client.prepare("ping", "{}");
    let answer = client.open(ping).await.expect("the head is there");
    tokio::time::timeout(short, answer.finish()).await.expect_err("the end is not");
}

#[tokio::test]
async fn answers_that_wait() {
    let hold = Hold::new();
    let held = hold.clone();
    let server = server().tamper("ping", move |reply| reply.held(&held));
    let ping = || {
        let mut client = TestClient::new(server.clone());
        tokio::spawn(async move { client.request("ping", "{}").await.expect("an answer").status() })
    };
    let wait = async |waiting: usize| {
        while hold.waiting() != waiting {
            tokio::task::yield_now().await;
        }
    };
    let in_time = |pings: Vec<tokio::task::JoinHandle<_>>| async {
        for ping in pings {
            tokio::time::timeout(Duration::from_secs(30), ping).await.expect("it is let go").expect("no panic");
        }
    };
    let mut pings: Vec<_> = (0..3).map(|_| ping()).collect();
    wait(3).await;
    assert_eq!(server.methods(), ["ping"; 3]);
    hold.release(2);
    wait(1).await;
    pings.retain(|ping| !ping.is_finished());
    assert_eq!(pings.len(), 1, "two were let go");
    // Who gives up does not wait, and takes nothing.
    pings.remove(0).abort();
    wait(0).await;
    hold.release(1);
    in_time(vec![ping()]).await;
    let last = ping();
    wait(1).await;
    hold.open();
    in_time(vec![last, ping()]).await;
}

#[tokio::test]
async fn an_answer_that_comes_late() {
    let delay = Duration::from_millis(20);
    let server = server().tamper("ping", move |reply| reply.delayed(delay));
    let began = std::time::Instant::now();
    ask(&server, "ping", json!({})).await;
    assert!(began.elapsed() >= delay);
}

#[tokio::test]
async fn answers_of_a_tests_own() {
    let server = server()
        .on("tools/call", |request| Reply::result(request, &request.json()["params"]["arguments"]))
        .on("tools/call", |request| Reply::rpc_error(request, -1, "last"))
        .on("GET", |_| Reply::body(Body::frames(["data: 1\n\n"])).content_type("text/event-stream"));
    assert_refused(&ask(&server, "tools/call", json!({ "name": "t", "arguments": 7 })).await, -1);
    let mut client = TestClient::new(server.clone());
    let get = client.get();
    assert_eq!(client.send(get).await.expect("an answer").events().len(), 1);
    assert_eq!((server.methods(), server.calls()), (vec!["tools/call".into(), "GET".into()], vec!["t".to_owned()]));
    assert_eq!(server.take_requests().len(), 2);
    assert!(server.requests().is_empty());
}

#[test]
#[should_panic(expected = r#""x y": "1" is no header"#)]
fn a_header_that_is_none() {
    drop(Reply::json("{}").header("x y", "1"));
}
