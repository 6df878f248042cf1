//! The plan of faults: what is broken when, and for how long. It follows from the seed alone; only its execution is real.
//!
//! Kinds are dealt like cards, so that a short run has each of them at least once.

use std::fmt;
use std::time::Duration;

use crate::rng::Rng;

/// A seed whose first minute has every kind of fault.
pub const SEED_OF_A_MINUTE: u64 = 1;

/// Servers and agents of the cluster.
pub(crate) const SERVERS: usize = 2;
pub(crate) const AGENTS: usize = 3;

/// The first fault comes after this.
const LEAD_IN_MS: u64 = 3_000;
/// Time between two faults.
const GAP_MS: (u64, u64) = (300, 4_000);
/// After what stops everything, the cluster gets this long to recover in most cases, so that there is something to break.
const RECOVERY_MS: u64 = 4_000;
const OVERLAPPING_ONE_OF: u64 = 3;
/// How long something is away or frozen.
const AWAY_MS: (u64, u64) = (0, 10_000);
/// The plan's own stream of random numbers.
const STREAM: u64 = 1;

/// What is broken. Numbers are indices of servers and agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FaultKind {
    KillServer,
    FreezeServer,
    KillAgent,
    FreezeAgent,
    KillSidecar,
    FreezeSidecar,
    KillTask,
    FreezeTask,
    /// Agent, sidecar and tasks of one node.
    KillMachine,
    /// Clients are disconnected, then the database ends in order.
    StopDatabaseFast,
    /// The database ends at once and recovers at its next start.
    StopDatabaseImmediate,
    /// Every server, agent and sidecar is killed and the database stopped; tasks live on.
    KillEverything,
}

impl FaultKind {
    pub(crate) const ALL: [Self; 12] = [
        Self::KillServer,
        Self::FreezeServer,
        Self::KillAgent,
        Self::FreezeAgent,
        Self::KillSidecar,
        Self::FreezeSidecar,
        Self::KillTask,
        Self::FreezeTask,
        Self::KillMachine,
        Self::StopDatabaseFast,
        Self::StopDatabaseImmediate,
        Self::KillEverything,
    ];

    /// Whether nothing can run until the fault is over: recovery counts from its end then.
    pub(crate) fn stops_all(self) -> bool {
        matches!(self, Self::StopDatabaseFast | Self::StopDatabaseImmediate | Self::KillEverything)
    }

    fn targets(self) -> u64 {
        match self {
            Self::KillServer | Self::FreezeServer => SERVERS as u64,
            Self::KillAgent
            | Self::FreezeAgent
            | Self::KillSidecar
            | Self::FreezeSidecar
            | Self::KillMachine => AGENTS as u64,
            // A task is chosen among those that are there.
            Self::KillTask | Self::FreezeTask => 1_000,
            Self::StopDatabaseFast | Self::StopDatabaseImmediate | Self::KillEverything => 1,
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::KillServer => "kill server",
            Self::FreezeServer => "freeze server",
            Self::KillAgent => "kill agent",
            Self::FreezeAgent => "freeze agent",
            Self::KillSidecar => "kill sidecar",
            Self::FreezeSidecar => "freeze sidecar",
            Self::KillTask => "kill task",
            Self::FreezeTask => "freeze task",
            Self::KillMachine => "kill machine",
            Self::StopDatabaseFast => "stop database, fast",
            Self::StopDatabaseImmediate => "stop database, immediate",
            Self::KillEverything => "kill everything",
        })
    }
}

/// One fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault {
    /// From the beginning of the load.
    pub(crate) at: Duration,
    pub(crate) kind: FaultKind,
    /// Which of several.
    pub(crate) target: usize,
    /// Until it is started or goes on again.
    pub(crate) away: Duration,
}

/// Every fault of a run of this length, in order.
pub(crate) fn plan(seed: u64, length: Duration) -> Vec<Fault> {
    let mut rng = Rng::new(seed, STREAM);
    let (mut faults, mut deck) = (Vec::new(), Vec::new());
    let mut at = LEAD_IN_MS;
    let end = u64::try_from(length.as_millis()).unwrap_or(u64::MAX);
    while at < end {
        let kind = deal(&mut deck, &mut rng);
        let away = rng.between(AWAY_MS.0, AWAY_MS.1);
        faults.push(Fault {
            at: Duration::from_millis(at),
            kind,
            target: usize::try_from(rng.below(kind.targets())).unwrap_or(0),
            away: Duration::from_millis(away),
        });
        at += rng.between(GAP_MS.0, GAP_MS.1);
        if kind.stops_all() && rng.below(OVERLAPPING_ONE_OF) > 0 {
            at += away + RECOVERY_MS;
        }
    }
    faults
}

fn deal(deck: &mut Vec<FaultKind>, rng: &mut Rng) -> FaultKind {
    if deck.is_empty() {
        deck.extend(FaultKind::ALL);
    }
    let at = usize::try_from(rng.below(deck.len() as u64)).unwrap_or(0);
    deck.swap_remove(at)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn the_plan_follows_from_the_seed() {
        assert_eq!(plan(7, MINUTE), plan(7, MINUTE));
        assert_ne!(plan(7, MINUTE), plan(8, MINUTE));
        let short: Vec<Fault> = plan(7, MINUTE / 2);
        assert_eq!(short, plan(7, MINUTE)[..short.len()], "a longer run begins as a shorter one");
    }

    #[test]
    fn two_minutes_have_every_kind_of_fault() {
        for seed in 0..100 {
            let kinds: BTreeSet<FaultKind> = plan(seed, 2 * MINUTE).iter().map(|fault| fault.kind).collect();
            assert_eq!(kinds.len(), FaultKind::ALL.len(), "seed {seed}: {kinds:?}");
        }
    }

    #[test]
    fn a_minute_of_its_seed_has_every_kind_of_fault() {
        let kinds: BTreeSet<FaultKind> =
            plan(SEED_OF_A_MINUTE, MINUTE).iter().map(|fault| fault.kind).collect();
        assert_eq!(kinds.len(), FaultKind::ALL.len(), "{kinds:?}");
    }

    #[test]
    fn faults_are_in_order_and_within_bounds() {
        let faults = plan(7, 10 * MINUTE);
        assert!(faults.windows(2).all(|pair| pair[0].at < pair[1].at));
        for fault in faults {
            assert!(fault.away <= Duration::from_secs(10) && (fault.target as u64) < fault.kind.targets());
        }
    }
}
