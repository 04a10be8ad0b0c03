//! Where catalogues are kept: bounded, and for a short time.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use http::request::Parts;

use super::key::{Hashed, Key, Keys, Secrets};
use super::{Failure, Flight, Lead, LookUp, Tools};
use crate::exchange::McpContext;
use crate::message::MetaTools;

/// How often a server is asked again for a name that it did not list.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// The most callers whose catalogues are kept.
const MOST_ENTRIES: usize = 1024;

/// The most bytes that all catalogues together take, roughly.
const MOST_BYTES: usize = 16 << 20;

/// The longest that a catalogue is fresh, whatever a deployer chooses, since clocks end: a hundred years.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// The catalogues of one service, shared by its clones.
#[derive(Debug)]
pub(in crate::concern) struct Store {
    secrets: Secrets,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    slots: HashMap<Key, Slot, BuildHasherDefault<Hashed>>,
    bytes: usize,
    /// Counts the changes that the server told of: an answer from before one is not kept.
    generation: u64,
}

#[derive(Debug, Default)]
struct Slot {
    tools: Option<(Arc<Tools>, Instant)>,
    flight: Option<Arc<Flight>>,
}

/// What a look-up found, on all its pages.
pub(in crate::concern) struct Catalogue {
    pub(in crate::concern) tools: Arc<Tools>,
    pub(in crate::concern) fresh_for: Duration,
    /// Whether it is the same for all callers.
    pub(in crate::concern) is_public: bool,
}

/// What is found for a request.
pub(in crate::concern) enum Found {
    /// A fresh catalogue.
    Tools(Arc<Tools>),
    /// Somebody else is asking.
    Wait(Arc<Flight>),
    /// The caller has to ask: for everything, or for what is behind meta-tools beyond this, which is fresh so long.
    Ask(Lead, Option<(Arc<Tools>, Duration)>),
}

impl Store {
    pub(in crate::concern) fn new() -> Self {
        Self { secrets: Secrets::new(), kept: Mutex::default() }
    }

    /// The keys of a request whose first call declares these capabilities in its `_meta` (their JSON text).
    pub(in crate::concern) fn keys(
        &self,
        parts: &Parts,
        context: &McpContext,
        capabilities: Option<&[u8]>,
        options: &LookUp,
    ) -> Keys {
        self.secrets.keys(parts, context, capabilities, options)
    }

    /// The catalogue for a request that names these tools.
    pub(in crate::concern) fn find(
        &self,
        keys: &Keys,
        context: &McpContext,
        meta_tools: &MetaTools,
        now: Instant,
    ) -> Found {
        let mut kept = self.lock();
        let asks_behind = meta_tools.catalogue().is_some();
        // One by one they are asked for below.
        let by_lists = meta_tools.catalogue().is_none_or(|tool| tool.argument.is_none());
        let behind = || context.called_through().filter(|_| by_lists);
        let names_all = |tools: &Tools| context.called_tools().chain(behind()).all(|name| tools.find(name).is_some());
        let mut base = None;
        for key in [keys.private, keys.public] {
            let fresh = kept.slots.get(&key).and_then(|slot| slot.tools.as_ref()).filter(|(_, until)| now < *until);
            if let Some((tools, until)) = fresh
                && (names_all(tools) || now < tools.asked() + ASK_AGAIN)
            {
                if !asks_behind || tools.is_listed_behind() || tools.missing(context).is_empty() {
                    return Found::Tools(Arc::clone(tools));
                }
                base = base.or_else(|| Some((Arc::clone(tools), until.duration_since(tools.asked()))));
            }
        }
        let generation = kept.generation;
        let slot = kept.slots.entry(keys.flight).or_default();
        // What was asked before the server told of a change says nothing about now.
        let joins = |flight: &&Arc<Flight>| flight.generation == generation && flight.is_pending();
        if let Some(flight) = slot.flight.as_ref().filter(joins) {
            return Found::Wait(Arc::clone(flight));
        }
        let (lead, flight) = Lead::start(generation);
        slot.flight = Some(flight);
        kept.make_room(now, keys.flight);
        Found::Ask(lead, base)
    }

    /// A look-up is over: its result goes to all who wait, and a catalogue is kept.
    pub(in crate::concern) fn land(
        &self,
        lead: Lead,
        keys: &Keys,
        found: Result<Catalogue, Failure>,
    ) -> Result<Arc<Tools>, Failure> {
        let mut kept = self.lock();
        if let Some(slot) = kept.slots.get_mut(&keys.flight)
            && slot.flight.as_ref().is_some_and(|flight| Arc::ptr_eq(flight, &lead.flight))
        {
            slot.flight = None;
            if slot.tools.is_none() {
                kept.slots.remove(&keys.flight);
            }
        }
        let result = found.map(|Catalogue { tools, fresh_for, is_public }| {
            if lead.flight.generation == kept.generation && !fresh_for.is_zero() {
                let key = if is_public { keys.public } else { keys.private };
                let known = kept.slots.get(&key).and_then(|slot| slot.tools.as_ref());
                let known = known.map(|(tools, _)| Arc::clone(tools)).filter(|known| known.asked() == tools.asked());
                kept.keep(
                    key,
                    tools.to_keep(known.as_deref()).unwrap_or_else(|| Arc::clone(&tools)),
                    tools.asked() + fresh_for,
                );
            }
            tools
        });
        drop(kept);
        lead.land(result.clone());
        result
    }

    /// The server said that its tools changed.
    pub(in crate::concern) fn forget(&self) {
        let mut kept = self.lock();
        kept.generation += 1;
        kept.bytes = 0;
        kept.slots.retain(|_, slot| {
            slot.tools = None;
            slot.flight.is_some()
        });
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn keep(&mut self, key: Key, tools: Arc<Tools>, until: Instant) {
        self.bytes += tools.bytes();
        let now = tools.asked();
        let before = self.slots.entry(key).or_default().tools.replace((tools, until));
        self.bytes -= before.map_or(0, |(tools, _)| tools.bytes());
        self.make_room(now, key);
    }

    /// Drops what is stale; and, where that is not enough, everything but this entry: a flood of callers
    /// costs look-ups, never memory.
    fn make_room(&mut self, now: Instant, spare: Key) {
        if self.slots.len() <= MOST_ENTRIES && self.bytes <= MOST_BYTES {
            return;
        }
        self.drop_where(|key, until| key != spare && until <= now);
        if self.slots.len() > MOST_ENTRIES || self.bytes > MOST_BYTES {
            self.drop_where(|key, _| key != spare);
        }
    }

    fn drop_where(&mut self, drops: impl Fn(Key, Instant) -> bool) {
        let mut freed = 0;
        self.slots.retain(|key, slot| {
            if let Some((tools, until)) = &slot.tools
                && drops(*key, *until)
            {
                freed += tools.bytes();
                slot.tools = None;
            }
            slot.tools.is_some() || slot.flight.as_ref().is_some_and(|flight| flight.is_pending())
        });
        self.bytes -= freed;
    }
}

impl LookUp {
    /// How long a catalogue is fresh that says this `ttlMs`.
    pub(in crate::concern) fn fresh_for(&self, ttl_ms: Option<u64>) -> Duration {
        let said = ttl_ms.map_or(self.unsaid, Duration::from_millis);
        said.clamp(self.at_least, self.at_most.max(self.at_least)).min(LONGEST)
    }
}

#[cfg(test)]
mod tests;
