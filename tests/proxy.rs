//! The example `reverse_proxy` as a program: what its layers have no part in.

mod kit;

use std::process::Command;
use std::time::Duration;

use axum::Router;
use http::{StatusCode, Version};
use http_body_util::BodyExt;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use kit::example::{Proxy, example};
use kit::{LIST, post};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

async fn start(flags: Vec<String>) -> Proxy {
    let started = tokio::task::spawn_blocking(move || {
        let flags: Vec<_> = flags.iter().map(String::as_str).collect();
        Proxy::start(&flags)
    });
    started.await.expect("it starts")
}

#[tokio::test]
async fn clients_speak_either_version_of_http() {
    let proxy = start(Vec::new()).await;
    for (version, is_second) in [(Version::HTTP_11, false), (Version::HTTP_2, true)] {
        let client = Client::builder(TokioExecutor::new()).http2_only(is_second).build_http();
        let mut request = post(LIST);
        *request.uri_mut() = proxy.endpoint.clone();
        let response = client.request(request).await.expect("an answer");
        assert_eq!((response.status(), response.version()), (StatusCode::OK, version));
        let body = response.into_body().collect().await.expect("a whole answer").to_bytes();
        let answer: Value = serde_json::from_slice(&body).expect("JSON");
        assert!(answer["result"]["tools"].is_array(), "{answer}");
    }
}

#[tokio::test]
async fn a_client_that_still_sends_hears_why_it_is_refused() {
    let proxy = start(["--max-request-bytes", "2048", "--audience", "model"].map(str::to_owned).to_vec()).await;
    let authority = proxy.endpoint.authority().expect("a host");
    // More than sockets take in: who writes all of it before reading is done only once all of it was taken.
    let body = vec![b'x'; 8 << 20];
    let chunked = format!("transfer-encoding: chunked\r\n\r\n{:x}", body.len());
    for (content_type, framing, status) in [
        ("application/json", format!("content-length: {}\r\n", body.len()), "413"),
        ("application/json", chunked, "413"),
        ("text/plain", format!("content-length: {}\r\n", body.len()), "415"),
    ] {
        let mut socket = TcpStream::connect(authority.as_str()).await.expect("a connection");
        let head = format!("POST /mcp HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: {content_type}\r\n");
        socket.write_all(format!("{head}{framing}\r\n").as_bytes()).await.expect("the head is taken");
        socket.write_all(&body).await.expect("all of it is taken");
        if framing.starts_with("transfer") {
            socket.write_all(b"\r\n0\r\n\r\n").await.expect("all of it is taken");
        }
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.expect("the answer, and the end");
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")) && answer.ends_with("}}"), "{framing}: {answer}");
    }
}

#[tokio::test]
async fn who_waits_to_be_asked_for_a_body_that_is_too_long_is_told_at_once() {
    let proxy = start(["--max-request-bytes", "2048"].map(str::to_owned).to_vec()).await;
    let authority = proxy.endpoint.authority().expect("a host");
    let mut socket = TcpStream::connect(authority.as_str()).await.expect("a connection");
    let head = "POST /mcp HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-type: application/json\r\n";
    let head = format!("{head}content-length: 2049\r\n\r\n");
    socket.write_all(head.as_bytes()).await.expect("the head is taken");
    let mut answer = String::new();
    let read = tokio::time::timeout(Duration::from_secs(10), socket.read_to_string(&mut answer)).await;
    read.expect("it does not wait for the body").expect("the answer, and the end");
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_exchange_under_way_is_finished_before_it_stops() {
    let (arrived, mut arrivals) = mpsc::channel(1);
    let (finish, finished) = tokio::sync::watch::channel(false);
    let upstream = Router::new().fallback(move || {
        let (arrived, mut finished) = (arrived.clone(), finished.clone());
        async move {
            arrived.send(()).await.expect("the test listens");
            finished.wait_for(|finished| *finished).await.expect("the test goes on");
            ([("content-type", "application/json")], r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[]}}"#)
        }
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, upstream).await });
    let mut proxy = start(vec!["--upstream".to_owned(), format!("http://{address}/mcp")]).await;

    let client = Client::builder(TokioExecutor::new()).build_http();
    let mut request = post(LIST);
    *request.uri_mut() = proxy.endpoint.clone();
    let asked = tokio::spawn(client.request(request));
    arrivals.recv().await.expect("it arrives");
    let killed = Command::new("kill").arg(proxy.process.id().to_string()).status().expect("there is kill");
    assert!(killed.success());
    // It takes no more connections, but is still there.
    let authority = proxy.endpoint.authority().expect("a host").to_string();
    while TcpStream::connect(&authority).await.is_ok() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(proxy.process.try_wait().expect("it can be asked"), None);
    finish.send(true).expect("the server waits");
    let response = asked.await.expect("no panic").expect("an answer");
    assert_eq!(response.status(), StatusCode::OK);
    assert!(response.into_body().collect().await.is_ok());
    let ended = tokio::task::spawn_blocking(move || proxy.process.wait().map(|status| (proxy, status)));
    let (_proxy, status) = ended.await.expect("no panic").expect("it ends");
    assert!(status.success(), "{status}");
}

#[test]
fn what_keeps_it_from_starting_is_told_in_words() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let listen = format!("--listen={}", taken.local_addr().expect("an address"));
    let nowhere = "/no such directory/file";
    for (name, flags, told) in [
        ("reverse_proxy", &[&*listen][..], listen.replace('=', " ")),
        ("reverse_proxy", &["--audit", nowhere], format!("--audit {nowhere}")),
        ("gateway", &[&listen], listen.replace('=', " ")),
    ] {
        let ended = Command::new(example(name)).args(flags).output().expect("the example runs");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(1), "{said}");
        assert!(said.starts_with(&format!("{name}: {told}: ")) && said.lines().count() == 1, "{said}");
    }
}
