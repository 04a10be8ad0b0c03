//! The concern: it looks at nothing, and hands on what the engine has counted.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::Sink;
use crate::concern::{Concern, sealed::Sealed};
use crate::exchange::{Exchange, Record};
use crate::lint::{Finding, Findings};
use crate::message::{Answer, Wants};

/// The concern: every record to its sink.
#[derive(Clone)]
pub struct Audit {
    sink: Arc<dyn Sink>,
}

impl Audit {
    /// Records go to this sink.
    pub fn new(sink: impl Sink) -> Self {
        Self { sink: Arc::new(sink) }
    }
}

impl fmt::Debug for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audit").finish_non_exhaustive()
    }
}

impl Sealed for Audit {}

/// What a [`Lint`](crate::lint::Lint) found goes to the sink of the records.
impl Findings for Audit {
    fn finding(&self, finding: &Finding) {
        self.sink.finding(finding);
    }
}

impl Concern for Audit {
    const GOES_BY_NAMES: bool = false;

    fn wants(&self, _: &Exchange, _: Answer) -> Wants {
        Wants::NOTHING
    }

    fn edits_alike(&self) -> bool {
        true
    }

    fn records(&self) -> bool {
        true
    }

    fn record(&self, record: &Record) {
        // A panic here would take the answer with it, or abort where the exchange is dropped by another panic. What a
        // sink broke by it is the sink's alone.
        drop(catch_unwind(AssertUnwindSafe(|| self.sink.record(record))));
    }
}
