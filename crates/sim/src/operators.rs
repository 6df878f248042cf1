//! The operators: they pause jobs and cells, drain nodes, let runs not wait for their back-off, and in the end undo what
//! they did. They repeat what was not answered, and look at the rows to see whether it took effect, because a request that
//! was late or doubled may have undone it.

use std::collections::BTreeSet;

use mainspring_engine::{Answer, Event, LoadedRun, RequestId, TriggerCommand, TriggerKey};
use mainspring_model::spec::{Trigger, When};
use mainspring_model::{
    BackfillId, CellId, ErrorCode, JobId, Node, NodeState, Pause, Run, RunState, Timestamp, limits,
};
use mainspring_store_mem::MemCore;

use crate::agent::Agent;
use crate::jobs::{Nature, SimJob, has_clock};
use crate::makeups::Makeup;
use crate::plan::{BUSY_UNTIL, Plan, SECOND};
use crate::rng::Rng;
use crate::timed;
use crate::world::ToScheduler;

const PATIENCE: i64 = 3 * SECOND;
/// How often they look for a node that is gone.
const LOSES: i64 = 6;
/// How often each job is put anew whose triggers come and go.
const CHANGES: usize = 7;
/// Requests from here on are theirs.
pub(crate) const OPERATE: u64 = 1 << 33;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Job(JobId),
    Cell(CellId),
    /// The node of an agent, whatever its id is by then.
    Node(usize),
    /// A node whose machine lost its disk is gone: it came back as another, if at all.
    Lose,
    /// Whatever waits for its back-off.
    Retry,
    /// A run that waits is made more or less important.
    Prioritise(u16),
    /// A job that was taken for one that kills its nodes, and is not.
    Clear(JobId),
    /// A trigger, by job and place in it, is paused.
    Trigger(usize, usize),
    /// The cursor of a trigger is moved by so much from when it happens.
    Cursor(usize, usize, i64),
    /// A trigger is fired by hand.
    Fire(usize, usize),
    /// The job is put anew. That needs no scheduler.
    Put(usize),
    /// A backfill begins, by its place in the list of them.
    Backfill(usize),
    /// It is stopped.
    StopBackfill(usize),
    /// A trigger that would go on for ever is paused for good.
    Retire(usize, usize),
}

/// Something done and, later, undone.
#[derive(Debug)]
struct Act {
    what: What,
    begin_at: i64,
    end_at: i64,
    tried_at: i64,
    begun: bool,
    over: bool,
}

impl Act {
    fn new(what: What, begin_at: i64, end_at: i64) -> Self {
        Self { what, begin_at, end_at, tried_at: -PATIENCE, begun: false, over: false }
    }
}

/// All operators.
#[derive(Debug, Default)]
pub(crate) struct Operators {
    acts: Vec<Act>,
    makeups: Vec<Makeup>,
    /// Cursors that were moved, triggers that were paused or fired by hand.
    pub moves: u64,
    pub pauses: u64,
    pub by_hand: u64,
}

/// What they look at.
pub(crate) struct Sight<'a> {
    pub core: &'a MemCore,
    pub agents: &'a [Agent],
    pub jobs: &'a [SimJob],
    pub cells: u16,
    /// Jobs that are held because they lost nodes.
    pub quarantined: BTreeSet<JobId>,
}

impl Operators {
    pub(crate) fn new(plan: &Plan, jobs: &[SimJob]) -> Self {
        let mut rng = Rng::new(plan.seed, "operators");
        // A job that kills its nodes is looked at by nobody: resuming it would let it kill more.
        let tame: Vec<JobId> =
            jobs.iter().filter(|job| job.nature != Nature::KillsNode).map(|job| job.job.id).collect();
        let clears = tame.iter().map(|job| Act::new(What::Clear(*job), BUSY_UNTIL, BUSY_UNTIL));
        let loses =
            (1..=LOSES).map(|n| n * BUSY_UNTIL / LOSES).map(|at| Act::new(What::Lose, at, at + SECOND));
        let acts = (0..rng.range(3, 9)).map(|_| {
            let what = match rng.index(8) {
                0..3 => What::Job(tame[rng.index(tame.len())]),
                3 => What::Cell(CellId(rng.index(usize::from(plan.cells)) as u16)),
                4..6 => What::Node(rng.index(plan.agents)),
                _ => What::Retry,
            };
            let begin_at = rng.range(2 * SECOND, BUSY_UNTIL);
            let end_at = begin_at + rng.range(SECOND, 30 * SECOND);
            Act::new(what, begin_at, end_at)
        });
        let mut rng = Rng::new(plan.seed, "priorities");
        let priorities = (0..rng.range(2, 6)).map(|_| {
            let begin_at = rng.range(2 * SECOND, BUSY_UNTIL);
            Act::new(What::Prioritise(rng.index(1 << 10) as u16), begin_at, begin_at + SECOND)
        });
        let priorities: Vec<Act> = priorities.collect();
        let acts: Vec<Act> = acts.chain(clears).chain(loses).chain(priorities).collect();
        let makeups = Makeup::all(plan.seed, jobs);
        let on_triggers = trigger_acts(plan, jobs).into_iter().chain(backfill_acts(&makeups));
        Self { acts: acts.into_iter().chain(on_triggers).collect(), makeups, ..Self::default() }
    }

    /// Jobs that are put anew now.
    pub(crate) fn puts(&mut self, now: i64) -> Vec<(usize, u64)> {
        let due = self.acts.iter_mut().enumerate().filter(|(_, act)| act.begin_at <= now && !act.begun);
        let put = |(at, act): (usize, &mut Act)| match act.what {
            What::Put(job) => {
                act.begun = true;
                Some((job, OPERATE + 2 * at as u64))
            }
            _ => None,
        };
        due.filter_map(put).collect()
    }

    /// What they do now. To every scheduler: only the owner listens.
    pub(crate) fn act(
        &mut self,
        now: i64,
        schedulers: usize,
        sight: &Sight<'_>,
    ) -> Vec<(usize, ToScheduler)> {
        let mut doings = Vec::new();
        for at in 0..self.acts.len() {
            // Of two acts on one thing the last to end undoes both.
            let what = self.acts[at].what;
            let held =
                self.acts.iter().any(|act| act.what == what && act.begin_at <= now && now < act.end_at);
            let act = &mut self.acts[at];
            if act.begin_at > now || act.tried_at + PATIENCE > now || matches!(what, What::Put(_)) {
                continue;
            }
            let end = now >= act.end_at;
            act.over = end && !held && !is_on(what, sight);
            if (end && (act.over || held)) || (!end && act.begun) {
                continue;
            }
            act.tried_at = now;
            let request = OPERATE + 2 * at as u64 + u64::from(end);
            doings.extend((0..schedulers).map(|scheduler| (scheduler, ToScheduler::Operate { request })));
        }
        doings
    }

    /// The request as an event, with the row as it is now.
    pub(crate) fn event(&self, now: i64, request: u64, sight: &Sight<'_>) -> Option<(CellId, Event)> {
        let (at, end) = ((request - OPERATE) / 2, (request - OPERATE) % 2 == 1);
        let act = &self.acts[at as usize];
        let request = RequestId(request);
        let pause = (!end).then(|| Pause {
            by: "operator".into(),
            note: "simulated".into(),
            at: Timestamp::from_micros(now),
        });
        match act.what {
            What::Clear(id) if now / SECOND % 2 == 0 => {
                let waits = |run: &&Run| run.head.job == id && run.status.state == RunState::Waiting;
                retry(sight, request, sight.core.all_runs().find(waits)?)
            }
            What::Job(id) | What::Clear(id) => {
                let job = sight.core.job(id)?;
                let cell = CellId::of(&job.namespace, sight.cells);
                Some((cell, Event::PauseJob { request, job: Box::new(job), pause }))
            }
            What::Trigger(job, trigger) | What::Retire(job, trigger) => {
                Some(on_trigger(sight, (job, trigger), request, TriggerCommand::Pause(pause)))
            }
            What::Cursor(job, trigger, by) => {
                let at = Timestamp::from_micros((act.begin_at + by).max(0));
                let command = TriggerCommand::Cursor { at, by: "operator".into() };
                Some(on_trigger(sight, (job, trigger), request, command))
            }
            What::Fire(job, trigger) => {
                let command = TriggerCommand::Fire { by: "operator".into() };
                Some(on_trigger(sight, (job, trigger), request, command))
            }
            What::Backfill(n) => {
                let Makeup { of, backfill, .. } = self.makeups[n].clone();
                Some(on_trigger(sight, of, request, TriggerCommand::Backfill(Box::new(backfill))))
            }
            What::StopBackfill(n) => {
                let Makeup { of, backfill, .. } = &self.makeups[n];
                let command = TriggerCommand::StopBackfill { id: backfill.id, by: "operator".into() };
                Some(on_trigger(sight, *of, request, command))
            }
            What::Put(_) => None,
            What::Cell(cell) => Some((cell, Event::PauseCell { request, pause })),
            What::Node(agent) => {
                let node = sight.core.node(sight.agents[agent].node.id)?;
                let deadline = (!end).then(|| Timestamp::from_micros(act.begin_at + 5 * SECOND));
                Some((node.cell, Event::Drain { request, node: node.id, deadline }))
            }
            What::Lose => {
                let node = gone(sight)?;
                Some((node.cell, Event::Lose { request, node: node.id }))
            }
            What::Prioritise(priority) => {
                let waits = |run: &&Run| run.status.state == RunState::Waiting;
                let run = sight.core.all_runs().filter(waits).last()?;
                let (cell, row) = (run.status.cell, row(sight, run)?);
                let by = "operator".into();
                Some((cell, Event::Prioritise { request, run: run.head.id, row, by, priority }))
            }
            What::Retry => {
                let failed = |run: &&Run| run.status.state == RunState::Failed;
                retry(sight, request, sight.core.all_runs().find(failed)?)
            }
        }
    }

    /// The backfill that an answer says is begun or, with true, stopped.
    pub(crate) fn answered_backfill(&self, request: u64, answer: &Answer) -> Option<(BackfillId, bool)> {
        let act = &self.acts[((request - OPERATE) / 2) as usize];
        match act.what {
            What::Backfill(n) if *answer == Answer::Done => Some((self.makeups[n].backfill.id, false)),
            What::StopBackfill(n) if *answer == Answer::Done => Some((self.makeups[n].backfill.id, true)),
            _ => None,
        }
    }

    /// A scheduler answered.
    pub(crate) fn answered(&mut self, request: u64, answer: &Answer) {
        let act = &mut self.acts[((request - OPERATE) / 2) as usize];
        // A node that is gone, or a run that is no longer failed: nothing to be done about it.
        let settled = match answer {
            Answer::Done => true,
            Answer::Refused { code, .. } => matches!(code, ErrorCode::IllegalState | ErrorCode::NotFound),
            Answer::Submitted { .. } => matches!(act.what, What::Fire(..)),
        };
        if settled && !act.begun {
            match act.what {
                What::Cursor(..) => self.moves += 1,
                What::Trigger(..) => self.pauses += 1,
                What::Fire(..) => self.by_hand += 1,
                _ => {}
            }
        }
        act.begun |= settled;
    }

    /// Everything that was done is undone.
    pub(crate) fn is_done(&self, now: i64, sight: &Sight<'_>) -> bool {
        self.acts.iter().all(|act| match act.what {
            What::Retire(job, trigger) => is_paused(sight, job, trigger),
            what => now >= act.end_at && !is_on(what, sight),
        })
    }
}

/// A node that no machine is any more, and that is not given up yet.
fn gone(sight: &Sight<'_>) -> Option<Node> {
    let is_gone = |node: &&Node| !node.is_gone() && sight.agents.iter().all(|agent| agent.node.id != node.id);
    let nodes = sight.core.all_nodes(None, limits::PAGE_ROWS_MAX).ok()?;
    nodes.rows.iter().find(is_gone).cloned()
}

fn retry(sight: &Sight<'_>, request: RequestId, run: &Run) -> Option<(CellId, Event)> {
    let row = row(sight, run)?;
    Some((run.status.cell, Event::RetryNow { request, run: run.head.id, row, by: "operator".into() }))
}

/// The row of a run, as a server sends it along.
fn row(sight: &Sight<'_>, run: &Run) -> Option<Option<Box<LoadedRun>>> {
    let job = sight.jobs.iter().find(|sim| sim.job.id == run.head.job)?;
    let spec = job.readable.then(|| job.spec.clone());
    Some(Some(Box::new(LoadedRun { run: run.clone(), spec, pause: None })))
}

fn is_on(what: What, sight: &Sight<'_>) -> bool {
    match what {
        What::Job(id) => sight.core.job(id).is_some_and(|job| job.pause.is_some()),
        What::Cell(cell) => sight.core.cell_pause(cell).is_some(),
        What::Node(agent) => {
            let node = sight.core.node(sight.agents[agent].node.id);
            node.is_some_and(|node| matches!(node.state, NodeState::Draining { .. }))
        }
        What::Lose | What::Retry | What::Prioritise(_) | What::Cursor(..) | What::Fire(..) | What::Put(_) => {
            false
        }
        What::Backfill(_) | What::StopBackfill(_) => false,
        What::Clear(id) => sight.quarantined.contains(&id),
        What::Trigger(job, trigger) => is_paused(sight, job, trigger),
        What::Retire(..) => false,
    }
}

fn is_paused(sight: &Sight<'_>, job: usize, trigger: usize) -> bool {
    let sim = &sight.jobs[job];
    let name = sim.spec.triggers[trigger].name.as_str();
    let rows = timed::rows_of(sight.core, sim, sight.cells);
    rows.iter().any(|row| *row.key.name == *name && row.state.pause.is_some())
}

fn on_trigger(
    sight: &Sight<'_>,
    (job, trigger): (usize, usize),
    request: RequestId,
    command: TriggerCommand,
) -> (CellId, Event) {
    let sim = &sight.jobs[job];
    let name = sim.spec.triggers[trigger].name.as_str().into();
    let key = TriggerKey { job: sim.job.id, name };
    (CellId::of(&sim.job.namespace, sight.cells), Event::Trigger { request, key, command })
}

/// What they do to triggers: a little of everything, and in the end they resume what paused itself and put an end to what
/// has none.
fn trigger_acts(plan: &Plan, jobs: &[SimJob]) -> Vec<Act> {
    let mut rng = Rng::new(plan.seed, "triggers");
    let timed: Vec<usize> = (0..jobs.len()).filter(|job| jobs[*job].is_timed()).collect();
    let mut acts = Vec::new();
    for _ in 0..rng.range(3, 9) {
        let job = timed[rng.index(timed.len())];
        let trigger = rng.index(jobs[job].spec.triggers.len());
        let begin_at = rng.range(3 * SECOND, BUSY_UNTIL);
        let end_at = begin_at + rng.range(SECOND, 30 * SECOND);
        let has_clock = has_clock(&jobs[job].spec.triggers[trigger]);
        let what = match rng.index(6) {
            0 if !is_delay(&jobs[job].spec.triggers[trigger]) => What::Trigger(job, trigger),
            1 | 2 if has_clock => What::Cursor(job, trigger, rng.range(-40 * SECOND, 25 * SECOND)),
            3 => What::Fire(job, trigger),
            _ => What::Put(job),
        };
        acts.push(Act::new(what, begin_at, end_at));
    }
    let mut rng = Rng::new(plan.seed, "changes");
    for job in (0..jobs.len()).filter(|job| jobs[*job].is_changing()) {
        let puts = (0..CHANGES).map(|_| rng.range(3 * SECOND, BUSY_UNTIL));
        acts.extend(puts.map(|at| Act::new(What::Put(job), at, at)));
    }
    for (n, sim) in jobs.iter().enumerate() {
        for (m, trigger) in sim.spec.triggers.iter().enumerate() {
            if trigger.pause_after.is_some() {
                acts.push(Act::new(What::Trigger(n, m), BUSY_UNTIL, BUSY_UNTIL));
            }
            if is_delay(trigger) {
                acts.push(Act::new(What::Retire(n, m), BUSY_UNTIL, i64::MAX));
            }
        }
    }
    acts
}

fn backfill_acts(makeups: &[Makeup]) -> Vec<Act> {
    let mut acts = Vec::new();
    for (n, makeup) in makeups.iter().enumerate() {
        acts.extend(makeup.asked.iter().map(|(at, until)| Act::new(What::Backfill(n), *at, *until)));
        acts.extend(makeup.stopped.map(|(at, until)| Act::new(What::StopBackfill(n), at, until)));
    }
    acts
}

fn is_delay(trigger: &Trigger) -> bool {
    matches!(trigger.when, When::Delay { .. })
}
