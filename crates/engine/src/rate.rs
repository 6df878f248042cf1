//! Rate limits that hold in every window (I21): the last starts of a key are remembered, exactly up to [`EXACT_MAX`] of them;
//! where there are more, those of one moment count as if all had come at its end, which is never too few.
//!
//! The starts of each key are written down with the runs that they are (see `memory`), so that a new owner knows them.

use std::collections::VecDeque;
use std::time::Duration;

use mainspring_model::{JobId, Timestamp};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Keys remembered before the idle ones are forgotten.
const KEYS_MAX: usize = 10_000;
/// Starts of a key that are told apart; more are kept by moments, so many to a period.
const EXACT_MAX: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct RateLimits {
    windows: FxHashMap<(JobId, Box<str>), Window>,
    /// How many the last look for idle ones left.
    open: usize,
}

/// The last starts of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Window {
    moments: VecDeque<Moment>,
    per: Duration,
}

/// Starts that came close together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Moment {
    from: Timestamp,
    until: Timestamp,
    starts: u32,
}

impl RateLimits {
    /// What an earlier owner knew of a key.
    pub(crate) fn insert(&mut self, job: JobId, key: &str, window: Window) {
        self.windows.insert((job, key.into()), window);
    }

    pub(crate) fn window(&self, job: JobId, key: &str) -> Option<&Window> {
        self.windows.get(&(job, key.into()))
    }

    /// When the key's next start is allowed: now or earlier means now.
    pub(crate) fn opens_at(&self, job: JobId, key: &str, limit: u32, per: Duration) -> Timestamp {
        self.window(job, key).map_or(Timestamp::ZERO, |window| window.opens_at(limit, per))
    }

    /// One start of the key.
    pub(crate) fn started(&mut self, job: JobId, key: &str, per: Duration, now: Timestamp) {
        // When none was idle, the next look comes when there are twice as many: each key pays for a few looks at most.
        if self.windows.len() >= KEYS_MAX.max(2 * self.open) {
            self.windows.retain(|_, window| window.closes_at().is_some_and(|closes_at| closes_at > now));
            self.open = self.windows.len();
        }
        let window =
            self.windows.entry((job, key.into())).or_insert_with(|| Window { moments: VecDeque::new(), per });
        window.per = per;
        window.started(now);
    }
}

impl Window {
    /// When none of the starts counts any more.
    pub(crate) fn closes_at(&self) -> Option<Timestamp> {
        self.moments.back().map(|moment| moment.until + self.per)
    }

    fn opens_at(&self, limit: u32, per: Duration) -> Timestamp {
        let starts: u32 = self.moments.iter().map(|moment| moment.starts).sum();
        // So many of the oldest must be out of the window before one more may come.
        let Some(mut too_many) = (starts + 1).checked_sub(limit).filter(|many| *many > 0) else {
            return Timestamp::ZERO;
        };
        for moment in &self.moments {
            too_many = too_many.saturating_sub(moment.starts);
            if too_many == 0 {
                return moment.until + per;
            }
        }
        Timestamp::ZERO
    }

    fn started(&mut self, now: Timestamp) {
        while self.moments.front().is_some_and(|moment| moment.until + self.per <= now) {
            self.moments.pop_front();
        }
        let crowded = self.moments.len() >= EXACT_MAX;
        match self.moments.back_mut() {
            Some(last) if crowded && now.since(last.from) < self.per / EXACT_MAX as u32 => {
                last.until = now;
                last.starts += 1;
            }
            _ => self.moments.push_back(Moment { from: now, until: now, starts: 1 }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_micros(millis * 1_000)
    }

    /// Starts as often as it may for 100 s, tried each 10 ms; no window may hold more than the limit.
    fn check(limit: u32, per: Duration, at_least: usize) {
        let job = JobId::MIN;
        let mut rate = RateLimits::default();
        let mut starts: Vec<Timestamp> = Vec::new();
        for now in (0..100_000).step_by(10).map(at) {
            while rate.opens_at(job, "k", limit, per) <= now {
                rate.started(job, "k", per, now);
                starts.push(now);
            }
        }
        assert!(starts.len() >= at_least, "{limit} in {per:?}: {} starts", starts.len());
        for one_more in starts.windows(limit as usize + 1) {
            let span = one_more[limit as usize].since(one_more[0]);
            assert!(span >= per, "{} starts within {span:?}, {limit} allowed in {per:?}", limit + 1);
        }
        let kept = rate.window(job, "k").map_or(0, |window| window.moments.len());
        assert!(kept <= 2 * EXACT_MAX + 2, "{kept} moments");
    }

    #[test]
    fn idle_keys_are_looked_for_when_there_are_twice_as_many() {
        let mut rate = RateLimits::default();
        let per = Duration::from_secs(1);
        for n in 0..2 * KEYS_MAX {
            rate.started(JobId::MIN, &format!("k{n}"), per, at(0));
        }
        assert_eq!(rate.open, KEYS_MAX, "looked for once, in vain");
        rate.started(JobId::MIN, "one more", per, at(5_000));
        assert_eq!((rate.open, rate.windows.len()), (0, 1));
    }

    #[test]
    fn no_window_holds_more_than_the_limit() {
        check(3, Duration::from_secs(10), 30);
        check(64, Duration::from_secs(1), 64 * 100);
        check(1_000, Duration::from_secs(10), 9_000);
        check(20_000, Duration::from_secs(50), 40_000);
    }
}
