//! Those who call webhooks: each delivery is sent until it is answered, and some again after that; the runs of a few are
//! cancelled as soon as the store has them. What they rely on: one run for each delivery that has a key, and what was answered is
//! in the store, whoever owns the cell by then.

use std::collections::BTreeMap;

use mainspring_engine::{
    Answer, Event, HookCall, LoadedRun, Occurrence, Outcome, RequestId, TriggerCommand, TriggerKey,
};
use mainspring_model::spec::When;
use mainspring_model::{CellId, ErrorCode, RunHead, RunId, RunState, RunStatus, Shelf, Timestamp};
use mainspring_store_mem::{Change, MemCore};

use crate::checker::{Verdict, Violation, fail};
use crate::jobs::SimJob;
use crate::plan::{BUSY_UNTIL, Plan, SECOND};
use crate::rng::Rng;
use crate::timed;
use crate::world::NOBODY;

const PATIENCE: i64 = 3 * SECOND;
/// Of the deliveries with a key, so many are cancelled.
const UNWANTED_PERCENT: u64 = 15;
/// Requests from here on are theirs.
pub(crate) const CALL: u64 = 1 << 34;
/// Whoever is refused for so long after everything else gives up.
const REFUSED_UNTIL: i64 = BUSY_UNTIL + 60 * SECOND;

/// What whoever calls too often is told.
const SPENT: &str = "times, which is as often as it may";

/// Something that is delivered.
#[derive(Debug)]
struct Delivery {
    /// The trigger, by job and place in it.
    to: (usize, usize),
    is_keyed: bool,
    /// Whether somebody who sees its run cancels it at once, most often before its owner knows that it is in the store.
    is_unwanted: bool,
    /// When it is sent, the first of them until it is answered.
    at: Vec<i64>,
    sent: usize,
    tried_at: i64,
    acknowledged: Option<RunId>,
    is_refused: bool,
}

impl Delivery {
    fn trigger(&self, sim: &SimJob) -> TriggerKey {
        TriggerKey { job: sim.job.id, name: sim.spec.triggers[self.to.1].name.as_str().into() }
    }

    /// What it is known by, the `n`th of all.
    fn key(&self, n: usize) -> Option<String> {
        self.is_keyed.then(|| format!("delivery-{n}"))
    }

    /// Its run, if the store has one.
    fn first(&self, n: usize, sim: &SimJob, core: &MemCore) -> Option<RunId> {
        let key = self.trigger(sim).delivery(&self.key(n)?);
        Some(core.run_by_key(&sim.job.namespace, &key)?.head.id)
    }
}

/// All callers.
#[derive(Debug, Default)]
pub(crate) struct Callers {
    deliveries: Vec<Delivery>,
    /// The run of each delivery that has a key.
    runs: BTreeMap<usize, RunId>,
    /// Runs that somebody cancels now.
    unwanted: Vec<RunId>,
    /// Deliveries that were cancelled and never began.
    pub cancelled: u64,
    /// Answers that named a run which was there before.
    pub repeated: u64,
    /// Calls that were too many.
    pub spent: u64,
}

impl Callers {
    pub(crate) fn new(plan: &Plan, jobs: &[SimJob]) -> Self {
        let mut rng = Rng::new(plan.seed, "calls");
        let mut unwanted = Rng::new(plan.seed, "unwanted calls");
        let of = |n: usize| (0..jobs[n].spec.triggers.len()).map(move |m| (n, m));
        let is_called =
            |(n, m): &(usize, usize)| matches!(jobs[*n].spec.triggers[*m].when, When::Webhook { .. });
        let called: Vec<(usize, usize)> = (0..jobs.len()).flat_map(of).filter(is_called).collect();
        let count = rng.range(4, 16);
        let delivery = |_| {
            let first = rng.range(2 * SECOND, BUSY_UNTIL);
            let again = (0..rng.range(0, 4)).map(|_| first + rng.range(0, 40 * SECOND));
            let mut at: Vec<i64> = std::iter::once(first).chain(again.collect::<Vec<_>>()).collect();
            at.sort_unstable();
            let (to, is_keyed) = (called[rng.index(called.len())], rng.chance(85));
            if !is_keyed {
                at.truncate(1);
            }
            let is_unwanted = is_keyed && unwanted.chance(UNWANTED_PERCENT);
            let (sent, tried_at, acknowledged, is_refused) = (0, -PATIENCE, None, false);
            Delivery { to, is_keyed, is_unwanted, at, sent, tried_at, acknowledged, is_refused }
        };
        Self { deliveries: (0..count).map(delivery).collect(), ..Self::default() }
    }

    /// What is sent now, to whoever owns the cell: looked up first, as the server does.
    pub(crate) fn act(
        &mut self,
        now: i64,
        clock: Timestamp,
        jobs: &[SimJob],
        (core, cells): (&MemCore, u16),
    ) -> Vec<(CellId, Event)> {
        let mut calls = Vec::new();
        for (n, delivery) in self.deliveries.iter_mut().enumerate() {
            let is_due = delivery.at.get(delivery.sent).is_some_and(|at| *at <= now);
            let is_open = delivery.sent > 0 && delivery.acknowledged.is_none() && may_repeat(delivery, now);
            if !is_due && (!is_open || now < delivery.tried_at + PATIENCE) {
                continue;
            }
            delivery.sent += usize::from(is_due);
            delivery.tried_at = now;
            calls.extend(event(n, delivery, clock, &jobs[delivery.to.0], (core, cells)));
        }
        calls
    }

    /// A scheduler answered.
    pub(crate) fn answered(
        &mut self,
        request: u64,
        answer: &Answer,
        jobs: &[SimJob],
        core: &MemCore,
    ) -> Verdict {
        let n = (request - CALL) as usize;
        let (run, duplicate) = match answer {
            Answer::Submitted { run, duplicate } => (*run, *duplicate),
            Answer::Refused { code, message } => match self.refused(n, *code, message, jobs, core)? {
                Some(run) => (run, true),
                None => return Ok(()),
            },
            _ => return Ok(()),
        };
        let delivery = &mut self.deliveries[n];
        self.repeated += u64::from(duplicate);
        if core.run(run).is_none_or(|run| number(&run.head) != Some(n)) {
            return fail("hook", run, format!("was answered to delivery {n}, and is no run of it"));
        }
        match delivery.acknowledged.replace(run).filter(|before| delivery.is_keyed && *before != run) {
            Some(before) => fail("hook", run, format!("and {before} were answered to delivery {n}")),
            None => Ok(()),
        }
    }

    /// A scheduler took no delivery. Whoever is refused looks again, as the server does: its run may have come between the
    /// look and the owner.
    fn refused(
        &mut self,
        n: usize,
        code: ErrorCode,
        message: &str,
        jobs: &[SimJob],
        core: &MemCore,
    ) -> Result<Option<RunId>, Violation> {
        let delivery = &mut self.deliveries[n];
        let sim = &jobs[delivery.to.0];
        if message.ends_with(SPENT) {
            self.spent += 1;
            check_spent(sim, delivery.to.1, core)?;
        }
        let first = delivery.first(n, sim, core);
        delivery.is_refused |= code == ErrorCode::Inactive && first.is_none();
        Ok(first)
    }

    /// The cancels of runs that are in the store since just now.
    pub(crate) fn cancels(&mut self, jobs: &[SimJob], core: &MemCore) -> Vec<(CellId, Event)> {
        let cancel = |run: RunId| {
            let run = core.run(run)?.clone();
            let sim = jobs.iter().find(|sim| sim.job.id == run.head.job)?;
            let (id, cell) = (run.head.id, run.status.cell);
            let row = LoadedRun { run, spec: sim.readable.then(|| sim.spec.clone()), pause: None };
            let (request, row) = (RequestId(NOBODY), Some(Box::new(row)));
            Some((cell, Event::Cancel { request, run: id, row, by: "user".into(), kill: false }))
        };
        std::mem::take(&mut self.unwanted).into_iter().filter_map(cancel).collect()
    }

    /// One run for each delivery that has a key.
    pub(crate) fn committed(&mut self, changes: &[Change]) -> Verdict {
        self.cancelled += changes.iter().filter(|change| never_began(change)).count() as u64;
        for change in changes.iter().filter(|change| change.before.is_none()) {
            let Some(n) = number(&change.head) else { continue };
            let run = change.head.id;
            let Some(delivery) = self.deliveries.get(n).filter(|delivery| delivery.is_keyed) else {
                continue;
            };
            if delivery.is_unwanted {
                self.unwanted.push(run);
            }
            if let Some(before) = self.runs.insert(n, run) {
                let what = format!("and {before} are of one delivery, {n} to trigger {:?}", delivery.to);
                return fail("hook", run, what);
            }
        }
        Ok(())
    }

    /// Everything was sent and answered.
    pub(crate) fn is_done(&self, now: i64, core: &MemCore) -> bool {
        let is_over = |delivery: &Delivery| match delivery.acknowledged {
            Some(run) => core.run(run).is_none_or(|run| run.status.state.is_terminal()),
            None => !delivery.is_keyed || !may_repeat(delivery, now),
        };
        self.deliveries.iter().all(|delivery| delivery.sent == delivery.at.len() && is_over(delivery))
    }

    /// When all is over, what was answered has ended.
    pub(crate) fn check_rest(&self, core: &MemCore) -> Verdict {
        for (n, delivery) in self.deliveries.iter().enumerate() {
            let Some(run) = delivery.acknowledged else { continue };
            match core.run(run).map(|run| run.status.state) {
                Some(state) if state.is_terminal() => {}
                state => return fail("hook", run, format!("was answered to delivery {n}, and is {state:?}")),
            }
        }
        match self
            .deliveries
            .iter()
            .position(|delivery| delivery.is_keyed && delivery.acknowledged.is_none() && !delivery.is_refused)
        {
            Some(n) => Err(Violation {
                invariant: "hook",
                what: format!("delivery {n} was never answered"),
                about: Vec::new(),
            }),
            None => Ok(()),
        }
    }

    /// Runs that calls made.
    pub(crate) fn taken(&self) -> u64 {
        self.deliveries.iter().filter(|delivery| delivery.acknowledged.is_some()).count() as u64
    }
}

/// Whoever is refused because others came before is told so when the store has all of those.
fn check_spent(sim: &SimJob, trigger: usize, core: &MemCore) -> Verdict {
    let trigger = &sim.spec.triggers[trigger];
    let key = TriggerKey { job: sim.job.id, name: trigger.name.as_str().into() };
    let lines = core.records(&key.occurrences(None, timed::LINES_MAX)).expect("a page").rows;
    let counts = |line: &Occurrence| line.outcome == Outcome::Fired && !line.by_hand;
    let fired = lines.iter().filter_map(Occurrence::read).filter(counts).count();
    match trigger.count.is_some_and(|count| fired == count.get() as usize) {
        true => Ok(()),
        false => Err(Violation {
            invariant: "count",
            what: format!("a call of {} was one too many, and {fired} made runs", key.name),
            about: vec![key.job.to_string()],
        }),
    }
}

/// A call without a key is sent once: nobody knows what became of it.
fn may_repeat(delivery: &Delivery, now: i64) -> bool {
    delivery.is_keyed && !(delivery.is_refused && now > REFUSED_UNTIL)
}

fn event(
    n: usize,
    delivery: &Delivery,
    at: Timestamp,
    sim: &SimJob,
    (core, cells): (&MemCore, u16),
) -> Option<(CellId, Event)> {
    let key = delivery.trigger(sim);
    let row = timed::rows_of(core, sim, cells).into_iter().find(|row| row.key.name == key.name)?;
    let call = HookCall {
        at,
        key: delivery.key(n).map(Into::into),
        version: row.state.version,
        first: delivery.first(n, sim, core),
        parameters: std::iter::once(("delivery".to_owned(), (n as u64 + 1).into())).collect(),
    };
    let (request, command) = (RequestId(CALL + n as u64), TriggerCommand::Call(Box::new(call)));
    Some((CellId::of(&sim.job.namespace, cells), Event::Trigger { request, key, command }))
}

/// Whether the run of a delivery was cancelled before it began.
fn never_began(change: &Change) -> bool {
    let had_not_begun = |status: &RunStatus| status.place.is_some_and(|place| place.shelf == Shelf::Arrived);
    number(&change.head).is_some()
        && change.before.as_ref().is_some_and(had_not_begun)
        && change.after.as_ref().is_some_and(|after| after.state == RunState::Cancelled)
}

/// The delivery that a run is of.
fn number(head: &RunHead) -> Option<usize> {
    head.fired.as_ref()?;
    let params: serde_json::Value = serde_json::from_slice(&head.params).ok()?;
    let number = params.get("delivery")?.as_u64()?;
    (number as usize).checked_sub(1)
}
