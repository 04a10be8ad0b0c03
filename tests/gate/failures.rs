//! What cannot be judged does not run: failures of the look-up are refusals, and are never kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, Response};
use serde_json::{Value, json};
use tower::{Layer, ServiceExt};
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::concern::Settings;
use tower_mcp_apps::exchange::{Decision, Limits};
use tower_mcp_apps::json::Depth;
use tower_mcp_apps::message::Reason;
use tower_mcp_apps::testing::Body;
use tower_mcp_apps::visibility::VisibilityLayer;

use crate::kit::server::{Received, Server, event_answer, json_answer, labelled};
use crate::kit::{Answer, send};
use crate::world::{call, empty, events, gate, is_hidden, legacy_call, listing, look_ups, result, runs, seen, tools};

/// What a call gets whose look-up is answered so. It never arrives, and each call asks again.
async fn refused(list: impl Fn(&Received) -> Response<Body> + Send + Sync + 'static) -> Answer {
    let server = listing(list);
    let mut last = None;
    for request in [call, legacy_call] {
        let gate = gate(&server);
        for name in ["open", "poll", "no-such"] {
            let answer = send(gate.clone(), request(name)).await;
            let error = answer.json();
            assert_eq!((&error["error"]["code"], &error["id"]), (&json!(-32603), &json!(7)), "{error}");
            assert_eq!(answer.header("content-type"), Some("application/json"));
            let seen = seen(&server);
            assert!(seen.look_ups > 0 && seen.ran.is_empty(), "{name}: {seen:?}");
            last = Some(answer);
        }
    }
    last.expect("it was asked")
}

fn saying(text: &'static str) -> impl Fn(&Received) -> Response<Body> + Send + Sync + 'static {
    move |received| json_answer(text.replace("ID", &received.json()["id"].to_string()))
}

#[tokio::test]
async fn a_status_of_the_server_reaches_the_caller_with_what_it_needs() {
    for status in [400, 401, 403, 404, 429, 500, 503] {
        let answer = refused(move |_| {
            let mut response = empty(status);
            response.headers_mut().append(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer a"));
            response.headers_mut().append(WWW_AUTHENTICATE, HeaderValue::from_static("DPoP b"));
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("5"));
            response.headers_mut().insert("set-cookie", HeaderValue::from_static("a=b"));
            response
        })
        .await;
        assert_eq!(answer.status.as_u16(), status);
        assert_eq!(answer.headers.get_all(WWW_AUTHENTICATE).iter().collect::<Vec<_>>(), ["Bearer a", "DPoP b"]);
        assert_eq!(answer.header("retry-after"), Some("5"));
        assert_eq!(answer.header("set-cookie"), None, "it is about the look-up");
    }
}

#[tokio::test]
async fn a_redirect_or_an_empty_answer_is_no_catalogue() {
    // 202 is what a server of 2024-11-05 says, that answers on another stream.
    for status in [302, 304, 202, 204, 200] {
        assert_eq!(refused(move |_| empty(status)).await.status.as_u16(), 502, "{status}");
    }
}

#[tokio::test]
async fn an_answer_that_is_no_list_is_no_catalogue() {
    for text in [
        "oops",
        "<!doctype html>",
        "null",
        "[]",
        "{}",
        r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","id":ID}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":[]}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"Tools":[]}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":null}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":{"open":{}}}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"input_required","tools":[{"name":"open"}]}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":7,"tools":[{"name":"open"}]}}"#,
        // Another answer.
        r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"open"}]}}"#,
        r#"{"jsonrpc":"2.0","id":null,"result":{"tools":[{"name":"open"}]}}"#,
        r#"{"jsonrpc":"2.0","result":{"tools":[{"name":"open"}]}}"#,
        r#"[{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"open"}]}}]"#,
        // Of which readers differ what it says.
        r#"{"jsonrpc":"2.0","id":ID,"id":ID,"result":{"tools":[{"name":"open"}]}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"open"}]},"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{},"result":{"tools":[{"name":"open"}]}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"open"}],"tools":[]}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"open"}],"nextCursor":"a","nextCursor":"b"}}"#,
        // Broken.
        r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"open"}]}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"open"}]}}x"#,
        "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"tools\":[{\"name\":\"open\"}]}}",
    ] {
        assert_eq!(refused(saying(text)).await.status.as_u16(), 502, "{text}");
        let stream = move |received: &Received| {
            let message = text.replace("ID", &received.json()["id"].to_string());
            events(&[&message])
        };
        assert_eq!(refused(stream).await.status.as_u16(), 502, "{text} as an event");
    }
}

#[tokio::test]
async fn escaped_spellings_of_a_list_are_read() {
    let text = r#" {"\u006asonrpc":"2.0","result":{"resultType":"compl\u0065te","t\u006fols":[{"n\u0061me":"p\u006fll","_meta":{"\u0075i":{"visibility":["\u0061pp"]}}},{"name":"open"}]},"\u0069d":ID} "#;
    let server = listing(saying(text));
    let gate = gate(&server);
    is_hidden(&gate, call("poll")).await;
    runs(&gate, call("open")).await;
}

#[tokio::test]
async fn an_encoded_catalogue_is_none() {
    let answer = refused(|received| {
        let mut response = json_answer(result(received, &json!({ "tools": tools() })));
        response.headers_mut().insert("content-encoding", HeaderValue::from_static("gzip"));
        response
    })
    .await;
    assert_eq!(answer.status.as_u16(), 502);
}

#[tokio::test]
async fn a_catalogue_that_breaks_off_is_none() {
    let page = |received: &Received| result(received, &json!({ "tools": tools() }));
    let failing = move |received: &Received| {
        labelled("application/json", Body::frames([Bytes::from(page(received))]).then_fail())
    };
    assert_eq!(refused(failing).await.status.as_u16(), 502);
    let cut = move |received: &Received| {
        let page = page(received);
        event_answer(Body::frames([Bytes::from(format!("data: {}", &page[..page.len() - 1]))]).then_fail())
    };
    assert_eq!(refused(cut).await.status.as_u16(), 502);
    let unended = move |received: &Received| {
        let page = page(received);
        event_answer(Body::frames([Bytes::from(format!("data: {}\n\n", &page[..page.len() - 1]))]))
    };
    assert_eq!(refused(unended).await.status.as_u16(), 502);
}

#[tokio::test]
async fn a_second_page_that_cannot_be_had_makes_the_first_worthless() {
    let answer = refused(|received| match received.json()["params"]["cursor"].as_str() {
        None => json_answer(result(received, &json!({ "tools": tools(), "nextCursor": "2" }))),
        Some(_) => empty(503),
    })
    .await;
    assert_eq!(answer.status.as_u16(), 503);
}

#[tokio::test]
async fn cursors_that_come_again_are_a_refusal() {
    for cursors in [&["a"][..], &["a", "b", "c"], &[""]] {
        let next = move |received: &Received| {
            let now = received.json()["params"]["cursor"].clone();
            let at = cursors.iter().position(|cursor| now == *cursor).map_or(0, |at| (at + 1) % cursors.len());
            let page = json!({ "tools": tools(), "nextCursor": cursors[at] });
            json_answer(result(received, &page))
        };
        assert_eq!(refused(next).await.status.as_u16(), 502, "{cursors:?}");
    }
}

#[tokio::test]
async fn a_catalogue_without_end_is_a_refusal() {
    let server = listing(|received| {
        let page = received.json()["params"]["cursor"].as_u64().unwrap_or_default();
        json_answer(result(received, &json!({ "tools": [], "nextCursor": page + 1 })))
    });
    let answer = send(gate(&server), call("open")).await;
    assert_eq!((answer.status.as_u16(), answer.error_code()), (502, json!(-32603)));
    assert_eq!(look_ups(&server), 1000);
}

/// A page of about this many bytes, and whether there are more.
fn long(bytes: usize, next: Value) -> Value {
    json!({ "tools": [{ "name": "open", "description": "x".repeat(bytes) }], "nextCursor": next })
}

#[tokio::test]
async fn an_oversized_catalogue_is_a_refusal() {
    const MOST: usize = 4096;
    let limits = Limits::new().response_bytes(MOST);
    let with_pages = |pages: u64, bytes: usize, is_stream: bool| {
        listing(move |received| {
            let page = received.json()["params"]["cursor"].as_u64().unwrap_or_default() + 1;
            let next = if page < pages { json!(page) } else { Value::Null };
            let text = result(received, &long(bytes, next));
            if is_stream { events(&[&text]) } else { json_answer(text) }
        })
    };
    for is_stream in [false, true] {
        for (pages, bytes, is_read) in [(1, 3000, true), (1, 5000, false), (8, 300, true), (8, 800, false)] {
            let server = with_pages(pages, bytes, is_stream);
            let layer = VisibilityLayer::new().settings(Settings::new().limits(limits));
            let answer = send(layer.layer(server.clone()), call("open")).await;
            assert_eq!(answer.status.is_success(), is_read, "{pages} of {bytes}: {}", answer.text());
            assert_eq!(seen(&server).ran.len(), usize::from(is_read));
        }
    }
}

#[tokio::test]
async fn a_catalogue_that_is_too_deep_is_a_refusal() {
    let server = listing(|received| {
        let deep = serde_json::from_str::<Value>(&format!("{}{}", "[".repeat(60), "]".repeat(60))).expect("JSON");
        json_answer(result(received, &json!({ "tools": [{ "name": "open", "x": deep }] })))
    });
    let limits = Limits::new().depth(Depth::try_from(50).expect("within the most"));
    let gate = AppsLayer::new().limits(limits).layer(server.clone());
    assert_eq!(send(gate, call("open")).await.error_code(), -32603);
    assert!(seen(&server).ran.is_empty());
}

#[tokio::test]
async fn a_server_that_recovers_is_asked_again_at_once() {
    let is_up = Arc::new(AtomicBool::new(false));
    let server = listing({
        let is_up = is_up.clone();
        move |received| {
            if !is_up.load(Ordering::SeqCst) {
                return empty(503);
            }
            json_answer(result(received, &json!({ "tools": tools() })))
        }
    });
    let gate = gate(&server);
    assert_eq!(send(gate.clone(), call("open")).await.status.as_u16(), 503);
    is_up.store(true, Ordering::SeqCst);
    runs(&gate, call("open")).await;
    is_hidden(&gate, call("poll")).await;
    // What is known stays known while the server is away.
    is_up.store(false, Ordering::SeqCst);
    runs(&gate, call("open")).await;
}

#[tokio::test]
async fn the_record_says_why() {
    let server = Server::new(|_| empty(500));
    let response = gate(&server).oneshot(call("open")).await.expect("an answer");
    let decision = response.extensions().get::<Decision>().expect("a decision");
    assert_eq!(decision.reason(), Some(Reason::LookUpFailed));
}
