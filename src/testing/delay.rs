//! Waiting without a runtime.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// Is over at a moment. A thread that sleeps wakes the task, so that it works on any runtime and on none.
#[derive(Debug)]
pub(super) struct Delay {
    due: Instant,
    /// Of the task that polled last; the thread is there once this is.
    waker: Option<Arc<Mutex<Waker>>>,
}

impl Delay {
    pub(super) fn new(length: Duration) -> Self {
        Self { due: Instant::now() + length, waker: None }
    }

    pub(super) fn poll(&mut self, cx: &Context<'_>) -> Poll<()> {
        let left = self.due.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Poll::Ready(());
        }
        if let Some(waker) = &self.waker {
            waker.lock().unwrap_or_else(PoisonError::into_inner).clone_from(cx.waker());
            return Poll::Pending;
        }
        let waker = Arc::new(Mutex::new(cx.waker().clone()));
        self.waker = Some(waker.clone());
        thread::spawn(move || {
            thread::sleep(left);
            waker.lock().unwrap_or_else(PoisonError::into_inner).wake_by_ref();
        });
        Poll::Pending
    }
}
