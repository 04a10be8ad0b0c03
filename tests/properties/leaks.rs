//! Whatever a server answers, no client reads a tool in it that is not for its audience.

use http::Request;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::exchange::Fixed;
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::sse::{Sniff, sniff};
use tower_mcp_apps::testing::Body;

use super::model::events;
use super::run::exchange;
use super::stacks::given;
use super::{kit, texts};

/// Whether a client that reads this finds a tool that is not for the audience. It reads as most do: the last of doubles counts.
fn leaks(message: &Value, wanted: &str) -> bool {
    if let Value::Array(messages) = message {
        return messages.iter().any(|message| leaks(message, wanted));
    }
    if message["id"] == 2 {
        return false;
    }
    let tools = message["result"]["tools"].as_array().into_iter().flatten();
    tools.map(|tool| &tool["_meta"]["ui"]).any(|ui| match ui.get("visibility") {
        None => false,
        Some(Value::Array(names)) => !names.iter().any(|name| name == wanted),
        Some(_) => true,
    })
}

fn list() -> Request<Body> {
    kit::post(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)
}

/// The answer to 2 is none to a list; other ids are nobody's, so that the shape decides.
fn batch() -> Request<Body> {
    kit::post(r#"[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"tools/list"}]"#)
}

fn stream() -> Request<Body> {
    let mut request = kit::post("");
    *request.method_mut() = http::Method::GET;
    request
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn nothing_leaks(
        given in given(),
        cuts in texts::cuts(),
        for_app in any::<bool>(),
        request in select(vec![list as fn() -> _, batch, stream]),
    ) {
        let (audience, wanted) = if for_app { (Audience::App, "app") } else { (Audience::Model, "model") };
        let layer = AppsLayer::new().audience(Fixed(audience));
        let (got, _) = exchange(&layer, request(), &given.cut(&cuts));
        let body = got.bytes();
        // Clients read as events what says that it is a stream, or at least begins like one.
        let is_stream = got.header("content-type") == Some("text/event-stream") || sniff(&body) == Sniff::EventStream;
        let events = if is_stream { events(&body) } else { Vec::new() };
        let messages = events.into_iter().chain([body.to_vec()]);
        for message in messages.filter_map(|message| serde_json::from_slice(&message).ok()) {
            prop_assert!(!leaks(&message, wanted), "{message}");
        }
    }
}
