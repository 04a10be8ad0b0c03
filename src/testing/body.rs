//! Bodies that a test writes down, or sends while it runs.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Frame, SizeHint};

use super::channel::{self, Receiver, Sender};
use super::cuts::cut_at;
use super::delay::Delay;

/// A body as a test has it: frames, then its end, trailers, an error, or nothing ever more.
///
/// It is the body of a [`TestClient`](super::TestClient)'s requests and of a [`FakeServer`](super::FakeServer)'s
/// answers. It needs no runtime. Clones are read apart, but for a [`channel`](Self::channel), whose clones share what
/// is sent.
///
/// ```
/// use bytes::Bytes;
/// use http_body_util::BodyExt;
/// use tower_mcp_apps::testing::Body;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut body = Body::frames(["{\"id\":1,", "\"resu"]).then_fail();
/// assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "{\"id\":1,");
/// assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "\"resu");
/// assert_eq!(body.frame().await.unwrap().unwrap_err().to_string(), "the body broke off, as the test has it");
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Body {
    steps: VecDeque<Step>,
    channel: Option<Receiver>,
    /// How much is left of the length that it says it has.
    length: Option<u64>,
    pace: Option<Duration>,
    delay: Option<Delay>,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Data(Bytes),
    Trailers(HeaderMap),
    Fail,
    Hang,
}

/// How a body fails that a test lets fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenOff;

impl fmt::Display for BrokenOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the body broke off, as the test has it")
    }
}

impl std::error::Error for BrokenOff {}

impl Body {
    /// A body in one frame, which knows its length; in none, where there are no bytes.
    pub fn new(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        let length = bytes.len() as u64;
        Self::frames((!bytes.is_empty()).then_some(bytes)).of_length(length)
    }

    /// A body in these frames, which does not know its length. Frames may be empty.
    pub fn frames<F: Into<Bytes>>(frames: impl IntoIterator<Item = F>) -> Self {
        Self { steps: frames.into_iter().map(|frame| Step::Data(frame.into())).collect(), ..Self::default() }
    }

    /// A body whose frames are sent while the test runs. It ends where the sender is dropped.
    ///
    /// ```
    /// use http_body_util::BodyExt;
    /// use tower_mcp_apps::testing::Body;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let (sender, mut body) = Body::channel();
    /// sender.send_data("data: 1\n\n");
    /// assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "data: 1\n\n");
    /// drop(body);
    /// assert!(sender.is_closed());
    /// # }
    /// ```
    pub fn channel() -> (Sender, Self) {
        let (sender, receiver) = channel::new();
        (sender, Self { channel: Some(receiver), ..Self::default() })
    }

    /// The same, then trailers.
    pub fn trailers(self, trailers: HeaderMap) -> Self {
        self.then(Step::Trailers(trailers))
    }

    /// The same, then [`BrokenOff`] in the place of an end.
    pub fn then_fail(self) -> Self {
        self.then(Step::Fail)
    }

    /// The same, then nothing: neither an end nor an error.
    pub fn then_hang(self) -> Self {
        self.then(Step::Hang)
    }

    /// The same, which says that it has this length, be it true or not.
    pub fn of_length(mut self, length: u64) -> Self {
        self.length = Some(length);
        self
    }

    /// The same, with so much time before each frame.
    pub fn slow(mut self, pace: Duration) -> Self {
        self.pace = Some(pace);
        self
    }

    /// The same bytes in frames that end at these places.
    pub(super) fn cut_at(self, places: &[usize]) -> Self {
        self.recut(|whole| cut_at(whole, places))
    }

    /// The same bytes in other frames; of a channel, what is there already.
    fn recut(mut self, cut: impl FnOnce(&Bytes) -> Vec<Bytes>) -> Self {
        let whole: Bytes = self.data().concat().into();
        if whole.is_empty() {
            return self;
        }
        let others = self.steps.drain(..).filter(|step| !matches!(step, Step::Data(_)));
        self.steps = cut(&whole).into_iter().map(Step::Data).chain(others.collect::<Vec<_>>()).collect();
        self
    }

    /// The first bytes alone, in the frames that they are in.
    pub(super) fn only(mut self, mut bytes: usize) -> Self {
        let mut steps = VecDeque::new();
        for mut frame in self.data() {
            frame.truncate(bytes);
            bytes -= frame.len();
            steps.push_back(Step::Data(frame));
        }
        steps.retain(|step| !matches!(step, Step::Data(frame) if frame.is_empty()));
        self.steps = steps;
        self
    }

    /// How many bytes are there already.
    pub(super) fn len(&self) -> usize {
        self.data().iter().map(Bytes::len).sum()
    }

    /// The data that are there already.
    pub(super) fn data_so_far(&self) -> Bytes {
        match &*self.data() {
            [one] => one.clone(),
            frames => frames.concat().into(),
        }
    }

    fn data(&self) -> Vec<Bytes> {
        let data = self.steps.iter().filter_map(|step| if let Step::Data(data) = step { Some(data) } else { None });
        data.cloned().collect()
    }

    fn then(mut self, step: Step) -> Self {
        self.steps.push_back(step);
        self
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Step>> {
        if let Some(step) = self.steps.pop_front() {
            return Poll::Ready(Some(step));
        }
        match &self.channel {
            Some(channel) => channel.poll_next(cx),
            None => Poll::Ready(None),
        }
    }
}

impl Clone for Body {
    fn clone(&self) -> Self {
        Self {
            steps: self.steps.clone(),
            channel: self.channel.clone(),
            length: self.length,
            pace: self.pace,
            delay: None,
        }
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self::new(bytes)
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Self::new(bytes)
    }
}

impl From<&'static str> for Body {
    fn from(text: &'static str) -> Self {
        Self::new(text)
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        if let Some(pace) = self.pace {
            ready!(self.delay.get_or_insert_with(|| Delay::new(pace)).poll(cx));
        }
        let step = ready!(self.next(cx));
        self.delay = None;
        Poll::Ready(match step {
            None => None,
            Some(Step::Data(data)) => {
                self.length = self.length.map(|left| left.saturating_sub(data.len() as u64));
                Some(Ok(Frame::data(data)))
            }
            Some(Step::Trailers(trailers)) => Some(Ok(Frame::trailers(trailers))),
            Some(Step::Fail) => Some(Err(BrokenOff)),
            Some(Step::Hang) => {
                self.steps.push_front(Step::Hang);
                return Poll::Pending;
            }
        })
    }

    fn is_end_stream(&self) -> bool {
        self.steps.is_empty() && self.channel.as_ref().is_none_or(Receiver::is_over)
    }

    fn size_hint(&self) -> SizeHint {
        self.length.map_or_else(SizeHint::new, SizeHint::with_exact)
    }
}
