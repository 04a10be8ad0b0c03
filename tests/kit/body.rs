//! Bodies made of the steps that a test writes down, or fed while it runs.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// How scripted bodies fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failed;

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the body failed as scripted")
    }
}

impl std::error::Error for Failed {}

/// The error that any body's error can become.
pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

impl Failed {
    /// An error that says what went wrong.
    fn was(error: impl Into<BoxError>) -> Self {
        assert!(!error.into().to_string().is_empty());
        Self
    }
}

/// A body that is no more than its script. It is over where its script is and its feed was dropped.
#[derive(Debug)]
pub(crate) struct Script {
    steps: UnboundedReceiver<Result<Frame<Bytes>, Failed>>,
    hint: SizeHint,
}

/// Feeds a [`Script`] while a test runs.
#[derive(Debug)]
pub(crate) struct Feed(UnboundedSender<Result<Frame<Bytes>, Failed>>);

impl Script {
    /// A body that is fed while the test runs.
    pub(crate) fn live() -> (Feed, Self) {
        let (feed, steps) = unbounded_channel();
        (Feed(feed), Self { steps, hint: SizeHint::new() })
    }

    /// A body in one frame, that knows its length.
    pub(crate) fn whole(body: impl Into<Bytes>) -> Self {
        let body = body.into();
        let length = body.len() as u64;
        let mut script = if body.is_empty() { Self::frames([]) } else { Self::frames([body]) };
        script.hint = SizeHint::with_exact(length);
        script
    }

    /// A body in these frames.
    pub(crate) fn frames(frames: impl IntoIterator<Item = Bytes>) -> Self {
        let (feed, script) = Self::live();
        frames.into_iter().for_each(|frame| feed.data(frame));
        script
    }

    /// A body in these frames, then trailers.
    pub(crate) fn trailed(frames: impl IntoIterator<Item = Bytes>, trailers: HeaderMap) -> Self {
        let (feed, script) = Self::live();
        frames.into_iter().for_each(|frame| feed.data(frame));
        feed.trailers(trailers);
        script
    }

    /// A body in these frames, then an error.
    pub(crate) fn failing(frames: impl IntoIterator<Item = Bytes>) -> Self {
        let (feed, script) = Self::live();
        frames.into_iter().for_each(|frame| feed.data(frame));
        feed.fail();
        script
    }

    /// The same body, that knows its length.
    pub(crate) fn of_length(mut self, length: u64) -> Self {
        self.hint = SizeHint::with_exact(length);
        self
    }
}

impl Feed {
    pub(crate) fn data(&self, frame: impl Into<Bytes>) {
        // A body that was dropped meanwhile is what some tests are about.
        let _ = self.0.send(Ok(Frame::data(frame.into())));
    }

    pub(crate) fn trailers(&self, trailers: HeaderMap) {
        let _ = self.0.send(Ok(Frame::trailers(trailers)));
    }

    pub(crate) fn fail(&self) {
        let _ = self.0.send(Err(Failed));
    }

    /// Whether the body was dropped.
    pub(crate) fn is_dropped(&self) -> bool {
        self.0.is_closed()
    }

    /// Waits until the body is dropped.
    pub(crate) async fn dropped(&self) {
        self.0.closed().await;
    }
}

impl Default for Script {
    fn default() -> Self {
        Self::frames([])
    }
}

impl Body for Script {
    type Data = Bytes;
    type Error = Failed;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Failed>>> {
        let step = self.steps.poll_recv(cx);
        if let (Poll::Ready(Some(Ok(frame))), Some(left)) = (&step, self.hint.exact()) {
            let length = frame.data_ref().map_or(0, Bytes::len) as u64;
            self.hint = SizeHint::with_exact(left - length);
        }
        step
    }

    fn is_end_stream(&self) -> bool {
        self.steps.is_closed() && self.steps.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        self.hint
    }
}

/// Reads a body to its end: its frames, trailers and error. Its hints must be true before every frame.
pub(crate) async fn drain<B>(body: B) -> (Vec<Bytes>, Option<HeaderMap>, Option<Failed>)
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    let mut body = Box::pin(body);
    let (mut frames, mut trailers, mut error) = (Vec::new(), None, None);
    let mut hints = Vec::new();
    loop {
        let is_over = body.is_end_stream();
        let read = frames.iter().map(Bytes::len).sum::<usize>() as u64;
        hints.push((read, body.size_hint()));
        let frame = body.frame().await;
        assert!(!is_over || frame.is_none(), "something came after the end");
        match frame {
            None => break,
            Some(Ok(frame)) => match frame.into_data() {
                Ok(data) => frames.push(data),
                Err(frame) => trailers = frame.into_trailers().ok(),
            },
            Some(Err(failure)) => {
                error = Some(Failed::was(failure));
                break;
            }
        }
    }
    let read = frames.iter().map(Bytes::len).sum::<usize>() as u64;
    for (before, hint) in hints {
        let rest = read - before;
        // A body that fails may promise what it could not keep.
        assert!(error.is_some() || hint.lower() <= rest, "{hint:?} of {rest}");
        assert!(hint.upper().is_none_or(|upper| rest <= upper), "{hint:?} of {rest}");
    }
    (frames, trailers, error)
}
