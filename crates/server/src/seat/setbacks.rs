//! Setbacks: how often this process gave the cell up because memory and rows differed, a rule of the engine was broken, or the
//! task panicked; and how long it waits before it takes the cell again.
//!
//! Invariant: a cell that fails whenever it is loaded does not spin. The first time it is loaded anew at once, then after one
//! second, two, four and so on up to a minute, until it has held for ten minutes.

use std::time::Duration;

use mainspring_model::Elapsed;

const FIRST_WAIT: Duration = Duration::from_secs(1);
const WAIT_MAX: Duration = Duration::from_secs(60);
/// What went well for so long is as good as new.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(600);

/// The setbacks of a seat.
#[derive(Debug, Default)]
pub(super) struct Setbacks {
    count: u64,
    in_a_row: u32,
    last_at: Option<Elapsed>,
}

impl Setbacks {
    /// How many there were since the process started.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// One more. Answers how long the cell is not taken.
    pub(super) fn note(&mut self, now: Elapsed) -> Duration {
        if self.last_at.is_some_and(|last| now.since(last) >= FORGOTTEN_AFTER) {
            self.in_a_row = 0;
        }
        let wait = match self.in_a_row {
            0 => Duration::ZERO,
            earlier => FIRST_WAIT.saturating_mul(1 << (earlier - 1).min(16)).min(WAIT_MAX),
        };
        self.count += 1;
        self.in_a_row = self.in_a_row.saturating_add(1);
        self.last_at = Some(now);
        wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wait_is_longer_until_the_cell_has_held_for_a_while() {
        let at = |second: i64| Elapsed::from_micros(second * 1_000_000);
        let mut setbacks = Setbacks::default();
        let waits: Vec<u64> = (0..9).map(|second| setbacks.note(at(second)).as_secs()).collect();
        assert_eq!(waits, [0, 1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(setbacks.note(at(700)).as_secs(), 0);
        assert_eq!(setbacks.count(), 10);
    }
}
