//! Answers that are not what their `Content-Type` says, and a mark before the first event.

use std::sync::Mutex;
use std::time::Duration;

use tower::{Layer, ServiceExt};
use tower_mcp_apps::testing::Body;

use crate::kit::server::{Server, labelled};
use crate::kit::{LIST, post, read, send};
use crate::{ANSWER, FILTERED, NOTICE, ask, event, host, is_pending, model, next, stream_head};

#[tokio::test]
async fn json_that_says_it_is_a_stream() {
    let (feed, mut answer) = ask(&model(), post(LIST), stream_head()).await;
    feed.send_data(&ANSWER.as_bytes()[..50]);
    assert!(is_pending(&mut answer).await);
    feed.send_data(&ANSWER.as_bytes()[50..]);
    assert!(is_pending(&mut answer).await);
    drop(feed);
    assert_eq!(read(answer).await.text(), FILTERED);
}

#[tokio::test]
async fn a_stream_that_says_it_is_json_still_streams() {
    let (feed, body) = Body::channel();
    feed.send_data("eve");
    let answer = Mutex::new(Some(labelled("application/json", body)));
    let server = Server::new(move |_| answer.lock().expect("no panic").take().expect("asked once"));
    let asking = tokio::spawn(model().layer(server).oneshot(post(LIST)));
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert!(!asking.is_finished(), "three letters tell nothing");
    feed.send_data(&NOTICE["eve".len()..]);
    let mut answer = asking.await.expect("no panic").expect("no failure");
    assert_eq!([next(&mut answer).await, next(&mut answer).await].concat(), NOTICE);
    feed.send_data(event(ANSWER));
    assert_eq!(next(&mut answer).await, event(FILTERED));
}

#[tokio::test]
async fn an_event_behind_a_byte_order_mark_does_not_slip_through() {
    // At the very start the mark belongs to the stream; in the data it is no JSON.
    let marked = format!("\u{feff}{}", event(ANSWER));
    let got = send(model().layer(Server::streaming(marked)), post(LIST)).await;
    assert_eq!(got.text(), format!("\u{feff}{}", event(FILTERED)));
    let inside = event(&format!("\u{feff}{ANSWER}"));
    let got = send(model().layer(Server::streaming(inside.clone())), post(LIST)).await;
    assert_eq!(got.error_code(), -32603);
    assert_eq!(send(host().layer(Server::streaming(inside.clone())), post(LIST)).await.text(), inside);
}

#[tokio::test]
async fn an_event_behind_what_readers_trim_away_does_not_slip_through() {
    for trimmed in ["\u{2028}", "\u{a0} ", "\u{b}", "\u{85}\t\u{3000}", "\0", "\u{1f}", " \u{feff}", "\u{feff}\u{feff}"]
    {
        let odd = event(&format!("{trimmed}{ANSWER}"));
        let got = send(model().layer(Server::streaming(odd.clone())), post(LIST)).await;
        assert_eq!(got.error_code(), -32603, "{trimmed:?}");
        assert_eq!(send(host().layer(Server::streaming(odd.clone())), post(LIST)).await.text(), odd);
    }
    for other in ["\u{200b}", "a", "\""] {
        let other = event(&format!("{other}{ANSWER}"));
        assert_eq!(send(model().layer(Server::streaming(other.clone())), post(LIST)).await.text(), other);
    }
}
