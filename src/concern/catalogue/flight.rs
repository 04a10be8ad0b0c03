//! One look-up that many callers wait for.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use http::{HeaderMap, StatusCode};

use super::Tools;

/// Why a look-up gave no catalogue.
#[derive(Clone, Debug)]
pub(in crate::concern) struct Failure {
    /// The status for those who wait: that of the inner service where it refused, such as 401.
    pub(in crate::concern) status: StatusCode,
    /// Headers of that refusal that its reader needs.
    pub(in crate::concern) headers: HeaderMap,
    /// What went wrong.
    pub(in crate::concern) message: &'static str,
}

impl Failure {
    pub(in crate::concern) fn new(message: &'static str) -> Self {
        Self { status: StatusCode::BAD_GATEWAY, headers: HeaderMap::new(), message }
    }
}

/// A look-up under way.
#[derive(Debug)]
pub(in crate::concern) struct Flight {
    state: Mutex<State>,
    /// The store's generation when the question was put.
    pub(super) generation: u64,
}

#[derive(Debug)]
enum State {
    Pending(Vec<Waker>),
    Done(Result<Arc<Tools>, Failure>),
    /// The one that asked went away.
    Abandoned,
}

/// What became of a look-up that somebody waited for.
pub(in crate::concern) enum Landed {
    Done(Result<Arc<Tools>, Failure>),
    Abandoned,
}

impl Flight {
    pub(super) fn is_pending(&self) -> bool {
        matches!(*self.lock(), State::Pending(_))
    }

    pub(in crate::concern) fn poll(&self, cx: &mut Context<'_>) -> Poll<Landed> {
        match &mut *self.lock() {
            State::Pending(wakers) => {
                if !wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
                    wakers.push(cx.waker().clone());
                }
                Poll::Pending
            }
            State::Done(result) => Poll::Ready(Landed::Done(result.clone())),
            State::Abandoned => Poll::Ready(Landed::Abandoned),
        }
    }

    fn land(&self, state: State) {
        let before = mem::replace(&mut *self.lock(), state);
        if let State::Pending(wakers) = before {
            wakers.into_iter().for_each(Waker::wake);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The duty to finish a look-up. Dropped before, it passes to one of those who wait.
#[derive(Debug)]
pub(in crate::concern) struct Lead {
    pub(super) flight: Arc<Flight>,
}

impl Lead {
    pub(super) fn start(generation: u64) -> (Self, Arc<Flight>) {
        let flight = Arc::new(Flight { state: Mutex::new(State::Pending(Vec::new())), generation });
        (Self { flight: Arc::clone(&flight) }, flight)
    }

    pub(super) fn land(self, result: Result<Arc<Tools>, Failure>) {
        self.flight.land(State::Done(result));
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        if self.flight.is_pending() {
            self.flight.land(State::Abandoned);
        }
    }
}
