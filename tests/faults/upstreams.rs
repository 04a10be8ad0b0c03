//! Upstreams that die, lie about the length, never answer, or take their time.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::{A_SECOND, EVENT_STREAM, LIST, NOTICE, PATIENCE, TOOLS, answer, ask, chunk, proxy, upstream};

/// Sends this, then leaves; what was sent arrives before the end does.
async fn say(mut stream: TcpStream, text: String) {
    stream.write_all(text.as_bytes()).await.expect("the proxy reads");
    sleep(Duration::from_millis(50)).await;
}

fn json(length: usize, text: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{text}")
}

#[tokio::test]
async fn one_that_dies_within_an_event_breaks_the_clients_stream() {
    let half = format!("data: {}", &TOOLS[..TOOLS.len() - 10]);
    let server = upstream(move |stream| say(stream, format!("{EVENT_STREAM}{}{}", chunk(NOTICE), chunk(&half)))).await;
    for audience in ["model", "host"] {
        let proxy = proxy(server, audience).await;
        let got = answer(&mut ask(&proxy, LIST).await).await;
        assert!(got.body.starts_with(NOTICE), "{audience}: {got:?}");
        // A filter says nothing of what it could not read; a client that gets it all sees that it is cut.
        assert!(!got.is_whole, "{audience}: {got:?}");
        assert_eq!(got.body.contains("hidden"), audience == "host", "{got:?}");
    }
}

#[tokio::test]
async fn one_that_sends_less_than_it_says_is_not_believed() {
    let server = upstream(|stream| say(stream, json(TOOLS.len(), &TOOLS[..TOOLS.len() - 10]))).await;
    let model = proxy(server, "model").await;
    let got = answer(&mut ask(&model, LIST).await).await;
    assert!(got.is_whole);
    assert_eq!(got.error(), (-32603, 7));
    let host = proxy(server, "host").await;
    let got = answer(&mut ask(&host, LIST).await).await;
    assert!(!got.is_whole, "{got:?}");
}

#[tokio::test]
async fn one_that_sends_more_than_it_says_is_cut_at_its_word() {
    // What is too much could be another answer: it belongs to nobody.
    let server = upstream(|stream| say(stream, json(TOOLS.len(), &format!("{TOOLS}HTTP/1.1 200 OK\r\n\r\n")))).await;
    let model = proxy(server, "model").await;
    let got = answer(&mut ask(&model, LIST).await).await;
    assert_eq!(got.json()["result"]["tools"][0]["name"], "shown");
    let server = upstream(|stream| say(stream, json(TOOLS.len() - 10, TOOLS))).await;
    let model = proxy(server, "model").await;
    assert_eq!(answer(&mut ask(&model, LIST).await).await.error(), (-32603, 7));
}

#[tokio::test]
async fn one_that_dies_without_an_answer_is_a_bad_gateway() {
    for text in ["", "HTTP/1.1 200 OK\r\ncontent-ty", "no HTTP at all\r\n\r\n"] {
        let server = upstream(move |stream| say(stream, text.to_owned())).await;
        for audience in ["model", "host"] {
            let proxy = proxy(server, audience).await;
            let got = answer(&mut ask(&proxy, LIST).await).await;
            assert_eq!((got.status(), got.error()), ("502", (-32603, 7)), "{text}");
        }
    }
}

#[tokio::test]
async fn one_that_never_answers_holds_nobody_but_its_client() {
    let (left, mut leaving) = tokio::sync::mpsc::channel(4);
    let server = upstream(move |mut stream| {
        let left = left.clone();
        async move {
            // Silence, or half a body and silence: until the other side leaves.
            let _ = stream.read(&mut [0]).await;
            let _ = left.send(()).await;
        }
    })
    .await;
    let proxy = proxy(server, "model").await;
    let waiting = ask(&proxy, LIST).await;
    // Others are answered meanwhile, here by the proxy itself.
    let hidden = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","name":"b"}}"#;
    assert_eq!(answer(&mut ask(&proxy, hidden).await).await.error(), (-32600, 7));
    assert!(timeout(Duration::from_millis(50), leaving.recv()).await.is_err());
    drop(waiting);
    timeout(A_SECOND, leaving.recv()).await.expect("the upstream sees it").expect("it was there");
}

#[tokio::test]
async fn one_that_takes_its_time_is_waited_for() {
    let server = upstream(async |mut stream| {
        let text = format!("{EVENT_STREAM}{}{}", chunk(NOTICE), chunk(&format!("data: {TOOLS}\n\n"))) + "0\r\n\r\n";
        for byte in text.as_bytes() {
            stream.write_all(&[*byte]).await.expect("the proxy reads");
            sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
    let proxy = proxy(server, "model").await;
    let got = timeout(PATIENCE, async { answer(&mut ask(&proxy, LIST).await).await }).await.expect("it ends");
    let (notice, list) = got.body.split_at(NOTICE.len());
    assert_eq!(notice, NOTICE);
    assert!(got.is_whole && list.ends_with("\n\n"));
    assert!(list.contains("shown") && !list.contains("hidden"), "{list}");
}
