//! What a store must do.

use super::{Place, Said};
use crate::concern::Preparation;

/// Remembers what upstreams said. [`Memory`](super::Memory) is one for a single process.
///
/// A store for several replicas keeps a copy of its own in each, so that [`recall`](Self::recall) need not wait; it is made new by
/// [`refresh`](Self::refresh) before a request goes on.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// use tower_mcp_apps::restore::{CaptureLayer, Memory, Place, RestoreLayer, Said, Store};
///
/// /// A memory that counts what it could not tell.
/// #[derive(Clone)]
/// struct Counted {
///     memory: Memory,
///     unknown: std::sync::Arc<AtomicUsize>,
/// }
///
/// impl Store for Counted {
///     fn remember(&self, place: &Place, said: Vec<(String, Said)>) {
///         self.memory.remember(place, said);
///     }
///
///     fn recall(&self, place: &Place, entry: &str, asked: u64) -> Option<Said> {
///         let said = self.memory.recall(place, entry, asked);
///         self.unknown.fetch_add(usize::from(said.is_none()), Ordering::Relaxed);
///         said
///     }
/// }
///
/// let store = Counted { memory: Memory::new(), unknown: Default::default() };
/// let client = CaptureLayer::new("maps", store.clone());
/// let aggregator = RestoreLayer::new(store);
/// # drop((client, aggregator));
/// ```
pub trait Store: Send + Sync + 'static {
    /// Remembers what was said about these entries, in the place of what was said before. What else is remembered in this place stays:
    /// lists come in pages. Must neither block nor panic, and what it remembers must be there when it returns.
    fn remember(&self, place: &Place, said: Vec<(String, Said)>);

    /// What was said about an entry last, for a request that came at this time (in milliseconds since 1970). Must not block.
    fn recall(&self, place: &Place, entry: &str, asked: u64) -> Option<Said>;

    /// Fetches what other replicas heard. Must end soon, and may fail: the request goes on with what is known here.
    fn refresh(&self, places: Vec<Place>) -> Option<Preparation> {
        let _ = places;
        None
    }
}
