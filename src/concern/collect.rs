//! A body read into memory, and given on as it came.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};

use crate::frames::{Frames, Loose};
use crate::sse::{Sniff, sniff};

/// A body that was read: the frames that came, its trailers, and the error that ended it, if one did.
#[derive(Debug)]
pub(crate) struct Collected<E> {
    pub(crate) frames: Frames,
    // Boxed, since they are rare, and the futures and bodies of all exchanges have room for them.
    pub(crate) trailers: Option<Box<HeaderMap>>,
    pub(crate) error: Option<E>,
}

impl<E> From<Frames> for Collected<E> {
    fn from(frames: Frames) -> Self {
        Self { frames, trailers: None, error: None }
    }
}

impl<E> Collected<E> {
    /// The next frame of the body that this was.
    pub(crate) fn next_frame(&mut self) -> Option<Result<Frame<Bytes>, E>> {
        if let Some(piece) = self.frames.next() {
            return Some(Ok(Frame::data(piece)));
        }
        match self.trailers.take() {
            Some(trailers) => Some(Ok(Frame::trailers(*trailers))),
            None => self.error.take().map(Err),
        }
    }

    pub(crate) fn is_end(&self) -> bool {
        self.frames.is_empty() && self.trailers.is_none() && self.error.is_none()
    }

    pub(crate) fn size_hint(&self) -> SizeHint {
        let bytes = self.frames.len() as u64;
        if self.error.is_none() {
            return SizeHint::with_exact(bytes);
        }
        let mut hint = SizeHint::new();
        hint.set_lower(bytes);
        hint
    }
}

/// White space that may stand before the first byte that tells what a body is; more of it is not looked into again and again.
pub(super) const MOST_LEADING_SPACE: usize = 4096;

/// What the body is that begins with these frames.
pub(crate) fn sniff_frames(frames: &Frames) -> Sniff {
    // The first frame nearly always tells; only where it does not are they put together.
    match frames.first().map_or(Sniff::Unknown, |first| sniff(first)) {
        Sniff::Unknown => sniff(&frames.to_bytes()),
        sniffed => sniffed,
    }
}

/// Reads a body up to a limit.
///
/// The frames stay as they came, but thousands of tiny ones are joined.
#[derive(Debug)]
pub(crate) struct Collect {
    pub(crate) frames: Frames,
    /// How many bytes may still come.
    left: usize,
    loose: Loose,
    sniffed: Sniff,
    /// How many bytes there were when the body was last sniffed.
    sniffed_at: usize,
}

/// What reading came to.
pub(crate) enum Step<E> {
    /// One more piece is among the frames.
    More,
    /// The body is over.
    Whole(Option<Box<HeaderMap>>),
    /// The body failed.
    Failed(E),
    /// The body is longer than the limit. What came of it is among the frames.
    TooLarge,
}

impl Collect {
    pub(crate) fn new(limit: usize) -> Self {
        Self { frames: Frames::default(), left: limit, loose: Loose::default(), sniffed: Sniff::Unknown, sniffed_at: 0 }
    }

    /// Whether the body says that it is longer than the limit.
    pub(crate) fn is_announced_too_large<B: Body>(&self, body: &B) -> bool {
        body.size_hint().lower() > self.left as u64
    }

    /// What the body is, by what came of it.
    pub(crate) fn sniff(&mut self) -> Sniff {
        if self.sniffed == Sniff::Unknown && self.sniffed_at <= MOST_LEADING_SPACE {
            self.sniffed_at = self.frames.len();
            self.sniffed = sniff_frames(&self.frames);
        }
        self.sniffed
    }

    /// How many bytes may still come.
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    /// Reads one frame more.
    pub(crate) fn poll_step<B>(&mut self, mut body: Pin<&mut B>, cx: &mut Context<'_>) -> Poll<Step<B::Error>>
    where
        B: Body<Data = Bytes>,
    {
        Poll::Ready(match ready!(body.as_mut().poll_frame(cx)) {
            None => Step::Whole(None),
            Some(Err(error)) => Step::Failed(error),
            Some(Ok(frame)) => match frame.into_data() {
                Ok(piece) => {
                    let left = self.left.checked_sub(piece.len());
                    self.left = left.unwrap_or_default();
                    self.keep(piece);
                    if left.is_some() { Step::More } else { Step::TooLarge }
                }
                Err(frame) => Step::Whole(frame.into_trailers().ok().map(Box::new)),
            },
        })
    }

    fn keep(&mut self, piece: Bytes) {
        let joins = self.loose.count(&piece);
        self.frames.push(piece);
        if let Some(pieces) = joins {
            self.frames.join_last(pieces);
        }
    }
}
