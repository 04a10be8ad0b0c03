//! An audit layer around other layers: it sees what they knew and decided.

use http::{HeaderName, StatusCode};
use tower::Layer;
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::audit::{AuditLayer, Reason};
use tower_mcp_apps::exchange::{ByHeader, Decision, Fixed, KnownBy};
use tower_mcp_apps::protocol::{Audience, ToolVisibility};
use tower_mcp_apps::testing::Reply;
use tower_mcp_apps::visibility::VisibilityLayer;

use crate::kit::{Server, call, keep, post, send};

#[tokio::test]
async fn the_reason_of_a_layer_inside() {
    let (sink, kept) = keep();
    let inside = VisibilityLayer::new().audience(Fixed(Audience::App));
    let service = AuditLayer::new(sink).layer(Server::json("{}").within(inside));
    let message = r#"{"jsonrpc":"2.0","id":1,"method":"prompts/list"}"#;
    let response = send(service, post(message)).await;
    assert!(response.parts().extensions.get::<Decision>().is_some_and(Decision::is_refused));
    let record = kept.try_recv().expect("one record");
    assert_eq!((record.method(), record.reason()), (Some("prompts/list"), Some(Reason::MethodNotForApps)));
    assert_eq!((record.audience(), record.known_by()), (Some(Audience::App), Some(KnownBy::Setting)));
}

#[tokio::test]
async fn the_audience_that_a_layer_inside_knew_better() {
    let edge = HeaderName::from_static("x-audience");
    for (outer, expected) in
        [(None, (Audience::App, KnownBy::Header)), (Some(Fixed(Audience::Model)), (Audience::Model, KnownBy::Setting))]
    {
        let (sink, kept) = keep();
        let inside = VisibilityLayer::new().audience(ByHeader::new(edge.clone()));
        let mut layer = AuditLayer::new(sink);
        if let Some(outer) = outer {
            layer = layer.audience(outer);
        }
        let mut request = call("x");
        request.headers_mut().insert(&edge, "app".parse().expect("a value"));
        send(layer.layer(Server::json("{}").within(inside)), request).await;
        let record = kept.try_recv().expect("one record");
        assert_eq!((record.audience(), record.known_by()), (Some(expected.0), Some(expected.1)));
    }
}

#[tokio::test]
async fn a_layer_that_forwards_does_not_hide_that_one_inside_refused() {
    let (sink, kept) = keep();
    let server = Server::new(|| {
        let refused = Decision::refused(Some(Reason::LookUpFailed));
        Reply::json("{}").status(StatusCode::BAD_REQUEST).extension(refused)
    });
    let outside = AppsLayer::new().audience(Fixed(Audience::App)).audit(sink);
    send(server.within(outside), call("x")).await;
    let record = kept.try_recv().expect("one record");
    assert_eq!((record.is_refused(), record.reason()), (true, Some(Reason::LookUpFailed)));
}

#[tokio::test]
async fn the_visibility_that_a_layer_inside_found_out() {
    let (sink, kept) = keep();
    let server = Server::new(|| Reply::json("{}").extension(Decision::forwarded().with_tool("x", ToolVisibility::App)));
    send(server.within(AuditLayer::new(sink)), call("x")).await;
    let record = kept.try_recv().expect("one record");
    assert_eq!((record.is_refused(), record.visibility()), (false, Some(ToolVisibility::App)));
}
