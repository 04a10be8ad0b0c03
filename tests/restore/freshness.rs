//! For how long what was said is put back.

use std::time::Duration;

use serde_json::{Value, json};
use tower::Layer;
use tower_mcp_apps::restore::{CaptureLayer, Memory, RestoreLayer};

use crate::kit::server::Server;
use crate::kit::{modern, send};
use crate::world::{Lossy, ask, maps, one_tool, upstream};

const SAID: &str = r#"{"name":"a","title":"t","_meta":{"ui":{"resourceUri":"ui://v","visibility":["app"]}}}"#;

fn said_for(ttl: &'static str) -> Server {
    upstream(move |_| format!(r#"{{"tools":[{SAID}],"resultType":"complete"{ttl}}}"#))
}

/// The tool that is then shown, of an aggregator that says nothing but its name.
async fn shown(memory: &Memory) -> Value {
    let layer = RestoreLayer::new(memory.clone()).upstream("maps", maps());
    let answer = send(layer.layer(one_tool(r#"{"name":"maps__a"}"#)), ask("tools/list", &json!({}))).await;
    answer.json().pointer_mut("/result/tools/0").map(Value::take).unwrap_or_default()
}

async fn hears(capture: &CaptureLayer, server: Server) {
    drop(send(capture.layer(server), modern("tools/list", &json!({}), &json!({}))).await);
}

fn all() -> Value {
    json!({ "name": "maps__a", "title": "t", "_meta": { "ui": { "resourceUri": "ui://maps+v", "visibility": ["app"] } } })
}

fn narrowing() -> Value {
    json!({ "name": "maps__a", "_meta": { "ui": { "visibility": ["app"] } } })
}

#[tokio::test]
async fn it_is_as_fresh_as_the_upstream_says_and_narrows_for_longer() {
    let memory = Memory::new();
    hears(&CaptureLayer::new("maps", memory.clone()), said_for(r#","ttlMs":1500"#)).await;
    assert_eq!(shown(&memory).await, all());
    tokio::time::sleep(Duration::from_millis(1600)).await;
    assert_eq!(shown(&memory).await, narrowing(), "whom a tool is for is not forgotten with its link");
}

#[tokio::test]
async fn zero_means_the_very_request_during_which_it_was_said() {
    for ttl in [r#","ttlMs":0"#, r#","ttlMs":-5"#, r#","ttlMs":"x""#] {
        let memory = Memory::new();
        let capture = CaptureLayer::new("maps", memory.clone());
        let aggregator = Lossy::new().behind(maps(), &capture, said_for(ttl)).with_cache();
        let service = RestoreLayer::new(memory.clone()).upstream("maps", maps()).layer(aggregator);
        let first = send(service.clone(), ask("tools/list", &json!({}))).await.json();
        assert_eq!(first["result"]["tools"][0], all(), "{ttl}");
        tokio::time::sleep(Duration::from_millis(5)).await;
        // It answers from its cache now.
        let second = send(service, ask("tools/list", &json!({}))).await.json();
        assert_eq!(second["result"]["tools"][0], narrowing(), "{ttl}");
    }
}

#[tokio::test]
async fn a_deployer_says_for_how_long_an_aggregator_keeps_lists() {
    let memory = Memory::new();
    let capture = CaptureLayer::new("maps", memory.clone()).at_least(Duration::from_secs(60));
    hears(&capture, said_for(r#","ttlMs":0"#)).await;
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(shown(&memory).await, all());
}

#[tokio::test]
async fn what_says_nothing_of_time_is_fresh_for_what_the_deployer_says() {
    let memory = Memory::new();
    hears(&CaptureLayer::new("maps", memory.clone()), said_for("")).await;
    assert_eq!(shown(&memory).await, all(), "a day by default");
    let capture = CaptureLayer::new("maps", memory.clone()).where_unsaid(Duration::ZERO);
    hears(&capture, said_for("")).await;
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(shown(&memory).await, narrowing());
}

#[tokio::test]
async fn what_is_said_anew_counts() {
    let memory = Memory::new();
    let capture = CaptureLayer::new("maps", memory.clone());
    hears(&capture, said_for("")).await;
    hears(&capture, one_tool(r#"{"name":"a","title":"new"}"#)).await;
    assert_eq!(shown(&memory).await, json!({ "name": "maps__a", "title": "new" }), "also that a tool is for everybody");
}

#[tokio::test]
async fn nothing_is_kept_for_longer_than_the_store_keeps_it() {
    let memory = Memory::new().keep(Duration::from_millis(1000));
    hears(&CaptureLayer::new("maps", memory.clone()), said_for("")).await;
    assert_eq!(shown(&memory).await, all());
    tokio::time::sleep(Duration::from_millis(1100)).await;
    assert_eq!(shown(&memory).await, Value::Null, "what is not known any more is hidden");
}
