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
    }
}

impl<B> FakeResponse<B> {
    pub(super) fn new(server: FakeServer, request: Request<B>) -> Self {
        let (head, body) = request.into_parts();
        Self { server, head: Some(head), body, read: Collected::default() }
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
        // Without one it was answered, or never will be.
        if this.head.is_none() {
            return Poll::Pending;
        }
        ready!(this.read.poll_from(this.body, cx));
        let received = this.head.take().map(|head| Received::new(head, std::mem::take(this.read)));
        match received.and_then(|received| this.server.answer(received)) {
            Some(response) => Poll::Ready(Ok(response)),
            None => Poll::Pending,
        }
    }
}
