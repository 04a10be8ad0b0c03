//! Whatever a client sends, it arrives as it came or is refused with a JSON-RPC error; and nothing panics.

use bytes::Bytes;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::exchange::Fixed;
use tower_mcp_apps::protocol::Audience;

use super::run::{Given, exchange};
use super::{kit, requests, texts};

/// A call or another request, with members that stand twice or are misspelt now and then.
fn request() -> impl Strategy<Value = Vec<u8>> {
    let methods = vec!["tools/call", "tools/list", "resources/read", "notifications/x", "ping"];
    let call = (select(methods), select(vec!["open", "poll"]), select(vec!["", r#","name":"x""#, r#","Name":"x""#]))
        .prop_map(|(method, name, more)| {
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"name":"{name}"{more}}}}}"#)
        });
    let text = prop_oneof![call, requests().prop_map(|requests| requests.body), texts::message("1"), texts::any_json()];
    (text, texts::damage()).prop_map(|(text, damage)| texts::damaged(&text, &damage))
}

fn content_type() -> impl Strategy<Value = Option<&'static str>> {
    let odd = select(vec![None, Some("text/plain"), Some("application/json; charset=x"), Some("APPLICATION/JSON")]);
    prop_oneof![5 => Just(Some("application/json")), 1 => odd]
}

proptest! {
    #[test]
    fn forwarded_or_refused(
        body in request(),
        content_type in content_type(),
        audience in select(vec![None, Some(Audience::Host), Some(Audience::Model), Some(Audience::App)]),
    ) {
        let layer = AppsLayer::new();
        let layer = audience.map_or(layer.clone(), |audience| layer.audience(Fixed(audience)));
        let mut request = kit::post(Bytes::from(body.clone()));
        request.headers_mut().remove("content-type");
        if let Some(content_type) = content_type {
            request = kit::with(request, "content-type", content_type);
        }
        let given = Given::json(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        let (got, arrived) = exchange(&layer, request, &given);
        if audience == Some(Audience::Host) {
            prop_assert_eq!(arrived.len(), 1);
        }
        match arrived.last() {
            Some(last) if last.bytes() == body => {}
            // Refused, perhaps after a look-up.
            last => {
                prop_assert!(last.is_none_or(|last| last.method() == "tools/list"));
                let error: Value = serde_json::from_slice(&got.bytes()).expect("a refusal is JSON");
                prop_assert!(error["error"]["code"].is_i64(), "{}", error);
                prop_assert!(error["error"]["message"].is_string());
                prop_assert_ne!(error.get("id"), Some(&Value::Null));
            }
        }
        // A call of a model or an app never arrives where the catalogue could not be had, as here.
        if audience != Some(Audience::Host) {
            for received in &arrived {
                let message: Option<Value> = serde_json::from_slice(&received.bytes()).ok();
                prop_assert!(message.is_none_or(|message| message["method"] != "tools/call"));
            }
        }
    }
}
