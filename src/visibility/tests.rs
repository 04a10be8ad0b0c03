//! What lists say of tools that the deployer declared for some.

use std::convert::Infallible;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use tower::{ServiceBuilder, ServiceExt, service_fn};

use super::VisibilityLayer;
use crate::concern::Settings;
use crate::exchange::Fixed;
use crate::protocol::Audience;

/// A server that lists the tools that stand in a header of the request.
async fn server<B>(request: Request<B>) -> Result<Response<Full<Bytes>>, Infallible> {
    let tools = request.headers()["tools"].to_str().unwrap();
    let list = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":{tools}}}}}"#);
    let response = Response::builder().header("content-type", "application/json");
    Ok(response.body(Full::from(list)).unwrap())
}

/// The list as this audience gets it where `poll` is for apps and `show` for models.
async fn listed(tools: &str, audience: Audience) -> String {
    let layer = VisibilityLayer::new().settings(Settings::new().audience(Fixed(audience)));
    let layer = layer.tool("poll", [Audience::App]).tool("show", [Audience::Model]);
    let service = ServiceBuilder::new().layer(layer).service(service_fn(server));
    let request = Request::post("/mcp").header("content-type", "application/json").header("tools", tools);
    let request = request.body(Full::<Bytes>::from(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)).unwrap();
    let answer = service.oneshot(request).await.unwrap().into_body().collect().await.unwrap().to_bytes();
    let answer = String::from_utf8(answer.to_vec()).unwrap();
    let list = answer.strip_prefix(r#"{"jsonrpc":"2.0","id":1,"result":{"tools":"#).unwrap();
    list.strip_suffix("}}").unwrap().to_owned()
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
