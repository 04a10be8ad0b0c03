//! What is remembered of what an upstream says.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;

use super::hear::hear;
use super::place::now;
use super::{Credentials, Place, Said, Store};
use crate::concern::{Concern, Preparation, sealed::Sealed};
use crate::exchange::{Asker, CallInfo, Exchange};
use crate::message::{Answer, EntryKind, Wants};
use crate::protocol::Method;

/// The number of the next concern.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A number that no other concern has.
pub(super) fn next_number() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The concern: remembers what an upstream says. Changes nothing.
#[derive(Clone)]
pub struct Capture {
    number: u64,
    upstream: Arc<str>,
    store: Arc<dyn Store>,
    credentials: Credentials,
    at_least: Duration,
    unsaid: Duration,
}

impl Capture {
    /// Remembers in this store what the upstream of this name says.
    pub fn new(upstream: impl Into<String>, store: impl Store) -> Self {
        Self {
            number: next_number(),
            upstream: upstream.into().into(),
            store: Arc::new(store),
            credentials: Credentials::of_request(),
            at_least: Duration::ZERO,
            unsaid: Duration::from_secs(24 * 60 * 60),
        }
    }

    /// Chooses how callers are told apart.
    #[must_use]
    pub fn credentials(mut self, credentials: Credentials) -> Self {
        self.credentials = credentials;
        self
    }

    /// The least time for which what was said is fresh, whatever the upstream says: as long as the aggregator keeps lists of its own. Zero
    /// unless chosen.
    #[must_use]
    pub fn at_least(mut self, time: Duration) -> Self {
        self.at_least = time;
        self
    }

    /// The time for which what was said is fresh where the upstream says nothing, as in the legacy era. A day unless chosen.
    #[must_use]
    pub fn where_unsaid(mut self, time: Duration) -> Self {
        self.unsaid = time;
        self
    }

    fn fresh_for(&self, ttl: Option<u64>) -> u64 {
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        ttl.unwrap_or_else(|| milliseconds(self.unsaid)).max(milliseconds(self.at_least))
    }
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture")
            .field("upstream", &self.upstream)
            .field("credentials", &self.credentials)
            .field("at_least", &self.at_least)
            .field("unsaid", &self.unsaid)
            .finish_non_exhaustive()
    }
}

impl Sealed for Capture {}

impl Concern for Capture {
    fn prepare(&self, exchange: &mut Exchange, parts: &Parts) -> Option<Preparation> {
        let whose = vec![self.credentials.whose(&self.upstream, parts)];
        exchange.askers.push(Asker { concern: self.number, whose, asked: now() });
        None
    }

    fn wants(&self, _: &Exchange, answer: Answer) -> Wants {
        match answer {
            Answer::Unknown => Wants::WHOLE,
            Answer::To(Method::ToolsList | Method::ResourcesList | Method::TemplatesList | Method::ResourcesRead) => {
                Wants::WHOLE
            }
            Answer::To(_) => Wants::NOTHING,
        }
    }

    fn whole(&self, exchange: &Exchange, answer: Answer, call: Option<&CallInfo>, message: &[u8]) {
        let Some(asker) = exchange.asker(self.number) else { return };
        let Some(whose) = asker.whose.first().copied().flatten() else { return };
        // What is said while a request is handled is not older than it, however clocks jump.
        let at = now().max(asker.asked);
        for heard in hear(message, answer) {
            let place = match (heard.kind, call.and_then(CallInfo::uri)) {
                (EntryKind::Contents, Some(uri)) => Place::contents(whose, uri),
                (EntryKind::Contents, None) => continue,
                (kind, _) => Place::list(whose, kind),
            };
            let fresh_for = self.fresh_for(heard.ttl);
            let said = heard.entries.into_iter().map(|(entry, text)| {
                let said = Said { text: Bytes::from(text), at, fresh_for };
                (entry, said)
            });
            self.store.remember(&place, said.filter(|(_, said)| said.can_be_put_back()).collect());
        }
    }
}
