//! What waits, and what rests, with servers that say nothing, or late.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::{MOST_BYTES_WAITING, Valkey};
use crate::message::EntryKind;
use crate::restore::{Memory, Place, Said, Store};

fn store(listener: &TcpListener) -> Valkey {
    let address = listener.local_addr().unwrap();
    Valkey::new(format!("redis://{address}"), Memory::new().most_bytes(1 << 30)).unwrap()
}

fn place(whose: u8) -> Place {
    Place::list([whose; 32], EntryKind::Tool)
}

/// One entry of about this size, said at this time.
fn said(bytes: usize, at: u64) -> Vec<(String, Said)> {
    vec![("a".to_owned(), Said { text: format!("{{{}}}", " ".repeat(bytes)).into(), at, fresh_for: 1000 })]
}

#[tokio::test]
async fn what_waits_is_bounded_in_bytes_and_what_is_dropped_is_told_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let store = store(&listener);
    // Nothing is written before this test waits for something.
    for whose in 0..100 {
        store.remember(&place(whose), said(256 << 10, 1000));
    }
    let waiting = store.waiting.load(Ordering::Relaxed);
    assert!((MOST_BYTES_WAITING / 2..=MOST_BYTES_WAITING).contains(&waiting), "{waiting}");
    assert!(store.memory.keep_said(&place(0), said(256 << 10, 1001)).is_empty(), "it waits");
    assert_eq!(store.memory.keep_said(&place(99), said(256 << 10, 1001)).len(), 1, "it was dropped");
    // And what is over, for better or worse, waits no more.
    drop(listener);
    let until = Instant::now() + Duration::from_secs(10);
    while store.waiting.load(Ordering::Relaxed) > 0 {
        assert!(Instant::now() < until, "{:?}", store.waiting);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Answers everything at once but what stands in a hash, which takes long.
fn answer_hashes_late(mut stream: TcpStream) {
    let mut buffer = [0; 1 << 16];
    while let Ok(read @ 1..) = stream.read(&mut buffer) {
        let asked = String::from_utf8_lossy(&buffer[..read]);
        for line in asked.lines() {
            let answer = match line {
                "CLIENT" => "+OK\r\n",
                "HGET" => "$1\r\n7\r\n",
                "EVAL" => "*3\r\n:0\r\n:8\r\n:0\r\n",
                "HGETALL" => {
                    std::thread::sleep(Duration::from_millis(600));
                    "*0\r\n"
                }
                _ => continue,
            };
            stream.write_all(answer.as_bytes()).unwrap();
        }
    }
}

#[tokio::test]
async fn what_comes_too_late_rests_alone() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let store = store(&listener).wait(Duration::from_millis(300));
    std::thread::spawn(move || listener.incoming().flatten().for_each(answer_hashes_late));
    store.refresh(vec![place(0)]).expect("nothing failed yet").await;
    assert!(store.link.may_work(), "others are asked and told");
    assert!(store.refresh(vec![place(0)]).is_none(), "but this one rests, or each request would wait");
    assert!(store.refresh(vec![place(0), place(1)]).is_some());
    store.remember(&place(0), said(10, 1000));
    let until = Instant::now() + Duration::from_secs(10);
    while store.waiting.load(Ordering::Relaxed) > 0 {
        assert!(Instant::now() < until, "it is not written");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(store.memory.keep_said(&place(0), said(10, 1001)).is_empty(), "it was written");
    tokio::time::sleep(Duration::from_millis(1000)).await;
    assert!(store.refresh(vec![place(0)]).is_some(), "for a moment only");
}
