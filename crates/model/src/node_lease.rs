//! The node's side of "two attempts of a run never execute at once" (I11).
//!
//! A node may execute only while the owner of its cell certainly believes it alive. It counts from
//! *before it sent* a heartbeat that was answered, on its own monotonic clock, and stops a margin
//! early. The owner counts `lost_after` from when it *received* one, which is never earlier. So when the
//! owner gives an attempt up, the node has already ended it. Database fencing alone does not give this.
//!
//! An owner whose store is away may go on answering heartbeats until [`extends_until`], although another may own the cell by
//! then. The new owner makes up for it: it gives up a node that has not said hello to it only after [`successor_patience`].
//! The last heartbeat that the old owner answers was sent before `sent + outage_max`, where `sent` is when its last renewal
//! was sent. The new owner has watched the lease stay unchanged for its lifetime and one renewal period, so it counts from
//! `sent + ttl + renew_every` or later. `lost_after + outage_max - ttl` after that is a renewal period later than the node's
//! own end; that period covers the rates of the clocks.

use std::collections::VecDeque;
use std::time::Duration;

use crate::elapsed::Elapsed;
use crate::time::Timestamp;

/// Heartbeats whose sending time is remembered.
const REMEMBERED_MAX: usize = 64;

/// Until when an owner whose last renewal was sent at `sent` may extend the leases of its nodes.
pub fn extends_until(sent: Elapsed, ttl: Duration, outage_max: Duration) -> Elapsed {
    sent + ttl.max(outage_max)
}

/// How long an owner that took its cell from another waits for a node that has not said hello to it.
pub fn successor_patience(lost_after: Duration, ttl: Duration, outage_max: Duration) -> Duration {
    lost_after + outage_max.saturating_sub(ttl)
}

/// What a node knows about how long it may go on. All times are the node's own monotonic clock.
#[derive(Debug, Clone)]
pub struct NodeLease {
    lifetime: Duration,
    next_seq: u64,
    sent: VecDeque<(u64, Timestamp)>,
    valid_until: Option<Timestamp>,
}

impl NodeLease {
    /// A lease for a cluster that gives nodes up after `lost_after`; `margin` is for the clocks' rates
    /// and for the time that ending the tasks takes.
    pub fn new(lost_after: Duration, margin: Duration) -> Self {
        assert!(margin < lost_after, "the margin {margin:?} leaves nothing of {lost_after:?}");
        Self { lifetime: lost_after - margin, next_seq: 1, sent: VecDeque::new(), valid_until: None }
    }

    /// Call before sending a heartbeat (or the hello, which counts as one): the number to send.
    pub fn beat(&mut self, now: Timestamp) -> u64 {
        let seq = self.next_seq;
        self.next_seq += 1;
        self.sent.push_back((seq, now));
        if self.sent.len() > REMEMBERED_MAX {
            self.sent.pop_front();
        }
        seq
    }

    /// The number that the next heartbeat will have.
    pub fn next_beat(&self) -> u64 {
        self.next_seq
    }

    /// The owner answered heartbeat `seq`. Late and doubled answers change nothing.
    pub fn answered(&mut self, seq: u64) {
        if let Some(until) = self.until(seq) {
            self.valid_until = self.valid_until.max(Some(until));
        }
    }

    /// Whether tasks must end now: the last answered heartbeat is too old. Before the first answer there
    /// is nothing to lose.
    pub fn expired(&self, now: Timestamp) -> bool {
        self.valid_until.is_some_and(|until| now >= until)
    }

    /// When [`Self::expired`] becomes true unless another heartbeat is answered.
    pub fn valid_until(&self) -> Option<Timestamp> {
        self.valid_until
    }

    /// Whether an order may still be executed that was given when the owner had last seen heartbeat
    /// `seen_seq`. An order that travelled too long may belong to an attempt that was given up since.
    pub fn may_start(&self, seen_seq: u64, now: Timestamp) -> bool {
        self.until(seen_seq).is_some_and(|until| now < until)
    }

    fn until(&self, seq: u64) -> Option<Timestamp> {
        let index = self.sent.binary_search_by_key(&seq, |(sent, _)| *sent).ok()?;
        Some(self.sent[index].1 + self.lifetime)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    fn lease() -> NodeLease {
        NodeLease::new(Duration::from_secs(15), Duration::from_secs(2))
    }

    #[test]
    fn counts_from_before_the_answered_heartbeat_was_sent() {
        let mut lease = lease();
        assert!(!lease.expired(at(1_000)), "nothing was ever answered");
        let first = lease.beat(at(0));
        let second = lease.beat(at(5));
        lease.answered(first);
        assert_eq!(lease.valid_until(), Some(at(13)));
        lease.answered(second);
        lease.answered(first); // late
        assert!(!lease.expired(at(17)));
        assert!(lease.expired(at(18)));
    }

    #[test]
    fn refuses_an_order_that_travelled_too_long() {
        let mut lease = lease();
        let seq = lease.beat(at(0));
        assert!(lease.may_start(seq, at(12)));
        assert!(!lease.may_start(seq, at(13)));
        assert!(!lease.may_start(seq + 1, at(1)), "a heartbeat that was never sent");
        for second in 1..200 {
            lease.beat(at(second));
        }
        assert!(!lease.may_start(seq, at(1)), "forgotten is too old");
    }
}
