//! The two times of an event: elapsed time of this host, and the store's time.
//!
//! Leases, silence and the timeouts of attempts are counted on elapsed time. Planned moments, back-off, deadlines, rate
//! windows and everything else that a row holds are the store's time, which the shell follows (`model::StoreClock`). The
//! two are different types: no deadline can be armed on the wrong one.

use mainspring_model::{Elapsed, Timestamp};

/// When something happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// This host's elapsed clock.
    pub elapsed: Elapsed,
    /// The store's clock, as this process follows it; never less than in an earlier event.
    pub store: Timestamp,
}

/// When [`crate::Event::Tick`] is next of use, on each clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Deadlines {
    /// The first deadline in elapsed time.
    pub elapsed: Option<Elapsed>,
    /// The first deadline in the store's time.
    pub store: Option<Timestamp>,
}
