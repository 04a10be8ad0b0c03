//! Whatever a server answers, no client reads a tool in it that is not for its audience.

use proptest::prelude::*;
use serde_json::Value;
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::exchange::Fixed;
use tower_mcp_apps::protocol::Audience;

use super::model::events;
use super::run::exchange;
use super::stacks::given;
use super::{kit, texts};

/// Whether a client that reads this finds a tool that is not for the audience. It reads as most do: the last of doubles counts.
fn leaks(message: &Value, wanted: &str) -> bool {
    if let Value::Array(messages) = message {
        return messages.iter().any(|message| leaks(message, wanted));
    }
    let tools = message["result"]["tools"].as_array().into_iter().flatten();
    tools.map(|tool| &tool["_meta"]["ui"]).any(|ui| match ui.get("visibility") {
        None => false,
        Some(Value::Array(names)) => !names.iter().any(|name| name == wanted),
        Some(_) => true,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn nothing_leaks(given in given(), cuts in texts::cuts(), for_app in any::<bool>()) {
        let (audience, wanted) = if for_app { (Audience::App, "app") } else { (Audience::Model, "model") };
        let layer = AppsLayer::new().audience(Fixed(audience));
        let request = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        let (got, _) = exchange(&layer, kit::post(request), &given.cut(&cuts));
        let body = got.bytes();
        let messages = events(&body).into_iter().chain([body.to_vec()]);
        for message in messages.filter_map(|message| serde_json::from_slice(&message).ok()) {
            prop_assert!(!leaks(&message, wanted), "{message}");
        }
    }
}
