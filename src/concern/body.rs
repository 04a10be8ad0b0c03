//! The bodies that the layers hand inwards and outwards.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use super::collect::Collected;
use super::stream::Events;
use crate::concern::Concern;
use crate::frames::Frames;

pin_project! {
    /// The request body that the inner service gets: the caller's own, or what was read of it, frame by frame as it came.
    ///
    /// Its error is the caller's body's.
    pub struct RequestBody<B>
    where
        B: Body,
    {
        #[pin]
        kind: Request<B>,
    }
}

pin_project! {
    #[project = RequestProjection]
    enum Request<B>
    where
        B: Body,
    {
        Through { #[pin] body: B },
        Read { read: Collected<B::Error> },
    }
}

impl<B: Body> RequestBody<B> {
    pub(super) fn through(body: B) -> Self {
        Self { kind: Request::Through { body } }
    }

    pub(super) fn read(read: Collected<B::Error>) -> Self {
        Self { kind: Request::Read { read } }
    }
}

impl<B> Body for RequestBody<B>
where
    B: Body<Data = Bytes>,
{
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        match self.project().kind.project() {
            RequestProjection::Through { body } => body.poll_frame(cx),
            RequestProjection::Read { read } => Poll::Ready(read.next_frame()),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Request::Through { body } => body.is_end_stream(),
            Request::Read { read } => read.is_end(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Request::Through { body } => body.size_hint(),
            Request::Read { read } => read.size_hint(),
        }
    }
}

pin_project! {
    /// The response body that the caller gets: the inner service's own, an edited one, or a stream that is edited event by event.
    ///
    /// Its error is the inner service's body's.
    pub struct ResponseBody<B, C>
    where
        B: Body,
    {
        #[pin]
        kind: Response<B, C>,
    }
}

pin_project! {
    #[project = ResponseProjection]
    enum Response<B, C>
    where
        B: Body,
    {
        Through { #[pin] body: B },
        // What was read of a body that turned out not to be ours, then the rest of it.
        Resumed { frames: Frames, body: Pin<Box<B>> },
        Read { read: Collected<B::Error> },
        Events { events: Events<B, C> },
    }
}

impl<B: Body, C> ResponseBody<B, C> {
    pub(super) fn through(body: B) -> Self {
        Self { kind: Response::Through { body } }
    }

    pub(super) fn resumed(frames: Frames, body: Pin<Box<B>>) -> Self {
        Self { kind: Response::Resumed { frames, body } }
    }

    pub(super) fn read(read: Collected<B::Error>) -> Self {
        Self { kind: Response::Read { read } }
    }

    pub(super) fn events(events: Events<B, C>) -> Self {
        Self { kind: Response::Events { events } }
    }
}

impl<B, C> Body for ResponseBody<B, C>
where
    B: Body<Data = Bytes>,
    C: Concern,
{
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        match self.project().kind.project() {
            ResponseProjection::Through { body } => body.poll_frame(cx),
            ResponseProjection::Resumed { frames, body } => match frames.next() {
                Some(piece) => Poll::Ready(Some(Ok(Frame::data(piece)))),
                None => body.as_mut().poll_frame(cx),
            },
            ResponseProjection::Read { read } => Poll::Ready(read.next_frame()),
            ResponseProjection::Events { events } => events.poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Response::Through { body } => body.is_end_stream(),
            Response::Resumed { frames, body } => frames.is_empty() && body.is_end_stream(),
            Response::Read { read } => read.is_end(),
            Response::Events { events } => events.is_end(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Response::Through { body } => body.size_hint(),
            Response::Resumed { frames, body } => {
                let (read, rest) = (frames.len() as u64, body.size_hint());
                let mut hint = SizeHint::new();
                hint.set_lower(rest.lower().saturating_add(read));
                if let Some(upper) = rest.upper().and_then(|upper| upper.checked_add(read)) {
                    hint.set_upper(upper);
                }
                hint
            }
            Response::Read { read } => read.size_hint(),
            Response::Events { .. } => SizeHint::default(),
        }
    }
}
