//! Owning a cell: when to ask for its lease, when to renew, when to stop acting.
//!
//! The rules that keep two owners apart without comparing clocks:
//! - a lease counts from *before* the request that got or renewed it was sent;
//! - a lease of another member is taken only after this process has watched its row stay the same for the whole lifetime
//!   plus one renewal period, on its own elapsed clock; a time in which the store could not be asked was not watched;
//! - the store's fence stops what slips through.
//!
//! An owner whose renewals fail because the store is away stops deciding when its lease is over, but keeps its memory and goes
//! on asking until [`OwnerConfig::outage_max`] after the last renewal: nobody else could take the cell meanwhile without
//! changing the row, so a renewal that succeeds proves that nothing changed.

use std::time::Duration;

use mainspring_model::{CellId, Elapsed, Epoch, Lease, MemberId, Timestamp, limits, node_lease};
use mainspring_store::{LeaseGrant, LeaseRequest};

use crate::now::Now;

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
    /// How long after the last renewal the leases of nodes are extended while the store is away.
    pub outage_max: Duration,
}

impl OwnerConfig {
    /// With the default times.
    pub fn new(cell: CellId, member: MemberId) -> Self {
        Self {
            cell,
            member,
            ttl: limits::LEASE_TTL,
            renew_every: limits::LEASE_RENEW_EVERY,
            outage_max: limits::STORE_OUTAGE_MAX,
        }
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

/// How long an owner may act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnLease {
    /// It decides until then.
    pub until: Elapsed,
    /// It extends the leases of its nodes until then, if the store is away.
    pub extends_until: Elapsed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Following,
    /// `sent` is when the request was sent that got the lease, or last renewed it.
    Owning {
        epoch: Epoch,
        sent: Elapsed,
    },
}

/// A lease row that is being watched.
#[derive(Debug, Clone, Copy)]
struct Watched {
    epoch: Epoch,
    end: Timestamp,
    /// Since when it has not changed.
    since: Elapsed,
    /// It has no holder, or this member is the holder: nobody extends leases of its nodes.
    free: bool,
}

/// Decides about one cell's lease. Ask [`Self::step`] at [`Self::next_deadline`]; at most one question is
/// under way.
#[derive(Debug)]
pub struct Owner {
    config: OwnerConfig,
    state: State,
    watched: Option<Watched>,
    /// When the question under way was asked.
    asked_at: Option<Elapsed>,
    next_at: Elapsed,
    /// The end that was last asked for: each renewal moves it, whatever the store's clock does.
    end: Timestamp,
    /// Whether the cell was taken from a member that may still extend the leases of its nodes.
    succeeds_other: bool,
    /// The cell is not taken before this.
    held_off_until: Elapsed,
}

impl Owner {
    /// A follower that looks at once.
    pub fn new(config: OwnerConfig, now: Elapsed) -> Self {
        Self {
            config,
            state: State::Following,
            watched: None,
            asked_at: None,
            next_at: now,
            end: Timestamp::ZERO,
            succeeds_other: false,
            held_off_until: now,
        }
    }

    /// The epoch under which the cell is owned now, if it is.
    pub fn epoch(&self, now: Elapsed) -> Option<Epoch> {
        match self.state {
            State::Owning { epoch, sent } if now < sent + self.config.ttl => Some(epoch),
            State::Owning { .. } | State::Following => None,
        }
    }

    /// Whether the lease is over, the store did not answer, and the leases of nodes are still extended.
    pub fn is_stranded(&self, now: Elapsed) -> bool {
        self.lease().is_some_and(|lease| (lease.until..lease.extends_until).contains(&now))
    }

    /// Until when the owner may act.
    pub fn lease(&self) -> Option<OwnLease> {
        let OwnerConfig { ttl, outage_max, .. } = self.config;
        match self.state {
            State::Owning { sent, .. } => Some(OwnLease {
                until: sent + ttl,
                extends_until: node_lease::extends_until(sent, ttl, outage_max),
            }),
            State::Following => None,
        }
    }

    /// Whether the cell was taken from a member that may still extend the leases of its nodes.
    pub fn succeeds_other(&self) -> bool {
        self.succeeds_other
    }

    /// When to call [`Self::step`].
    pub fn next_deadline(&self, now: Elapsed) -> Elapsed {
        match self.lease() {
            Some(lease) if now < lease.until => self.next_at.min(lease.until),
            Some(lease) => self.next_at.min(lease.extends_until),
            None => self.next_at,
        }
    }

    /// What to ask the store now, if anything. A lease that nothing can save any more is given up here.
    pub fn step(&mut self, now: Now) -> Option<LeaseStep> {
        let Now { elapsed: now, store } = now;
        if self.lease().is_some_and(|lease| now >= lease.extends_until) {
            self.depose(now);
        }
        if self.asked_at.is_some() || now < self.next_at {
            return None;
        }
        self.asked_at = Some(now);
        self.next_at = now + self.config.renew_every;
        let OwnerConfig { cell, member, ttl, renew_every, .. } = self.config;
        let expires_at = (self.end + Duration::from_micros(1)).max(store + ttl);
        Some(match (self.state, self.watched) {
            (State::Owning { epoch, .. }, _) => {
                self.end = expires_at;
                LeaseStep::Renew { cell, member, epoch, expires_at }
            }
            (State::Following, Some(watched))
                if now >= watched.since + ttl + renew_every && now >= self.held_off_until =>
            {
                self.end = expires_at;
                let observed = Some((watched.epoch, watched.end));
                LeaseStep::Acquire(LeaseRequest { cell, member, observed, expires_at })
            }
            (State::Following, _) => LeaseStep::Look,
        })
    }

    /// The store answered. Answers true when the cell is owned under a new epoch.
    pub fn answered(&mut self, now: Elapsed, answer: LeaseAnswer) -> bool {
        let Some(asked_at) = self.asked_at.take() else { return false };
        match answer {
            LeaseAnswer::Seen(None) => self.ask_next(now, asked_at),
            LeaseAnswer::Seen(Some(lease)) | LeaseAnswer::Asked(LeaseGrant::Held(lease)) => {
                self.watch(now, asked_at, &lease)
            }
            LeaseAnswer::Asked(LeaseGrant::Granted(lease)) => {
                if now >= asked_at + self.config.ttl {
                    return false;
                }
                self.succeeds_other = self.watched.is_some_and(|watched| !watched.free);
                self.watched = None;
                self.state = State::Owning { epoch: lease.epoch, sent: asked_at };
                self.next_at = asked_at + self.config.renew_every;
                return true;
            }
            LeaseAnswer::Renewed(true) => {
                if let State::Owning { sent, .. } = &mut self.state {
                    *sent = (*sent).max(asked_at);
                }
            }
            LeaseAnswer::Renewed(false) => self.depose(now),
            // The holder could not renew either, as far as this process knows: what was not seen was not watched.
            LeaseAnswer::Failed => {
                if let Some(watched) = self.watched.as_mut().filter(|watched| !watched.free) {
                    watched.since = now;
                }
            }
        }
        false
    }

    /// The cell is not ours: the fence was lost, memory diverged, or time ran out.
    pub fn depose(&mut self, now: Elapsed) {
        self.state = State::Following;
        self.watched = None;
        self.next_at = now;
    }

    /// Does not take the cell before `until`, although it may be free; who holds it is looked at meanwhile.
    pub fn hold_off(&mut self, until: Elapsed) {
        self.held_off_until = until;
    }

    /// The lease is free: ask for it at the next step, at once unless the cell is held off.
    fn ask_next(&mut self, now: Elapsed, asked_at: Elapsed) {
        let since = asked_at - (self.config.ttl + self.config.renew_every);
        self.watched = Some(Watched { epoch: Epoch(0), end: Timestamp::ZERO, since, free: true });
        self.next_at = now.max(self.held_off_until.min(now + self.config.renew_every));
    }

    fn watch(&mut self, now: Elapsed, asked_at: Elapsed, lease: &Lease) {
        let free = lease.holder.is_none_or(|holder| holder == self.config.member);
        if free {
            return self.ask_next(now, asked_at);
        }
        let (epoch, end) = (lease.epoch, lease.expires_at);
        match self.watched {
            Some(watched) if (watched.epoch, watched.end) == (epoch, end) => {}
            _ => self.watched = Some(Watched { epoch, end, since: now, free: false }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Elapsed {
        Elapsed::from_micros(seconds * 1_000_000)
    }

    fn now(seconds: i64) -> Now {
        Now { elapsed: at(seconds), store: store(seconds) }
    }

    fn store(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    fn member(n: u128) -> MemberId {
        MemberId::new(Timestamp::ZERO, n)
    }

    fn lease(epoch: u64, holder: Option<MemberId>, end: i64) -> Lease {
        Lease { cell: CellId(0), epoch: Epoch(epoch), holder, expires_at: store(end), seq: 0 }
    }

    fn owner() -> Owner {
        let (ttl, renew_every) = (Duration::from_secs(9), Duration::from_secs(3));
        let outage_max = Duration::from_secs(60);
        Owner::new(OwnerConfig { cell: CellId(0), member: member(1), ttl, renew_every, outage_max }, at(0))
    }

    #[test]
    fn takes_a_free_lease_at_once_and_counts_from_before_it_asked() {
        let mut owner = owner();
        assert_eq!(owner.step(now(0)), Some(LeaseStep::Look));
        assert!(!owner.answered(at(1), LeaseAnswer::Seen(None)));
        assert!(matches!(owner.step(now(1)), Some(LeaseStep::Acquire(_))));
        assert!(
            owner.answered(at(4), LeaseAnswer::Asked(LeaseGrant::Granted(lease(1, Some(member(1)), 10))))
        );
        assert_eq!(owner.lease().map(|lease| lease.until), Some(at(10)), "asked at 1, lasts 9");
        assert_eq!(owner.epoch(at(9)), Some(Epoch(1)));
        assert_eq!(owner.epoch(at(10)), None);
    }

    #[test]
    fn takes_a_foreign_lease_only_after_watching_it_die() {
        let mut owner = owner();
        let mut second = 0;
        let dead = lease(7, Some(member(2)), 5);
        while !matches!(owner.step(now(second)), Some(LeaseStep::Acquire(_))) {
            owner.answered(at(second), LeaseAnswer::Seen(Some(dead.clone())));
            second += 1;
            assert!(second < 60, "never asked");
        }
        assert!(second >= 12, "lifetime 9 and renewal 3, but asked at {second}");
        let granted = LeaseGrant::Granted(lease(8, Some(member(1)), 99));
        assert!(owner.answered(at(second), LeaseAnswer::Asked(granted)));
        assert!(owner.succeeds_other());
    }

    #[test]
    fn a_renewal_seen_starts_the_watch_anew() {
        let mut owner = owner();
        for second in 0..60 {
            match owner.step(now(second)) {
                Some(LeaseStep::Look) => {
                    owner.answered(
                        at(second),
                        LeaseAnswer::Seen(Some(lease(7, Some(member(2)), second / 3 * 3 + 9))),
                    );
                }
                Some(step) => panic!("{step:?} at {second} though the holder renews"),
                None => {}
            }
        }
    }

    #[test]
    fn a_lost_or_failed_renewal_ends_in_following() {
        let mut owner = owner();
        owner.step(now(0));
        owner.answered(at(0), LeaseAnswer::Seen(None));
        owner.step(now(0));
        owner.answered(at(0), LeaseAnswer::Asked(LeaseGrant::Granted(lease(1, Some(member(1)), 9))));
        assert!(matches!(owner.step(now(3)), Some(LeaseStep::Renew { .. })));
        owner.answered(at(5), LeaseAnswer::Failed);
        assert_eq!(owner.lease().map(|lease| lease.until), Some(at(9)));
        assert!(matches!(owner.step(now(6)), Some(LeaseStep::Renew { .. })));
        owner.answered(at(7), LeaseAnswer::Renewed(true));
        assert_eq!(owner.lease().map(|lease| lease.until), Some(at(15)), "counts from 6, when it was sent");
        assert!(matches!(owner.step(now(9)), Some(LeaseStep::Renew { .. })));
        owner.answered(at(9), LeaseAnswer::Renewed(false));
        assert_eq!(owner.epoch(at(9)), None);
        assert_eq!(owner.step(now(9)), Some(LeaseStep::Look));
    }

    fn owning() -> Owner {
        let mut owner = owner();
        owner.step(now(0));
        owner.answered(at(0), LeaseAnswer::Seen(None));
        owner.step(now(0));
        owner.answered(at(0), LeaseAnswer::Asked(LeaseGrant::Granted(lease(1, Some(member(1)), 9))));
        owner
    }

    #[test]
    fn a_store_that_is_away_strands_the_owner_until_it_is_back_or_time_is_over() {
        let mut owner = owning();
        assert!(!owner.succeeds_other());
        for second in 3..45 {
            if owner.step(now(second)).is_some() {
                owner.answered(at(second), LeaseAnswer::Failed);
            }
            assert_eq!(owner.epoch(at(second)).is_some(), second < 9);
            assert_eq!(owner.is_stranded(at(second)), second >= 9);
        }
        assert!(matches!(owner.step(now(45)), Some(LeaseStep::Renew { epoch: Epoch(1), .. })));
        owner.answered(at(46), LeaseAnswer::Renewed(true));
        assert_eq!(owner.epoch(at(46)), Some(Epoch(1)), "nobody took it, so nothing changed");
        assert_eq!(owner.lease().map(|lease| lease.extends_until), Some(at(45 + 60)));
        assert!(owner.is_stranded(at(104)) && !owner.is_stranded(at(105)));
        owner.step(now(105));
        assert_eq!(owner.lease(), None, "given up");
    }

    #[test]
    fn a_follower_that_could_not_look_has_not_watched() {
        let mut owner = owner();
        let held = || lease(7, Some(member(2)), 5);
        let mut asked = None;
        for second in 0..60 {
            match owner.step(now(second)) {
                Some(LeaseStep::Look) if (6..30).contains(&second) => {
                    owner.answered(at(second), LeaseAnswer::Failed);
                }
                Some(LeaseStep::Look) => {
                    owner.answered(at(second), LeaseAnswer::Seen(Some(held())));
                }
                Some(LeaseStep::Acquire(_)) => {
                    asked = Some(second);
                    break;
                }
                Some(step) => panic!("{step:?}"),
                None => {}
            }
        }
        assert!(asked.is_some_and(|second| second >= 27 + 12), "{asked:?}");
    }

    #[test]
    fn every_renewal_moves_the_end_though_the_stores_clock_stands_still() {
        let mut owner = owning();
        let mut ends = Vec::new();
        for second in [3, 6, 9] {
            let now = Now { elapsed: at(second), store: store(0) };
            let Some(LeaseStep::Renew { expires_at, .. }) = owner.step(now) else { panic!("at {second}") };
            owner.answered(at(second), LeaseAnswer::Renewed(true));
            ends.push(expires_at);
        }
        assert!(ends.is_sorted_by(|one, next| one < next), "{ends:?}");
    }

    #[test]
    fn a_cell_that_is_held_off_is_looked_at_and_not_taken() {
        let mut owner = owner();
        owner.hold_off(at(7));
        let mut looks = Vec::new();
        for second in 0..10 {
            match owner.step(now(second)) {
                Some(LeaseStep::Look) => {
                    looks.push(second);
                    owner.answered(at(second), LeaseAnswer::Seen(None));
                }
                Some(LeaseStep::Acquire(_)) => {
                    assert_eq!((looks, second), (vec![0, 3, 6], 7), "as often as usual, then at once");
                    return;
                }
                _ => {}
            }
        }
        panic!("never taken");
    }
}
