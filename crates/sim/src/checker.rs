//! The checker: it sees every committed change of a row and every task that begins or ends, as they
//! happen, and knows what may never be. It trusts neither the engine nor the agents.
//!
//! Held here: I4, I5, I9, I10, I11, I12, I18, I21, I25, pauses, drains and goodbyes; in `promises`: I7, I8,
//! deadlines and checkpoints; in `overlap`: overlap policies; in `timed` and `ledgers`: I1–I4, I6 and triggers; in `backfills`,
//! `calendars`, `callers`, `changes` and `needs`: what those promise beyond that. In `rest`, all the time: I19, I22; when the faults are
//! over: I5, I16-like liveness, I20.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mainspring_model::spec::{Delivery, OnDisconnect};
use mainspring_model::{
    AttemptToken, Cause, CellId, Epoch, JobId, Namespace, NodeId, NodeState, Payload, RunEventKind, RunHead,
    RunId, RunState, RunStatus, Timestamp,
};
use mainspring_store_mem::{Change, MemCore};

use crate::jobs::SimJob;
use crate::overlap::Overlaps;
use crate::plan::SECOND;
use crate::promises;
use crate::timed::Firings;

/// Clocks of schedulers differ from the true one by their offset and rate.
const CLOCK_ERROR: i64 = 8 * SECOND;

/// Something that may never be.
#[derive(Debug, Clone)]
pub(crate) struct Violation {
    /// Which invariant.
    pub invariant: &'static str,
    /// What happened.
    pub what: String,
    /// Ids that the story should be searched for.
    pub about: Vec<String>,
}

pub(crate) type Verdict = Result<(), Violation>;

pub(crate) fn fail<T>(invariant: &'static str, run: RunId, what: String) -> Result<T, Violation> {
    Err(Violation { invariant, what, about: vec![run.to_string()] })
}

#[derive(Debug, Default)]
struct Executions {
    now: BTreeMap<AttemptToken, NodeId>,
    begun: u32,
    /// The attempt whose task ended well.
    succeeded: Option<u32>,
}

/// What has been seen.
#[derive(Debug)]
pub(crate) struct Checker {
    jobs: BTreeMap<JobId, Arc<SimJob>>,
    executions: BTreeMap<RunId, Executions>,
    /// Runs by (namespace, key).
    keys: BTreeMap<(Namespace, Box<str>), RunId>,
    running: BTreeMap<RunId, (NodeId, JobId, Box<str>)>,
    overlaps: Overlaps,
    pub firings: Firings,
    placed: BTreeMap<(JobId, Box<str>), Vec<Timestamp>>,
    epochs: BTreeMap<CellId, Epoch>,
    /// Not before this, as the client asked, in true time.
    pub not_before: BTreeMap<RunId, i64>,
    pub tasks_begun: u64,
    /// Tasks that began with a checkpoint.
    pub continued: u64,
    /// Since when nothing more may be placed.
    held_jobs: BTreeMap<JobId, i64>,
    held_cell: Option<i64>,
    held_nodes: BTreeMap<NodeId, i64>,
    /// The furthest that the store's clock, the authority, was ahead of true time.
    clock_ahead: i64,
}

impl Checker {
    pub(crate) fn new(jobs: &[SimJob]) -> Self {
        Self {
            jobs: jobs.iter().map(|job| (job.job.id, Arc::new(job.clone()))).collect(),
            executions: BTreeMap::new(),
            keys: BTreeMap::new(),
            running: BTreeMap::new(),
            overlaps: Overlaps::default(),
            firings: Firings::default(),
            placed: BTreeMap::new(),
            epochs: BTreeMap::new(),
            not_before: BTreeMap::new(),
            tasks_begun: 0,
            continued: 0,
            held_jobs: BTreeMap::new(),
            held_cell: None,
            held_nodes: BTreeMap::new(),
            clock_ahead: 0,
        }
    }

    /// The changes of one commit. `granted` is the epoch that a cell's lease row has. What is reserved is
    /// looked at when all are applied: only committed states count.
    pub(crate) fn changed(
        &mut self,
        changes: &[Change],
        core: &MemCore,
        granted: impl Fn(CellId) -> Epoch,
        decided: impl Fn(CellId, Epoch, Timestamp) -> Option<i64>,
    ) -> Verdict {
        let mut placed = Vec::new();
        for change in changes {
            let Some(after) = &change.after else { continue };
            let head = &change.head;
            match &change.before {
                None => self.inserted(head)?,
                Some(before) => {
                    promises::legal(head, before, after)?;
                    promises::continues(head, before, after)?;
                }
            }
            promises::in_time(head, &self.jobs[&head.job].spec, after)?;
            self.fenced(change, after, &granted)?;
            self.attempts_counted(head, after)?;
            self.overlaps.changed(head, after);
            let was = self.running.remove(&head.id);
            if after.state == RunState::Running {
                let Some(node) = after.node else { return fail("I12", head.id, "runs on no node".into()) };
                let key = head.keys.as_ref().map_or("".into(), |keys| keys.concurrency.clone());
                self.running.insert(head.id, (node, head.job, key));
                let before = change.before.as_ref();
                if was.is_none() || before.is_some_and(|before| before.attempt != after.attempt) {
                    let by = change.fence.as_ref().map(|fence| fence.cell);
                    let placed_at = by.zip(after.placed_at);
                    let at = placed_at.and_then(|(cell, at)| decided(cell, after.attempt_epoch, at));
                    placed.push((head, after, node, at));
                }
            }
        }
        for change in changes {
            self.overlaps.check(&change.head, &self.jobs[&change.head.job].spec)?;
        }
        for (head, after, node, at) in placed {
            self.reserved(head, node, core)?;
            self.limited(head)?;
            self.rated(head, after)?;
            self.held_back(head, at, node)?;
        }
        Ok(())
    }

    /// A job, cell or node may have been paused, drained, or the reverse. Runs that were given to another cell are not its
    /// owner's to hold back, so pauses are only looked at where there is one cell.
    /// A node whose row was `written` may have been in service, and been emptied again, before anything of that was.
    pub(crate) fn look_at_holds(&mut self, now: i64, core: &MemCore, cells: u16, written: &[NodeId]) {
        if cells == 1 {
            let paused = |id: &JobId| core.job(*id).is_some_and(|job| job.pause.is_some());
            self.held_jobs.retain(|id, _| paused(id));
            for id in self.jobs.keys().filter(|id| paused(id)) {
                self.held_jobs.entry(*id).or_insert(now);
            }
            let since = self.held_cell.unwrap_or(now);
            self.held_cell = core.cell_pause(CellId(0)).map(|_| since);
        }
        for node in (0..cells).flat_map(|cell| core.nodes(CellId(cell))) {
            if matches!(node.state, NodeState::Draining { .. }) {
                let since = self.held_nodes.entry(node.id).or_insert(now);
                if written.contains(&node.id) {
                    *since = now;
                }
            } else {
                self.held_nodes.remove(&node.id);
            }
        }
    }

    /// Whoever left holds nothing. One that is back may hold something before its row says that it is.
    pub(crate) fn look_at_goodbyes(&self, core: &MemCore, is_away: impl Fn(NodeId) -> bool) -> Verdict {
        for (run, (on, ..)) in &self.running {
            let left = core.node(*on).is_some_and(|node| node.state == NodeState::Left);
            if left && is_away(*on) {
                return fail("goodbye", *run, format!("{on} left and holds it"));
            }
        }
        Ok(())
    }

    /// A task begins with what the row says it continues from.
    pub(crate) fn continues(
        &mut self,
        token: AttemptToken,
        given: Option<&Payload>,
        core: &MemCore,
    ) -> Verdict {
        let kept = core.run(token.run).and_then(|run| promises::kept(&run.status));
        self.continued += u64::from(given.is_some());
        if given == kept {
            return Ok(());
        }
        let what = format!("attempt {} continues from {given:?}, the row has {kept:?}", token.number);
        fail("checkpoint", token.run, what)
    }

    /// Paused is paused and drained is drained, whoever owns the cell: nothing is placed after it is durable.
    fn held_back(&self, head: &RunHead, placed_at: Option<i64>, node: NodeId) -> Verdict {
        let Some(placed_at) = placed_at else { return Ok(()) };
        let late = |since: Option<&i64>| since.is_some_and(|since| placed_at > since + CLOCK_ERROR);
        if late(self.held_jobs.get(&head.job)) || late(self.held_cell.as_ref()) {
            return fail("pause", head.id, "placed although its job or cell is paused".into());
        }
        if late(self.held_nodes.get(&node)) {
            return fail("drain", head.id, format!("placed on {node}, which is being emptied"));
        }
        Ok(())
    }

    /// I5: one run for each key. I1, I4: one run for each planned moment, and not before it.
    fn inserted(&mut self, head: &RunHead) -> Verdict {
        self.firings.inserted(head, &self.jobs[&head.job].spec)?;
        if let Some(key) = &head.idempotency_key {
            let earlier = self.keys.insert((head.namespace.clone(), key.clone()), head.id);
            if let Some(earlier) = earlier {
                return fail("I5", head.id, format!("key {key} already names {earlier}"));
            }
        }
        Ok(())
    }

    /// I9: nothing that carries an older epoch writes.
    fn fenced(&mut self, change: &Change, after: &RunStatus, granted: &impl Fn(CellId) -> Epoch) -> Verdict {
        let Some(fence) = change.fence else { return Ok(()) };
        let current = granted(fence.cell);
        if after.epoch != current {
            let what = format!("written under {} while {current} is granted", after.epoch);
            return fail("I9", change.head.id, what);
        }
        let seen = self.epochs.entry(fence.cell).or_default();
        if *seen > fence.epoch {
            return fail("I9", change.head.id, format!("{} after {seen}", fence.epoch));
        }
        *seen = fence.epoch;
        Ok(())
    }

    /// I10: attempts that count are limited by the job.
    fn attempts_counted(&self, head: &RunHead, after: &RunStatus) -> Verdict {
        let spec = &self.jobs[&head.job].spec;
        let counted = after.attempt.saturating_sub(after.losses);
        let max = if spec.delivery == Delivery::AtMostOnce { 1 } else { 1 + spec.retry.max };
        if counted > max {
            return fail("I10", head.id, format!("{counted} attempts that count, {max} allowed"));
        }
        if after.losses > mainspring_model::limits::LOSSES_PER_RUN_MAX {
            return fail("I10", head.id, format!("{} losses", after.losses));
        }
        Ok(())
    }

    /// I18: reservations within what the node has.
    fn reserved(&self, head: &RunHead, node: NodeId, core: &MemCore) -> Verdict {
        let Some(has) = core.node(node) else {
            return fail("I18", head.id, format!("{node} is not known"));
        };
        let on_node: Vec<JobId> =
            self.running.values().filter(|(have, ..)| *have == node).map(|(_, job, _)| *job).collect();
        let resources = on_node.iter().map(|job| &self.jobs[job].spec.resources);
        let cpu: u64 = resources.clone().map(|need| need.cpu_milli).sum();
        let memory: u64 = resources.map(|need| need.memory_bytes).sum();
        if on_node.len() > has.slots as usize
            || cpu > has.capacity.cpu_milli
            || memory > has.capacity.memory_bytes
        {
            return fail(
                "I18",
                head.id,
                format!("{node} holds {} runs, {cpu}m cpu, {memory} bytes", on_node.len()),
            );
        }
        Ok(())
    }

    /// I18: concurrency limits in every committed state.
    fn limited(&self, head: &RunHead) -> Verdict {
        let Some(concurrency) = &self.jobs[&head.job].spec.concurrency else { return Ok(()) };
        let key = head.keys.as_ref().map_or("", |keys| &keys.concurrency);
        let holding =
            self.running.values().filter(|(_, job, have)| *job == head.job && **have == *key).count();
        if holding > concurrency.limit.get() as usize {
            return fail(
                "I18",
                head.id,
                format!("{holding} runs hold key `{key}`, {} may", concurrency.limit),
            );
        }
        Ok(())
    }

    /// I21: rate limits in every window of the store's time, as its owners follow it: they may slew by a few percent.
    fn rated(&mut self, head: &RunHead, after: &RunStatus) -> Verdict {
        let Some(rate) = &self.jobs[&head.job].spec.rate_limit else { return Ok(()) };
        let Some(placed_at) = after.placed_at else { return Ok(()) };
        let key = head.keys.as_ref().map_or("".into(), |keys| keys.rate.clone());
        let placed = self.placed.entry((head.job, key)).or_default();
        placed.push(placed_at);
        let window = rate.per.mul_f64(0.9);
        let inside = placed.iter().filter(|at| **at <= placed_at && placed_at.since(**at) < window).count();
        if inside > rate.limit.get() as usize {
            return fail(
                "I21",
                head.id,
                format!("{inside} starts within {window:?}, {} allowed", rate.limit),
            );
        }
        Ok(())
    }

    /// A task begins on a node: I4, I11, I12, I25 and at-most-once.
    pub(crate) fn begins(&mut self, now: i64, token: AttemptToken, node: NodeId, core: &MemCore) -> Verdict {
        self.tasks_begun += 1;
        let Some(run) = core.run(token.run) else {
            return fail("I12", token.run, "a task of a run that is not in the store begins".into());
        };
        let status = &run.status;
        if status.token(token.run) != token || status.state != RunState::Running || status.node != Some(node)
        {
            let what = format!(
                "attempt {} begins on {node}, but the row says {:?} attempt {} {:?}",
                token.number, status.state, status.attempt, status.node
            );
            return fail("I12", token.run, what);
        }
        if self.not_before.get(&token.run).is_some_and(|at| now + self.clock_ahead + CLOCK_ERROR < *at) {
            return fail("I4", token.run, "begins before its time".into());
        }
        let keeps = self.keeps(run.head.job);
        let executions = self.executions.entry(token.run).or_default();
        if let Some((other, on)) = executions.now.first_key_value().filter(|_| !keeps) {
            let what = format!(
                "attempt {} begins on {node} while attempt {} executes on {on}",
                token.number, other.number
            );
            return fail("I11", token.run, what);
        }
        if let Some(attempt) = executions.succeeded
            && !lost_with_its_node(core, token.run, attempt)
        {
            return fail("I25", token.run, format!("attempt {attempt} ended well and is executed again"));
        }
        executions.begun += 1;
        if executions.begun > 1 && self.jobs[&run.head.job].spec.delivery == Delivery::AtMostOnce {
            return fail("I10", token.run, "a job that executes at most once executes twice".into());
        }
        executions.now.insert(token, node);
        Ok(())
    }

    /// A task ended.
    pub(crate) fn ends(&mut self, token: AttemptToken) {
        if let Some(executions) = self.executions.get_mut(&token.run) {
            executions.now.remove(&token);
        }
    }

    /// Tasks stand still with their machine.
    pub(crate) fn suspended(&mut self, tokens: Vec<AttemptToken>) {
        tokens.into_iter().for_each(|token| self.ends(token));
    }

    /// I11: tasks execute on with their machine, and no other attempt of their run does.
    pub(crate) fn woken(&mut self, node: NodeId, tokens: Vec<AttemptToken>, core: &MemCore) -> Verdict {
        for token in tokens {
            let keeps = core.run(token.run).is_some_and(|run| self.keeps(run.head.job));
            let executions = self.executions.entry(token.run).or_default();
            if let Some((other, on)) = executions.now.first_key_value().filter(|_| !keeps) {
                let what = format!(
                    "attempt {} goes on on {node} after a suspend while attempt {} executes on {on}",
                    token.number, other.number
                );
                return fail("I11", token.run, what);
            }
            executions.now.insert(token, node);
        }
        Ok(())
    }

    fn keeps(&self, job: JobId) -> bool {
        self.jobs[&job].spec.on_disconnect == OnDisconnect::Keep
    }

    /// A task ended well.
    pub(crate) fn succeeded(&mut self, token: AttemptToken) {
        self.executions.entry(token.run).or_default().succeeded = Some(token.number);
    }

    /// The store's clock jumped and is now `offset` ahead of true time.
    pub(crate) fn clock_jumped(&mut self, offset: i64) {
        self.clock_ahead = self.clock_ahead.max(offset);
    }

    /// Runs whose tasks execute.
    pub(crate) fn executing(&self) -> BTreeSet<RunId> {
        self.executions
            .iter()
            .filter(|(_, executions)| !executions.now.is_empty())
            .map(|(run, _)| *run)
            .collect()
    }
}

/// Work that ended well may be repeated only when its node was given up before it could tell.
fn lost_with_its_node(core: &MemCore, run: RunId, attempt: u32) -> bool {
    let attempts = core.attempts(run);
    let ended = attempts.iter().find(|ended| ended.token.number == attempt);
    ended.is_some_and(|ended| matches!(ended.cause, Cause::Lost { .. } | Cause::Vanished { .. }))
        || core.events(run).iter().any(
            |event| matches!(event.kind, RunEventKind::NodeLost { attempt: lost, .. } if lost == attempt),
        )
}
