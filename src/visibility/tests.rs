//! What lists say of tools that the deployer declared for some.

use super::VisibilityLayer;
use crate::exchange::Fixed;
use crate::protocol::Audience;
use crate::tried::through;

/// The list as this audience gets it where `poll` is for apps and `show` for models.
async fn listed(tools: &str, audience: Audience) -> String {
    let layer = VisibilityLayer::new().audience(Fixed(audience));
    let layer = layer.tool("poll", [Audience::App]).tool("show", [Audience::Model]);
    let (before, after) = (r#"{"jsonrpc":"2.0","id":1,"result":{"tools":"#, "}}");
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let answer = through(&layer, request, &format!("{before}{tools}{after}")).await;
    answer.strip_prefix(before).unwrap().strip_suffix(after).unwrap().to_owned()
}

#[tokio::test]
async fn a_host_is_told_what_the_deployer_declared() {
    let tools = r#"[{"name":"poll"},{"name":"show","_meta":{"k":1.0,"ui":{"resourceUri":"ui://a/b","visibility":["model","app"]}}},{"name":"other"}]"#;
    let told = r#"[{"name":"poll","_meta":{"ui":{"visibility":["app"]}}},{"name":"show","_meta":{"k":1.0,"ui":{"resourceUri":"ui://a/b","visibility":["model"]}}},{"name":"other"}]"#;
    assert_eq!(listed(tools, Audience::Host).await, told);
    assert_eq!(listed(told, Audience::Host).await, told, "twice equals once");
    assert_eq!(
        listed(tools, Audience::App).await,
        r#"[{"name":"poll","_meta":{"ui":{"visibility":["app"]}}},{"name":"other"}]"#
    );
}

#[tokio::test]
async fn it_only_narrows() {
    // Says so itself, is for nobody after both, says two things.
    let tools = r#"[{"name":"poll","_meta":{"ui":{"visibility": [ "app" ]}}},{"name":"show","_meta":{"ui":{"visibility":["app"]}}},{"name":"poll","name":"show"}]"#;
    let told =
        tools.replace(r#""show","_meta":{"ui":{"visibility":["app"]"#, r#""show","_meta":{"ui":{"visibility":[]"#);
    assert_eq!(listed(tools, Audience::Host).await, told);
}

#[tokio::test]
async fn a_tool_that_cannot_say_it_is_left_out() {
    let tools = r#"[{"name":"poll","_meta":7},{"name":"show","_meta":{"ui":"x"}},{"name":"other","_meta":7}]"#;
    let told = r#"[{"name":"show","_meta":{"ui":{"visibility":["model"]}}},{"name":"other","_meta":7}]"#;
    assert_eq!(listed(tools, Audience::Host).await, told);
}
