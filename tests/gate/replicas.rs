//! Replicas: any of them decides as one alone would, whichever saw what before.

use http::{HeaderValue, Request, StatusCode};
use serde_json::{Value, json};
use tower::{Layer, ServiceExt};
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::exchange::{ByHeader, Decision};
use tower_mcp_apps::testing::Body;

use crate::kit::server::{Received, Server, json_answer};
use crate::kit::{apps_capabilities, initialize, modern, only, post, read, with};
use crate::world::{empty, ran, result, tool};

/// How many requests each of the two gets.
const REQUESTS: usize = 1000;

const SESSION: &str = "mcp-session-id";

/// Ten tools for each visibility, on three pages.
fn page(cursor: Option<&str>) -> Value {
    let kinds: [(&str, &[&str]); 4] =
        [("both", &["model", "app"]), ("app", &["app"]), ("model", &["model"]), ("none", &[])];
    let tools = |range: std::ops::Range<usize>| -> Value {
        range.flat_map(|at| kinds.map(|(kind, visibility)| tool(&format!("{kind}-{at}"), visibility))).collect()
    };
    match cursor {
        None => json!({ "tools": tools(0..4), "nextCursor": "4", "ttlMs": 0 }),
        Some("4") => json!({ "tools": tools(4..7), "nextCursor": "7" }),
        Some(_) => json!({ "tools": tools(7..10) }),
    }
}

/// A server of both eras, that knows its one session and wants a credential.
pub(crate) fn answer(received: &Received) -> http::Response<Body> {
    let message = received.json();
    if message.is_array() {
        return ran(received);
    }
    let is_modern = message["params"]["_meta"].is_object();
    let initializes = message["method"] == "initialize";
    if received.header("authorization") == Some("Bearer nobody") {
        return empty(401);
    }
    if !is_modern && !initializes && received.header(SESSION).is_some_and(|session| session != "S-1") {
        return empty(404);
    }
    let mut response = match message["method"].as_str() {
        Some("tools/list") => json_answer(result(received, &page(message["params"]["cursor"].as_str()))),
        Some("initialize") => json_answer(result(
            received,
            &json!({ "protocolVersion": "2025-11-25", "capabilities": { "resources": {} } }),
        )),
        Some("resources/read") => json_answer(result(received, &json!({ "contents": [] }))),
        Some("prompts/list") => json_answer(result(received, &json!({ "prompts": [] }))),
        Some("tools/call") => ran(received),
        _ => empty(202),
    };
    if initializes {
        response.headers_mut().insert(SESSION, HeaderValue::from_static("S-1"));
    }
    response
}

/// One of many requests: chosen by a number, so that the same one can be sent twice.
pub(crate) fn request(choice: u64, sessions: &[String]) -> Request<Body> {
    let pick = |shift: u32, most: u64| (choice >> shift) % most;
    let kind = ["both", "app", "model", "none", "no-such"][pick(0, 5) as usize];
    let name = format!("{kind}-{}", pick(8, 10));
    let params = match pick(12, 8) {
        0 => json!({}),
        1 => json!({ "uri": "ui://s/page" }),
        _ => json!({ "name": name, "arguments": { "n": choice } }),
    };
    let method = match pick(12, 8) {
        0 => ["tools/list", "prompts/list", "ping"][pick(16, 3) as usize],
        1 => "resources/read",
        _ => "tools/call",
    };
    let request = match pick(20, 4) {
        0 => modern(method, &params, &json!({})),
        1 => modern(method, &params, &apps_capabilities()),
        _ => {
            let call = |id: u64| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
            let other = json!({ "jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": { "name": "model-9" } });
            let is_batch = pick(24, 6) == 0;
            let body = if is_batch { json!([call(7), other]) } else { call(7) };
            let request = only(post(body.to_string()), "mcp-protocol-version", "2025-11-25");
            match pick(28, 4) {
                0 => request,
                at => with(request, SESSION, &sessions[at as usize % sessions.len()]),
            }
        }
    };
    let request = match (pick(32, 12), method) {
        // What two readers may understand differently.
        (0, "tools/call") => {
            request.map(|_| Body::new(r#"{"id":7,"method":"tools/call","params":{"name":"both-1","name":"app-1"}}"#))
        }
        (1, _) => request.map(|_| Body::new("oops")),
        (2, _) => with(request, "authorization", "Bearer nobody"),
        (3, _) => with(request, "authorization", "Bearer ann"),
        _ => request,
    };
    match pick(40, 8) {
        0 => with(request, "x-audience", "app"),
        1 => with(request, "x-audience", "model"),
        2 => with(request, "x-audience", "host"),
        3 => with(request, "x-audience", "odd"),
        _ => request,
    }
}

/// The same numbers in each run, of which every bit is as good as drawn (SplitMix64).
pub(crate) fn choices() -> impl Iterator<Item = u64> {
    (1..=REQUESTS as u64).map(|at| {
        let mixed = at.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    })
}

/// What was decided about a request: what its sender got, what the record says, and what arrived.
#[derive(Debug, PartialEq)]
struct Outcome {
    status: StatusCode,
    session: Option<HeaderValue>,
    body: String,
    decision: Option<Decision>,
    arrived: Vec<Value>,
}

type Replica = <AppsLayer as Layer<Server>>::Service;

async fn ask(replica: &Replica, server: &Server, request: Request<Body>) -> Outcome {
    let response = replica.clone().oneshot(request).await.expect("an answer");
    let decision = response.extensions().get::<Decision>().cloned();
    let session = response.headers().get(SESSION).cloned();
    let answer = read(response).await;
    // Look-ups are what replicas may differ in: that is what the others know already.
    let is_look_up = |message: &Value| message["id"].as_str().is_some_and(|id| id.starts_with("apps-"));
    let arrived = server.take().iter().map(Received::json).filter(|message| !is_look_up(message)).collect();
    Outcome { status: answer.status, session, body: answer.text(), decision, arrived }
}

fn replica(server: &Server) -> Replica {
    AppsLayer::new().audience(ByHeader::new("x-audience".parse().expect("a name"))).layer(server.clone())
}

async fn open(replica: &Replica, server: &Server, capabilities: Value) -> Outcome {
    ask(replica, server, post(initialize(&capabilities))).await
}

#[tokio::test]
async fn two_replicas_in_turn_decide_as_one_does() {
    let server = Server::new(answer);
    let alone = replica(&server);
    let pair = [replica(&server), replica(&server)];
    let mut sessions = Vec::new();
    for (at, capabilities) in [json!({}), apps_capabilities()].into_iter().enumerate() {
        let of_one = open(&alone, &server, capabilities.clone()).await;
        let of_two = open(&pair[at], &server, capabilities).await;
        assert_eq!(of_one, of_two);
        sessions.push(of_one.session.expect("a session").to_str().expect("text").to_owned());
    }
    sessions.push("S-1".to_owned());
    sessions.push("apps1-a.S-2".to_owned());
    let mut tally = std::collections::BTreeMap::new();
    for (at, choice) in choices().enumerate() {
        let of_one = ask(&alone, &server, request(choice, &sessions)).await;
        let of_two = ask(&pair[at % 2], &server, request(choice, &sessions)).await;
        assert_eq!(of_one, of_two, "request {at}: {:?}", request(choice, &sessions));
        let reason = of_one.decision.as_ref().and_then(Decision::reason);
        *tally
            .entry((of_one.status.as_u16(), reason.map(|reason| reason.as_str()), of_one.arrived.len()))
            .or_insert(0) += 1;
    }
    // They are mixed: many run, many are hidden, and there is some of everything else.
    let count = |reason: Option<&str>, arrived| {
        tally.iter().filter(|(key, _)| key.1 == reason && key.2 == arrived).map(|(_, count)| count).sum::<usize>()
    };
    assert!(count(None, 1) > 300 && count(Some("hidden"), 0) > 100, "{tally:?}");
    for reason in ["ambiguous", "unreadable", "odd_audience", "look_up_failed", "method_not_for_apps"] {
        assert!(count(Some(reason), 0) > 0, "{reason}: {tally:?}");
    }
}

#[tokio::test]
async fn a_replica_that_starts_new_for_each_request_decides_as_one_does() {
    let server = Server::new(answer);
    let alone = replica(&server);
    let opened = open(&alone, &server, apps_capabilities()).await;
    let sessions = [opened.session.expect("a session").to_str().expect("text").to_owned(), "S-1".to_owned()];
    for choice in choices().take(200) {
        let of_one = ask(&alone, &server, request(choice, &sessions)).await;
        let of_new = ask(&replica(&server), &server, request(choice, &sessions)).await;
        assert_eq!(of_one, of_new);
    }
}
