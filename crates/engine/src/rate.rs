//! Rate limits that hold in every window (I21): the last `limit` starts of a key are remembered exactly.
//!
//! A new owner does not know what the old one started. It begins every key with its allowance used up, so
//! no window that spans a takeover is overdrawn; only the first owner of a cell begins with a full one.

use std::collections::VecDeque;
use std::time::Duration;

use mainspring_model::{JobId, Timestamp};
use rustc_hash::FxHashMap;

/// Keys remembered before the idle ones are forgotten.
const KEYS_MAX: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct RateLimits {
    windows: FxHashMap<(JobId, Box<str>), Window>,
    /// Starts before this moment are unknown.
    known_since: Option<Timestamp>,
}

#[derive(Debug)]
struct Window {
    starts: VecDeque<Timestamp>,
    per: Duration,
}

impl RateLimits {
    /// From now on starts are known; with `history`, some happened before.
    pub(crate) fn begin(&mut self, now: Timestamp, history: bool) {
        self.known_since = history.then_some(now);
    }

    /// When the key's next start is allowed: now or earlier means now.
    pub(crate) fn opens_at(&self, job: JobId, key: &str, limit: u32, per: Duration) -> Timestamp {
        let unknown_until = self.known_since.map_or(Timestamp::ZERO, |since| since + per);
        let Some(window) = self.windows.get(&(job, key.into())) else { return unknown_until };
        let limit = limit as usize;
        let full_until = match window.starts.len().checked_sub(limit) {
            Some(index) => window.starts[index] + per,
            None => Timestamp::ZERO,
        };
        unknown_until.max(full_until)
    }

    /// One start of the key.
    pub(crate) fn started(&mut self, job: JobId, key: &str, limit: u32, per: Duration, now: Timestamp) {
        if self.windows.len() >= KEYS_MAX {
            self.windows
                .retain(|_, window| window.starts.back().is_some_and(|last| *last + window.per > now));
        }
        let window =
            self.windows.entry((job, key.into())).or_insert_with(|| Window { starts: VecDeque::new(), per });
        window.per = per;
        window.starts.push_back(now);
        while window.starts.len() > limit as usize {
            window.starts.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    #[test]
    fn no_window_holds_more_than_the_limit() {
        let (job, per) = (JobId::MIN, Duration::from_secs(10));
        let mut rate = RateLimits::default();
        let mut starts: Vec<i64> = Vec::new();
        for now in 0..100 {
            // Greedy, in bursts of two each second.
            for _ in 0..2 {
                if rate.opens_at(job, "k", 3, per) <= at(now) {
                    rate.started(job, "k", 3, per, at(now));
                    starts.push(now);
                }
            }
        }
        assert!(starts.len() >= 28, "{starts:?}");
        for window in 0..90 {
            let inside = starts.iter().filter(|start| (window..window + 10).contains(*start)).count();
            assert!(inside <= 3, "{inside} starts in [{window}, {window} + 10): {starts:?}");
        }
    }

    #[test]
    fn a_new_owner_assumes_the_worst_of_the_old_one() {
        let mut rate = RateLimits::default();
        rate.begin(at(100), true);
        assert_eq!(rate.opens_at(JobId::MIN, "", 3, Duration::from_secs(10)), at(110));
        rate.begin(at(100), false);
        assert_eq!(rate.opens_at(JobId::MIN, "", 3, Duration::from_secs(10)), Timestamp::ZERO);
    }
}
