//! Crash points: the places between two steps of the journal at which a sidecar may die. A test has it die at the n-th.
//!
//! Only the sidecar's own program for tests can be told to; `mainspring sidecar` has no way to set one.

use rustix::process::{Signal, getpid, kill_process};

/// Counts the points that were passed.
#[derive(Debug, Default)]
pub(crate) struct CrashPoints {
    left: Option<u32>,
}

impl CrashPoints {
    /// Dies at the `at`-th point, never without one.
    pub(crate) fn new(at: Option<u32>) -> Self {
        Self { left: at }
    }

    /// Passes a point, or is killed there: nothing is flushed, dropped or said.
    pub(crate) fn pass(&mut self) {
        if self.is_next() {
            let _ = kill_process(getpid(), Signal::KILL);
        }
        self.left = self.left.map(|left| left.saturating_sub(1));
    }

    /// Whether the next point is the last.
    pub(crate) fn is_next(&self) -> bool {
        self.left == Some(1)
    }
}
