//! Messages that readers may understand differently, or that have no name or id to judge by; and those that pass.

use http::{Response, StatusCode};
use serde_json::{Value, json};
use tower::Layer;
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::exchange::{ByHeader, Limits};
use tower_mcp_apps::json::Depth;
use tower_mcp_apps::message::{Fault, Payload};
use tower_mcp_apps::testing::Body;

use crate::kit::server::Server;
use crate::kit::{apps_capabilities, post, send};
use crate::{enforced, forwarded_or_refused};

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
async fn an_object_that_is_no_message() {
    for (body, id) in [
        ("{}", Value::Null),
        (r#"{"jsonrpc":"2.0"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":7}"#, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"params":{"name":"poll"}}"#, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"params":{"method":"tools/call","result":{}}}"#, json!(7)),
        ("[{}]", Value::Null),
    ] {
        forwarded_or_refused(|| post(body), 400, &[-32600], &id).await;
    }
}

#[test]
fn what_else_is_wrong_with_it_is_said_first() {
    for (body, fault) in [
        (r#"{"id":7}"#, Fault::NotAMessage),
        (r#"{"id":7,"Method":"ping"}"#, Fault::CaseVariant("method")),
        (r#"{"id":7,"id":7}"#, Fault::Duplicate("id")),
        (r#"{"id":[7]}"#, Fault::Unreadable("id")),
        (r#"{"params":{"name":"\ud800"}}"#, Fault::Unreadable("params.name")),
        // It has a method, which is none.
        (r#"{"id":7,"method":7}"#, Fault::Unreadable("method")),
    ] {
        let payload = Payload::read(body.as_bytes(), Depth::default()).expect("it is JSON");
        assert_eq!(payload.calls()[0].fault, Some(fault), "{body}");
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
        let mut accepted = Response::new(Body::new(""));
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
