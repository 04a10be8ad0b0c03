//! Requests of servers to their client, which only the legacy era has: the gateway answers them in the client's place.
//!
//! It would have to remember which server asked, and it remembers nothing.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tower_mcp_apps::json::Depth;
use tower_mcp_apps::message::{Payload, Refusal};
use tower_mcp_apps::protocol::code;

use crate::caller::Caller;
use crate::upstreams::{Spelling, Upstream};

/// How many answers are on their way at once, to all servers. A server that asks faster than it listens gets no more.
static UNDER_WAY: Semaphore = Semaphore::const_new(64);

/// How long a server has to take the answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// An answer to a server's request.
pub(crate) struct Reply(Bytes);

/// What a server gets that asks its client something; `None` where it asks nothing.
pub(crate) fn reply(data: &[u8]) -> Option<Reply> {
    let payload = Payload::read(data, Depth::default()).ok()?;
    let (id, method) = payload.calls().iter().find_map(|call| Some((call.id?, call.method.as_deref()?)))?;
    if method == "ping" {
        let message: [&[u8]; 3] = [br#"{"jsonrpc":"2.0","id":"#, id, br#","result":{}}"#];
        return Some(Reply(message.concat().into()));
    }
    let message = format!("{method} does not reach the client: a gateway stands between, which passes no such request");
    let refusal = Refusal::new(StatusCode::OK, code::METHOD_NOT_FOUND, message);
    Some(Reply(refusal.to_json(Some(id)).into()))
}

/// Sends the answer. Nobody waits for what comes of it.
pub(crate) fn send(caller: &Arc<Caller>, upstream: &Upstream, Reply(message): Reply) {
    let request = caller.post(upstream, message);
    let upstream = upstream.clone();
    let Ok(permit) = UNDER_WAY.try_acquire() else { return };
    tokio::spawn(async move {
        let _sent = timeout(PATIENCE, upstream.send(Spelling::Bare, request)).await;
        drop(permit);
    });
}
