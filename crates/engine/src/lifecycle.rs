//! The life of a run in memory: it enters, waits, holds a node, ends, and is forgotten.
//!
//! Every change of state goes through [`Cell::step`], which asks the model's transition table. What to do
//! after an attempt ended is decided in `verdict`; this file carries it out.

use std::sync::Arc;

use mainspring_model::spec::RetryNode;
use mainspring_model::{
    Attempt, Cause, Command, Counts, JobId, JobSpec, Place, Reason, RunEventKind, RunHead, RunId, RunState,
    RunStatus, Shelf, Timestamp, counter, limits, transition,
};

use crate::cell::Cell;
use crate::class::{Class, ClassKey};
use crate::event::Ending;
use crate::nodeset::Filter;
use crate::queue::{Apart, GroupKey};
use crate::runs::{Phase, RunEntry};
use crate::timers::Armed;
use crate::verdict::Verdict;

/// A start that was shown stays if it is off by this part of the attempt's time at most.
const STARTED_NEAR: u32 = 20;

impl Cell {
    /// Moves a run along the transition table. Callers have looked at the state; an illegal step is a defect, after which the
    /// cell decides nothing more and is loaded anew.
    pub(crate) fn step(&mut self, ix: usize, command: Command) {
        let entry = &mut self.runs.entries[ix];
        match transition(entry.status.state, command) {
            Ok(next) => entry.status.state = next,
            Err(illegal) => {
                let why = format!("{}: {illegal}", entry.head.id);
                self.break_down(why);
            }
        }
    }

    /// Puts a run into memory, with its shape.
    pub(crate) fn enter(
        &mut self,
        now: Timestamp,
        head: Arc<RunHead>,
        status: RunStatus,
        spec: &Arc<JobSpec>,
    ) -> usize {
        let shape = self.shape(head.job, head.job_version, spec);
        self.enter_as(now, head, status, shape)
    }

    /// Puts a run into memory with a shape that may not be its own.
    pub(crate) fn enter_as(
        &mut self,
        now: Timestamp,
        head: Arc<RunHead>,
        status: RunStatus,
        shape: usize,
    ) -> usize {
        let adopted = status.version > 0;
        self.shapes.shapes[shape].runs += 1;
        self.runs.insert(RunEntry {
            head,
            status,
            shape: shape as u32,
            group: None,
            phase: Phase::Idle,
            since: now,
            spoke_at: self.elapsed,
            stopping: None,
            armed: Armed::NOT,
            wait_armed: Armed::NOT,
            dirty: false,
            in_flight: false,
            adopted,
            queued_ms: 0,
            counted: false,
        })
    }

    /// The shape of a job version, made if need be.
    pub(crate) fn shape(&mut self, job: JobId, version: u32, spec: &Arc<JobSpec>) -> usize {
        if let Some(ix) = self.shapes.find(job, version) {
            return ix;
        }
        let key = ClassKey::of(spec);
        let class = match self.queue.find_class(&key) {
            Some(class) => class,
            None => self.make_class(key),
        };
        self.queue.classes[class].shapes += 1;
        let job = self.shapes.job(job);
        self.shapes.insert(job, version, spec.clone(), class)
    }

    fn make_class(&mut self, key: ClassKey) -> usize {
        let set = self.nodes.use_set(&key.filter);
        let mut preferred = Vec::new();
        for affinity in key.affinity.iter().filter(|affinity| affinity.weight > 0) {
            let both = key.filter.selector.requirements().iter().chain(affinity.selector.requirements());
            // Too many requirements together: the affinity is still scored, it is only not looked up.
            if let Ok(selector) = mainspring_model::selector::Selector::new(both.cloned()) {
                preferred.push(self.nodes.use_set(&Filter { selector, ..key.filter.clone() }));
            }
        }
        let class = Class::new(key, set, preferred);
        if let Some(label) = &class.key.spread {
            self.nodes.keep_domains(class.set, label);
        }
        for set in std::iter::once(class.set).chain(class.preferred.iter().copied()) {
            for order in class.balancer.orders() {
                self.nodes.keep_order(set, *order);
            }
            if class.balancer.uses_names() {
                self.nodes.keep_names(set);
            }
            if class.balancer.uses_ring() {
                self.nodes.keep_ring(set);
            }
        }
        self.queue.insert_class(class)
    }

    /// Queues a run that is eligible now, and places it if that is possible at once.
    pub(crate) fn enqueue(&mut self, now: Timestamp, ix: usize) {
        self.step(ix, Command::Enqueue);
        self.queue_up(now, ix);
    }

    /// A run begins to wait.
    pub(crate) fn queue_up(&mut self, now: Timestamp, ix: usize) {
        let status = &mut self.runs.entries[ix].status;
        status.eligible_at.get_or_insert(now);
        if status.attempt > 0 {
            status.extra_mut().queued_at = Some(now);
        }
        self.line_up(now, ix);
    }

    /// Gives a waiting run its turn and its group.
    pub(crate) fn line_up(&mut self, now: Timestamp, ix: usize) {
        let entry = &mut self.runs.entries[ix];
        let namespace = &entry.head.namespace;
        let weight = self.config.weights.get(namespace).copied().unwrap_or(1);
        let rank = self.queue.share.enter(entry.priority(), namespace, weight);
        entry.status.place = Some(Place { shelf: Shelf::Waiting, rank });
        entry.phase = Phase::Idle;
        entry.since = entry.status.waits_since().unwrap_or(now).min(now);
        self.mark(ix);
        if self.admit(ix)
            && let Some(group) = self.runs.entries[ix].group
        {
            self.try_group(now, group as usize);
        }
        if let Some(entry) = self.runs.entries.get(ix)
            && entry.status.state == RunState::Waiting
        {
            self.arm_run(now, ix);
        }
    }

    /// Puts a waiting run into the group it belongs to.
    pub(crate) fn join_group(&mut self, ix: usize) {
        let key = self.group_key(ix);
        let entry = &self.runs.entries[ix];
        let group = match self.queue.find_group(&key) {
            Some(group) => group,
            None => {
                let shape = self.shapes.of(entry);
                let job = shape.job;
                let group = self.queue.insert_group(key, (shape.class, job), shape.kept);
                self.shapes.jobs[job].groups.insert(group);
                group
            }
        };
        let queue_key = entry.queue_key();
        self.runs.entries[ix].group = Some(group as u32);
        self.queue.push(group, queue_key, ix);
    }

    pub(crate) fn group_key(&self, ix: usize) -> GroupKey {
        let entry = &self.runs.entries[ix];
        let retry_node = self.shapes.of(entry).spec.retry.node;
        let failed = entry.status.extra.as_ref().map_or(&[][..], |extra| &extra.failed_nodes);
        let (excluded, pinned) = match retry_node {
            RetryNode::Same => {
                let last = failed.last().filter(|id| self.nodes.find(**id).is_some());
                (Vec::new(), last.copied())
            }
            RetryNode::Other | RetryNode::OtherUnlessOnlyOne => (failed.to_vec(), None),
        };
        let (concurrency, rate) = (entry.concurrency_key().into(), entry.rate_key().into());
        let apart = Apart { concurrency, rate, excluded, pinned };
        GroupKey::new(entry.shape as usize, entry.priority(), entry.head.overlap, apart)
    }

    /// Takes a run out of the queue, if it is in it, and tells what it waited for last.
    pub(crate) fn leave_queue(&mut self, ix: usize) -> Option<Reason> {
        let entry = &mut self.runs.entries[ix];
        let group_ix = entry.group.take()? as usize;
        let key = entry.queue_key();
        let group = &self.queue.groups[group_ix];
        let full = group.full.as_ref().or(self.queue.classes[group.class].full.as_ref());
        let why = full.and_then(|full| full.why.as_ref()).or(group.held_by.as_ref()).cloned();
        self.queue.remove(group_ix, key);
        self.group_shrank(group_ix);
        why
    }

    /// The run no longer holds its node: room and keys are given back, and whoever waits for them goes on.
    pub(crate) fn vacate(&mut self, now: Timestamp, ix: usize) {
        let entry = &mut self.runs.entries[ix];
        entry.phase = Phase::Idle;
        entry.stopping = None;
        let Some(node_ix) = entry.status.node.and_then(|id| self.nodes.find(id)) else { return };
        let shape = self.shapes.of(entry);
        let (job, spreads, limited) = (shape.job, shape.spreads, shape.spec.concurrency.is_some());
        self.suspects.ended(ix);
        let need = &self.queue.classes[shape.class].key.need;
        let held = self.nodes.change(node_ix, |node| {
            let held = node.runs.remove(&ix);
            if held && !node.overbooked {
                node.free.give(need);
            }
            held
        });
        if !held {
            return;
        }
        self.recount_overbooked(node_ix);
        if spreads {
            self.shapes.count_node(job, node_ix, false);
        }
        let woken = if limited {
            self.concurrency.end(job, self.runs.entries[ix].concurrency_key(), ix)
        } else {
            Default::default()
        };
        for group in &woken {
            self.queue.unblock(*group);
        }
        self.fill_node(now, node_ix);
        if !woken.is_empty() {
            self.place_waiting(now);
        }
    }

    /// An attempt is over. Decides what follows and does it.
    pub(crate) fn attempt_over(&mut self, now: Timestamp, ix: usize, ending: Ending) {
        self.stats.ended += 1;
        let verdict = self.verdict(now, ix, &ending);
        let entry = &mut self.runs.entries[ix];
        let status = &mut entry.status;
        status.finished_at = Some(now);
        if let Some(ago) = ending.begun_ago {
            status.started_at = Some(started_at(status, now, now - ago));
        }
        status.cause = Some(verdict.cause().clone());
        if ending.result.is_some() || ending.usage != Default::default() {
            let extra = status.extra_mut();
            extra.result = ending.result;
            extra.usage = ending.usage;
        }
        self.note_health(now, ix);
        self.mark(ix);
        match verdict {
            Verdict::Succeed { .. } => self.end(now, ix, Command::Succeed),
            Verdict::Cancel { .. } => self.end(now, ix, Command::Cancel),
            Verdict::GiveUp { .. } => self.end(now, ix, Command::GiveUp),
            Verdict::Requeue { counts_as_loss, .. } => {
                self.keep_attempt(ix);
                self.step(ix, Command::Requeue);
                self.runs.entries[ix].status.losses += u32::from(counts_as_loss);
                self.vacate(now, ix);
                self.queue_up(now, ix);
            }
            Verdict::Retry { due, counts_as_loss, .. } => {
                self.keep_attempt(ix);
                self.step(ix, Command::Fail);
                self.runs.entries[ix].status.losses += u32::from(counts_as_loss);
                self.vacate(now, ix);
                if due <= now {
                    self.enqueue(now, ix);
                } else {
                    self.hold_until(now, ix, due);
                }
            }
        }
    }

    /// Puts a ready or failed run aside until its time, or until it is given up if that comes first. Beyond the horizon
    /// it waits in the store.
    pub(crate) fn hold_until(&mut self, now: Timestamp, ix: usize, due: Timestamp) {
        let due = self.last_moment(ix).map_or(due, |last| last.min(due));
        let entry = &mut self.runs.entries[ix];
        entry.status.place = Some(Place { shelf: Shelf::Timed, rank: due.as_micros() });
        entry.since = now;
        self.mark(ix);
        if due <= self.overflow.horizon {
            self.arm_run(now, ix);
        } else {
            self.disarm_run(ix);
        }
    }

    /// Ends a run for good. Its cause is set; a run that held a node gives it back.
    pub(crate) fn end(&mut self, now: Timestamp, ix: usize, command: Command) {
        let waited_for = self.leave_queue(ix);
        self.step(ix, command);
        let entry = &mut self.runs.entries[ix];
        if let Some(reason) = waited_for {
            entry.status.reason = Some(Box::new(reason));
        }
        entry.status.place = None;
        entry.status.finished_at = Some(now);
        self.disarm_run(ix);
        self.mark(ix);
        self.run_over(now, ix);
        self.vacate(now, ix);
    }

    /// Ends a run that no node holds.
    pub(crate) fn end_with(&mut self, now: Timestamp, ix: usize, command: Command, cause: Cause) {
        self.runs.entries[ix].status.cause = Some(cause);
        self.end(now, ix, command);
    }

    /// Keeps the attempt that just ended as a row of its own, because another follows.
    fn keep_attempt(&mut self, ix: usize) {
        let entry = &mut self.runs.entries[ix];
        let retry_node = self.shapes.of(entry).spec.retry.node;
        let token = entry.token();
        let status = &mut entry.status;
        let (Some(node), Some(placed_at), Some(finished_at), Some(cause)) =
            (status.node, status.placed_at, status.finished_at, status.cause.clone())
        else {
            return;
        };
        if !cause.never_started() {
            let begun_at = status.begun_at();
            status.extra_mut().begun_at = begun_at;
        }
        // A node that refused is avoided like one that failed; a run that wants its node again waits until it takes it.
        let refused_same = cause.never_started() && retry_node == RetryNode::Same;
        if !refused_same && !matches!(cause, Cause::Drained { .. }) {
            let failed = &mut status.extra_mut().failed_nodes;
            failed.retain(|have| *have != node);
            failed.push(node);
            if failed.len() > limits::FAILED_NODES_REMEMBERED {
                failed.remove(0);
            }
        }
        let usage = status.extra.as_ref().map(|extra| extra.usage).unwrap_or_default();
        self.outbox.attempts.push(Attempt {
            token,
            node,
            placed_at,
            started_at: status.started_at,
            finished_at,
            cause,
            usage,
        });
    }

    /// Writes an event with the run's next version.
    pub(crate) fn tell(&mut self, now: Timestamp, ix: usize, kind: RunEventKind) {
        self.outbox.events.push((ix, now, kind));
        self.mark(ix);
    }

    /// Adds the end of a run to the roll-ups, in the batch that writes it, once.
    pub(crate) fn count_end(&mut self, ix: usize) {
        let entry = &mut self.runs.entries[ix];
        if entry.counted || !entry.status.state.is_terminal() {
            return;
        }
        entry.counted = true;
        let status = &entry.status;
        let mut counts = Counts::of(status.state);
        counts.attempts = u64::from(status.attempt);
        counts.queued_us = u64::from(entry.queued_ms) * 1_000;
        if let (Some(from), Some(until)) = (status.started_at, status.finished_at) {
            counts.running_us = until.since(from).as_micros() as u64;
        }
        let hour = counter::hour_of(status.finished_at.unwrap_or(entry.head.created_at));
        self.outbox.count(&entry.head.namespace, entry.head.job, hour, &counts);
    }

    /// Takes a run out of memory. Nothing about it is owed.
    pub(crate) fn forget(&mut self, ix: usize) {
        let status = &self.runs.entries[ix].status;
        if status.state == RunState::Waiting && status.cell == self.config.cell {
            self.note_overdue(ix);
        }
        self.leave_queue(ix);
        self.disarm_run(ix);
        let shape = self.runs.entries[ix].shape as usize;
        self.runs.remove(ix);
        if let Some(class_ix) = self.shapes.release(shape) {
            self.drop_class(class_ix);
        }
    }

    fn drop_class(&mut self, class_ix: usize) {
        let class = &mut self.queue.classes[class_ix];
        class.shapes -= 1;
        if class.shapes > 0 {
            return;
        }
        let mut class = self.queue.remove_class(class_ix);
        self.timers.disarm(&mut class.armed, crate::timers::Subject::Class(class_ix));
        for set in std::iter::once(class.set).chain(class.preferred) {
            self.nodes.drop_set(set);
        }
    }

    /// The store refused the run: it never was, or it is not what was read. Undoes all that memory did.
    pub(crate) fn withdraw(&mut self, now: Timestamp, ix: usize, existing: RunId) {
        let entry = &self.runs.entries[ix];
        let (was_adopted, kept) = (entry.adopted, self.shapes.of(entry).kept);
        for (request, answer) in self.outbox.drop_run(ix, self.runs.entries[ix].head.id) {
            self.reply_now(request, crate::batch::answer_refused(&answer, existing));
        }
        if self.runs.entries[ix].status.state == RunState::Running {
            self.vacate(now, ix);
        }
        self.end_withdrawn(ix);
        self.fired_run_withdrawn(now, ix);
        self.forget(ix);
        if was_adopted {
            // Where the row stands by now is not known: all that waits and is due soon is looked through again.
            if kept {
                self.suspect_overdue(now);
            }
            self.overflow.reread_from((0, RunId::MIN));
            self.read_in();
            let horizon = self.overflow.horizon.as_micros();
            self.read(Shelf::Timed, None, Some(horizon), self.config.page_rows);
        }
    }
}

/// When an attempt started whose node says so at its end. The moment that was shown meanwhile, when the node's word came, stays
/// unless it is far off: people compare it.
fn started_at(status: &RunStatus, now: Timestamp, said: Timestamp) -> Timestamp {
    // Clocks run at different rates: not before it was placed.
    let said = said.max(status.placed_at.unwrap_or(Timestamp::ZERO));
    let is_near = |shown: &Timestamp| {
        let apart = shown.since(said).max(said.since(*shown));
        apart * STARTED_NEAR <= now.since(said)
    };
    status.started_at.filter(is_near).unwrap_or(said)
}
