//! Answers that cannot be read, that are too long, or that are not what they say.

use bytes::Bytes;
use http::{Response, StatusCode};
use serde_json::json;
use tower::Layer;
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::exchange::{Fixed, Limits};
use tower_mcp_apps::json::Depth;
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::testing::Body;

use crate::kit::server::{Received, Server, event_answer, json_answer, labelled, record};
use crate::kit::{LIST, post, read, send};
use crate::{enforced, unenforced};

/// A list with one tool that nobody may see, and one for all whose link is spelt the old way.
const ANSWER: &str = r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"none","_meta":{"ui":{"visibility":[]}}},{"name":"open","_meta":{"ui/resourceUri":"ui://s/a"}}]}}"#;

/// Where nothing is enforced, the server's answer to a list passes untouched; a filter puts an error in its place.
async fn untouched_or_error(
    answer: impl Fn(&Received) -> Response<Body> + Clone + Send + Sync + 'static,
    limits: Limits,
    status: u16,
) {
    let received = record(post(LIST)).await;
    let sent = read(answer(&received)).await;
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
    let pieces = || Body::frames(ANSWER.as_bytes().chunks(16).map(Bytes::from_static));
    untouched_or_error(move |_| labelled("application/json", pieces()), limits, 502).await;
    // One event.
    let events = || Body::frames([Bytes::from(format!(": hi\n\ndata: {ANSWER}\n\n"))]);
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
    // Whatever it says it is: what is not encoded is read, too.
    for content_type in ["text/plain", "application/octet-stream", "application/json, text/plain"] {
        let encoded = move |received: &Received| {
            let mut response = encoded(received);
            response.headers_mut().insert("content-type", http::HeaderValue::from_static(content_type));
            response
        };
        untouched_or_error(encoded, Limits::new(), 502).await;
    }
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
        let answer = move |_: &Received| labelled(content_type, Body::new(body.clone()));
        untouched_or_error(answer, limits, 502).await;
    }
    // A failure keeps its own status.
    let failure = |_: &Received| {
        let mut response = labelled("application/json", Body::new("oops"));
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        response
    };
    untouched_or_error(failure, Limits::new(), 503).await;
    // So does what breaks off.
    let broken = |_: &Received| labelled("application/json", Body::frames([Bytes::from(&ANSWER[..40])]).then_fail());
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
            let mut response = labelled(content_type, Body::frames([Bytes::from(answer.clone())]));
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
            let mut response = Response::new(Body::new(ANSWER));
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
async fn a_list_of_another_shape() {
    let hidden = r#"{"name":"none","_meta":{"ui":{"visibility":[]}}}"#;
    for result in [format!("[{hidden}]"), format!(r#"{{"tools":{{"none":{hidden}}}}}"#)] {
        let answer = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{result}}}"#);
        untouched_or_error(move |_| json_answer(answer.clone()), Limits::new(), 200).await;
    }
    // What holds nothing, such as the empty list of some servers, hides nothing.
    for result in [r#"{"tools":null}"#, r#"{"tools":"none"}"#, "null", r#"{"resultType":"input_required"}"#] {
        let answer = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{result}}}"#);
        let server = Server::saying(answer.clone());
        for got in enforced(&server, Limits::new(), || post(LIST)).await {
            assert_eq!(got.text(), answer);
        }
    }
}

#[tokio::test]
async fn what_is_no_answer_to_a_method_passes() {
    let page = "<!doctype html><title>502</title>";
    for (status, encoding) in [(502, None), (401, None), (401, Some("gzip"))] {
        let server = Server::new(move |_| {
            let mut response = labelled("text/html", Body::new(page));
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
async fn an_answer_to_a_batch_that_cannot_be_read() {
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"},{"jsonrpc":"2.0","method":"notifications/x"},
        {"jsonrpc":"2.0","id":"\u0061","method":"ping"},{"jsonrpc":"2.0","id":5,"result":{}}]"#;
    for got in enforced(&Server::saying("[oops"), Limits::new(), || post(batch)).await {
        let errors = got.json();
        assert_eq!(errors.as_array().map(Vec::len), Some(2), "one for each request: {errors}");
        assert_eq!((&errors[0]["id"], &errors[1]["id"]), (&json!(1), &json!("a")));
        assert!((0..2).all(|at| errors[at]["error"]["code"] == -32603), "{errors}");
        assert!(got.text().contains(r#""id":"\u0061""#), "as it was written");
    }
    for got in enforced(&Server::saying("[oops"), Limits::new(), || post(format!("[{LIST}]"))).await {
        assert_eq!(got.json()[0]["id"], 7);
    }
    // Nobody waits for an answer to these, so there is none to give an error.
    let notices = r#"[{"jsonrpc":"2.0","method":"notifications/x"}]"#;
    for got in enforced(&Server::saying("[oops"), Limits::new(), || post(notices)).await {
        assert_eq!(got.text(), "[oops");
    }
}
