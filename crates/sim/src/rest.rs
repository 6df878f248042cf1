//! What must hold when the faults are over and time has passed: every promise kept, nothing left behind,
//! and the run of the simulation was not about nothing.

use std::time::Duration;

use mainspring_engine::{Cell, TriggerRow};
use mainspring_model::{Reason, RunState, limits};

use crate::agent::Agent;
use crate::checker::Violation;
use crate::plan::{BUSY_UNTIL, Profile, SECOND};
use crate::tally::Tally;
use crate::timed;
use crate::world::World;

/// A dead node is acted on within this, on the owner's clock, plus a little for clocks and commits.
const ACTED_WITHIN: i64 = 22 * SECOND;
/// After a disturbance an owner may have to be found first: a lease's lifetime, a renewal, a load, a silence.
const CALM: i64 = 45 * SECOND;
/// Nothing was disturbed for so long: an owner that lives has read its clock and looked at its triggers.
const SETTLED: i64 = 20 * SECOND;
/// How late a moment may be when nothing is disturbed: readings of clocks, jitter, looks that are asked again.
const LATE_MAX: Duration = Duration::from_secs(30);

impl World {
    /// Checks the world at rest.
    pub(crate) fn check_rest(&self) -> Result<(), Violation> {
        let violation = |invariant, what: String, about| Err(Violation { invariant, what, about });
        if let Some(run) = self.client.unfinished(&self.store.core).first() {
            let state =
                self.store.core.run(*run).map(|row| (row.status.state, row.status.node, row.status.attempt));
            let why = self.schedulers.iter().find_map(|scheduler| {
                scheduler
                    .owned(self.now)
                    .into_iter()
                    .find_map(|cell| scheduler.cell(cell).and_then(|cell| cell.why(*run)))
            });
            let invariant = if state.is_none() { "I5" } else { "I20" };
            return violation(
                invariant,
                format!("{run} was acknowledged and is {state:?}, why {why:?}"),
                vec![run.to_string()],
            );
        }
        for row in self.store.core.all_runs() {
            if row.status.state == RunState::Running {
                return violation(
                    "I22",
                    format!("{} still holds a node", row.head.id),
                    vec![row.head.id.to_string()],
                );
            }
            if row.status.state == RunState::Waiting {
                self.check_why(row.head.id)?;
            }
        }
        for cell in self.owned_cells() {
            if cell.running() > 0 {
                return violation(
                    "I19",
                    format!("{} runs are reserved for, none runs", cell.running()),
                    Vec::new(),
                );
            }
        }
        let may_wait = |row: &TriggerRow| self.may_wait(row);
        if let Some(row) = timed::not_over(&self.store.core, &self.jobs, self.plan.cells, may_wait) {
            let what =
                format!("{} of {} does not come to its end: {:?}", row.key.name, row.key.job, row.state);
            return violation("I2", what, vec![row.key.job.to_string()]);
        }
        self.ledgers.check_rest()?;
        self.callers.check_rest(&self.store.core)?;
        self.backfills.check_rest(&self.store.core, &self.jobs, self.plan.cells)?;
        timed::check(&self.store.core, &self.jobs, self.plan.cells, self.heeded.version())
    }

    pub(crate) fn owned_cells(&self) -> impl Iterator<Item = &Cell> {
        self.schedulers.iter().flat_map(|scheduler| {
            scheduler.owned(self.now).into_iter().filter_map(|cell| scheduler.cell(cell))
        })
    }

    /// I19: what is reserved is what the runs that hold nodes and keys need, no more and no less, after everything that a
    /// scheduler heard or did.
    pub(crate) fn check_reservations(&self, scheduler: usize) -> Result<(), Violation> {
        let scheduler = &self.schedulers[scheduler];
        let owned = scheduler.owned(self.now).into_iter().filter_map(|cell| scheduler.cell(cell));
        match owned.into_iter().find_map(|cell| cell.recount().into_iter().next()) {
            None => Ok(()),
            Some(what) => Err(Violation { invariant: "I19", what, about: Vec::new() }),
        }
    }

    /// I22: when nothing but machines failed for a while, what ran on a dead machine has been given up.
    pub(crate) fn check_dead_nodes(&self) -> Result<(), Violation> {
        // A new owner waits for as long as the old one may have extended the leases of nodes.
        let successor = limits::STORE_OUTAGE_MAX.as_micros() as i64;
        let calm_since =
            (self.disturbed_until.max(BUSY_UNTIL / 10) + CALM).max(self.taken_at + CALM + successor);
        let is_over = |agent: &&Agent| {
            let patience = agent.patience_beyond_others();
            let dead_since = agent.down_since + ACTED_WITHIN;
            !agent.alive && self.now >= calm_since + patience && self.now > dead_since + patience
        };
        for agent in self.agents.iter().filter(is_over) {
            let held = |run: &&mainspring_model::Run| {
                run.status.state == RunState::Running && run.status.node == Some(agent.node.id)
            };
            if let Some(run) = self.store.core.all_runs().find(held) {
                return Err(Violation {
                    invariant: "I22",
                    what: format!("{} is dead for too long and holds {}", agent.node.name, run.head.id),
                    about: vec![run.head.id.to_string()],
                });
            }
        }
        Ok(())
    }

    /// I4: when nothing was disturbed for a while, no planned moment is due for long by the store's clock.
    pub(crate) fn check_punctual(&self) -> Result<(), Violation> {
        if self.now < self.disturbed_until.max(self.taken_at) + SETTLED || self.now % SECOND != 0 {
            return Ok(());
        }
        let late = self.store.clock(self.now) - LATE_MAX;
        let may_wait = |row: &TriggerRow| self.may_wait(row);
        match timed::late(&self.store.core, &self.jobs, self.plan.cells, late, may_wait) {
            None => Ok(()),
            Some(row) => Err(Violation {
                invariant: "I4",
                what: format!(
                    "{} of {} is late by the store's clock: {:?}",
                    row.key.name, row.key.job, row.state
                ),
                about: vec![row.key.job.to_string()],
            }),
        }
    }

    /// Whatever waits has a reason that names what is lacking.
    fn check_why(&self, run: mainspring_model::RunId) -> Result<(), Violation> {
        let mut reasons = self.schedulers.iter().flat_map(|scheduler| {
            let owned = scheduler.owned(self.now).into_iter();
            owned.filter_map(move |cell| scheduler.cell(cell).and_then(|cell| cell.why(run)))
        });
        match reasons.next() {
            // In the store because memory is full, or between two owners.
            None => Ok(()),
            Some(Reason::NoNode(_) | Reason::Quarantined { .. } | Reason::Overflow) => Ok(()),
            // Nobody waits for one that was not acknowledged; its turn comes.
            Some(Reason::RateLimit { .. }) => Ok(()),
            Some(reason) => Err(Violation {
                invariant: "I20",
                what: format!("{run} waits at rest because of {reason:?}"),
                about: vec![run.to_string()],
            }),
        }
    }

    /// What this run of the simulation was about.
    pub(crate) fn tally(&self) -> Tally {
        let backfills = self.backfills.seen();
        Tally {
            seeds: 1,
            steps: self.steps,
            faults: self.plan.faults.len() as u64,
            dropped: self.net.dropped,
            fenced: self.store.fenced,
            unknown: self.store.unknown,
            takeovers: self
                .schedulers
                .iter()
                .map(|scheduler| scheduler.takeovers)
                .sum::<u64>()
                .saturating_sub(1),
            tasks: self.checker.tasks_begun,
            continued: self.checker.continued,
            firings: self.checker.firings.count(),
            goodbyes: self.goodbyes,
            passed: self.ledgers.told.passed,
            follows: self.ledgers.told.follows,
            anew: self.ledgers.told.anew,
            delays: self.ledgers.told.delays,
            spent: self.ledgers.told.spent,
            self_paused: self.ledgers.told.self_paused,
            moves: self.operators.moves,
            trigger_pauses: self.operators.pauses,
            by_hand: self.operators.by_hand,
            backfills: backfills.begun,
            made_up: backfills.made,
            left_alone: backfills.left,
            stopped: backfills.stopped,
            calls: self.callers.taken(),
            calls_repeated: self.callers.repeated,
            calls_spent: self.callers.spent,
            calls_cancelled: self.callers.cancelled,
            needs_waited: self.needs.seen.waited,
            needs_fired: self.needs.seen.fired,
            needs_missed: self.needs.seen.missed,
            calendar_changes: self.heeded.changes(),
            left_out: self.ledgers.told.left_out,
            poisoned: self.ledgers.told.poisoned,
            judged: self.heeded.judged,
            puts: self.puts,
            changes_confirmed: self.changes.confirmed,
            changes_outlived: self.changes.outlived,
            changes_followed: self.changes.ends,
            wall_clock_jumps: self.wall_clock_jumps,
            suspends: self.suspends,
            stranded: self.stranded,
            days_asleep: self.days_asleep,
            crowds: u64::from(self.plan.profile == Profile::Crowd),
            acknowledged_percent: self.client.acknowledged_percent(),
            virtual_seconds: (self.now.max(BUSY_UNTIL) / 1_000_000) as u64,
        }
    }
}
