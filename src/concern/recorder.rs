//! Follows one exchange to its end, for the concern that keeps records.

use std::mem;
use std::sync::Arc;
use std::thread;
use std::time::{Instant, SystemTime};

use http::header::CONTENT_LENGTH;
use http::{Response, request};
use http_body::Body;

use super::Concern;
use super::service::Shared;
use crate::exchange::{Decision, End, McpContext, Record, session_hash};

/// Follows one exchange to its end: an answer's last byte, an error, or being dropped.
pub(super) struct Recorder {
    keeper: Arc<dyn Keeper>,
    started: Instant,
    // The messages of the exchange, once the request was read.
    records: Vec<Record>,
    blank: Record,
    length: Option<u64>,
    bytes: u64,
}

/// Who takes a record, without the type of the concern.
trait Keeper: Send + Sync {
    fn keep(&self, record: &Record);
}

impl<C: Concern> Keeper for Shared<C> {
    fn keep(&self, record: &Record) {
        self.concern.record(record);
    }
}

impl Recorder {
    /// Begins, where anybody keeps records. The head is the one that came, with its session tag.
    pub(super) fn begin<C: Concern>(shared: &Arc<Shared<C>>, parts: &request::Parts) -> Option<Box<Self>> {
        shared.concern.records().then(|| {
            let mut blank = Record::begun(SystemTime::now());
            blank.session = session_hash(&parts.headers);
            let keeper = Arc::clone(shared) as Arc<dyn Keeper>;
            let started = Instant::now();
            Box::new(Self { keeper, started, records: Vec::new(), blank, length: None, bytes: 0 })
        })
    }

    /// The request was judged. There is no context where it was refused unread.
    pub(super) fn judged(&mut self, context: Option<&McpContext>) {
        if let Some(context) = context {
            self.blank.hear(context);
        }
        let calls = context.map(McpContext::calls).unwrap_or_default();
        self.records = if calls.is_empty() {
            vec![self.blank.clone()]
        } else {
            calls.iter().map(|call| self.blank.of_call(call)).collect()
        };
    }

    /// The request goes on to the inner service.
    pub(super) fn forwarded(&mut self) {
        self.records.iter_mut().for_each(|record| record.is_forwarded = true);
    }

    /// The head of the answer, as it goes out.
    pub(super) fn answered<B: Body>(&mut self, response: &Response<B>) {
        let context = response.extensions().get::<McpContext>();
        let decision = response.extensions().get::<Decision>();
        for record in &mut self.records {
            record.status = Some(response.status());
            record.audience = context.map(|context| context.audience).or(record.audience);
            if let Some(decision) = decision {
                record.decide(decision);
            }
        }
        let length = response.headers().get(CONTENT_LENGTH);
        self.length = length.and_then(|length| length.to_str().ok()?.parse().ok());
        if response.body().is_end_stream() {
            self.finish(End::Complete);
        }
    }

    /// A piece of the answer's body was handed on.
    pub(super) fn sent(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
        // Servers stop to ask a body for more once its announced length is out.
        if self.length == Some(self.bytes) {
            self.finish(End::Complete);
        }
    }

    /// The exchange is over. Later ends are none.
    pub(super) fn finish(&mut self, end: End) {
        let duration = self.started.elapsed();
        for mut record in mem::take(&mut self.records) {
            record.duration = duration;
            record.bytes = self.bytes;
            record.end = end;
            if record.counts() {
                self.keeper.keep(&record);
            }
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.finish(if thread::panicking() { End::Failed } else { End::ClientGone });
    }
}
