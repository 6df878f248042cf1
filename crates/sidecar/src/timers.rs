//! When the loop must wake: one ordered heap. An entry is a reason to look at a task again, not a decision; the task
//! itself knows what is due, so an entry that came too early or whose task is gone harms nobody.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Wake-ups in monotonic microseconds.
#[derive(Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(u64, usize)>>,
}

impl Timers {
    /// Look at `slot` at `at_us`.
    pub(crate) fn wake(&mut self, at_us: u64, slot: usize) {
        self.heap.push(Reverse((at_us, slot)));
    }

    /// The next time to wake.
    pub(crate) fn next_us(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse((at_us, _))| *at_us)
    }

    /// The next slot that is due.
    pub(crate) fn due(&mut self, now_us: u64) -> Option<usize> {
        if self.next_us()? > now_us {
            return None;
        }
        self.heap.pop().map(|Reverse((_, slot))| slot)
    }
}
