//! Owning a cell: when to ask for its lease, when to renew, when to stop acting.
//!
//! The rules that keep two owners apart without comparing clocks:
//! - a lease counts from *before* the request that got or renewed it was sent;
//! - somebody else's lease is taken only after this process has watched its row stay the same for the
//!   whole lifetime plus one renewal period, on its own monotonic clock;
//! - the store's fence stops what slips through.

use std::time::Duration;

use mainspring_model::{CellId, Epoch, Lease, MemberId, Timestamp, limits};
use mainspring_store::{LeaseGrant, LeaseRequest};

/// How leases are held.
#[derive(Debug, Clone, Copy)]
pub struct OwnerConfig {
    /// The cell.
    pub cell: CellId,
    /// Who wants it.
    pub member: MemberId,
    /// How long a lease lasts without renewal.
    pub ttl: Duration,
    /// How often it is renewed and, by those who do not hold it, looked at.
    pub renew_every: Duration,
}

impl OwnerConfig {
    /// With the default times.
    pub fn new(cell: CellId, member: MemberId) -> Self {
        Self { cell, member, ttl: limits::LEASE_TTL, renew_every: limits::LEASE_RENEW_EVERY }
    }
}

/// What to ask the store next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseStep {
    /// Read the lease row and answer with [`LeaseAnswer::Seen`].
    Look,
    /// Ask for the lease and answer with [`LeaseAnswer::Asked`].
    Acquire(LeaseRequest),
    /// Renew and answer with [`LeaseAnswer::Renewed`].
    Renew {
        /// The cell.
        cell: CellId,
        /// Who holds it.
        member: MemberId,
        /// Under which epoch.
        epoch: Epoch,
        /// The new end.
        expires_at: Timestamp,
    },
}

/// What the store said. An error of any kind is an answer too: [`LeaseAnswer::Failed`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaseAnswer {
    /// The row, or none.
    Seen(Option<Lease>),
    /// The answer to a request.
    Asked(LeaseGrant),
    /// Whether the lease was renewed.
    Renewed(bool),
    /// No answer. Whether it was done is unknown.
    Failed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Following,
    Owning { epoch: Epoch, until: Timestamp },
}

/// Decides about one cell's lease. Ask [`Self::step`] at [`Self::next_deadline`]; at most one question is
/// under way.
#[derive(Debug)]
pub struct Owner {
    config: OwnerConfig,
    state: State,
    /// The foreign lease being watched, and since when it has not changed.
    watched: Option<(Epoch, Timestamp, Timestamp)>,
    /// When the question under way was asked.
    asked_at: Option<Timestamp>,
    next_at: Timestamp,
}

impl Owner {
    /// A follower that looks at once.
    pub fn new(config: OwnerConfig, now: Timestamp) -> Self {
        Self { config, state: State::Following, watched: None, asked_at: None, next_at: now }
    }

    /// The epoch under which the cell is owned now, if it is.
    pub fn epoch(&self, now: Timestamp) -> Option<Epoch> {
        match self.state {
            State::Owning { epoch, until } if now < until => Some(epoch),
            State::Owning { .. } | State::Following => None,
        }
    }

    /// Until when the owner may act.
    pub fn lease_until(&self) -> Option<Timestamp> {
        match self.state {
            State::Owning { until, .. } => Some(until),
            State::Following => None,
        }
    }

    /// When to call [`Self::step`].
    pub fn next_deadline(&self) -> Timestamp {
        match self.state {
            State::Owning { until, .. } => self.next_at.min(until),
            State::Following => self.next_at,
        }
    }

    /// What to ask the store now, if anything. A lease that ran out is given up here.
    pub fn step(&mut self, now: Timestamp) -> Option<LeaseStep> {
        if let State::Owning { until, .. } = self.state
            && now >= until
        {
            self.depose(now);
        }
        if self.asked_at.is_some() || now < self.next_at {
            return None;
        }
        self.asked_at = Some(now);
        self.next_at = now + self.config.renew_every;
        let OwnerConfig { cell, member, ttl, renew_every } = self.config;
        Some(match self.state {
            State::Owning { epoch, .. } => LeaseStep::Renew { cell, member, epoch, expires_at: now + ttl },
            State::Following => match self.watched {
                Some((epoch, end, since)) if now >= since + ttl + renew_every => {
                    LeaseStep::Acquire(LeaseRequest {
                        cell,
                        member,
                        observed: Some((epoch, end)),
                        expires_at: now + ttl,
                    })
                }
                _ => LeaseStep::Look,
            },
        })
    }

    /// The store answered. Answers true when the cell is owned under a new epoch.
    pub fn answered(&mut self, now: Timestamp, answer: LeaseAnswer) -> bool {
        let Some(asked_at) = self.asked_at.take() else { return false };
        match answer {
            LeaseAnswer::Seen(None) => self.ask_next(now, asked_at),
            LeaseAnswer::Seen(Some(lease)) | LeaseAnswer::Asked(LeaseGrant::Held(lease)) => {
                self.watch(now, asked_at, &lease)
            }
            LeaseAnswer::Asked(LeaseGrant::Granted(lease)) => {
                let until = asked_at + self.config.ttl;
                if now >= until {
                    return false;
                }
                self.watched = None;
                self.state = State::Owning { epoch: lease.epoch, until };
                self.next_at = asked_at + self.config.renew_every;
                return true;
            }
            LeaseAnswer::Renewed(true) => {
                if let State::Owning { until, .. } = &mut self.state {
                    *until = (*until).max(asked_at + self.config.ttl);
                }
            }
            LeaseAnswer::Renewed(false) => self.depose(now),
            LeaseAnswer::Failed => {}
        }
        false
    }

    /// The cell is not ours: the fence was lost, memory diverged, or time ran out.
    pub fn depose(&mut self, now: Timestamp) {
        self.state = State::Following;
        self.watched = None;
        self.next_at = now;
    }

    /// The lease is free: ask for it at the next step, at once.
    fn ask_next(&mut self, now: Timestamp, asked_at: Timestamp) {
        let long_ago = asked_at - (self.config.ttl + self.config.renew_every);
        self.watched = Some((Epoch(0), Timestamp::ZERO, long_ago));
        self.next_at = now;
    }

    fn watch(&mut self, now: Timestamp, asked_at: Timestamp, lease: &Lease) {
        let free = lease.holder.is_none_or(|holder| holder == self.config.member);
        if free {
            return self.ask_next(now, asked_at);
        }
        let seen = (lease.epoch, lease.expires_at);
        match self.watched {
            Some((epoch, end, _)) if (epoch, end) == seen => {}
            _ => self.watched = Some((seen.0, seen.1, now)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    fn member(n: u128) -> MemberId {
        MemberId::new(Timestamp::ZERO, n)
    }

    fn lease(epoch: u64, holder: Option<MemberId>, end: i64) -> Lease {
        Lease { cell: CellId(0), epoch: Epoch(epoch), holder, expires_at: at(end), seq: 0 }
    }

    fn owner() -> Owner {
        let (ttl, renew_every) = (Duration::from_secs(9), Duration::from_secs(3));
        Owner::new(OwnerConfig { cell: CellId(0), member: member(1), ttl, renew_every }, at(0))
    }

    #[test]
    fn takes_a_free_lease_at_once_and_counts_from_before_it_asked() {
        let mut owner = owner();
        assert_eq!(owner.step(at(0)), Some(LeaseStep::Look));
        assert!(!owner.answered(at(1), LeaseAnswer::Seen(None)));
        assert!(matches!(owner.step(at(1)), Some(LeaseStep::Acquire(_))));
        assert!(
            owner.answered(at(4), LeaseAnswer::Asked(LeaseGrant::Granted(lease(1, Some(member(1)), 10))))
        );
        assert_eq!(owner.lease_until(), Some(at(10)), "asked at 1, lasts 9");
        assert_eq!(owner.epoch(at(9)), Some(Epoch(1)));
        assert_eq!(owner.epoch(at(10)), None);
    }

    #[test]
    fn takes_a_foreign_lease_only_after_watching_it_die() {
        let mut owner = owner();
        let mut now = 0;
        let dead = lease(7, Some(member(2)), 5);
        while !matches!(owner.step(at(now)), Some(LeaseStep::Acquire(_))) {
            owner.answered(at(now), LeaseAnswer::Seen(Some(dead.clone())));
            now += 1;
            assert!(now < 60, "never asked");
        }
        assert!(now >= 12, "lifetime 9 and renewal 3, but asked at {now}");
    }

    #[test]
    fn a_renewal_seen_starts_the_watch_anew() {
        let mut owner = owner();
        for now in 0..60 {
            match owner.step(at(now)) {
                Some(LeaseStep::Look) => {
                    owner.answered(
                        at(now),
                        LeaseAnswer::Seen(Some(lease(7, Some(member(2)), now / 3 * 3 + 9))),
                    );
                }
                Some(step) => panic!("{step:?} at {now} though the holder renews"),
                None => {}
            }
        }
    }

    #[test]
    fn a_lost_or_failed_renewal_ends_in_following() {
        let mut owner = owner();
        owner.step(at(0));
        owner.answered(at(0), LeaseAnswer::Seen(None));
        owner.step(at(0));
        owner.answered(at(0), LeaseAnswer::Asked(LeaseGrant::Granted(lease(1, Some(member(1)), 9))));
        assert!(matches!(owner.step(at(3)), Some(LeaseStep::Renew { .. })));
        owner.answered(at(5), LeaseAnswer::Failed);
        assert_eq!(owner.lease_until(), Some(at(9)));
        assert!(matches!(owner.step(at(6)), Some(LeaseStep::Renew { .. })));
        owner.answered(at(7), LeaseAnswer::Renewed(true));
        assert_eq!(owner.lease_until(), Some(at(15)), "counts from 6, when it was sent");
        assert!(matches!(owner.step(at(9)), Some(LeaseStep::Renew { .. })));
        owner.answered(at(9), LeaseAnswer::Renewed(false));
        assert_eq!(owner.epoch(at(9)), None);
        assert_eq!(owner.step(at(9)), Some(LeaseStep::Look));
    }
}
