//! Roll-up counters: how many runs of a job ended how, hour by hour. They are added to in the commit
//! that ends the runs, so they never drift from history and nobody counts rows.

use crate::id::JobId;
use crate::namespace::Namespace;
use crate::state::RunState;
use crate::time::Timestamp;

/// One hour of one job.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CounterKey {
    /// The job's namespace.
    pub namespace: Namespace,
    /// The job.
    pub job: JobId,
    /// The start of the hour.
    pub hour: Timestamp,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Runs that ended well.
    pub success: u64,
    /// Runs that failed for good.
    pub final_failed: u64,
    /// Runs that were cancelled.
    pub cancelled: u64,
    /// Runs that were skipped.
    pub skipped: u64,
    /// Attempts made by those runs.
    pub attempts: u64,
    /// From eligible to placed, summed.
    pub queued_us: u64,
    /// From started to finished of the last attempt, summed.
    pub running_us: u64,
}

impl Counts {
    /// One run that ended in `state`; the other figures are zero.
    pub fn of(state: RunState) -> Self {
        let mut counts = Self::default();
        match state {
            RunState::Success => counts.success = 1,
            RunState::FinalFailed => counts.final_failed = 1,
            RunState::Cancelled => counts.cancelled = 1,
            RunState::Skipped => counts.skipped = 1,
            RunState::Ready | RunState::Waiting | RunState::Running | RunState::Failed => {}
        }
        counts
    }

    /// Runs that ended, however.
    pub const fn ended(&self) -> u64 {
        self.success + self.final_failed + self.cancelled + self.skipped
    }

    /// Runs that really ran, as far as sums can tell: skipped ones did not, nor did more than there were attempts.
    pub const fn ran(&self) -> u64 {
        let begun = self.ended() - self.skipped;
        if begun < self.attempts { begun } else { self.attempts }
    }

    /// Adds `other` to this.
    pub fn add(&mut self, other: &Self) {
        self.success += other.success;
        self.final_failed += other.final_failed;
        self.cancelled += other.cancelled;
        self.skipped += other.skipped;
        self.attempts += other.attempts;
        self.queued_us += other.queued_us;
        self.running_us += other.running_us;
    }
}

/// The start of the hour that `at` is in.
pub const fn hour_of(at: Timestamp) -> Timestamp {
    const HOUR_US: i64 = 3_600_000_000;
    Timestamp::from_micros(at.as_micros().div_euclid(HOUR_US) * HOUR_US)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_skipped_or_never_began_did_not_run() {
        let counts = Counts {
            success: 3,
            final_failed: 1,
            cancelled: 2,
            skipped: 9,
            attempts: 5,
            ..Counts::default()
        };
        assert_eq!((counts.ended(), counts.ran()), (15, 5));
        assert_eq!(Counts { attempts: 40, ..counts }.ran(), 6);
        assert_eq!(Counts::of(RunState::Skipped).ran(), 0);
    }
}
