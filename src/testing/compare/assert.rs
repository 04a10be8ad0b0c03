//! Assertions on answers and texts.

use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use serde_json::Value;

use super::Wire;
use super::difference::{Difference, excerpt};
use super::json::compare;
use super::pointer::Allowed;
use crate::sse::{Block, Splitter};
use crate::testing::{Answer, misuse};

/// More differences than this are not told.
const MOST_TOLD: usize = 8;

/// The bytes are the same: of answers also status, `Content-Type`, `Content-Encoding`, and how the body ended.
///
/// ```
/// use serde_json::json;
/// use tower::Layer;
/// use tower_mcp_apps::AppsLayer;
/// use tower_mcp_apps::testing::{FakeServer, TestClient, Unanswered, assert_unchanged};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Unanswered> {
/// let server = FakeServer::new().tool(r#"{"name":"sum"}"#).result("sum", r#"{"content":[], "total": 1.00}"#);
/// let mut bare = TestClient::new(server.clone()).with_apps();
/// let mut wrapped = TestClient::new(AppsLayer::new().layer(server)).with_apps();
/// assert_unchanged(&bare.call("sum", "{}").await?, &wrapped.call("sum", "{}").await?);
/// # Ok(())
/// # }
/// ```
///
/// # Panics
///
/// Where they are not, telling where and how they differ.
#[track_caller]
pub fn assert_unchanged(before: &(impl Wire + ?Sized), after: &(impl Wire + ?Sized)) {
    assert_only_changed(before, after, &[]);
}

/// The bytes are the same but for these places, each of which differs.
///
/// The places are JSON pointers (RFC 6901), and count in the text before. `*` stands for every element of a list, `-` for
/// new ones at its end. Around a member that comes or goes the comma and white space may differ. All else is compared
/// as it is written: digits of numbers, order, escapes, white space. Of an event stream, each message is compared, and what
/// is around them. Heads are compared as by [`assert_unchanged`].
///
/// ```
/// use tower_mcp_apps::testing::assert_only_changed;
///
/// let before = r#"{"result": {"tools": [{"name": "a", "size": 1.0}]}}"#;
/// let after = r#"{"result": {"tools": [{"name": "a", "size": 1.0,"_meta":{"ui":{}}}]}}"#;
/// assert_only_changed(before, after, &["/result/tools/0/_meta"]);
/// ```
///
/// # Panics
///
/// Where anything else differs, telling where and how; where nothing differs at one of the places; and where one of them is
/// no JSON pointer.
#[track_caller]
pub fn assert_only_changed(before: &(impl Wire + ?Sized), after: &(impl Wire + ?Sized), places: &[&str]) {
    let mut allowed = match Allowed::parse(places) {
        Ok(allowed) => allowed,
        Err(message) => misuse::fail(&message),
    };
    let mut found = Vec::new();
    if let (Some(before), Some(after)) = (before.as_answer(), after.as_answer()) {
        found.extend(heads(before, after));
    }
    let is_stream = |wire: Option<&Answer>| wire.is_some_and(Answer::is_stream);
    let (was, is) = (before.wire_bytes(), after.wire_bytes());
    if is_stream(before.as_answer()) || is_stream(after.as_answer()) {
        found.extend(streams(was, is, &mut allowed));
    } else {
        found.extend(compare(was, is, &mut allowed));
    }
    if !found.is_empty() {
        let mut message = "something changed that should not:".to_owned();
        for difference in found.iter().take(MOST_TOLD) {
            message.push_str(&format!("\n{difference}"));
        }
        if let Some(more) = found.len().checked_sub(MOST_TOLD + 1) {
            message.push_str(&format!("\n  and {} more", more + 1));
        }
        misuse::fail(&message);
    }
    let unused: Vec<_> = allowed.unused().collect();
    if !unused.is_empty() {
        misuse::fail(&format!("nothing changed at {}", unused.join(", ")));
    }
}

fn heads(before: &Answer, after: &Answer) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut add = |at: &str, what, was: &str, is: &str| {
        if was != is {
            found.push(Difference::new(at, what, was.as_bytes(), is.as_bytes()));
        }
    };
    let mut pair = |at: &str, was: &str, is: &str| add(at, "it differs", was, is);
    pair("the status", before.status().as_str(), after.status().as_str());
    for name in [CONTENT_TYPE, CONTENT_ENCODING] {
        let value = |answer: &Answer| {
            answer.headers().get(&name).map_or_else(|| "none".to_owned(), |value| format!("{value:?}"))
        };
        pair(name.as_str(), &value(before), &value(after));
    }
    pair("the end of the body", before.error().unwrap_or("whole"), after.error().unwrap_or("whole"));
    let length = after.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    if let (Some(length), None) = (length, after.error()) {
        add(CONTENT_LENGTH.as_str(), "it is not the body's", &after.bytes().len().to_string(), length);
    }
    found
}

fn streams(before: &[u8], after: &[u8], allowed: &mut Allowed) -> Vec<Difference> {
    let (was, is) = (events(before), events(after));
    if was.len() != is.len() {
        return vec![Difference::new(
            format!("the stream of {} events", was.len()),
            "their number differs",
            before,
            after,
        )];
    }
    let mut found = Vec::new();
    for (number, (was, is)) in was.into_iter().zip(is).enumerate() {
        if bytes(was.clone()) == bytes(is.clone()) {
            continue;
        }
        let within = |difference: Difference| difference.within(format!("event {number}"));
        found.extend(compare(&was.data(), &is.data(), allowed).into_iter().map(within));
        // The lines around the data.
        let around = |event: Block| event.with_data([]).flat_map(|frame| frame.to_vec()).collect::<Vec<u8>>();
        let (was, is) = (around(was), around(is));
        if was != is {
            found.push(Difference::new(format!("event {number}"), "the lines around the data differ", &was, &is));
        }
    }
    found
}

fn events(stream: &[u8]) -> Vec<Block> {
    let mut splitter = Splitter::default();
    splitter.push(stream.to_vec().into());
    std::iter::from_fn(|| splitter.finish()).collect()
}

fn bytes(event: Block) -> Vec<u8> {
    event.frames().flat_map(|frame| frame.to_vec()).collect()
}

/// An answer to `tools/list` that does not have this tool, in any of its messages.
///
/// ```
/// use tower::Layer;
/// use tower_mcp_apps::AppsLayer;
/// use tower_mcp_apps::testing::{FakeServer, TestClient, Unanswered, assert_hidden};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Unanswered> {
/// let server = FakeServer::new().tool(r#"{"name": "zoom", "_meta": {"ui": {"visibility": ["app"]}}}"#);
/// let mut model = TestClient::new(AppsLayer::new().layer(server));
/// assert_hidden(&model.request("tools/list", "{}").await?, "zoom");
/// # Ok(())
/// # }
/// ```
///
/// # Panics
///
/// Where the tool is there; also where there is no list, since an error hides everything.
#[track_caller]
pub fn assert_hidden(answer: &Answer, tool: &str) {
    if !answer.result()["tools"].is_array() {
        misuse::fail(&format!("this is no list of tools, status {}: {}", answer.status(), shown(answer)));
    }
    for message in answer.messages() {
        let message: Value = serde_json::from_slice(&message).unwrap_or_default();
        let tools = message["result"]["tools"].as_array();
        if tools.into_iter().flatten().any(|entry| entry["name"] == tool) {
            misuse::fail(&format!("{tool:?} is not hidden: {}", shown(answer)));
        }
    }
}

/// A JSON-RPC error of this code, with the id of the request.
///
/// ```
/// use tower_mcp_apps::testing::{FakeServer, TestClient, Unanswered, assert_refused};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Unanswered> {
/// let mut client = TestClient::new(FakeServer::new());
/// assert_refused(&client.call("no such tool", "{}").await?, -32602);
/// # Ok(())
/// # }
/// ```
///
/// # Panics
///
/// Where it is another error, a result, nothing at all, or has another id.
#[track_caller]
pub fn assert_refused(answer: &Answer, code: i32) {
    let is = match answer.error_code() {
        Some(is) if is == i64::from(code) && answer.answers_the_request() => return,
        Some(is) if is == i64::from(code) => format!("error {code}, but with another id than the request's"),
        Some(is) => format!("error {is}"),
        None if answer.result().is_null() => "neither an error nor a result".to_owned(),
        None => "a result".to_owned(),
    };
    misuse::fail(&format!(
        "error {code} was expected, and this is {is}, status {}: {}",
        answer.status(),
        shown(answer)
    ));
}

fn shown(answer: &Answer) -> String {
    let broken = answer.error().map(|error| format!(", then {error}")).unwrap_or_default();
    format!("{}{broken}", excerpt(answer.bytes(), 0))
}
