//! For whom what was said is put back: for those with the credentials that it was said to, and for nobody else.

use http::Request;
use http::request::Parts;
use serde_json::{Value, json};
use tower::Layer;
use tower_mcp_apps::restore::{CaptureLayer, Credentials, Memory, RestoreLayer, Unknown};
use tower_mcp_apps::testing::Body;

use crate::kit::server::Server;
use crate::kit::{send, with};
use crate::world::{Lossy, ask, maps, one_tool, upstream};

const ALICE: (&str, &str) = ("authorization", "Bearer alice");
const BOB: (&str, &str) = ("authorization", "Bearer bob");

/// An upstream that tells everybody something else: what it was asked with.
fn personal() -> Server {
    upstream(|received| {
        let told = ["authorization", "x-user-token", "cookie"].map(|name| received.header(name).unwrap_or("-"));
        json!({ "tools": [{ "name": "a", "title": told.join(" ") }] }).to_string()
    })
}

fn list(headers: &[(&'static str, &'static str)]) -> Request<Body> {
    headers.iter().fold(ask("tools/list", &json!({})), |request, (name, value)| with(request, name, value))
}

/// Lets the upstream say to this caller what it says.
async fn hears(capture: &CaptureLayer, headers: &[(&'static str, &'static str)]) {
    drop(send(capture.layer(personal()), list(headers)).await);
}

/// The title of the tool that this caller then gets, of an aggregator that says nothing but its name.
async fn title(restore: &RestoreLayer, headers: &[(&'static str, &'static str)]) -> Value {
    let answer = send(restore.layer(one_tool(r#"{"name":"maps__a"}"#)), list(headers)).await.json();
    answer["result"]["tools"][0]["title"].clone()
}

fn layers(credentials: &Credentials) -> (CaptureLayer, RestoreLayer) {
    let memory = Memory::new();
    let restore = RestoreLayer::new(memory.clone()).unknown(Unknown::Pass);
    let capture = CaptureLayer::new("maps", memory).credentials(credentials.clone());
    (capture, restore.upstream_with("maps", maps(), credentials.clone()))
}

#[tokio::test]
async fn nothing_is_put_back_for_other_credentials() {
    let said: [&[(&str, &str)]; 7] = [
        &[],
        &[ALICE],
        &[BOB],
        &[ALICE, ("x-user-token", "1")],
        &[ALICE, ("x-user-token", "2")],
        &[("cookie", "alice")],
        &[ALICE, BOB],
    ];
    for heard in said {
        let (capture, restore) = layers(&Credentials::of_request());
        hears(&capture, heard).await;
        for asks in said {
            let title = title(&restore, asks).await;
            assert_eq!(title.is_string(), heard == asks, "said to {heard:?}, asked by {asks:?}: {title}");
        }
    }
}

#[tokio::test]
async fn everybody_gets_what_was_said_to_them() {
    let memory = Memory::new();
    let capture = CaptureLayer::new("maps", memory.clone());
    let aggregator = Lossy::new().behind(maps(), &capture, personal());
    let service = RestoreLayer::new(memory).upstream("maps", maps()).layer(aggregator);
    for _ in 0..3 {
        for (headers, want) in [(&[ALICE], "Bearer alice - -"), (&[BOB], "Bearer bob - -")] {
            let answer = send(service.clone(), list(headers)).await.json();
            assert_eq!(answer["result"]["tools"][0]["title"], want);
        }
    }
}

#[tokio::test]
async fn what_belongs_to_a_request_or_a_connection_makes_no_other_caller() {
    let (capture, restore) = layers(&Credentials::of_request());
    hears(&capture, &[ALICE, ("mcp-session-id", "theirs"), ("user-agent", "a"), ("traceparent", "1"), ("host", "up")])
        .await;
    let asks =
        [ALICE, ("mcp-session-id", "ours"), ("user-agent", "b"), ("x-forwarded-for", "c"), ("idempotency-key", "d")];
    assert_eq!(title(&restore, &asks).await, "Bearer alice - -");
}

#[tokio::test]
async fn requests_that_are_signed_are_nobodys() {
    let (capture, restore) = layers(&Credentials::of_request());
    let signed = [ALICE, ("signature", "sig=:x:")];
    hears(&capture, &signed).await;
    assert_eq!(title(&restore, &signed).await, Value::Null);
    assert_eq!(title(&restore, &[ALICE]).await, Value::Null);
}

#[tokio::test]
async fn what_an_aggregator_asks_with_its_own_credential_is_for_all_if_the_deployer_says_so() {
    let (capture, restore) = layers(&Credentials::of_request());
    hears(&capture, &[("authorization", "Bearer aggregator")]).await;
    assert_eq!(title(&restore, &[ALICE]).await, Value::Null, "unless it is said, nobody's");

    let (capture, restore) = layers(&Credentials::shared());
    hears(&capture, &[("authorization", "Bearer aggregator")]).await;
    assert_eq!(title(&restore, &[ALICE]).await, "Bearer aggregator - -");
}

#[tokio::test]
async fn both_sides_must_say_so() {
    let memory = Memory::new();
    let capture = CaptureLayer::new("maps", memory.clone());
    hears(&capture, &[]).await;
    let restore = RestoreLayer::new(memory).unknown(Unknown::Pass);
    let restore = restore.upstream_with("maps", maps(), Credentials::shared());
    assert_eq!(title(&restore, &[]).await, Value::Null);
}

#[tokio::test]
async fn a_deployer_names_callers() {
    let named = Credentials::named(|request: &Parts| {
        let token = request.headers.get("authorization")?.to_str().ok()?;
        // The aggregator exchanges `Bearer alice` for `Exchanged alice`.
        token.split(' ').nth(1).map(|name| name.as_bytes().to_vec())
    });
    let (capture, restore) = layers(&named);
    hears(&capture, &[("authorization", "Exchanged alice")]).await;
    assert_eq!(title(&restore, &[ALICE]).await, "Exchanged alice - -");
    assert_eq!(title(&restore, &[BOB]).await, Value::Null);
    hears(&capture, &[]).await;
    assert_eq!(title(&restore, &[]).await, Value::Null, "who has no name gets nothing");
}

#[tokio::test]
async fn what_another_upstream_said_is_not_put_back() {
    let memory = Memory::new();
    hears(&CaptureLayer::new("air", memory.clone()), &[]).await;
    let restore = RestoreLayer::new(memory).unknown(Unknown::Pass).upstream("maps", maps());
    assert_eq!(title(&restore, &[]).await, Value::Null);
}
