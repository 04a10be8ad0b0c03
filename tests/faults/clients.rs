//! Clients that read or write slowly, or leave.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use crate::{
    A_SECOND, EVENT_STREAM, LIST, Message, NOTICE, PATIENCE, TOOLS, address, answer, ask, chunk, proxy, request,
    upstream,
};

/// More than all buffers on the way have room for.
const MUCH: usize = 64 << 20;

#[tokio::test]
async fn one_that_does_not_read_stops_the_upstream_and_loses_nothing() {
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = sent.clone();
    let server = upstream(move |mut stream| {
        let sent = counted.clone();
        async move {
            stream.write_all(EVENT_STREAM.as_bytes()).await.expect("the proxy reads");
            for number in 0.. {
                let event = format!(
                    "data: {{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{{\"n\":{number},\"s\":\"{}\"}}}}\n\n",
                    "x".repeat(4000)
                );
                if sent.load(Ordering::Relaxed) >= MUCH {
                    break;
                }
                stream.write_all(chunk(&event).as_bytes()).await.expect("the proxy reads, in the end");
                sent.fetch_add(event.len(), Ordering::Relaxed);
            }
            stream.write_all(b"0\r\n\r\n").await.expect("the proxy reads");
        }
    })
    .await;
    // A filter reads each event of it.
    let proxy = proxy(server, "model").await;
    let mut slow = ask(&proxy, LIST).await;
    // It goes on until buffers are full, and then no further.
    let mut before = 1;
    while before != sent.load(Ordering::Relaxed) {
        before = sent.load(Ordering::Relaxed);
        sleep(Duration::from_millis(500)).await;
    }
    assert!(before < MUCH / 2, "{before} bytes are held");
    let memory = std::fs::read_to_string(format!("/proc/{}/status", proxy.process.id())).unwrap_or_default();
    let memory = memory.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let memory = memory.map_or(0, |kib| kib.trim().trim_end_matches(" kB").parse::<usize>().expect("a number"));
    assert!(memory < MUCH / 1024, "{memory} KiB are held");
    // Read in one go, since looking for the end after each piece takes long for so much.
    let mut bytes = Vec::with_capacity(MUCH * 2);
    while !bytes.ends_with(b"\r\n0\r\n\r\n") {
        let read = timeout(PATIENCE, slow.read_buf(&mut bytes)).await.expect("it goes on").expect("no reset");
        assert_ne!(read, 0, "it is cut");
    }
    let got = Message::of(&bytes).expect("an answer");
    assert!(got.is_whole);
    assert_eq!(got.body.len(), sent.load(Ordering::Relaxed));
    for (number, event) in got.body.split_terminator("\n\n").enumerate() {
        assert!(event.contains(&format!("\"n\":{number},")), "event {number}: {}", &event[..80]);
    }
}

#[tokio::test]
async fn one_that_writes_slowly_is_read_to_the_end() {
    let server = upstream(async |mut stream| {
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", TOOLS.len());
        stream.write_all((head + TOOLS).as_bytes()).await.expect("the proxy reads");
    })
    .await;
    let proxy = proxy(server, "model").await;
    let mut slow = TcpStream::connect(address(&proxy)).await.expect("it listens");
    slow.set_nodelay(true).expect("a socket");
    for byte in (request(LIST.len()) + LIST).as_bytes() {
        slow.write_all(&[*byte]).await.expect("it reads");
        sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(answer(&mut slow).await.json()["result"]["tools"][0]["name"], "shown");
}

#[tokio::test]
async fn one_that_leaves_is_seen_to_by_the_upstream_within_a_second() {
    let beginnings = [
        String::new(),
        EVENT_STREAM.to_owned(),
        format!("{EVENT_STREAM}{}", chunk(NOTICE)),
        format!("{EVENT_STREAM}{}", chunk("data: {\"jsonrpc\"")),
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{".to_owned(),
    ];
    for audience in ["model", "host"] {
        for beginning in &beginnings {
            let (told, mut tells) = mpsc::channel(4);
            let text = beginning.clone();
            let server = upstream(move |mut stream| {
                let (told, text) = (told.clone(), text.clone());
                async move {
                    stream.write_all(text.as_bytes()).await.expect("the proxy reads");
                    let _ = told.send("began").await;
                    let _ = stream.read(&mut [0]).await;
                    let _ = told.send("left").await;
                }
            })
            .await;
            let proxy = proxy(server, audience).await;
            let client = ask(&proxy, LIST).await;
            assert_eq!(timeout(PATIENCE, tells.recv()).await.expect("it asks"), Some("began"));
            assert!(timeout(Duration::from_millis(100), tells.recv()).await.is_err(), "nobody left so far");
            drop(client);
            assert_eq!(
                timeout(A_SECOND, tells.recv()).await.expect("it is seen"),
                Some("left"),
                "{audience}: {beginning}"
            );
        }
    }
}

#[tokio::test]
async fn one_that_leaves_within_its_request_runs_nothing() {
    let (told, mut tells) = mpsc::channel(4);
    let server = upstream(move |_| {
        let told = told.clone();
        async move { told.send(()).await.expect("the test listens") }
    })
    .await;
    let proxy = proxy(server, "model").await;
    let mut client = TcpStream::connect(address(&proxy)).await.expect("it listens");
    let half = request(LIST.len()) + &LIST[..LIST.len() / 2];
    client.write_all(half.as_bytes()).await.expect("it reads");
    drop(client);
    assert!(timeout(A_SECOND / 2, tells.recv()).await.is_err(), "half a request went on");
    // The proxy is none the worse for it.
    assert_eq!(answer(&mut ask(&proxy, LIST).await).await.status(), "502");
}
