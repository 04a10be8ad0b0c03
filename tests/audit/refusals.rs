//! Every refusal of anything is recorded, with its real reason.

use http::{HeaderName, Request};
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::audit::{End, Reason};
use tower_mcp_apps::exchange::{ByHeader, Fixed, Limits};
use tower_mcp_apps::protocol::{Audience, ToolVisibility};
use tower_mcp_apps::testing::Body;

use crate::kit::{Server, call, keep, post, send};

/// Sends a request to a stack that refuses it; the record has the reason, and the caller gets what was counted.
async fn refused(server: Server, layer: AppsLayer, request: Request<Body>, reason: Reason) -> Vec<Option<String>> {
    let (sink, kept) = keep();
    let response = send(server.within(layer.audit(sink)), request).await;
    let (status, answer) = (response.status(), response.text());
    assert!(!answer.contains(reason.as_str()) || reason == Reason::Ambiguous, "{answer}");
    let records: Vec<_> = kept.try_iter().collect();
    for record in &records {
        assert!(record.is_refused(), "{reason}");
        assert_eq!(record.reason(), Some(reason));
        assert_eq!(record.status(), Some(status), "{reason}");
        assert_eq!((record.bytes(), record.end()), (answer.len() as u64, End::Complete), "{reason}");
    }
    records.iter().map(|record| record.method().map(String::from)).collect()
}

fn unreached() -> Server {
    Server::new(|| panic!("a refused request reaches nobody"))
}

#[tokio::test]
async fn each_has_its_reason() {
    let app = AppsLayer::new().audience(Fixed(Audience::App));
    let modern = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x",
        "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let half = modern.replace(r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#, "");
    let two_names = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","name":"y"}}"#;
    for (message, reason, method) in [
        (r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get"}"#, Reason::MethodNotForApps, Some("prompts/get")),
        (r#"{"jsonrpc":"2.0","id":1,"method":"x/y"}"#, Reason::MethodNotForApps, Some("x/y")),
        (two_names, Reason::Ambiguous, Some("tools/call")),
        (modern, Reason::HeaderMismatch, Some("tools/call")),
        (half.as_str(), Reason::MissingMetadata, Some("tools/call")),
        ("{", Reason::Unreadable, None),
        ("7", Reason::Unreadable, None),
    ] {
        let methods = refused(unreached(), app.clone(), post(message), reason).await;
        assert_eq!(methods, [method.map(String::from)], "{message}");
    }
}

#[tokio::test]
async fn also_of_what_was_not_read() {
    let app = AppsLayer::new().audience(Fixed(Audience::App));
    let mut form = call("x");
    form.headers_mut().insert("content-type", "text/plain".parse().expect("a value"));
    assert_eq!(refused(unreached(), app.clone(), form, Reason::UnsupportedMediaType).await, [None]);

    let small = app.limits(Limits::new().request_bytes(8));
    assert_eq!(refused(unreached(), small, call("x"), Reason::TooLarge).await, [None]);
}

#[tokio::test]
async fn an_audience_that_makes_no_sense_is_recorded_as_unknown() {
    let (sink, kept) = keep();
    let by_header = ByHeader::new(HeaderName::from_static("x-audience"));
    let mut request = call("x");
    request.headers_mut().insert("x-audience", "nobody".parse().expect("a value"));
    send(unreached().within(AppsLayer::new().audience(by_header).audit(sink)), request).await;
    let record = kept.try_recv().expect("one record");
    assert_eq!((record.reason(), record.tool()), (Some(Reason::OddAudience), Some("x")));
    assert_eq!((record.audience(), record.known_by()), (None, None));
}

#[tokio::test]
async fn a_batch_that_is_refused_gives_one_per_message() {
    let app = AppsLayer::new().audience(Fixed(Audience::App));
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"},{"jsonrpc":"2.0","id":2,"method":"prompts/list"}]"#;
    let methods = refused(unreached(), app, post(batch), Reason::MethodNotForApps).await;
    assert_eq!(methods, [Some("tools/list".into()), Some("prompts/list".into())]);
}

#[tokio::test]
async fn a_hidden_tool_is_recorded_with_its_visibility() {
    for (visibility, expected) in [(r#"["app"]"#, ToolVisibility::App), ("[]", ToolVisibility::Nobody)] {
        let (sink, kept) = keep();
        let layer = AppsLayer::new().audience(Fixed(Audience::Model)).audit(sink);
        let answer = send(unreached().visibility(visibility).within(layer), call("x")).await.text();
        assert!(!answer.contains("hidden"), "{answer}");
        let record = kept.try_recv().expect("one record");
        assert_eq!((record.reason(), record.visibility()), (Some(Reason::Hidden), Some(expected)));
        assert!(kept.try_recv().is_err(), "a look-up leaves no record");
    }
    let (sink, kept) = keep();
    let layer = AppsLayer::new().audience(Fixed(Audience::App)).audit(sink);
    send(Server::json("{}").visibility(r#"["app"]"#).within(layer), call("x")).await;
    let record = kept.try_recv().expect("one record");
    assert_eq!((record.is_refused(), record.visibility()), (false, Some(ToolVisibility::App)));
}

#[tokio::test]
async fn an_answer_that_could_not_be_filtered() {
    let model = AppsLayer::new().audience(Fixed(Audience::Model));
    let list = post(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    let methods = refused(Server::json("{\"result\":"), model, list, Reason::UnreadableAnswer).await;
    assert_eq!(methods, [Some("tools/list".into())]);
}
