//! Exchanges of published servers through a namespace and back: byte for byte what was recorded, and every link carries the
//! prefix once. `RECORDINGS` names another folder than that of this project.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use http::{HeaderMap, Request};
use serde_json::Value;
use tower::Layer;
use tower_mcp_apps::namespace::{Namespace, NamespaceLayer};
use tower_mcp_apps::protocol::{decode_mirrored, encode_mirrored};
use tower_mcp_apps::testing::{Body, FakeServer, RecordedExchange, Recording, Reply, TestClient};

/// No recording has it.
const NAME: &str = "zq9";

/// Members whose values are a server's or a client's data, not places where something is named.
const DATA: [&str; 7] = ["arguments", "structuredContent", "text", "blob", "description", "message", "inputSchema"];

fn namespace() -> Namespace {
    Namespace::new(NAME).expect("a name")
}

fn without_prefix(bytes: &[u8]) -> String {
    let text = String::from_utf8(bytes.to_vec()).expect("recordings are UTF-8");
    text.replace(&format!("{NAME}__"), "").replace(&format!("{NAME}+"), "")
}

fn recordings() -> Vec<(String, Recording)> {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/recordings");
    let folder = std::env::var_os("RECORDINGS").map_or(own, PathBuf::from);
    let folders = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut folders: Vec<_> =
        folders.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
        .into_iter()
        .map(|folder| (folder.display().to_string(), Recording::read(&folder).expect("a recording")))
        .collect()
}

/// The request as a client sends it that knows the server's things by their names with the prefix. Recordings have a blank
/// behind each colon.
fn named(exchange: &RecordedExchange) -> Request<Body> {
    let request = exchange.request();
    let (mut parts, _) = request.into_parts();
    let body = String::from_utf8(exchange.request_bytes().to_vec()).expect("recordings are UTF-8");
    let Ok(message) = serde_json::from_str::<Value>(&body) else {
        return Request::from_parts(parts, body.into());
    };
    let params = &message["params"];
    let (key, text) = match message["method"].as_str() {
        Some("tools/call" | "prompts/get") => ("name", params["name"].as_str()),
        Some("resources/read" | "resources/subscribe" | "resources/unsubscribe") => ("uri", params["uri"].as_str()),
        Some("completion/complete") if params["ref"]["name"].is_string() => ("name", params["ref"]["name"].as_str()),
        Some("completion/complete") => ("uri", params["ref"]["uri"].as_str()),
        _ => ("", None),
    };
    let Some(text) = text else { return Request::from_parts(parts, body.into()) };
    let with_prefix = |text: &str| match key {
        "name" => namespace().add_to_name(text),
        _ => namespace().add_to_uri(text),
    };
    let member = |text: &str| format!("\"{key}\": {}", Value::from(text));
    let sent = body.replacen(&member(text), &member(&with_prefix(text)), 1);
    assert_ne!(sent, body, "the place is found");
    if let Some(name) = parts.headers.get("mcp-name") {
        let name = with_prefix(&decode_mirrored(name.as_bytes()).expect("a name"));
        parts.headers.insert("mcp-name", encode_mirrored(&name));
    }
    Request::from_parts(parts, sent.into())
}

fn headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let own = headers.iter().filter(|(name, _)| *name != "content-length" && *name != "accept-encoding");
    own.map(|(name, value)| (name.to_string(), format!("{value:?}"))).collect()
}

/// Counts the links, each of which must carry the prefix once.
fn check_links(value: &Value, links: &mut usize) {
    match value {
        Value::String(text) if text.starts_with("ui://") => {
            assert!(text.starts_with(&format!("ui://{NAME}+")), "{text}");
            assert_eq!(text.matches(NAME).count(), 1, "{text}");
            *links += 1;
        }
        Value::Array(items) => items.iter().for_each(|item| check_links(item, links)),
        Value::Object(members) => {
            let places = members.iter().filter(|(key, _)| !DATA.contains(&key.as_str()));
            places.for_each(|(_, value)| check_links(value, links));
        }
        _ => {}
    }
}

#[tokio::test]
async fn an_answer_that_names_nothing_is_not_held() {
    let (_sender, body) = Body::channel();
    let reply = Reply::body(body).content_type("application/json");
    let service = NamespaceLayer::new(namespace()).layer(FakeServer::new().on("ping", move |_| reply.clone()));
    let mut client = TestClient::new(service).modern();
    let ping = client.prepare("ping", "{}");
    let open = tokio::time::timeout(Duration::from_secs(5), client.open(ping)).await;
    assert!(open.expect("the head does not wait for the body").expect("an answer").status().is_success());
}

#[tokio::test]
async fn recorded_exchanges_there_and_back() {
    let (mut exchanges, mut renamed, mut links) = (0, 0, 0);
    for (folder, recording) in recordings() {
        for exchange in recording.exchanges() {
            let place = format!("{folder}/{}", exchange.name().unwrap_or_default());
            let reply = exchange.reply();
            let server = FakeServer::answering(move |_| reply.clone());
            let service = NamespaceLayer::new(namespace()).layer(server.clone());
            let sent = named(exchange);
            let mut client = TestClient::new(service);
            let answer = client.send(sent).await.expect("the server does not fail");

            let asked = server.take_requests();
            assert_eq!(asked.len(), 1, "{place} was refused: {}", answer.text());
            assert_eq!(asked[0].bytes(), exchange.request_bytes(), "{place}");
            assert_eq!(headers(asked[0].headers()), headers(exchange.request().headers()), "{place}");
            assert_eq!(answer.status(), exchange.status(), "{place}");
            assert_eq!(without_prefix(answer.bytes()), String::from_utf8_lossy(exchange.answer_bytes()), "{place}");

            exchanges += 1;
            renamed += usize::from(answer.bytes() != exchange.answer_bytes());
            for message in answer.messages() {
                let Ok(message) = serde_json::from_slice::<Value>(&message) else { continue };
                check_links(&message, &mut links);
                let tools = message["result"]["tools"].as_array().into_iter().flatten();
                for name in tools.filter_map(|tool| tool["name"].as_str()) {
                    assert!(name.starts_with(&format!("{NAME}__")), "{place}: {name}");
                }
            }
        }
    }
    println!("{exchanges} exchanges, {renamed} of them with other names, {links} links");
    assert!(exchanges > 50 && renamed > 20 && links > 20, "{exchanges}, {renamed}, {links}");
}
