//! A session that an upstream has opened, and of which the client has not heard yet: it ends unless it is kept.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response};
use http_body_util::Full;
use tokio::runtime::Handle;
use tokio::time::timeout;
use tower_mcp_apps::protocol::header;

use crate::caller::Caller;
use crate::response::Body;
use crate::upstreams::{Spelling, Upstream};

/// Ends the session when it is dropped, as where the client left or others failed: nobody will ever use it.
pub(crate) struct Opened {
    id: HeaderValue,
    end: Option<End>,
}

/// The request that ends it.
struct End {
    upstream: Upstream,
    spelling: Spelling,
    request: Request<Full<Bytes>>,
    patience: Duration,
}

impl Opened {
    /// The session that the head of an answer to `initialize` tells of.
    pub(crate) fn by(
        upstream: Upstream,
        spelling: Spelling,
        caller: &Caller,
        response: &Response<Body>,
        patience: Duration,
    ) -> Option<Self> {
        let id = response.headers().get(header::SESSION_ID).filter(|_| response.status().is_success())?.clone();
        let request = caller.with_session(&upstream, id.clone()).bodiless(Method::DELETE, &upstream);
        Some(Self { id, end: Some(End { upstream, spelling, request, patience }) })
    }

    /// The id.
    pub(crate) fn id(&self) -> &HeaderValue {
        &self.id
    }

    /// From now on the session is the client's.
    pub(crate) fn keep(mut self) {
        self.end = None;
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // Without a runtime the process is ending, and with it all that could be sent.
        if let (Some(end), Ok(runtime)) = (self.end.take(), Handle::try_current()) {
            let End { upstream, spelling, request, patience } = end;
            runtime.spawn(async move { timeout(patience, upstream.send(spelling, request)).await });
        }
    }
}
