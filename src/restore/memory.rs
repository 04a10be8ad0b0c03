//! The store of one process: bounded, the oldest goes first.

#[cfg(feature = "valkey")]
use std::collections::HashSet;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[cfg(feature = "valkey")]
use super::place::now;
use super::{Place, Said, Store};

/// What an entry takes beside its text and its name, roughly.
const OVERHEAD: usize = 256;

/// The store of one process: bounded in entries and bytes, and what was said first goes first.
///
/// By default 65,536 entries, 32 MiB, and a day. Its clones are one store.
///
/// ```
/// use std::time::Duration;
/// use tower_mcp_apps::restore::Memory;
///
/// let store = Memory::new().most_bytes(4 << 20).keep(Duration::from_secs(3600));
/// # drop(store);
/// ```
#[derive(Clone, Debug)]
pub struct Memory {
    kept: Arc<Mutex<Kept>>,
    most_entries: usize,
    most_bytes: usize,
    keep: u64,
}

#[derive(Debug, Default)]
struct Kept {
    shelves: HashMap<Place, Shelf>,
    /// Where everything stands, in the order in which it was said.
    order: BTreeMap<u64, (Place, Arc<str>)>,
    next: u64,
    bytes: usize,
}

/// What is remembered in one place.
#[derive(Debug, Default)]
struct Shelf {
    slots: HashMap<Arc<str>, Slot>,
    /// The revision of the shared store's copy that all of this is at least as new as.
    revision: Option<i64>,
    /// Whether the shared store had any of this.
    #[cfg(feature = "valkey")]
    stands_there: bool,
}

#[derive(Debug)]
struct Slot {
    said: Said,
    order: u64,
    /// When it was handed to the shared store, in milliseconds since 1970; 0 if it was not.
    shared: u64,
}

impl Memory {
    /// With the bounds given above.
    pub fn new() -> Self {
        let keep = u64::try_from(Duration::from_secs(24 * 60 * 60).as_millis()).unwrap_or(u64::MAX);
        Self { kept: Arc::default(), most_entries: 1 << 16, most_bytes: 32 << 20, keep }
    }

    /// The most entries, of all callers and upstreams together.
    #[must_use]
    pub fn most_entries(mut self, entries: usize) -> Self {
        self.most_entries = entries;
        self
    }

    /// The most bytes, roughly.
    #[must_use]
    pub fn most_bytes(mut self, bytes: usize) -> Self {
        self.most_bytes = bytes;
        self
    }

    /// How long anything is remembered at most, fresh or not. See the [module docs](super#how-long).
    #[must_use]
    pub fn keep(mut self, time: Duration) -> Self {
        self.keep = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self
    }

    /// For how many milliseconds anything is remembered.
    #[cfg(feature = "valkey")]
    pub(super) fn keeps(&self) -> u64 {
        self.keep
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.lock().order.len()
    }

    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Remembers, and gives what a shared store has to be told: what is new, and what would be forgotten there too soon.
    pub(super) fn keep_said(&self, place: &Place, said: Vec<(String, Said)>) -> Vec<(Arc<str>, Said)> {
        let mut kept = self.lock();
        let mut news = Vec::new();
        for (entry, said) in said {
            let before = kept.shelves.get(place).and_then(|shelf| shelf.slots.get(entry.as_str()));
            let again = match said.fresh_for.min(self.keep) {
                0 => self.keep / 2,
                fresh => fresh / 2,
            };
            let shared = before.filter(|slot| {
                slot.said.text == said.text
                    && slot.said.fresh_for == said.fresh_for
                    && said.at < slot.shared.saturating_add(again)
            });
            let shared = shared.map_or(said.at, |slot| slot.shared);
            let entry: Arc<str> = entry.into();
            if shared == said.at {
                news.push((Arc::clone(&entry), said.clone()));
            }
            kept.put(place, entry, said, shared);
        }
        kept.make_room(self.most_entries, self.most_bytes);
        news
    }

    /// Adds what a shared store has, where it is newer, with the revision of its copy.
    #[cfg(feature = "valkey")]
    pub(super) fn add_shared(&self, place: &Place, said: Vec<(String, Said)>, revision: i64) {
        let (mut kept, now) = (self.lock(), now());
        if let Some(shelf) = kept.shelves.get_mut(place) {
            // What it had of this before may be lost, and the copy another one.
            let there: HashSet<_> = said.iter().map(|(entry, _)| entry.as_str()).collect();
            shelf.tell_again(|entry| !there.contains(entry));
        }
        for (entry, mut said) in said {
            // The clock of another machine may be ahead.
            said.at = said.at.min(now);
            let known = kept.shelves.get(place).and_then(|shelf| shelf.slots.get(entry.as_str()));
            if known.is_none_or(|slot| slot.said.at < said.at) {
                let shared = said.at;
                kept.put(place, entry.into(), said, shared);
            }
        }
        if let Some(shelf) = kept.shelves.get_mut(place) {
            shelf.revision = Some(revision);
            shelf.stands_there = true;
        }
        kept.make_room(self.most_entries, self.most_bytes);
    }

    /// The shared store's copy has this revision since it was told these entries: where nobody else told it anything in between,
    /// nothing is missing here. Where the copy is new, nothing else stands there: if anything ever did, it is lost.
    #[cfg(feature = "valkey")]
    pub(super) fn told<'e>(
        &self,
        place: &Place,
        entries: impl IntoIterator<Item = &'e str>,
        revision: i64,
        is_new: bool,
    ) {
        let mut kept = self.lock();
        let Some(shelf) = kept.shelves.get_mut(place) else { return };
        if is_new && shelf.stands_there {
            let told: HashSet<_> = entries.into_iter().collect();
            shelf.tell_again(|entry| !told.contains(entry));
        }
        if is_new || shelf.revision == Some(revision - 1) {
            shelf.revision = Some(revision);
        }
        shelf.stands_there = true;
    }

    /// The shared store was not told this after all.
    #[cfg(feature = "valkey")]
    pub(super) fn untold<'e>(&self, place: &Place, entries: impl IntoIterator<Item = &'e str>) {
        let mut kept = self.lock();
        let Some(shelf) = kept.shelves.get_mut(place) else { return };
        for entry in entries {
            if let Some(slot) = shelf.slots.get_mut(entry) {
                slot.shared = 0;
            }
        }
    }

    /// The shared store has nothing in this place: if it ever had, it lost that.
    #[cfg(feature = "valkey")]
    pub(super) fn lost(&self, place: &Place) {
        if let Some(shelf) = self.lock().shelves.get_mut(place) {
            shelf.revision = None;
            if std::mem::take(&mut shelf.stands_there) {
                shelf.tell_again(|_| true);
            }
        }
    }

    /// The revision of the shared store's copy that is known here.
    #[cfg(feature = "valkey")]
    pub(super) fn revision(&self, place: &Place) -> Option<i64> {
        self.lock().shelves.get(place).and_then(|shelf| shelf.revision)
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl Store for Memory {
    fn remember(&self, place: &Place, said: Vec<(String, Said)>) {
        self.keep_said(place, said);
    }

    fn recall(&self, place: &Place, entry: &str, asked: u64) -> Option<Said> {
        let kept = self.lock();
        let said = &kept.shelves.get(place)?.slots.get(entry)?.said;
        (said.at.saturating_add(self.keep) >= asked).then(|| said.clone())
    }
}

#[cfg(feature = "valkey")]
impl Shelf {
    /// The shared store does not have these entries: it is told when they are said again.
    fn tell_again(&mut self, lacks: impl Fn(&str) -> bool) {
        self.slots.iter_mut().filter(|(entry, _)| lacks(entry)).for_each(|(_, slot)| slot.shared = 0);
    }
}

impl Kept {
    fn put(&mut self, place: &Place, entry: Arc<str>, said: Said, shared: u64) {
        let order = self.next;
        self.next += 1;
        self.bytes += weight(&entry, &said);
        self.order.insert(order, (place.clone(), Arc::clone(&entry)));
        let shelf = self.shelves.entry(place.clone()).or_default();
        if let Some(before) = shelf.slots.insert(Arc::clone(&entry), Slot { said, order, shared }) {
            self.order.remove(&before.order);
            self.bytes -= weight(&entry, &before.said);
        }
    }

    fn make_room(&mut self, most_entries: usize, most_bytes: usize) {
        while self.order.len() > most_entries || self.bytes > most_bytes {
            let Some((_, (place, entry))) = self.order.pop_first() else { return };
            let Some(shelf) = self.shelves.get_mut(&place) else { continue };
            if let Some(slot) = shelf.slots.remove(&entry) {
                self.bytes -= weight(&entry, &slot.said);
            }
            // What is gone here may be there still.
            shelf.revision = None;
            if shelf.slots.is_empty() {
                self.shelves.remove(&place);
            }
        }
    }
}

pub(super) fn weight(entry: &str, said: &Said) -> usize {
    entry.len() + said.text.len() + OVERHEAD
}

#[cfg(test)]
mod tests;
