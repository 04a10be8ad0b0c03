//! What is sent to a body while a test runs.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::HeaderMap;

use super::body::Step;

/// Sends to a [`Body::channel`](super::Body::channel), and sees when the body is dropped.
///
/// What is sent to a body that is gone is lost without notice.
#[derive(Debug)]
pub struct Sender(Arc<Shared>);

/// The body's end. The channel is closed when its last clone goes.
#[derive(Clone, Debug)]
pub(super) struct Receiver(Arc<Held>);

#[derive(Debug)]
struct Held(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    steps: VecDeque<Step>,
    /// The sender is gone.
    is_over: bool,
    /// The body is gone.
    is_closed: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

pub(super) fn new() -> (Sender, Receiver) {
    let shared = Arc::<Shared>::default();
    (Sender(shared.clone()), Receiver(Arc::new(Held(shared))))
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what the reader sees, and wakes it.
    fn tell_reader(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state();
        change(&mut state);
        let reader = state.reader.take();
        drop(state);
        reader.into_iter().for_each(Waker::wake);
    }
}

impl Sender {
    /// Sends a frame.
    pub fn send_data(&self, data: impl Into<Bytes>) {
        self.send(Step::Data(data.into()));
    }

    /// Sends trailers.
    pub fn send_trailers(&self, trailers: HeaderMap) {
        self.send(Step::Trailers(trailers));
    }

    /// Lets the body fail with [`BrokenOff`](super::BrokenOff).
    pub fn abort(&self) {
        self.send(Step::Fail);
    }

    /// Whether the body is gone.
    pub fn is_closed(&self) -> bool {
        self.0.state().is_closed
    }

    /// Waits until the body is gone.
    pub async fn closed(&self) {
        poll_fn(|cx| {
            let mut state = self.0.state();
            state.writer = Some(cx.waker().clone());
            if state.is_closed { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    fn send(&self, step: Step) {
        self.0.tell_reader(|state| {
            if !state.is_closed {
                state.steps.push_back(step);
            }
        });
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.0.tell_reader(|state| state.is_over = true);
    }
}

impl Receiver {
    pub(super) fn poll_next(&self, cx: &Context<'_>) -> Poll<Option<Step>> {
        let mut state = self.0.0.state();
        match state.steps.pop_front() {
            Some(step) => Poll::Ready(Some(step)),
            None if state.is_over => Poll::Ready(None),
            None => {
                state.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    pub(super) fn is_over(&self) -> bool {
        let state = self.0.0.state();
        state.is_over && state.steps.is_empty()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.is_closed = true;
        state.steps.clear();
        let writer = state.writer.take();
        drop(state);
        writer.into_iter().for_each(Waker::wake);
    }
}
