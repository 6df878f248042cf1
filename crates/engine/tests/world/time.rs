//! Time in the world: it passes from deadline to deadline, with the heartbeats of the nodes that live.

use std::time::Duration;

use mainspring_engine::{Deadlines, Event, Now, OwnLease};
use mainspring_model::{Elapsed, Timestamp, limits};

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

/// The two times when the store's clock shows `now` and has stepped forward by so much.
pub(crate) fn both(now: Timestamp, stepped: Duration) -> Now {
    let elapsed = (now - stepped).since(Timestamp::from_micros(BEGIN_US));
    Now { elapsed: Elapsed::ZERO + elapsed, store: now }
}

/// A lease without an end.
pub(crate) const FOR_EVER: OwnLease = OwnLease { until: Elapsed::MAX, extends_until: Elapsed::MAX };

/// A lease that was asked for at `now`.
pub(crate) fn lease_at(now: Elapsed) -> OwnLease {
    OwnLease { until: now + limits::LEASE_TTL, extends_until: now + limits::STORE_OUTAGE_MAX }
}

impl World {
    /// Now, on both clocks.
    pub(crate) fn both(&self) -> Now {
        both(self.now, self.stepped)
    }

    /// The store's clock steps forward. No time passes.
    pub(crate) fn step_clock(&mut self, by: Duration) {
        self.now = self.now + by;
        self.stepped += by;
        for agent in self.agents.values_mut() {
            agent.next_beat_at = agent.next_beat_at + by;
        }
        self.handle(Event::Tick);
    }

    /// When something is due, in the store's time.
    pub(crate) fn next_deadline(&self) -> Option<Timestamp> {
        let Deadlines { elapsed, store } = self.cell.next_deadline();
        let waited = elapsed.map(|at| self.now + at.since(self.both().elapsed));
        [waited, store].into_iter().flatten().min()
    }

    /// The lease is renewed now.
    pub(crate) fn renew(&mut self) {
        self.cell.renewed(lease_at(self.both().elapsed));
    }

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
            let deadline = self.next_deadline();
            let beat = self.agents.values().map(|agent| agent.next_beat_at).min();
            let next = [deadline, beat, Some(end)].into_iter().flatten().min().unwrap_or(end);
            self.now = next.max(self.now);
            self.renew();
            self.beat_due();
            self.handle(Event::Tick);
        }
    }
}
