//! How long the node may execute, and how often it must speak.
//!
//! Heartbeats are numbered anew on each connection. What was answered on an earlier one counts until the owner of this
//! one answers: from then on only its answers count, with its idea of how long a silence may last.

use std::time::Duration;

use mainspring_model::{NodeLease, Timestamp, limits};

#[derive(Debug)]
pub(super) struct Lease {
    heartbeat_every: Duration,
    lost_after: Duration,
    beats: NodeLease,
    /// When tasks must end, by the answers of the current owner, or of the last one until it answers.
    valid_until: Option<Timestamp>,
    hello_at: Timestamp,
    /// The end of the lease that was acted on.
    ended_at: Option<Timestamp>,
}

impl Lease {
    pub(super) fn new() -> Self {
        Self {
            heartbeat_every: limits::HEARTBEAT_EVERY,
            lost_after: limits::LOST_AFTER,
            beats: beats(limits::LOST_AFTER),
            valid_until: None,
            hello_at: Timestamp::ZERO,
            ended_at: None,
        }
    }

    /// A connection begins: the number that its hello counts as.
    pub(super) fn hello(&mut self, now: Timestamp) -> u64 {
        self.beats = beats(self.lost_after);
        self.hello_at = now;
        self.beats.beat(now)
    }

    /// The owner answered the hello. Only heartbeat is the hello so far, so it can be counted again with the owner's span.
    pub(super) fn welcome(&mut self, beat: u64, heartbeat_every: Duration, lost_after: Duration) {
        self.heartbeat_every = heartbeat_every;
        if lost_after != self.lost_after {
            self.lost_after = lost_after;
            self.beats = beats(lost_after);
            self.beats.beat(self.hello_at);
        }
        self.beats.answered(beat);
        self.valid_until = self.beats.valid_until();
    }

    pub(super) fn beat(&mut self, now: Timestamp) -> u64 {
        self.beats.beat(now)
    }

    pub(super) fn next_beat(&self) -> u64 {
        self.beats.next_beat()
    }

    /// A heartbeat was answered: whether leases reach further now.
    pub(super) fn answered(&mut self, beat: u64) -> bool {
        self.beats.answered(beat);
        let before = std::mem::replace(&mut self.valid_until, self.beats.valid_until());
        self.valid_until > before
    }

    pub(super) fn valid_until(&self) -> Option<Timestamp> {
        self.valid_until
    }

    /// Whether something may begin now.
    pub(super) fn holds(&self, now: Timestamp) -> bool {
        self.valid_until.is_some_and(|until| now < until)
    }

    /// Whether an order may still be executed that was given when the owner had last seen this heartbeat.
    pub(super) fn may_start(&self, seen_beat: u64, now: Timestamp) -> bool {
        self.holds(now) && self.beats.may_start(seen_beat, now)
    }

    /// The end of the lease that is about to be acted on; false when that was done before.
    pub(super) fn act_on_end(&mut self, until: Timestamp) -> bool {
        self.ended_at.replace(until) != Some(until)
    }

    /// When the lease ends, if nothing was done about that end yet.
    pub(super) fn ends_at(&self) -> Option<Timestamp> {
        self.valid_until.filter(|until| self.ended_at != Some(*until))
    }

    pub(super) fn heartbeat_every(&self) -> Duration {
        self.heartbeat_every
    }

    /// How long the owner may be silent before the node looks for another: it answers every heartbeat.
    pub(super) fn quiet_max(&self) -> Duration {
        let often = (self.heartbeat_every * 9 / 5).max(limits::LOST_AFTER * 3 / 5);
        (self.lost_after * 3 / 5).min(often)
    }
}

fn beats(lost_after: Duration) -> NodeLease {
    // Clocks that differ do so by more in a longer time.
    let margin = limits::NODE_LEASE_MARGIN.max(lost_after / 100).min(lost_after / 4);
    NodeLease::new(lost_after, margin)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    #[test]
    fn an_earlier_connection_counts_until_the_new_one_is_answered() {
        let mut lease = Lease::new();
        let hello = lease.hello(at(0));
        lease.welcome(hello, Duration::from_secs(5), Duration::from_secs(15));
        let beat = lease.beat(at(10));
        assert!(lease.answered(beat));
        assert!(!lease.answered(beat), "said twice");
        assert_eq!(lease.valid_until(), Some(at(23)));
        let hello = lease.hello(at(12));
        assert_eq!(lease.valid_until(), Some(at(23)));
        lease.welcome(hello, Duration::from_secs(60), Duration::from_secs(180));
        assert_eq!(lease.valid_until(), Some(at(12 + 178)));
        assert!(lease.may_start(hello, at(100)) && !lease.may_start(hello, at(190)));
        assert!(!lease.may_start(hello + 1, at(100)), "a heartbeat that was never sent");
    }

    #[test]
    fn a_new_owner_may_be_less_patient() {
        let mut lease = Lease::new();
        let hello = lease.hello(at(0));
        lease.welcome(hello, Duration::from_secs(60), Duration::from_secs(180));
        let hello = lease.hello(at(10));
        lease.welcome(hello, Duration::from_secs(1), Duration::from_secs(4));
        assert_eq!(lease.valid_until(), Some(at(13)));
        assert_eq!(lease.next_beat(), 2);
    }

    #[test]
    fn a_long_lease_is_no_reason_to_wait_long_for_an_owner() {
        let mut lease = Lease::new();
        assert_eq!(lease.quiet_max(), Duration::from_secs(9));
        let hello = lease.hello(at(0));
        lease.welcome(hello, Duration::from_secs(5), Duration::from_secs(86_400));
        assert_eq!(lease.valid_until(), Some(at(86_400 - 864)));
        assert_eq!(lease.quiet_max(), Duration::from_secs(9));
    }
}
