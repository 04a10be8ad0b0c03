//! Over real connections: what an HTTP server does with a body must not be mistaken for a client that went away.

use std::convert::Infallible;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use axum::routing::post;
use http::header::CONTENT_TYPE;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tower_mcp_apps::audit::{End, Record};
use tower_mcp_apps::exchange::Fixed;
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::{AppsLayer, testing};

use crate::kit::keep;

const MESSAGE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#;

/// Serves one route on a free port, and opens a connection with a call on it.
async fn called(route: axum::routing::MethodRouter) -> (TcpStream, Receiver<Record>) {
    let (sink, kept) = keep();
    // A host's calls need no look-up.
    let layer = AppsLayer::new().audience(Fixed(Audience::Host)).audit(sink);
    let router = Router::new().route("/mcp", route.layer(layer));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, router).await });
    let mut connection = TcpStream::connect(address).await.expect("it listens");
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{MESSAGE}",
        MESSAGE.len()
    );
    connection.write_all(request.as_bytes()).await.expect("it reads");
    (connection, kept)
}

/// The record, once there is one.
async fn recorded(kept: &Receiver<Record>) -> Record {
    for _ in 0..2_000 {
        if let Ok(record) = kept.try_recv() {
            return record;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("no record");
}

#[tokio::test]
async fn json_of_a_known_length() {
    let answer = async || ([(CONTENT_TYPE, "application/json")], r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    let (mut connection, kept) = called(post(answer)).await;
    connection.read_to_end(&mut Vec::new()).await.expect("an answer");
    let record = recorded(&kept).await;
    assert_eq!((record.bytes(), record.end()), (36, End::Complete));
}

#[tokio::test]
async fn a_stream_to_its_end_and_one_that_the_client_leaves() {
    for leaves in [false, true] {
        let (writer, pieces) = testing::Body::channel();
        let pieces = std::sync::Arc::new(std::sync::Mutex::new(Some(pieces)));
        let answer = move || {
            let pieces = pieces.lock().expect("no test panics here").take();
            let body = pieces.map_or_else(Body::empty, Body::new);
            let response = Response::builder().header(CONTENT_TYPE, "text/event-stream").body(body);
            async { Ok::<_, Infallible>(response.expect("the response is well formed")) }
        };
        let (mut connection, kept) = called(post(answer)).await;
        writer.send_data("data: 1\n\n");
        let mut read = Vec::new();
        while !String::from_utf8_lossy(&read).contains("data: 1") {
            assert_ne!(connection.read_buf(&mut read).await.expect("more to come"), 0);
        }
        assert!(kept.try_recv().is_err(), "the stream is still open");
        if leaves {
            drop(connection);
        } else {
            drop(writer);
            connection.read_to_end(&mut read).await.expect("the end");
        }
        let end = if leaves { End::ClientGone } else { End::Complete };
        let record = recorded(&kept).await;
        assert_eq!((record.bytes(), record.end()), (9, end));
    }
}
