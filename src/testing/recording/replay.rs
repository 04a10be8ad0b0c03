//! A recording as a server.

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use http::StatusCode;
use http::header::{CONNECTION, CONTENT_LENGTH, DATE, TRANSFER_ENCODING};
use serde_json::Value;

use super::RecordedExchange;
use crate::protocol::meta;
use crate::sse::Splitter;
use crate::testing::text::{member, with_member};
use crate::testing::{FakeServer, Received, Reply};

pub(super) fn server(exchanges: Vec<RecordedExchange>) -> FakeServer {
    let used = Mutex::new(vec![false; exchanges.len()]);
    FakeServer::answering(move |received| {
        let likeness: Vec<_> = exchanges.iter().map(|exchange| likeness(exchange, received)).collect();
        let Some(most) = likeness.iter().max().filter(|most| **most > 0) else {
            return Reply::bytes("no such exchange was recorded").status(StatusCode::NOT_FOUND);
        };
        let mut alike = (0..exchanges.len()).filter(|index| likeness[*index] == *most);
        let mut used = used.lock().unwrap_or_else(PoisonError::into_inner);
        let chosen = alike.clone().find(|index| !used[*index]).or(alike.next_back());
        match chosen {
            Some(index) => {
                used[index] = true;
                reply(&exchanges[index], received.id())
            }
            None => Reply::empty(StatusCode::NOT_FOUND),
        }
    })
}

/// How much a request is like a recorded one.
fn likeness(exchange: &RecordedExchange, received: &Received) -> u8 {
    if exchange.head.method != *received.method() {
        return 0;
    }
    if exchange.asked == received.bytes() {
        return 3;
    }
    let Ok(mut recorded) = serde_json::from_slice::<Value>(&exchange.asked) else { return 0 };
    let mut asked = received.json().clone();
    if !recorded["method"].is_string() || recorded["method"] != asked["method"] {
        return 0;
    }
    let params = |message: &mut Value| message.get_mut("params").map(Value::take).unwrap_or_default();
    let (mut recorded, mut asked) = (params(&mut recorded), params(&mut asked));
    if recorded == asked {
        return 2;
    }
    let era = |params: &Value| params["_meta"][meta::PROTOCOL_VERSION].is_string();
    let same_era = era(&recorded) == era(&asked);
    let without_meta = |params: &mut Value| {
        let members = params.as_object_mut().map(std::mem::take).unwrap_or_default();
        members.into_iter().filter(|(name, _)| name != "_meta").collect::<serde_json::Map<_, _>>()
    };
    u8::from(same_era && without_meta(&mut recorded) == without_meta(&mut asked))
}

/// The answer, with this id where one is given.
pub(super) fn reply(exchange: &RecordedExchange, id: Option<&str>) -> Reply {
    let own = member(&exchange.asked, "id");
    let bytes = match (own, id) {
        (Some(own), Some(id)) if own != id.as_bytes() => with_id(exchange, own, id),
        _ => exchange.answered.clone(),
    };
    let length = bytes.len();
    let mut reply = Reply::body(crate::testing::Body::new(bytes)).status(exchange.status);
    for (name, value) in &exchange.headers {
        if [CONNECTION, TRANSFER_ENCODING, DATE, CONTENT_LENGTH].contains(name) {
            continue;
        }
        reply = reply.append(name.clone(), value.clone());
    }
    if exchange.headers.contains_key(CONTENT_LENGTH) && !exchange.is_broken {
        reply = reply.append(CONTENT_LENGTH, length.into());
    }
    if exchange.is_broken { reply.cut_after(length) } else { reply }
}

/// The answer, in which messages have another id.
fn with_id(exchange: &RecordedExchange, own: &[u8], id: &str) -> Bytes {
    let edited = |message: &Bytes| match std::str::from_utf8(message) {
        Ok(text) if member(message, "id") == Some(own) => Some(Bytes::from(with_member(text, "id", id))),
        _ => None,
    };
    if !exchange.is_stream() {
        return edited(&exchange.answered).unwrap_or_else(|| exchange.answered.clone());
    }
    let mut events = Splitter::default();
    events.push(exchange.answered.clone());
    let mut out = Vec::with_capacity(exchange.answered.len());
    while let Some(event) = events.finish() {
        let frames = match edited(&event.data()) {
            Some(data) => event.with_data([data]),
            None => event.frames(),
        };
        frames.for_each(|frame| out.extend_from_slice(&frame));
    }
    out.into()
}
