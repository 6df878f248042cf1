//! When the loop must wake: one time for each task, in order. It is a reason to look at a task again, not a decision; the
//! task itself knows what is due, so a time that came too early harms nobody.
//!
//! A task that ends takes its time with it: most have a timeout that is never reached, and a slot soon has another task.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

/// Wake-ups in microseconds of CLOCK_BOOTTIME.
#[derive(Default)]
pub(crate) struct Timers {
    ordered: BTreeSet<(u64, usize)>,
    by_slot: FxHashMap<usize, u64>,
}

impl Timers {
    /// Look at `slot` at `at_us`, and at no other time.
    pub(crate) fn wake(&mut self, at_us: u64, slot: usize) {
        self.forget(slot);
        self.by_slot.insert(slot, at_us);
        self.ordered.insert((at_us, slot));
    }

    /// Nothing is to be looked at.
    pub(crate) fn forget(&mut self, slot: usize) {
        if let Some(at_us) = self.by_slot.remove(&slot) {
            self.ordered.remove(&(at_us, slot));
        }
    }

    /// The next time to wake.
    pub(crate) fn next_us(&self) -> Option<u64> {
        self.ordered.first().map(|(at_us, _)| *at_us)
    }

    /// The slots that are due, the earliest first; each is looked at once, whatever follows from that.
    pub(crate) fn due(&mut self, now_us: u64) -> Vec<usize> {
        if self.next_us().is_none_or(|at_us| at_us > now_us) {
            return Vec::new();
        }
        let later = self.ordered.split_off(&(now_us.saturating_add(1), 0));
        let due = std::mem::replace(&mut self.ordered, later);
        let slots: Vec<usize> = due.into_iter().map(|(_, slot)| slot).collect();
        for slot in &slots {
            self.by_slot.remove(slot);
        }
        slots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_has_one_time_and_none_when_it_is_forgotten() {
        let mut timers = Timers::default();
        for at_us in [50, 30, 40] {
            timers.wake(at_us, 7);
        }
        timers.wake(20, 8);
        timers.wake(10, 9);
        timers.forget(9);
        assert_eq!((timers.next_us(), timers.ordered.len(), timers.by_slot.len()), (Some(20), 2, 2));
        assert_eq!(timers.due(19), [0; 0]);
        assert_eq!(timers.due(40), [8, 7]);
        assert_eq!((timers.next_us(), timers.by_slot.len()), (None, 0));
    }
}
