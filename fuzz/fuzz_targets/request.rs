//! What a request says, against the laxest reader: a message that two readers may understand differently has a fault.
#![no_main]

mod hostile;
#[path = "../../tests/kit/mod.rs"]
mod kit;

use hostile::lax::{self, Lax};
use hostile::grammar;
use hostile::requests::{Id, Understood};
use hostile::seen;
use libfuzzer_sys::fuzz_target;
use tower_mcp_apps::json::Depth;
use tower_mcp_apps::message::{Payload, Unreadable};

fuzz_target!(|body: &[u8]| {
    let is_json = grammar::parse(body, Depth::default().get()).is_some();
    let payload = match Payload::read(body, Depth::default()) {
        Ok(payload) => payload,
        Err(Unreadable::Json(_)) => return assert!(!is_json),
        Err(_) => return,
    };
    assert!(is_json);
    let read = lax::read(body);
    let messages = match &read {
        Lax::List(messages) => &messages[..],
        message => std::slice::from_ref(message),
    };
    let calls = payload.calls();
    assert_eq!(calls.len(), messages.len());
    for (call, message) in calls.iter().zip(messages).filter(|(call, _)| call.fault.is_none()) {
        let judged = Understood {
            method: call.method.as_deref().map(str::to_owned),
            name: call.name.as_deref().map(str::to_owned),
            uri: call.uri.as_deref().map(str::to_owned),
            id: call.id.and_then(|id| Id::of(&lax::read(id))),
        };
        for is_last in [false, true] {
            assert_eq!(judged, Understood::of(message, is_last));
        }
        let methods = seen::methods(message);
        assert_eq!(methods, judged.method.as_deref().into_iter().collect::<Vec<_>>());
        let called = judged.name.as_deref().filter(|_| methods == ["tools/call"]);
        assert_eq!(seen::runs(message), called.into_iter().collect::<Vec<_>>());
    }
});
