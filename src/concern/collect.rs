//! A body read into memory, and given on as it came.

use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
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

/// Room that is made for bytes which a body only says that it will bring.
const MOST_AHEAD: usize = 1 << 20;

/// Reads a body up to a limit.
///
/// The frames stay as they came, but thousands of tiny ones are joined, and those that are to be read together in the end may be
/// [joined](Self::joining) as they come.
#[derive(Debug)]
pub(crate) struct Collect {
    pub(crate) frames: Frames,
    /// How many bytes may still come.
    left: usize,
    loose: Loose,
    joins: bool,
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
        Self {
            frames: Frames::default(),
            left: limit,
            loose: Loose::default(),
            joins: false,
            sniffed: Sniff::Unknown,
            sniffed_at: 0,
        }
    }

    /// Where the body says how long it is, all its frames become one as they come: each is copied once, as it would be in the end,
    /// but whoever reads the body from a socket has the memory of each back for the next.
    pub(crate) fn joining(self) -> Self {
        Self { joins: true, ..self }
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
        // What says that it is over need not be asked again.
        if body.is_end_stream() {
            return Poll::Ready(Step::Whole(None));
        }
        Poll::Ready(match ready!(body.as_mut().poll_frame(cx)) {
            None => Step::Whole(None),
            Some(Err(error)) => Step::Failed(error),
            Some(Ok(frame)) => match frame.into_data() {
                Ok(piece) => {
                    let left = self.left.checked_sub(piece.len());
                    self.left = left.unwrap_or_default();
                    let behind = (self.joins && left.is_some()).then(|| body.size_hint().exact()).flatten();
                    match behind.and_then(|behind| usize::try_from(behind).ok()) {
                        Some(behind) if !self.frames.is_empty() => self.join(&piece, behind.min(MOST_AHEAD)),
                        _ => self.keep(piece),
                    }
                    if left.is_some() { Step::More } else { Step::TooLarge }
                }
                Err(frame) => Step::Whole(frame.into_trailers().ok().map(Box::new)),
            },
        })
    }

    /// Makes one frame of what came and this piece, with room for what comes behind it.
    fn join(&mut self, piece: &[u8], behind: usize) {
        let before = mem::take(&mut self.frames).to_bytes();
        let mut whole = before.try_into_mut().unwrap_or_else(|shared| {
            let mut copy = BytesMut::with_capacity(shared.len() + piece.len() + behind);
            copy.extend_from_slice(&shared);
            copy
        });
        whole.reserve(piece.len() + behind);
        whole.extend_from_slice(piece);
        self.frames.push(whole.freeze());
    }

    fn keep(&mut self, piece: Bytes) {
        let joins = self.loose.count(&piece);
        self.frames.push(piece);
        if let Some(pieces) = joins {
            self.frames.join_last(pieces);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::pin::{Pin, pin};
    use std::task::{Context, Poll, Waker};

    use bytes::Bytes;
    use http_body::{Body, Frame, SizeHint};

    use super::{Collect, Step};
    use crate::frames::Frames;

    /// Says that this much more comes behind its pieces than does.
    struct Pieces(Frames, Option<u64>);

    impl Body for Pieces {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Ready(self.0.next().map(|piece| Ok(Frame::data(piece))))
        }

        fn size_hint(&self) -> SizeHint {
            self.1.map_or_else(SizeHint::new, |more| SizeHint::with_exact(self.0.len() as u64 + more))
        }
    }

    fn read(mut collect: Collect, pieces: &[Bytes], more: Option<u64>) -> (Vec<Bytes>, bool) {
        let mut body = pin!(Pieces(pieces.to_vec().into(), more));
        loop {
            match collect.poll_step(body.as_mut(), &mut Context::from_waker(Waker::noop())) {
                Poll::Ready(Step::More) => {}
                Poll::Ready(step) => return (collect.frames.collect(), matches!(step, Step::Whole(None))),
                Poll::Pending => unreachable!("all is there"),
            }
        }
    }

    /// One piece, after which it says that it is over.
    struct Last(Option<Bytes>);

    impl Body for Last {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            let piece = self.0.take().expect("it said that it is over");
            Poll::Ready(Some(Ok(Frame::data(piece))))
        }

        fn is_end_stream(&self) -> bool {
            self.0.is_none()
        }
    }

    #[test]
    fn a_body_that_says_it_is_over_is_not_asked_again() {
        let mut body = pin!(Last(Some(Bytes::from_static(b"x"))));
        let mut collect = Collect::new(1);
        let mut step = || collect.poll_step(body.as_mut(), &mut Context::from_waker(Waker::noop()));
        assert!(matches!(step(), Poll::Ready(Step::More)));
        assert!(matches!(step(), Poll::Ready(Step::Whole(None))));
        assert_eq!(collect.frames.collect::<Vec<_>>(), ["x"]);
    }

    #[test]
    fn frames_of_a_known_length_become_one() {
        let source = Bytes::from((0..=u8::MAX).cycle().take(100_000).collect::<Vec<_>>());
        let mut rest = source.clone();
        let pieces = [30_000, 1, 29_999, 20_000, 20_000].map(|length| rest.split_to(length));
        for more in [0, 1, 5_000_000, u64::MAX - 100_000] {
            let (frames, is_whole) = read(Collect::new(usize::MAX).joining(), &pieces, Some(more));
            assert_eq!(frames, std::slice::from_ref(&source), "{more}");
            assert!(is_whole);
        }
        assert_eq!(read(Collect::new(usize::MAX).joining(), &pieces, None).0, pieces);
        assert_eq!(read(Collect::new(usize::MAX), &pieces, Some(0)).0, pieces);
        assert_eq!(read(Collect::new(usize::MAX).joining(), &pieces[..1], Some(0)).0[0].as_ptr(), source.as_ptr());
        // What is over the limit is kept, too: it may have to go on.
        let (frames, is_whole) = read(Collect::new(60_000).joining(), &pieces, Some(0));
        assert_eq!((frames.concat(), is_whole), (source[..80_000].to_vec(), false));
    }
}
