//! Whole transcripts: a host, a text client, a fixed audience, and stacks of layers.

use http::StatusCode;
use serde_json::{Value, json};
use tower::ServiceBuilder;
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::exchange::Fixed;
use tower_mcp_apps::negotiate::NegotiateLayer;
use tower_mcp_apps::normalize::NormalizeLayer;
use tower_mcp_apps::policy::{OnViolation, Policy, PolicyLayer};
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::visibility::VisibilityLayer;

use crate::client::*;

#[tokio::test]
async fn a_host_sees_the_app_wherever_it_looks() {
    for (era, form) in ERAS.into_iter().flat_map(|era| FORMS.map(|form| (era, form))) {
        let client = Client::connect(AppsLayer::new().app(app()), account(era, form), era, Kind::Apps).await;
        let says = json!({"tools": {}, "resources": {}, "extensions": extensions()});
        assert_eq!(result(&client.opening, era)["capabilities"], says, "{era:?} {form:?}");

        let tools = client.ask("tools/list", json!({})).await;
        assert!(tools.text().contains(r#"[ {"name":"usage","x": 1.0,"_meta":{"k":1,"ui":{"resourceUri":"ui://accounts/usage"}}}, {"name":"pay"} ]"#), "{}", tools.text());
        result(&tools, era);

        let listed = client.ask("resources/list", json!({})).await;
        let entry = json!({
            "uri": URI, "name": "usage", "title": "Usage by day", "mimeType": "text/html;profile=mcp-app", "_meta": meta(),
        });
        assert_eq!(result(&listed, era), json!({"resources": [entry]}));
        let templates = client.ask("resources/templates/list", json!({})).await;
        assert_eq!(result(&templates, era), json!({"resourceTemplates": []}));
        if let Form::Json = form {
            let length = listed.bytes().len().to_string();
            assert_eq!(listed.header("content-length"), Some(length.as_str()));
        }

        client.server.take();
        let read = client.ask("resources/read", json!({"uri": URI})).await;
        let item = json!({"uri": URI, "mimeType": "text/html;profile=mcp-app", "text": HTML, "_meta": meta()});
        assert_eq!(result(&read, era), json!({"contents": [item]}));
        assert_eq!(read.json()["id"], 7);
        assert!(client.server.take().is_empty(), "a read of an app reaches nobody");

        for (method, params) in [
            ("resources/read", json!({"uri": "ui://accounts/other"})),
            ("resources/read", json!({"uri": "ui://accounts/usage/0123456789abcdef"})),
            ("prompts/list", json!({})),
            ("tools/call", json!({"name": "usage"})),
        ] {
            let answer = client.ask(method, params.clone()).await;
            let bare = client.bare(method, params).await;
            assert_eq!((answer.status, answer.bytes()), (bare.status, bare.bytes()), "{method}");
        }
    }
}

/// What a client asks once it is connected.
fn requests() -> [(&'static str, Value); 5] {
    [
        ("tools/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({"uri": URI})),
        ("tools/call", json!({"name": "usage"})),
    ]
}

#[tokio::test]
async fn a_text_client_sees_the_plain_server() {
    for (era, form) in ERAS.into_iter().flat_map(|era| FORMS.map(|form| (era, form))) {
        let client = Client::connect(serve(), account(era, form), era, Kind::Text).await;
        assert_eq!(client.opening.json()["result"]["capabilities"], json!({"tools": {}}));
        for (method, params) in requests() {
            let answer = client.ask(method, params.clone()).await;
            let bare = client.bare(method, params).await;
            // A cache that serves others, too, would give a host the list without the link.
            let expected = bare.text().replace(r#""public""#, r#""private""#);
            assert_eq!((answer.status, answer.text()), (bare.status, expected), "{method} {era:?} {form:?}");
        }
    }
}

#[tokio::test]
async fn a_fixed_audience_decides_who_is_served() {
    for (audience, is_served) in [(Audience::Host, true), (Audience::App, true), (Audience::Model, false)] {
        let layer = serve().audience(Fixed(audience));
        let client = Client::connect(layer, account(Era::Modern, Form::Json), Era::Modern, Kind::Text).await;
        let read = client.ask("resources/read", json!({"uri": URI})).await;
        assert_eq!(read.status == StatusCode::OK, is_served, "{audience}");
        // All callers get the same where it is served to all.
        let tools = client.ask("tools/list", json!({})).await.json();
        let scope = if is_served { "public" } else { "private" };
        assert_eq!(tools["result"]["cacheScope"], scope, "{audience}");
    }
}

#[tokio::test]
async fn the_layers_stacked_equal_the_fused_one() {
    let restrict = Policy::no_network();
    for (era, form) in ERAS.into_iter().flat_map(|era| FORMS.map(|form| (era, form))) {
        for (kind, policy) in [
            (Kind::Apps, restrict.clone()),
            (Kind::Apps, restrict.clone().on_violation(OnViolation::Refuse)),
            (Kind::Text, restrict.clone()),
        ] {
            let fused = AppsLayer::new().policy(policy.clone()).app(app());
            let stack = ServiceBuilder::new()
                .layer(VisibilityLayer::new())
                .layer(PolicyLayer::new(policy))
                .layer(NormalizeLayer::new())
                .layer(NegotiateLayer::new())
                .layer(serve());
            let fused = Client::connect(fused, account(era, form), era, kind).await;
            let stacked = Client::connect(stack, account(era, form), era, kind).await;
            assert_eq!(fused.opening.json(), stacked.opening.json());
            for (method, params) in requests() {
                let (one, other) = (fused.ask(method, params.clone()).await, stacked.ask(method, params).await);
                assert_eq!(
                    (one.status, one.text()),
                    (other.status, other.text()),
                    "{method} {era:?} {form:?} {kind:?}"
                );
                // What is served is held to the policy as everything else.
                assert!(!one.text().contains(r#"["https://api.example"]"#), "{}", one.text());
            }
        }
    }
}
