//! What must hold when the faults are over and time has passed: every promise kept, nothing left behind,
//! and the run of the simulation was not about nothing.

use mainspring_engine::Cell;
use mainspring_model::{Reason, RunState};

use crate::checker::Violation;
use crate::plan::{BUSY_UNTIL, Profile, SECOND};
use crate::timed;
use crate::world::World;

/// A dead node is acted on within this, on the owner's clock, plus a little for clocks and commits.
const ACTED_WITHIN: i64 = 22 * SECOND;
/// After a disturbance an owner may have to be found first: a lease's lifetime, a renewal, a load, a silence.
const CALM: i64 = 45 * SECOND;

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
        self.ledgers.check_rest()?;
        timed::check(&self.store.core, &self.jobs, self.plan.cells)
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
        if self.now < self.disturbed_until.max(BUSY_UNTIL / 10) + CALM {
            return Ok(());
        }
        for agent in
            self.agents.iter().filter(|agent| !agent.alive && agent.down_since + ACTED_WITHIN < self.now)
        {
            let held = |run: &&mainspring_model::Run| {
                run.status.state == RunState::Running && run.status.node == Some(agent.node.id)
            };
            if let Some(run) = self.store.core.all_runs().find(held) {
                return Err(Violation {
                    invariant: "I22",
                    what: format!("{} is dead for over 20 s and holds {}", agent.node.name, run.head.id),
                    about: vec![run.head.id.to_string()],
                });
            }
        }
        Ok(())
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
            Some(Reason::NoNode { .. } | Reason::Quarantined { .. } | Reason::Overflow) => Ok(()),
            Some(reason) => Err(Violation {
                invariant: "I20",
                what: format!("{run} waits at rest because of {reason:?}"),
                about: vec![run.to_string()],
            }),
        }
    }

    /// What this run of the simulation was about.
    pub(crate) fn tally(&self) -> Tally {
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
            puts: self.puts,
            wall_clock_jumps: self.wall_clock_jumps,
            days_asleep: self.days_asleep,
            crowds: u64::from(self.plan.profile == Profile::Crowd),
            acknowledged_percent: self.client.acknowledged_percent(),
            virtual_seconds: (self.now.max(BUSY_UNTIL) / 1_000_000) as u64,
        }
    }
}

/// Sums over seeds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    pub seeds: u64,
    pub steps: u64,
    pub faults: u64,
    pub dropped: u64,
    pub fenced: u64,
    pub unknown: u64,
    pub takeovers: u64,
    pub tasks: u64,
    pub continued: u64,
    pub firings: u64,
    pub goodbyes: u64,
    pub passed: u64,
    pub follows: u64,
    pub anew: u64,
    pub delays: u64,
    pub spent: u64,
    pub self_paused: u64,
    pub moves: u64,
    pub trigger_pauses: u64,
    pub by_hand: u64,
    pub puts: u64,
    pub wall_clock_jumps: u64,
    pub days_asleep: u64,
    pub crowds: u64,
    /// The smallest.
    pub acknowledged_percent: u64,
    pub virtual_seconds: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, other: &Self) {
        self.acknowledged_percent = if self.seeds == 0 {
            other.acknowledged_percent
        } else {
            self.acknowledged_percent.min(other.acknowledged_percent)
        };
        self.seeds += other.seeds;
        self.steps += other.steps;
        self.faults += other.faults;
        self.dropped += other.dropped;
        self.fenced += other.fenced;
        self.unknown += other.unknown;
        self.takeovers += other.takeovers;
        self.tasks += other.tasks;
        self.continued += other.continued;
        self.firings += other.firings;
        self.goodbyes += other.goodbyes;
        self.passed += other.passed;
        self.follows += other.follows;
        self.anew += other.anew;
        self.delays += other.delays;
        self.spent += other.spent;
        self.self_paused += other.self_paused;
        self.moves += other.moves;
        self.trigger_pauses += other.trigger_pauses;
        self.by_hand += other.by_hand;
        self.puts += other.puts;
        self.wall_clock_jumps += other.wall_clock_jumps;
        self.days_asleep += other.days_asleep;
        self.crowds += other.crowds;
        self.virtual_seconds += other.virtual_seconds;
    }

    /// What many seeds together must have seen of triggers, and have not.
    pub(crate) fn unseen(&self) -> Vec<&'static str> {
        let seen = [
            (self.passed, "a moment that passed"),
            (self.anew, "a line that was told anew"),
            (self.follows, "an end that was followed"),
            (self.delays, "a run of a delay"),
            (self.spent, "a trigger at the end of its count"),
            (self.self_paused, "a trigger that paused itself"),
            (self.moves, "a cursor that was moved"),
            (self.trigger_pauses, "a trigger that was paused"),
            (self.by_hand, "a trigger that was fired by hand"),
            (self.puts, "a job that was put anew"),
            (self.wall_clock_jumps, "a wall clock that jumped"),
            (self.days_asleep, "ninety days without anybody"),
            (self.crowds, "a crowd of triggers"),
        ];
        seen.into_iter().filter(|(count, _)| *count == 0).map(|(_, what)| what).collect()
    }

    /// What a seed lacks to count as proof.
    pub(crate) fn vacuous(&self) -> Option<&'static str> {
        if self.takeovers == 0 {
            return Some("no takeover");
        }
        if self.fenced == 0 {
            return Some("no fenced write");
        }
        if self.unknown == 0 {
            return Some("no unknown commit");
        }
        if self.firings == 0 {
            return Some("no trigger fired");
        }
        (self.acknowledged_percent < 90).then_some("fewer than 90 % acknowledged")
    }
}
