//! Records: what is recorded, when, and that recording harms nobody.

mod billing;
mod ends;
mod kit;
mod refusals;
mod sinks;
mod stacks;
mod wire;

use http::StatusCode;
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::audit::{AuditLayer, End};
use tower_mcp_apps::exchange::KnownBy;
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::testing::Reply;

use crate::kit::{Server, call, keep, open, post, send};

const RESULT: &str = r#"{"jsonrpc":"2.0","id":"a","result":{"content":[]}}"#;

#[tokio::test]
async fn a_call_that_is_forwarded() {
    let (sink, kept) = keep();
    let service = Server::json(RESULT).within(AuditLayer::new(sink));
    let message = r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"pay","arguments":{"card":"4242"},
        "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let answer = send(service, post(message)).await.text();
    assert_eq!(answer, RESULT);

    let record = kept.try_recv().expect("one record");
    assert_eq!((record.method(), record.tool(), record.uri()), (Some("tools/call"), Some("pay"), None));
    assert_eq!(record.id(), Some(&br#""a""#[..]));
    assert_eq!((record.audience(), record.known_by()), (Some(Audience::Model), Some(KnownBy::Declaration)));
    assert_eq!((record.is_refused(), record.reason(), record.visibility()), (false, None, None));
    assert_eq!((record.session(), record.protocol_version()), (None, Some("2026-07-28")));
    assert_eq!(record.status().map(|status| status.as_u16()), Some(200));
    assert_eq!((record.bytes(), record.end()), (RESULT.len() as u64, End::Complete));
    assert!(record.time().elapsed().expect("the clock goes forwards") >= record.duration());
    assert!(kept.try_recv().is_err(), "one call, one record");
    // Arguments never.
    assert!(!format!("{record:?} {}", String::from_utf8_lossy(&record.to_json())).contains("4242"));
}

#[tokio::test]
async fn a_resource_that_is_read_and_what_is_no_call() {
    let (sink, kept) = keep();
    let service = Server::json(RESULT).within(AppsLayer::new().audit(sink));
    for method in ["ping", "tools/list", "initialize", "notifications/initialized", "prompts/get"] {
        let message = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"name":"x"}}}}"#);
        send(service.clone(), post(&message)).await;
        assert!(kept.try_recv().is_err(), "{method}");
    }
    let message = r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"ui://s/a"}}"#;
    send(service, post(message)).await;
    let record = kept.try_recv().expect("one record");
    assert_eq!((record.method(), record.tool(), record.uri()), (Some("resources/read"), None, Some("ui://s/a")));
}

#[tokio::test]
async fn a_batch_gives_one_record_per_call() {
    let (sink, kept) = keep();
    let answer = r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":3,"result":{}}]"#;
    let service = Server::json(answer).within(AuditLayer::new(sink));
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"one"}},
        {"jsonrpc":"2.0","method":"notifications/x"},
        {"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"file:///two"}}]"#;
    send(service, post(batch)).await;
    let records: Vec<_> = kept.try_iter().collect();
    assert_eq!(
        records.iter().map(|record| record.tool().or(record.uri())).collect::<Vec<_>>(),
        [Some("one"), Some("file:///two")]
    );
    for record in records {
        assert_eq!((record.messages(), record.bytes()), (3, answer.len() as u64));
    }
}

#[tokio::test]
async fn the_hash_of_a_session_is_the_same_on_every_replica_and_in_every_stack() {
    let hash = "6636c92bc73cb2bdd44c42271f3f3c71";
    let mut hashes = Vec::new();
    for id in ["S-1", "apps1-a.S-1", "apps1-a.apps1-n.S-1"] {
        let (sink, kept) = keep();
        let service = Server::json(RESULT).within(AppsLayer::new().audit(sink));
        let mut request = call("x");
        request.headers_mut().insert("mcp-session-id", id.parse().expect("an id is a header value"));
        send(service, request).await;
        let record = kept.try_recv().expect("one record");
        assert!(!String::from_utf8_lossy(&record.to_json()).contains("S-1"));
        hashes.extend(record.session().map(String::from));
    }
    assert_eq!(hashes, [hash; 3]);
}

#[tokio::test]
async fn what_a_caller_wrote_is_cut() {
    let (sink, kept) = keep();
    let service = Server::json(RESULT).within(AuditLayer::new(sink));
    let name = format!("x{}", "é".repeat(5_000));
    send(service, call(&name)).await;
    let record = kept.try_recv().expect("one record");
    // 1,024 bytes would end within a letter.
    assert_eq!(record.tool(), name.get(..1023));
}

#[tokio::test]
async fn requests_that_are_not_mcp_leave_no_record() {
    let (sink, kept) = keep();
    let layer = AppsLayer::new().audit(sink).predicate(|parts: &http::request::Parts| parts.uri.path() == "/other");
    send(Server::json(RESULT).within(layer), call("x")).await;
    assert!(kept.try_recv().is_err());
}

#[tokio::test]
async fn an_answer_without_a_body_is_complete() {
    let (sink, kept) = keep();
    let service = Server::new(|| Reply::empty(StatusCode::OK)).within(AuditLayer::new(sink));
    // As hyper does with a body that says it is over: it is never asked for a frame.
    drop(open(service, call("x")).await);
    assert_eq!(kept.try_recv().expect("one record").end(), End::Complete);
}
