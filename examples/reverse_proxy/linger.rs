//! A request's body that is heard to its end on HTTP/1.1, although its answer needed no more of it.
//!
//! A refusal, such as 413, goes out while the client still sends. Were the connection closed then, what the client sends in
//! vain would be answered with a reset, which may take the refusal out of its hands before it could read it (RFC 9112,
//! section 9.6).

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::EXPECT;
use http::{Request, Version};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::runtime::Handle;
use tokio::time;

/// How long a client may go on sending what nobody wants.
const PATIENCE: Duration = Duration::from_secs(30);

/// The body of a request. What is not read of it when it is dropped is read then, and forgotten.
pub(crate) struct Lingering {
    /// There until it has ended.
    body: Option<Incoming>,
    is_heard: bool,
}

/// The same request, heard to its end.
pub(crate) fn linger(request: Request<Incoming>) -> Request<Lingering> {
    // In HTTP/2 each exchange ends for itself; and who waits to be asked for a body sends none before that.
    let is_heard = request.version() < Version::HTTP_2 && !request.headers().contains_key(EXPECT);
    request.map(|body| Lingering { body: Some(body).filter(|body| !body.is_end_stream()), is_heard })
}

impl Body for Lingering {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let polled = Pin::new(body).poll_frame(cx);
        if let Poll::Ready(None | Some(Err(_))) = polled {
            self.body = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or(SizeHint::with_exact(0), Body::size_hint)
    }
}

impl Drop for Lingering {
    fn drop(&mut self) {
        let unread = self.body.take().filter(|body| self.is_heard && !body.is_end_stream());
        // There is no runtime where the program ends, and the connection with it.
        if let Some((mut rest, runtime)) = unread.zip(Handle::try_current().ok()) {
            runtime.spawn(time::timeout(PATIENCE, async move { while let Some(Ok(_)) = rest.frame().await {} }));
        }
    }
}
