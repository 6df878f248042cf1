//! How long the worker may execute, and how often it must speak. The rule is `model::node_lease`.
//!
//! Heartbeats are numbered anew on each connection. What was answered on an earlier one counts until the owner of this one
//! answers.

use std::time::Duration;

use mainspring_model::{NodeLease, Timestamp, limits};

#[derive(Debug)]
pub(super) struct Lease {
    pub(super) heartbeat_every: Duration,
    lost_after: Duration,
    beats: NodeLease,
    valid_until: Option<Timestamp>,
    hello_at: Timestamp,
}

impl Lease {
    pub(super) fn new() -> Self {
        Self {
            heartbeat_every: limits::HEARTBEAT_EVERY,
            lost_after: limits::LOST_AFTER,
            beats: beats(limits::LOST_AFTER),
            valid_until: None,
            hello_at: Timestamp::ZERO,
        }
    }

    /// A connection begins: the number that its hello counts as.
    pub(super) fn hello(&mut self, now: Timestamp) -> u64 {
        self.beats = beats(self.lost_after);
        self.hello_at = now;
        self.beats.beat(now)
    }

    /// The owner answered the hello, with its own idea of how long a silence may last.
    pub(super) fn welcome(&mut self, beat: u64, heartbeat_every: Duration, lost_after: Duration) {
        self.heartbeat_every = heartbeat_every;
        if lost_after != self.lost_after {
            self.lost_after = lost_after;
            self.beats = beats(lost_after);
            self.beats.beat(self.hello_at);
        }
        self.answered(beat);
    }

    pub(super) fn beat(&mut self, now: Timestamp) -> u64 {
        self.beats.beat(now)
    }

    pub(super) fn next_beat(&self) -> u64 {
        self.beats.next_beat()
    }

    pub(super) fn answered(&mut self, beat: u64) {
        self.beats.answered(beat);
        self.valid_until = self.beats.valid_until();
    }

    /// When attempts must have ended unless another heartbeat is answered.
    pub(super) fn valid_until(&self) -> Option<Timestamp> {
        self.valid_until
    }

    pub(super) fn may_start(&self, seen_beat: u64, now: Timestamp) -> bool {
        self.valid_until.is_some_and(|until| now < until) && self.beats.may_start(seen_beat, now)
    }

    /// How long the owner may be silent before the worker looks for another.
    pub(super) fn quiet_max(&self) -> Duration {
        self.lost_after * 3 / 5
    }
}

fn beats(lost_after: Duration) -> NodeLease {
    NodeLease::new(lost_after, limits::NODE_LEASE_MARGIN.min(lost_after / 4))
}
