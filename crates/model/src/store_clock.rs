//! The store's clock as a scheduler follows it (I4).
//!
//! The store's clock is the authority on planned moments, expiry, back-off, rate windows and everything else that rows hold.
//! A scheduler reads it with each renewal of its lease and computes the time in between from its own elapsed clock. The rule
//! for a reading that differs from the computed time:
//!
//! | difference | rule |
//! |---|---|
//! | within the round trip of the reading | nothing: the reading says no more than that |
//! | up to [`STEP_MIN`] | slew: run up to [`SLEW_PERCENT`] % faster or slower until it is made up |
//! | more, forward | step: moments that were passed over are late, and the misfire policy decides |
//! | more, back | freeze: time stands still until the store has caught up |
//!
//! So the time never runs backwards within a process, and no host's clock is compared with another host's.

use std::time::Duration;

use crate::elapsed::Elapsed;
use crate::time::Timestamp;

/// A larger difference is stepped or frozen instead of slewed.
pub const STEP_MIN: Duration = Duration::from_secs(1);
/// How much faster or slower than true a slewing clock runs.
pub const SLEW_PERCENT: i64 = 5;

/// One reading of the store's clock, with this host's elapsed clock before and after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockReading {
    /// When the question was sent.
    pub asked: Elapsed,
    /// When the answer was here.
    pub answered: Elapsed,
    /// What the store said.
    pub store: Timestamp,
}

/// What a reading did to the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Correction {
    /// It agreed, or is being made up for gradually.
    Slewed,
    /// The clock was moved forward by this much.
    Stepped(Duration),
    /// The store's clock is behind by this much: time stands still until it has caught up.
    Frozen(Duration),
}

/// The store's time, computed from the elapsed clock.
#[derive(Debug, Clone)]
pub struct StoreClock {
    /// What the clock showed at `at`: it never shows less again.
    shown: Timestamp,
    at: Elapsed,
    /// What the clock should show at `at`, by the last readings.
    target: Timestamp,
}

impl StoreClock {
    /// A clock that begins with a reading. The answer may be old by the time it arrives, so the clock is never ahead.
    pub fn new(reading: ClockReading) -> Self {
        Self { shown: reading.store, at: reading.answered, target: reading.store }
    }

    /// The store's time now.
    pub fn now(&self, now: Elapsed) -> Timestamp {
        let passed = now.since(self.at).as_micros().min(i64::MAX as u128) as i64;
        let behind = self.target.as_micros() - self.shown.as_micros();
        let most = passed.saturating_mul(SLEW_PERCENT) / 100;
        let shown = self.shown.as_micros();
        if behind >= 0 {
            return Timestamp::from_micros(shown.saturating_add(passed).saturating_add(behind.min(most)));
        }
        if -behind <= STEP_MIN.as_micros() as i64 {
            return Timestamp::from_micros(shown.saturating_add(passed).saturating_sub((-behind).min(most)));
        }
        // Frozen: the store is far behind, and the time shown waits for it.
        Timestamp::from_micros(shown.max(self.target.as_micros().saturating_add(passed)))
    }

    /// When the clock will show `at`; `now` when it already does. A clock that is corrected meanwhile shows it at another
    /// time, so ask again after each reading.
    pub fn when(&self, at: Timestamp, now: Elapsed) -> Elapsed {
        let (shown, target) = (self.now(now), self.target_at(now));
        if shown >= at {
            return now;
        }
        let (to_shown, to_target) = (at.since(shown), at.since(target));
        let wait = if target >= shown {
            (to_shown * 100 / (100 + SLEW_PERCENT as u32)).max(to_target)
        } else if shown.since(target) <= STEP_MIN {
            (to_shown * 100 / (100 - SLEW_PERCENT as u32)).min(to_target)
        } else {
            to_target
        };
        now + wait.max(Duration::from_micros(1))
    }

    /// How far the store's clock is behind the time shown, when that is standing still for it.
    pub fn frozen_by(&self, now: Elapsed) -> Option<Duration> {
        let behind = self.now(now).since(self.target_at(now));
        (behind > STEP_MIN).then_some(behind)
    }

    /// Takes a reading in. An older reading than the last is ignored.
    pub fn read(&mut self, reading: ClockReading) -> Correction {
        let ClockReading { asked, answered, store } = reading;
        if answered < self.at {
            return Correction::Slewed;
        }
        let (shown, target) = (self.now(answered), self.target_at(answered));
        // The store's time at `answered` is between these two.
        let earliest = store;
        let latest = store + answered.since(asked);
        self.at = answered;
        self.target = target.clamp(earliest, latest);
        if self.target.since(shown) > STEP_MIN {
            self.shown = self.target;
            return Correction::Stepped(self.target.since(shown));
        }
        self.shown = shown;
        let behind = shown.since(self.target);
        if behind > STEP_MIN { Correction::Frozen(behind) } else { Correction::Slewed }
    }

    fn target_at(&self, now: Elapsed) -> Timestamp {
        self.target + now.since(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600;

    fn at(seconds: f64) -> Elapsed {
        Elapsed::from_micros((seconds * 1e6) as i64)
    }

    fn store(seconds: f64) -> Timestamp {
        Timestamp::from_micros((seconds * 1e6) as i64)
    }

    fn reading(asked: f64, answered: f64, says: f64) -> ClockReading {
        ClockReading { asked: at(asked), answered: at(answered), store: store(says) }
    }

    fn clock() -> StoreClock {
        StoreClock::new(reading(0.0, 0.0, 1_000.0))
    }

    #[test]
    fn follows_the_elapsed_clock_between_readings() {
        let clock = clock();
        assert_eq!(clock.now(at(2.5)), store(1_002.5));
        assert_eq!(
            clock.now(at(8.0 * HOUR as f64)),
            store(1_000.0 + 8.0 * HOUR as f64),
            "a machine that slept"
        );
    }

    #[test]
    fn a_reading_within_its_round_trip_changes_nothing() {
        let mut clock = clock();
        assert_eq!(clock.read(reading(10.0, 10.5, 1_010.2)), Correction::Slewed);
        assert_eq!(clock.now(at(11.0)), store(1_011.0));
    }

    #[test]
    fn a_small_difference_is_slewed_both_ways() {
        let mut clock = clock();
        clock.read(reading(10.0, 10.0, 1_010.5));
        assert_eq!(clock.now(at(10.0)), store(1_010.0), "no jump");
        assert_eq!(clock.now(at(12.0)), store(1_012.1), "5 % faster");
        assert_eq!(clock.now(at(30.0)), store(1_030.5), "made up");
        clock.read(reading(30.0, 30.0, 1_030.0));
        assert_eq!(clock.now(at(30.0)), store(1_030.5));
        assert_eq!(clock.now(at(32.0)), store(1_032.4), "5 % slower");
        assert_eq!(clock.now(at(50.0)), store(1_050.0), "made up");
    }

    #[test]
    fn a_large_step_forward_is_followed_at_once() {
        let mut clock = clock();
        let hour = Duration::from_secs(HOUR as u64);
        assert_eq!(clock.read(reading(10.0, 10.0, 1_010.0 + HOUR as f64)), Correction::Stepped(hour));
        assert_eq!(clock.now(at(11.0)), store(1_011.0 + HOUR as f64));
    }

    #[test]
    fn a_large_step_back_freezes_until_the_store_has_caught_up() {
        let mut clock = clock();
        let minute = Duration::from_secs(60);
        assert_eq!(clock.read(reading(100.0, 100.0, 1_040.0)), Correction::Frozen(minute));
        assert_eq!(clock.now(at(100.0)), store(1_100.0));
        assert_eq!(clock.now(at(150.0)), store(1_100.0));
        assert_eq!(clock.frozen_by(at(150.0)), Some(Duration::from_secs(10)));
        assert_eq!(clock.read(reading(150.0, 150.0, 1_090.0)), Correction::Frozen(Duration::from_secs(10)));
        assert_eq!(clock.now(at(170.0)), store(1_110.0), "it caught up at 160");
        assert_eq!(clock.frozen_by(at(170.0)), None);
    }

    #[test]
    fn time_never_runs_backwards_whatever_is_read() {
        let mut clock = clock();
        let mut chance = 7_u64;
        let (mut last, mut elapsed, mut wall) = (clock.now(at(0.0)), 0_i64, 1_000_000_000_i64);
        for _ in 0..20_000 {
            chance = crate::hash::mix(chance);
            let step = (chance % 3_000_000) as i64;
            elapsed += step;
            wall += step;
            if chance.is_multiple_of(50) {
                wall += (chance >> 20) as i64 % 10_000_000 - 5_000_000;
            }
            let now = Elapsed::from_micros(elapsed);
            assert!(clock.now(now) >= last, "before the reading");
            let asked = now - Duration::from_micros(chance % 400_000);
            clock.read(ClockReading { asked, answered: now, store: Timestamp::from_micros(wall) });
            assert!(clock.now(now) >= last, "after the reading");
            last = clock.now(now);
        }
    }

    #[test]
    fn an_alarm_is_never_too_late_and_comes_to_an_end() {
        let mut slewing = clock();
        slewing.read(reading(10.0, 10.0, 1_010.9));
        let mut frozen = clock();
        frozen.read(reading(100.0, 100.0, 1_040.0));
        for (clock, from, until) in
            [(clock(), 0.0, 1_007.0), (slewing, 10.0, 1_050.0), (frozen, 100.0, 1_103.0)]
        {
            let (until, mut now, mut looks) = (store(until), at(from), 0);
            while clock.now(now) < until {
                let next = clock.when(until, now);
                assert!(next > now, "an alarm moves on");
                assert!(clock.now(next - Duration::from_micros(1)) <= until, "and is not late");
                (now, looks) = (next, looks + 1);
                assert!(looks < 20, "a few looks");
            }
        }
    }
}
