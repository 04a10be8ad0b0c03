//! Stacked is fused, replicas decide as one, and twice is once.

use http::Request;
use http::request::Parts;
use serde_json::{Value, json};
use tower::{Layer, ServiceBuilder};
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::concern::Settings;
use tower_mcp_apps::negotiate::NegotiateLayer;
use tower_mcp_apps::normalize::{FlatKey, NormalizeLayer, OpenAiKeys};
use tower_mcp_apps::policy::{Policy, PolicyLayer};
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::restore::{Memory, Restore, RestoreLayer};
use tower_mcp_apps::serve::{App, ServeLayer};
use tower_mcp_apps::testing::Body;
use tower_mcp_apps::ui::Html;
use tower_mcp_apps::visibility::VisibilityLayer;

use crate::kit::{apps_capabilities, modern, send, with};
use crate::world::{Lossy, aggregator, ask, maps};

fn app() -> App {
    let html = Html::try_from("<!doctype html><html><title>a</title></html>").expect("a page");
    // Of this page the upstream said something, too; but this is not what it said.
    App::new("ui://maps+server/view2".parse().expect("a URI"), html).link("maps__plain")
}

/// Every request that a layer here looks at, as every audience.
fn requests() -> Vec<Box<dyn Fn() -> Request<Body>>> {
    let methods = [
        ("tools/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({ "uri": "ui://maps+server/view" })),
        ("resources/read", json!({ "uri": "ui://maps+server/view2" })),
        ("tools/call", json!({ "name": "maps__poll" })),
        ("tools/call", json!({ "name": "maps__show" })),
    ];
    let mut requests: Vec<Box<dyn Fn() -> Request<Body>>> = Vec::new();
    for (method, params) in methods {
        for audience in ["host", "model", "app"] {
            let params: Value = params.clone();
            let legacy = params.clone();
            requests.push(Box::new(move || with(ask(method, &legacy), "x-audience", audience)));
            requests
                .push(Box::new(move || with(modern(method, &params, &apps_capabilities()), "x-audience", audience)));
        }
    }
    requests
}

fn settings() -> Settings {
    // Which every layer sees, unlike a header that the outermost takes off.
    Settings::new().audience(|parts: &Parts| match parts.headers["x-audience"].as_bytes() {
        b"host" => Audience::Host,
        b"model" => Audience::Model,
        _ => Audience::App,
    })
}

#[tokio::test]
async fn stacked_is_fused() {
    for flat_key in [FlatKey::Add, FlatKey::Both, FlatKey::Strip, FlatKey::Keep] {
        for openai_keys in [OpenAiKeys::Ignore, OpenAiKeys::Read] {
            for keeps in [&["inputSchema"][..], &["inputSchema", "title", "_meta"]] {
                let memory = Memory::new();
                let restore = Restore::new(memory.clone()).upstream("maps", maps());
                let fused = AppsLayer::new()
                    .restore(restore)
                    .app(app())
                    .flat_key(flat_key)
                    .openai_keys(openai_keys)
                    .policy(Policy::no_network())
                    .settings(settings())
                    .layer(aggregator(&memory).keeping(keeps));
                let memory = Memory::new();
                let stacked = ServiceBuilder::new()
                    .layer(VisibilityLayer::new().settings(settings()))
                    .layer(PolicyLayer::new(Policy::no_network()).settings(settings()))
                    .layer(NormalizeLayer::new().flat_key(flat_key).openai_keys(openai_keys).settings(settings()))
                    .layer(NegotiateLayer::new().settings(settings()))
                    .layer(ServeLayer::new().app(app()).settings(settings()))
                    .layer(RestoreLayer::new(memory.clone()).upstream("maps", maps()).settings(settings()))
                    .service(aggregator(&memory).keeping(keeps));
                for request in requests() {
                    let case = format!("{flat_key:?} {openai_keys:?} {keeps:?} {:?}", request().headers());
                    let (one, other) = (send(fused.clone(), request()).await, send(stacked.clone(), request()).await);
                    assert_eq!((one.status, one.text()), (other.status, other.text()), "{case}");
                }
            }
        }
    }
}

#[tokio::test]
async fn twice_is_once() {
    let memory = Memory::new();
    let layer = RestoreLayer::new(memory.clone()).upstream("maps", maps());
    let once = layer.layer(aggregator(&memory));
    let twice = layer.layer(once.clone());
    for (method, params) in [("tools/list", json!({})), ("resources/read", json!({ "uri": "ui://maps+server/view" }))] {
        let want = send(once.clone(), ask(method, &params)).await.bytes();
        assert_eq!(send(twice.clone(), ask(method, &params)).await.bytes(), want);
    }
}

#[tokio::test]
async fn three_replicas_that_ask_their_upstreams_answer_as_one_without_a_store_for_all() {
    let replica = || {
        let memory = Memory::new();
        let restore = Restore::new(memory.clone()).upstream("maps", maps());
        let aggregator: Lossy = aggregator(&memory);
        AppsLayer::new().restore(restore).settings(settings()).layer(aggregator)
    };
    let (one, replicas) = (replica(), [replica(), replica(), replica()]);
    let requests = requests();
    for at in 0..1000 {
        // Not in step with the replicas.
        let request = &requests[at * 7 % requests.len()];
        let want = send(one.clone(), request()).await;
        let got = send(replicas[at % 3].clone(), request()).await;
        assert_eq!((got.status, got.bytes()), (want.status, want.bytes()), "request {at}");
    }
}
