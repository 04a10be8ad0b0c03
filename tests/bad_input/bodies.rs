//! Bodies that are no message, or that are not read: as text, by their headers, by their length.

use bytes::Bytes;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use tower_mcp_apps::exchange::Limits;
use tower_mcp_apps::testing::{Body, BrokenOff};

use crate::kit::server::Server;
use crate::kit::{LIST, only, post, with};
use crate::{enforced, forwarded_or_refused, unenforced};

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
    // Over HTTP/2 nothing but its end tells that a request has no body.
    for method in ["GET", "DELETE", "OPTIONS", "HEAD"] {
        for (labelled, status) in [(true, 400), (false, 415)] {
            let request = || {
                let mut request = post("").map(|_| Body::frames([Bytes::from(call)]));
                *request.method_mut() = method.parse().expect("a method");
                if !labelled {
                    request.headers_mut().remove("content-type");
                }
                request
            };
            let id = if labelled { json!(7) } else { Value::Null };
            forwarded_or_refused(request, status, &[-32600], &id).await;
        }
    }
    // Clients send the header even where there is no body.
    let server = Server::with_tools(json!([]));
    for (method, body) in [("GET", ""), ("DELETE", ""), ("OPTIONS", "")] {
        for known_to_be_empty in [true, false] {
            let request = || {
                let mut request = post(body);
                *request.method_mut() = method.parse().expect("a method");
                if known_to_be_empty {
                    return request;
                }
                request.headers_mut().remove("content-type");
                request.map(|_| Body::frames([Bytes::new()]))
            };
            for answer in enforced(&server, Limits::new(), request).await {
                assert_eq!(answer.status, StatusCode::OK);
            }
        }
    }
}

#[tokio::test]
async fn another_charset() {
    for charset in ["iso-8859-1", "utf-16", "\"UTF-16LE\"", "utf-8; charset=utf-16", "utf8; charset=utf16"] {
        let content_type = format!("application/json; charset={charset}");
        let request = || only(post(LIST), "content-type", &content_type);
        forwarded_or_refused(request, 400, &[-32700, -32600], &Value::Null).await;
    }
}

#[tokio::test]
async fn utf_8_by_any_name_is_read() {
    let server = Server::with_tools(json!([{ "name": "open" }]));
    for content_type in [
        "application/json;charset=UTF-8",
        "Application/JSON; Charset=\"utf-8\"; x=y",
        "application/json; charset=utf8",
        "application/json; charset=\"UTF8\"",
        "application/json; charset=utf-8; charset=Utf8",
    ] {
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

#[tokio::test]
async fn a_request_over_the_limit() {
    let limits = Limits::new().request_bytes(LIST.len());
    let server = Server::with_tools(json!([{ "name": "open" }]));
    let bodies: [&dyn Fn() -> Request<Body>; 3] = [
        &|| post(format!("{LIST} ")),
        &|| post(LIST).map(|_| Body::frames([Bytes::from(LIST), Bytes::from_static(b" ")])),
        &|| post(LIST).map(|_| Body::frames([Bytes::from("x".repeat(4096))])),
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

#[tokio::test]
async fn a_request_that_fails_while_it_is_read() {
    let server = Server::saying(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    let frames = [Bytes::from_static(b"{\"json"), Bytes::from_static(b"rpc\":")];
    let request = || post("").map(|_| Body::frames(frames.clone()).then_fail());
    for answer in unenforced(&server, Limits::new(), request).await {
        assert_eq!(answer.status, StatusCode::OK);
    }
    let received = server.take();
    assert_eq!(received.len(), 3);
    for received in received {
        assert_eq!((&received.frames[..], received.error), (&frames[..], Some(BrokenOff)));
    }
    for answer in enforced(&server, Limits::new(), request).await {
        assert_eq!((answer.status, answer.error_code()), (StatusCode::BAD_REQUEST, json!(-32700)));
    }
    assert!(server.take().is_empty());
}
