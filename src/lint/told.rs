//! Which findings were told already: once is enough, and what is kept of them is bounded.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{Finding, TRACING_TARGET};

/// How many findings are told in a [`PERIOD`]: what a server says can be without end.
const MOST: usize = 1000;

/// After this time everything is told again, so that a log that was rotated knows it, too.
const PERIOD: Duration = Duration::from_secs(24 * 60 * 60);

/// Which findings were told in this period.
#[derive(Debug, Default)]
pub(super) struct Told {
    period: Mutex<Option<Period>>,
    hasher: RandomState,
}

#[derive(Debug)]
struct Period {
    began: Instant,
    // Hashes, so that a long text costs no more than a short one.
    seen: HashSet<u64>,
    is_full: bool,
}

impl Told {
    /// Whether a finding is to be told now; from then on it is not.
    pub(super) fn is_new(&self, finding: &Finding) -> bool {
        self.is_new_at(finding, Instant::now())
    }

    fn is_new_at(&self, finding: &Finding, now: Instant) -> bool {
        let hash = self.hasher.hash_one(finding.identity());
        let mut period = self.period.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = |period: &Period| now.saturating_duration_since(period.began) >= PERIOD;
        let period = match &mut *period {
            Some(period) if !is_over(period) => period,
            period => period.insert(Period { began: now, seen: HashSet::new(), is_full: false }),
        };
        if period.seen.len() < MOST {
            return period.seen.insert(hash);
        }
        if !period.is_full && !period.seen.contains(&hash) {
            period.is_full = true;
            tracing::warn!(target: TRACING_TARGET, "{MOST} findings were told: for a while there will be no more");
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::{MOST, PERIOD, Told};
    use crate::lint::{Finding, Place, Rule};
    use crate::protocol::Method;

    fn finding(tool: usize) -> Finding {
        let place = Place::tool(Method::ToolsList, Some(&tool.to_string()));
        Finding::new(Rule::Shape, place, "_meta", "should be an object")
    }

    #[test]
    fn each_finding_once_in_a_period_and_only_so_many() {
        let (told, start) = (Told::default(), Instant::now());
        assert!((0..MOST).all(|tool| told.is_new_at(&finding(tool), start)));
        assert!(!(0..=MOST + 1).any(|tool| told.is_new_at(&finding(tool), start + PERIOD / 2)));
        assert!(told.is_new_at(&finding(MOST), start + PERIOD));
        assert!(told.is_new_at(&finding(0), start + PERIOD));
        assert!(!told.is_new_at(&finding(0), start + PERIOD));
    }
}
