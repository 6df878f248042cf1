//! Time in the world: it passes from deadline to deadline, with the heartbeats of the nodes that live.

use std::time::Duration;

use mainspring_engine::Event;
use mainspring_model::{Timestamp, limits};

use super::World;

/// When the world begins.
const BEGIN_US: i64 = 1_700_000_000_000_000;

/// So many seconds after the world began.
pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(BEGIN_US + seconds * 1_000_000)
}

pub(crate) const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(crate) const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

impl World {
    /// Lets time pass.
    pub(crate) fn pass(&mut self, span: Duration) {
        let end = self.now + span;
        self.pass_until(end);
    }

    /// Time passes and nobody is there.
    pub(crate) fn sleep(&mut self, span: Duration) {
        self.now = self.now + span;
    }

    /// Lets time pass, with the lease renewed, nodes beating and every deadline seen when it comes.
    pub(crate) fn pass_until(&mut self, end: Timestamp) {
        while self.now < end {
            let deadline = self.cell.next_deadline();
            let beat = self.agents.values().map(|agent| agent.next_beat_at).min();
            let next = [deadline, beat, Some(end)].into_iter().flatten().min().unwrap_or(end);
            self.now = next.max(self.now);
            self.cell.renewed(self.now + limits::LEASE_TTL);
            self.beat_due();
            self.handle(Event::Tick);
        }
    }
}
