//! Answers that wait until a test lets them go.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Holds back answers until a test lets them go: for what happens while a server has not answered yet.
///
/// Clones are the same.
///
/// ```
/// use serde_json::json;
/// use tower_mcp_apps::testing::{FakeServer, Hold, TestClient};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let hold = Hold::new();
/// let held = hold.clone();
/// let server = FakeServer::new().tool(json!({"name": "slow"})).tamper("tools/call", move |reply| reply.held(&held));
///
/// let mut client = TestClient::new(server.clone());
/// let call = tokio::spawn(async move { client.call("slow", json!({})).await });
/// while hold.waiting() == 0 {
///     tokio::task::yield_now().await;
/// }
/// assert_eq!(server.calls(), ["slow"]); // It is there, and has no answer.
/// hold.release(1);
/// assert!(call.await.unwrap().is_ok());
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Hold(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// So many more may go.
    free: usize,
    is_open: bool,
    tickets: u64,
    waiting: BTreeMap<u64, Waker>,
}

impl Hold {
    /// One that lets nothing go.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets so many answers go, be they there already or still to come.
    pub fn release(&self, answers: usize) {
        self.change(|state| state.free = state.free.saturating_add(answers));
    }

    /// Lets all answers go, from now on.
    pub fn open(&self) {
        self.change(|state| state.is_open = true);
    }

    /// How many answers wait.
    pub fn waiting(&self) -> usize {
        self.state().waiting.len()
    }

    pub(super) fn ticket(&self) -> Ticket {
        let mut state = self.state();
        state.tickets += 1;
        Ticket { hold: self.clone(), number: state.tickets }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state();
        change(&mut state);
        // Who is not let go comes back.
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_values().for_each(Waker::wake);
    }
}

/// An answer's place in a [`Hold`].
#[derive(Debug)]
pub(super) struct Ticket {
    hold: Hold,
    number: u64,
}

impl Ticket {
    pub(super) fn poll(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.hold.state();
        if !state.is_open && state.free == 0 {
            state.waiting.insert(self.number, cx.waker().clone());
            return Poll::Pending;
        }
        if !state.is_open {
            state.free -= 1;
        }
        state.waiting.remove(&self.number);
        Poll::Ready(())
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.hold.state().waiting.remove(&self.number);
    }
}
