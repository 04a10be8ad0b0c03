//! Recordings: what is written is what was read, and is played as it was.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::StatusCode;
use serde_json::json;
use tower::Layer;
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::exchange::Fixed;
use tower_mcp_apps::normalize::FlatKey;
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::testing::{Answer, FakeServer, Recording, Reply, TestClient, assert_refused, assert_unchanged};

/// A folder that is gone after the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("tower-mcp-apps-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        Self(std::env::temp_dir().join(name))
    }

    fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self::new();
        fs::create_dir_all(&folder.0).expect("a folder");
        for (name, text) in files {
            fs::write(folder.0.join(name), text).expect("a file");
        }
        folder
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("the folder is there");
        let mut names: Vec<_> =
            entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a text")).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn server() -> FakeServer {
    FakeServer::new()
        .sessions()
        .streaming()
        .tool(r#"{"name":"t", "n":1.00}"#)
        .result("t", r#"{"content":[], "n":-0.0}"#)
        .tamper("tools/call", |reply| reply.after(r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#))
        .tamper("resources/list", |reply| reply.cut_after(40))
        .on("prompts/list", |request| Reply::rpc_error(request, -32603, "no").status(StatusCode::BAD_GATEWAY))
}

/// What a client does, in either era.
async fn session(mut client: TestClient<FakeServer>) -> (Vec<Answer>, Recording) {
    let mut answers = Vec::new();
    for (method, params) in [
        ("tools/list", json!({})),
        ("tools/call", json!({ "name": "t" })),
        ("tools/call", json!({ "name": "no" })),
        ("resources/list", json!({})),
        ("prompts/list", json!({})),
    ] {
        answers.push(client.request(method, params).await.expect("an answer"));
    }
    for body in ["not JSON", " {} ", "null", "[]"] {
        let request = client.raw(body);
        answers.push(client.send(request).await.expect("an answer"));
    }
    let request = client.raw(b"\xff\x00".to_vec());
    answers.push(client.send(request).await.expect("an answer"));
    let request = client.get();
    answers.push(client.send(request).await.expect("an answer"));
    (answers, client.recording())
}

fn same(before: &[Answer], after: &[Answer]) {
    assert_eq!(before.len(), after.len());
    for (before, after) in before.iter().zip(after) {
        assert_unchanged(before, after);
    }
}

#[tokio::test]
async fn a_session_is_written_read_and_played() {
    for client in [TestClient::new(server()), TestClient::new(server()).legacy()] {
        let (answers, recording) =
            session(client.clone().header("x-twice", "1").header("x-twice", "2").recorded()).await;
        let folder = Folder::new();
        recording.write(&folder.0).expect("it is written");
        let read = Recording::read(&folder.0).expect("it is read");
        assert_eq!(read.exchanges().len(), recording.exchanges().len());
        for (read, made) in read.exchanges().iter().zip(recording.exchanges()) {
            let (one, other) = (read.request(), made.request());
            assert_eq!((one.method(), one.uri(), one.headers()), (other.method(), other.uri(), other.headers()));
            assert_eq!(read.request_bytes(), made.request_bytes());
            assert_eq!((read.status(), read.headers()), (made.status(), made.headers()));
            assert_eq!(read.answer_bytes(), made.answer_bytes());
        }
        // Played to the same client, and to one with other ids.
        let mut played = client.clone();
        *played.get_mut() = read.server();
        same(&answers, &session(played.clone()).await.0);
        *played.get_mut() = read.server();
        drop(played.prepare("ping", "{}"));
        let (again, _) = session(played).await;
        assert!(again[0].answers_the_request() && again[0].bytes() != answers[0].bytes());
        assert_eq!(again[0].text(), answers[0].text().replacen(":2,", ":3,", 1).replacen("\"id\":1,", "\"id\":2,", 1));
    }
}

#[tokio::test]
async fn the_names_of_the_files() {
    let (_, recording) = session(TestClient::new(server()).recorded()).await;
    let folder = Folder::new();
    recording.write(&folder.0).expect("it is written");
    let names = folder.names();
    assert_eq!(names.len(), 2 * recording.exchanges().len());
    assert_eq!(
        names[..3],
        ["01-tools_list.http-response", "01-tools_list.request.json", "02-tools_call.http-response"]
    );
    // What was read keeps its names.
    let other = Folder::new();
    let read = Recording::read(&folder.0).expect("it is read");
    assert_eq!(read.exchanges()[1].name(), Some("02-tools_call"));
    read.write(&other.0).expect("it is written");
    assert_eq!(other.names(), names);
}

const REQUEST: &str =
    r#"{"http": {"method": "POST", "path": "/mcp", "headers": {"A": "b"}}, "body": {"id": 1, "method": "tools/list"}}"#;
const RESPONSE: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\ntransfer-encoding: chunked\r\n\r\n{\"id\": 1, \"result\": {\"n\": 1.0}}";

#[tokio::test]
async fn files_that_others_wrote() {
    let folder = Folder::with(&[
        ("01.a.request.json", REQUEST),
        ("01.a.http-response", &RESPONSE.replace("\r\n", "\n")),
        ("02.b.request.json", &REQUEST.replace("tools/list", "ping")),
        ("02.b.http-response", "HTTP/1.1 404 \r\nx: 1\r\nX: 2\r\n\r\n"),
        ("03.stdio.request.json", r#"{"body": {}}"#),
        ("04.unanswered.request.json", REQUEST),
        ("manifest.json", "{}"),
    ]);
    let recording = Recording::read(&folder.0).expect("it is read");
    let [list, ping] = recording.exchanges() else { panic!("{recording:?}") };
    assert_eq!(list.request_bytes(), r#"{"id": 1, "method": "tools/list"}"#);
    assert_eq!((list.request().headers()["a"].as_bytes(), list.answer_bytes().len()), (&b"b"[..], 31));
    assert_eq!(
        (ping.status(), ping.headers().get_all("x").iter().count(), ping.answer_bytes().len()),
        (StatusCode::NOT_FOUND, 2, 0)
    );
    let mut client = TestClient::new(recording.server());
    let request = client.raw(r#"{"method": "tools/list", "id": "other"}"#);
    let answer = client.send(request).await.expect("an answer");
    assert_eq!(answer.text(), r#"{"id": "other", "result": {"n": 1.0}}"#);
    assert_eq!(answer.header("transfer-encoding"), None);
}

#[test]
fn files_that_are_none_of_a_recording() {
    for (request, response, expected) in [
        ("{", RESPONSE, "a.request.json: EOF while parsing"),
        (r#"{"http": {"path": "/"}}"#, RESPONSE, "a.request.json: http.method is missing"),
        (r#"{"http": {"method": "GET", "path": "/", "headers": {"a": 1}}}"#, RESPONSE, "http.headers.a is no text"),
        (r#"{"http": {"method": "GET", "path": " "}}"#, RESPONSE, "a.request.json: invalid uri"),
        (r#"{"http": {"method": "GET", "path": "/"}, "hex": "0g"}"#, RESPONSE, "hex is no pairs of hexadecimal digits"),
        (REQUEST, "{}", "a.http-response: it does not start with a status line"),
        (REQUEST, "HTTP/1.1 99\n\n", "a.http-response: it does not start with a status line"),
        (REQUEST, "HTTP/1.1 200 OK\nno header\n\n", "a.http-response: \"no header\" is no header"),
        (REQUEST, "HTTP/1.1 200 OK\na: b\n", "a.http-response: there is no blank line behind the headers"),
    ] {
        let folder = Folder::with(&[("a.request.json", request), ("a.http-response", response)]);
        let error = Recording::read(&folder.0).expect_err("it is none").to_string();
        assert!(error.contains(expected), "{error}");
    }
    Recording::read(Folder::new().0.join("no")).expect_err("there is no folder");
}

#[tokio::test]
async fn the_most_alike_is_played_each_once() {
    let calls = FakeServer::new().tool(r#"{"name":"a"}"#).on("tools/call", {
        let count = AtomicUsize::new(0);
        move |request| Reply::result(request, count.fetch_add(1, Ordering::Relaxed))
    });
    let mut client = TestClient::new(calls).recorded();
    for arguments in ["1", "2", "2"] {
        client.call("a", arguments).await.expect("an answer");
    }
    let recording = client.recording();
    // Another client: other ids and capabilities.
    let mut client = TestClient::new(recording.server()).with_apps();
    drop(client.prepare("ping", "{}"));
    let mut results = Vec::new();
    for arguments in ["2", "1", "2", "2", "1"] {
        results.push(client.call("a", arguments).await.expect("an answer").result().clone());
    }
    assert_eq!(results, [1, 0, 2, 2, 0]);
    // Nothing is like it: not the arguments, the era, the method, the verb.
    let unlike = [client.call("a", "3").await, client.request("tools/list", "{}").await];
    for answer in unlike {
        assert_eq!(answer.expect("an answer").status(), StatusCode::NOT_FOUND);
    }
    let mut legacy = TestClient::new(recording.server()).version("2025-06-18");
    let request = legacy.prepare("tools/call", r#"{"name":"a","arguments":1}"#);
    assert_eq!(legacy.send(request).await.expect("an answer").status(), StatusCode::NOT_FOUND);
    let mut client = TestClient::new(FakeServer::new()).recorded();
    assert_refused(&client.call("no", "{}").await.expect("an answer"), -32602);
    assert_eq!(client.recording().exchanges().len(), 1);
}

/// Exchanges of published servers: read, and played as they were, bare and through a stack that has nothing to do.
/// `RECORDINGS` names another folder of folders than that of this project.
#[tokio::test]
async fn recordings_of_others() {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/recordings");
    let folders = std::env::var_os("RECORDINGS").map_or(own, PathBuf::from);
    let mut count = 0;
    for folder in fs::read_dir(folders).expect("it is there") {
        let folder = folder.expect("an entry").path();
        if !folder.is_dir() {
            continue;
        }
        let recording = Recording::read(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let layer = AppsLayer::new().without_advertising().flat_key(FlatKey::Keep).audience(Fixed(Audience::Host));
        let mut bare = TestClient::new(recording.server());
        let mut wrapped = TestClient::new(layer.layer(recording.server()));
        for exchange in recording.exchanges() {
            let before = bare.send(exchange.request()).await.expect("an answer");
            assert_eq!(
                before.bytes(),
                exchange.answer_bytes(),
                "{} of {}",
                exchange.name().unwrap_or("?"),
                folder.display()
            );
            assert_unchanged(&before, &wrapped.send(exchange.request()).await.expect("an answer"));
            count += 1;
        }
    }
    assert!(count > 0, "there are recordings");
    println!("{count} exchanges");
}
