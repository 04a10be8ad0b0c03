//! The bodies that the layers hand inwards and outwards.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use super::collect::Collected;
use super::head;
use super::recorder::Recorder;
use super::stream::Events;
use crate::concern::Concern;
use crate::exchange::End;
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

    /// The same with other bytes in place of those that were read. Digests in its trailers do not hold for them.
    pub(super) fn rewritten(self, frames: Frames) -> Self {
        match self.kind {
            Request::Read { mut read } => {
                read.trailers.iter_mut().for_each(|trailers| head::unsettle(trailers));
                Self::read(Collected { frames, ..read })
            }
            Request::Through { .. } => self,
        }
    }
}

/// An empty body, which some middleware needs to make a request of its own.
impl<B: Body> Default for RequestBody<B> {
    fn default() -> Self {
        Self::read(Frames::default().into())
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
        recorder: Option<Box<Recorder>>,
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
        // Boxed, since all other bodies would have room for it.
        Events { events: Box<Events<B, C>> },
        // All that came before the error is handed on.
        Failing { error: Option<B::Error> },
    }
}

impl<B: Body, C> ResponseBody<B, C> {
    fn of(kind: Response<B, C>) -> Self {
        Self { kind, recorder: None }
    }

    /// The same, followed to its end.
    pub(super) fn recorded(self, recorder: Box<Recorder>) -> Self {
        Self { recorder: Some(recorder), ..self }
    }

    pub(super) fn through(body: B) -> Self {
        Self::of(Response::Through { body })
    }

    pub(super) fn resumed(frames: Frames, body: Pin<Box<B>>) -> Self {
        Self::of(Response::Resumed { frames, body })
    }

    pub(super) fn read(read: Collected<B::Error>) -> Self {
        Self::of(Response::Read { read })
    }

    pub(super) fn events(events: Events<B, C>) -> Self {
        Self::of(Response::Events { events: Box::new(events) })
    }
}

impl<B: Body, C> Response<B, C> {
    fn is_end(&self) -> bool {
        match self {
            Self::Through { body } => body.is_end_stream(),
            Self::Resumed { frames, body } => frames.is_empty() && body.is_end_stream(),
            Self::Read { read } => read.is_end(),
            Self::Events { events } => events.is_end(),
            Self::Failing { error } => error.is_none(),
        }
    }
}

/// An empty body, which middleware outside needs to make an answer of its own, such as `tower_http`'s `Timeout` and `Cors`.
impl<B: Body, C: Concern> Default for ResponseBody<B, C> {
    fn default() -> Self {
        Self::read(Frames::default().into())
    }
}

impl<B, C> Body for ResponseBody<B, C>
where
    B: Body<Data = Bytes>,
    C: Concern,
{
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.as_mut().project();
        // What passes unread is not even moved.
        if let (ResponseProjection::Through { body }, None) = (this.kind.project(), this.recorder) {
            return body.poll_frame(cx);
        }
        self.poll_known(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.kind.is_end()
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
            Response::Events { .. } | Response::Failing { .. } => SizeHint::default(),
        }
    }
}

impl<B, C> ResponseBody<B, C>
where
    B: Body<Data = Bytes>,
    C: Concern,
{
    /// Polls for a frame that is looked at here, or counted.
    // Out of line, so that what passes unread is cheap to poll.
    #[inline(never)]
    fn poll_known(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let mut this = self.project();
        // Polled for each event, and often in vain: where nothing is counted, what it gives is not moved once more. It keeps an
        // error back itself.
        if let (ResponseProjection::Events { events }, None) = (this.kind.as_mut().project(), &this.recorder) {
            return events.poll_frame(cx);
        }
        let was_held = matches!(*this.kind, Response::Read { .. });
        let polled = match this.kind.as_mut().project() {
            ResponseProjection::Through { body } => body.poll_frame(cx),
            ResponseProjection::Resumed { frames, body } => match frames.next() {
                Some(piece) => Poll::Ready(Some(Ok(Frame::data(piece)))),
                None => body.as_mut().poll_frame(cx),
            },
            ResponseProjection::Read { read } => Poll::Ready(read.next_frame()),
            ResponseProjection::Events { events } => events.poll_frame(cx),
            ResponseProjection::Failing { error } => Poll::Ready(error.take().map(Err)),
        };
        // Where a body fails, hyper's server drops what it has not sent yet, the head with it. What we held until now
        // goes out while there is nothing more to be had.
        if was_held && let Poll::Ready(Some(Err(error))) = polled {
            this.kind.set(Response::Failing { error: Some(error) });
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if let (Some(recorder), Poll::Ready(frame)) = (this.recorder, &polled) {
            match frame {
                Some(Ok(frame)) => {
                    recorder.sent(frame.data_ref().map_or(0, Bytes::len));
                    if frame.is_trailers() || this.kind.is_end() {
                        recorder.finish(End::Complete);
                    }
                }
                Some(Err(_)) => recorder.finish(End::Failed),
                None => recorder.finish(End::Complete),
            }
        }
        polled
    }
}
