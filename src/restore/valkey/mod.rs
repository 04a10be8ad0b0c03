//! The store of several replicas: a copy in each, and one in Valkey or Redis for all.

mod encoding;
mod link;

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use tokio::sync::mpsc::{self, Receiver, Sender, error::TrySendError};

use self::encoding::{decode, encode};
use self::link::{Link, REST};
use super::credentials::Parted;
use super::memory::weight;
use super::place::now;
use super::{Memory, Place, Said, Store};
use crate::concern::Preparation;

/// The most writes that wait.
const MOST_WAITING: usize = 1024;

/// The most bytes that wait, roughly.
const MOST_BYTES_WAITING: usize = 16 << 20;

/// The most entries of one list that are kept for all replicas.
const MOST_ENTRIES: usize = 10_000;

/// The most bytes of one list that are kept for all replicas: they are read at once, while a request waits.
const MOST_BYTES: usize = 8 << 20;

/// The longest that anything is kept, in milliseconds: ten years.
const LONGEST: u64 = 10 * 365 * 24 * 60 * 60 * 1000;

/// The member of each hash that counts how often it was written, from a random number on.
const REVISION: &str = "r";

/// Writes entries into a hash, and drops it once it is too large. In one step, since only then what the hash weighs is known.
/// Beside entries it has the revision (`r`) and its bytes (`b`).
const WRITE: &str = r"
local key, first, keep, most_entries, most_bytes = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local is_new, grown = redis.call('HSETNX', key, 'r', first), 0
for at = 5, #ARGV, 2 do
  local field, value = ARGV[at], ARGV[at + 1]
  local before = redis.call('HSTRLEN', key, field)
  if before == 0 then grown = grown + #field end
  grown = grown + #value - before
  redis.call('HSET', key, field, value)
end
local bytes, revision = redis.call('HINCRBY', key, 'b', grown), redis.call('HINCRBY', key, 'r', 1)
redis.call('PEXPIRE', key, keep)
local is_dropped = 0
if bytes > most_bytes or redis.call('HLEN', key) - 2 > most_entries then is_dropped = redis.call('UNLINK', key) end
return {is_new, revision, is_dropped}";

/// The store of several replicas, in [Valkey](https://valkey.io) or Redis (6 or later): what one replica heard, the others restore.
///
/// Each replica has a [`Memory`], which is asked first; what it hears goes to Valkey behind the exchange's back, and before a request goes
/// on, what others heard since is fetched. A list that nobody changed costs one small question per request.
///
/// - **What is kept there.** One hash for each list and caller, and each content that was read, under `PREFIX:` and a SHA-256 of upstream
///   and credentials (with [`secret`](Self::secret), which nobody can guess credentials against). Names, URIs and what the
///   upstreams said about them are in clear. Each hash expires [`Memory::keep`] after it was last written, and goes once it
///   has more than 10,000 entries or 8 MiB. All of them together are bounded by the `maxmemory` that a deployer gives Valkey, with a policy that evicts.
/// - **Failures.** While Valkey does not answer, each replica goes by what it heard itself: a request waits for
///   [`wait`](Self::wait) at most, once a second; writes beyond 1,024 or 16 MiB are dropped. Where it answers, but too late what stands in
///   one hash, only that is not asked for again within a second. What is then unknown, is so as [`Unknown`](super::Unknown) says.
/// - **Trust.** Whoever can write there can say anything in the upstreams' name, as whoever owns the upstreams can. It is the deployer's
///   own, reachable by the replicas alone. For `rediss://`, switch on a TLS feature of the crate `redis`.
/// - **Commands.** `HGET`, `HGETALL` and `EVAL`, of a script that uses `HSETNX`, `HSTRLEN`, `HSET`, `HINCRBY`, `HLEN`, `PEXPIRE` and `UNLINK`.
/// - **Clocks.** Replicas go by their own, so what is fresh may be off by as much as those differ.
///
/// ```no_run
/// use tower_mcp_apps::restore::{CaptureLayer, Memory, RestoreLayer, Unchanged, Valkey};
///
/// # async fn replica() -> Result<(), Box<dyn std::error::Error>> {
/// let store = Valkey::new("redis://127.0.0.1:6379", Memory::new())?.secret(std::env::var("RESTORE_SECRET")?);
/// let outgoing = CaptureLayer::new("maps", store.clone());
/// let front = RestoreLayer::new(store).upstream("maps", Unchanged);
/// # drop((outgoing, front));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Valkey {
    memory: Memory,
    link: Arc<Link>,
    prefix: Arc<str>,
    secret: Arc<[u8]>,
    wait: Duration,
    writes: Sender<Write>,
    /// The bytes that wait to be written.
    waiting: Arc<AtomicUsize>,
    /// What came too late, and until when it is not asked for.
    late: Arc<Mutex<HashMap<Place, Instant>>>,
}

/// What goes to Valkey.
struct Write {
    place: Place,
    key: Vec<u8>,
    keep: u64,
    said: Vec<(Arc<str>, Said)>,
}

impl Write {
    /// What it takes while it waits, roughly.
    fn bytes(&self) -> usize {
        self.said.iter().map(|(entry, said)| weight(entry, said)).sum()
    }

    fn entries(&self) -> impl Iterator<Item = &str> {
        self.said.iter().map(|(entry, _)| &**entry)
    }
}

/// Why there is no store.
#[derive(Debug)]
pub enum InvalidValkey {
    /// The URL is none of Valkey or Redis.
    Url(Box<dyn std::error::Error + Send + Sync>),
    /// There is no tokio runtime, in which writes could happen behind the exchanges' back.
    NoRuntime,
}

impl fmt::Display for InvalidValkey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(error) => write!(f, "the URL of the store is none of Valkey or Redis: {error}"),
            Self::NoRuntime => f.write_str("the store must be made within a tokio runtime"),
        }
    }
}

impl std::error::Error for InvalidValkey {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Url(error) => Some(&**error),
            Self::NoRuntime => None,
        }
    }
}

impl Valkey {
    /// The store at this URL (`redis://[user:password@]host[:port][/database]`), with this copy here. Connects when it is first needed, and again
    /// whenever the connection is lost. Waits 250 ms at most.
    ///
    /// # Errors
    ///
    /// [`InvalidValkey`] where the URL is none, and outside a tokio runtime.
    pub fn new(url: impl AsRef<str>, memory: Memory) -> Result<Self, InvalidValkey> {
        let link = Link::new(url.as_ref()).map_err(|error| InvalidValkey::Url(error.into()))?;
        let runtime = tokio::runtime::Handle::try_current().map_err(|_| InvalidValkey::NoRuntime)?;
        let (writes, received) = mpsc::channel(MOST_WAITING);
        let (link, waiting) = (Arc::new(link), Arc::default());
        runtime.spawn(write(Arc::clone(&link), memory.clone(), received, Arc::clone(&waiting)));
        let (prefix, secret, wait) = ("mcp-apps".into(), Arc::new([]), Duration::from_millis(250));
        Ok(Self { memory, link, prefix, secret, wait, writes, waiting, late: Arc::default() })
    }

    /// Chooses what keys begin with: `mcp-apps` unless chosen. Aggregators that share a Valkey and are not replicas of each other need
    /// different ones.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into().into();
        self
    }

    /// Chooses a secret, the same for all replicas, that goes into the hashes of credentials. Without one, whoever reads Valkey's keys can try
    /// guessed credentials against them.
    #[must_use]
    pub fn secret(mut self, secret: impl Into<Vec<u8>>) -> Self {
        self.secret = secret.into().into();
        self
    }

    /// Chooses how long a request waits for what others heard.
    #[must_use]
    pub fn wait(mut self, time: Duration) -> Self {
        self.wait = time;
        self
    }

    /// The key of a place.
    fn key(&self, place: &Place) -> Vec<u8> {
        let mut inner = Parted(Sha256::new());
        inner.part(&self.secret);
        inner.part(&place.to_bytes());
        // Hashed again, so that nothing can be appended to what was hashed.
        let mut outer = Parted(Sha256::new());
        outer.part(&self.secret);
        outer.part(&inner.0.finalize());
        let hash: String = outer.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{}:{hash}", self.prefix).into_bytes()
    }
}

impl fmt::Debug for Valkey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Valkey").field("prefix", &self.prefix).field("wait", &self.wait).finish_non_exhaustive()
    }
}

impl Store for Valkey {
    fn remember(&self, place: &Place, said: Vec<(String, Said)>) {
        let said = self.memory.keep_said(place, said);
        if said.is_empty() {
            return;
        }
        let keep = self.memory.keeps().clamp(1, LONGEST);
        let write = Write { place: place.clone(), key: self.key(place), keep, said };
        if let Err(write) = self.send(write) {
            // It is written when it is said again.
            self.memory.untold(&write.place, write.entries());
        }
    }

    fn recall(&self, place: &Place, entry: &str, asked: u64) -> Option<Said> {
        self.memory.recall(place, entry, asked)
    }

    fn refresh(&self, mut places: Vec<Place>) -> Option<Preparation> {
        if !self.link.may_work() {
            return None;
        }
        let now = Instant::now();
        let late = self.late();
        places.retain(|place| late.get(place).is_none_or(|until| *until <= now));
        drop(late);
        if places.is_empty() {
            return None;
        }
        let store = self.clone();
        Some(Box::pin(async move {
            let answers = store.link.answers();
            if tokio::time::timeout(store.wait, store.fetch(&places)).await.is_ok() {
                return;
            }
            if store.link.answers() == answers {
                store.link.failed("no answer in time");
            } else {
                // It works, for others too: these alone take too long.
                store.rest(places);
            }
        }))
    }
}

impl Valkey {
    /// Lets this be written, unless too much waits.
    fn send(&self, write: Write) -> Result<(), Write> {
        let bytes = write.bytes();
        let with_this = |waiting: usize| waiting.checked_add(bytes).filter(|waiting| *waiting <= MOST_BYTES_WAITING);
        if self.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, with_this).is_err() {
            return Err(write);
        }
        let sent = self.writes.try_send(write);
        sent.map_err(|error| {
            self.waiting.fetch_sub(bytes, Ordering::Relaxed);
            let (TrySendError::Full(write) | TrySendError::Closed(write)) = error;
            write
        })
    }

    /// For a moment, what stands in these places is not asked for.
    fn rest(&self, places: Vec<Place>) {
        let now = Instant::now();
        let mut late = self.late();
        late.retain(|_, until| now < *until);
        late.extend(places.into_iter().map(|place| (place, now + REST)));
    }

    fn late(&self) -> MutexGuard<'_, HashMap<Place, Instant>> {
        self.late.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fetches what others heard, where there is anything new.
    async fn fetch(&self, places: &[Place]) {
        let keys: Vec<_> = places.iter().map(|place| self.key(place)).collect();
        let mut questions = redis::pipe();
        for key in &keys {
            questions.cmd("HGET").arg(key).arg(REVISION);
        }
        let Some(revisions) = self.link.ask::<Vec<Option<i64>>>(&questions).await else { return };
        let mut news = Vec::new();
        for ((place, key), revision) in places.iter().zip(keys).zip(revisions) {
            match revision {
                Some(revision) if self.memory.revision(place) != Some(revision) => news.push((place, key, revision)),
                Some(_) => {}
                None => self.memory.lost(place),
            }
        }
        if news.is_empty() {
            return;
        }
        let mut questions = redis::pipe();
        for (_, key, _) in &news {
            questions.cmd("HGETALL").arg(key);
        }
        let Some(hashes) = self.link.ask::<Vec<Vec<(Vec<u8>, Vec<u8>)>>>(&questions).await else { return };
        for ((place, _, revision), hash) in news.into_iter().zip(hashes) {
            let said = hash.iter().filter_map(|(field, value)| decode(field, value)).collect();
            // What was written since is in the hash, and fetched again next time.
            self.memory.add_shared(place, said, revision);
        }
    }
}

/// Writes what waits, until the last store of this kind is gone.
async fn write(link: Arc<Link>, memory: Memory, mut received: Receiver<Write>, waiting: Arc<AtomicUsize>) {
    while let Some(write) = received.recv().await {
        let mut commands = redis::pipe();
        let command = commands.cmd("EVAL").arg(WRITE).arg(1).arg(&write.key);
        command.arg(first_revision()).arg(write.keep).arg(MOST_ENTRIES).arg(MOST_BYTES);
        for (entry, said) in &write.said {
            let (field, value) = encode(entry, said);
            command.arg(field).arg(value);
        }
        let answer = link.ask::<((bool, i64, bool),)>(&commands).await;
        if let Some(((is_new, revision, is_dropped),)) = answer {
            memory.told(&write.place, write.entries(), revision, is_new);
            if is_dropped {
                memory.lost(&write.place);
            }
        } else {
            memory.untold(&write.place, write.entries());
        }
        waiting.fetch_sub(write.bytes(), Ordering::Relaxed);
    }
}

/// Where a new hash begins to count: a number that none before it came to, or a replica that knows an older one of the same revision
/// would take it for that, and go by what was said before.
fn first_revision() -> i64 {
    let mut random = [0; 8];
    // Without randomness, the time differs as well, but for clocks that are set back.
    let number = getrandom::fill(&mut random).map_or_else(|_| now() << 10, |()| u64::from_le_bytes(random));
    // A script counts exactly to 2^53.
    i64::try_from(number % (1 << 52)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
