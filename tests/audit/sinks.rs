//! A sink that misbehaves harms no answer.

use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::audit::{AuditLayer, Background, Record};

use crate::kit::{Server, call, open, send};

const RESULT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

#[tokio::test]
async fn a_sink_that_panics() {
    let bad = |_: &Record| panic!("the sink's own fault");
    let service = Server::json(RESULT).within(AuditLayer::new(bad));
    assert_eq!(send(service.clone(), call("x")).await.text(), RESULT);
    // Where the client goes away the record is made while its exchange is dropped.
    drop(open(service, call("x")).await);

    let background = Background::new(bad).expect("a thread");
    let service = Server::json(RESULT).within(AuditLayer::new(background.clone()));
    assert_eq!(send(service, call("x")).await.text(), RESULT);
    assert!(background.flush(Duration::from_secs(20)));
    assert_eq!(background.lost(), 1);
}

#[tokio::test]
async fn a_sink_that_panics_while_the_exchange_panics() {
    let service = Server::json(RESULT).within(AuditLayer::new(|_: &Record| panic!("the sink's own fault")));
    let task = tokio::spawn(async move {
        let _response = open(service, call("x")).await;
        panic!("the caller's own fault");
    });
    // A panic within a panic would have aborted the whole process.
    assert!(task.await.expect_err("it panicked").is_panic());
}

#[tokio::test]
async fn a_sink_that_blocks() {
    let (release, wait) = channel::<()>();
    let wait = Mutex::new(wait);
    let background =
        Background::with_capacity(move |_: &Record| drop(wait.lock().map(|wait| wait.recv())), 1).expect("a thread");
    let service = Server::json(RESULT).within(AppsLayer::new().audit(background.clone()));
    for _ in 0..50 {
        assert_eq!(send(service.clone(), call("x")).await.text(), RESULT);
    }
    assert!(background.lost() >= 48, "one is with the sink, one waits");
    drop(release);
    assert!(background.flush(Duration::from_secs(20)));
}
