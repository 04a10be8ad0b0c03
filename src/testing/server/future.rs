//! The future of an answer: reads the request, then asks the script.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response};
use http_body::Body as HttpBody;
use pin_project_lite::pin_project;

use super::FakeServer;
use crate::testing::collected::Collected;
use crate::testing::delay::Delay;
use crate::testing::hold::Ticket;
use crate::testing::unanswered::BoxError;
use crate::testing::{Body, Received};

pin_project! {
    /// The answer of a [`FakeServer`] to come: there once the request's body was read to its end.
    pub struct FakeResponse<B> {
        server: FakeServer,
        // Gone once it was answered.
        head: Option<Parts>,
        #[pin]
        body: B,
        read: Collected,
        waiting: Option<Waiting>,
    }
}

/// An answer that is there, and what it waits for.
pub(super) struct Waiting {
    pub(super) response: Response<Body>,
    pub(super) delay: Option<Delay>,
    pub(super) ticket: Option<Ticket>,
}

impl<B> FakeResponse<B> {
    pub(super) fn new(server: FakeServer, request: Request<B>) -> Self {
        let (head, body) = request.into_parts();
        Self { server, head: Some(head), body, read: Collected::default(), waiting: None }
    }
}

impl<B> fmt::Debug for FakeResponse<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeResponse").field("head", &self.head).finish_non_exhaustive()
    }
}

impl<B> Future for FakeResponse<B>
where
    B: HttpBody<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    type Output = Result<Response<Body>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if this.head.is_some() {
            ready!(this.read.poll_from(this.body, cx));
            let received = this.head.take().map(|head| Received::new(head, std::mem::take(this.read)));
            *this.waiting = received.and_then(|received| this.server.answer(received));
        }
        // Without one it was answered, or never will be.
        let Some(waiting) = this.waiting else { return Poll::Pending };
        if let Some(delay) = &mut waiting.delay {
            ready!(delay.poll(cx));
        }
        if let Some(ticket) = &waiting.ticket {
            ready!(ticket.poll(cx));
        }
        match this.waiting.take() {
            Some(waiting) => Poll::Ready(Ok(waiting.response)),
            None => Poll::Pending,
        }
    }
}
