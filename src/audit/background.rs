//! A sink that may be slow: records wait for it on a thread of its own.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::Sink;
use crate::exchange::Record;
use crate::lint::Finding;

/// How many records wait unless told otherwise: some megabytes at most.
const CAPACITY: usize = 4096;

/// Hands records to a sink on a thread of its own, so that a sink that is slow or fails never delays or loses an answer.
///
/// Records and findings wait in a queue. Where it is full, or the sink panicked at one, it is lost and
/// [counted](Self::lost). The thread ends once all clones are gone and the queue is empty; keep a clone to
/// [`flush`](Self::flush) before the program ends.
///
/// ```
/// use std::io::Write;
/// use std::time::Duration;
///
/// use tower_mcp_apps::audit::{AuditLayer, Background, Record};
///
/// # fn main() -> std::io::Result<()> {
/// let sink = Background::new(|record: &Record| {
///     let mut line = record.to_json();
///     line.push(b'\n');
///     // May block, for instance on a pipe.
///     let _ = std::io::stderr().write_all(&line);
/// })?;
/// let layer = AuditLayer::new(sink.clone());
/// // …
/// sink.flush(Duration::from_secs(1));
/// # drop(layer);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Background {
    queue: SyncSender<Item>,
    counts: Arc<Counts>,
}

/// What waits.
#[derive(Debug)]
enum Item {
    Record(Box<Record>),
    Finding(Finding),
}

#[derive(Debug, Default)]
struct Counts {
    lost: AtomicU64,
    // Records that were queued, or are about to be, and that the sink is not done with.
    waiting: Mutex<u64>,
    done: Condvar,
}

impl Background {
    /// Starts the thread. Up to 4,096 records wait.
    ///
    /// # Errors
    ///
    /// Where the system gives no thread.
    pub fn new(sink: impl Sink) -> io::Result<Self> {
        Self::with_capacity(sink, CAPACITY)
    }

    /// Starts the thread. Up to so many records wait, beside the one that the sink is at.
    ///
    /// # Errors
    ///
    /// Where the system gives no thread.
    pub fn with_capacity(sink: impl Sink, capacity: usize) -> io::Result<Self> {
        let (queue, items) = sync_channel(capacity);
        let counts = Arc::new(Counts::default());
        let shared = Arc::clone(&counts);
        thread::Builder::new().name("mcp-apps-audit".into()).spawn(move || drain(&sink, &items, &shared))?;
        Ok(Self { queue, counts })
    }

    /// How many records were lost: the queue was full, or the sink panicked at them.
    pub fn lost(&self) -> u64 {
        self.counts.lost.load(Ordering::Relaxed)
    }

    /// Waits until the sink is done with every record that it was given so far, at most this long. Blocks the thread.
    ///
    /// `false` where the time was up first.
    pub fn flush(&self, at_most: Duration) -> bool {
        let waiting = self.counts.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = self.counts.done.wait_timeout_while(waiting, at_most, |waiting| *waiting > 0);
        let (waiting, _) = outcome.unwrap_or_else(PoisonError::into_inner);
        *waiting == 0
    }

    fn push(&self, item: Item) {
        self.counts.more();
        if self.queue.try_send(item).is_err() {
            self.counts.less(true);
        }
    }
}

impl Sink for Background {
    fn record(&self, record: &Record) {
        self.push(Item::Record(Box::new(record.clone())));
    }

    fn finding(&self, finding: &Finding) {
        self.push(Item::Finding(finding.clone()));
    }
}

impl Counts {
    fn more(&self) {
        *self.waiting.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    }

    fn less(&self, is_lost: bool) {
        if is_lost {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        *self.waiting.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.done.notify_all();
    }
}

fn drain(sink: &impl Sink, items: &Receiver<Item>, counts: &Counts) {
    for item in items {
        let outcome = catch_unwind(AssertUnwindSafe(|| match &item {
            Item::Record(record) => sink.record(record),
            Item::Finding(finding) => sink.finding(finding),
        }));
        counts.less(outcome.is_err());
    }
}
