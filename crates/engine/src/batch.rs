//! Cutting what changed into a batch, and what its commit releases.
//!
//! A batch holds each changed row once, with the history that belongs to it, and stays within a
//! transaction's limit: what does not fit waits for the next batch, and so does every message about it.

use mainspring_model::{ErrorCode, Run, RunEvent, RunId, RunState, Shelf, Timestamp, limits};
use mainspring_store::{Conflict, Fence, Outcome, RunUpdate, Transaction, Write};

use rustc_hash::FxHashSet;

use crate::cell::Cell;
use crate::event::RequestId;
use crate::message::{Answer, Message};
use crate::outbox::{Batch, Change, Held, InFlight, Written};
use crate::timers::Armed;

/// Runs written at once. Each may bring an attempt, a few events and a count with it.
const RUNS_PER_BATCH_MAX: usize = limits::TRANSACTION_WRITES_MAX / 10;
/// Nodes written at once.
const NODES_PER_BATCH_MAX: usize = limits::TRANSACTION_WRITES_MAX / 10;
/// Memories written at once: as many as runs, so that a start is remembered with the run that it is.
const MEMORIES_PER_BATCH_MAX: usize = RUNS_PER_BATCH_MAX;
/// Messages looked at for those that go with a batch, when not all do.
const HELD_PER_BATCH_MAX: usize = 4 * RUNS_PER_BATCH_MAX;
/// Answers to callers written at once.
const ASKED_PER_BATCH_MAX: usize = limits::TRANSACTION_WRITES_MAX / 20;

impl Cell {
    /// Everything to be written since the last cut, once each. None while a batch is under way, or when
    /// there is nothing to write.
    pub fn cut(&mut self) -> Option<Batch> {
        if self.outbox.in_flight.is_some() || self.diverged.is_some() {
            return None;
        }
        if !self.has_writes() {
            let held = self.outbox.take_held();
            let others = self.outbox.take_held_for_all();
            self.outbox.now.extend(held.into_iter().map(|held| held.message).chain(others));
            return None;
        }
        let runs = self.outbox.dirty_runs.len().min(RUNS_PER_BATCH_MAX);
        // Counts are added on the way, mostly one for each job.
        let mut writes = Vec::with_capacity(runs + self.outbox.other_writes() + self.shapes.jobs.len());
        let mut written = Vec::with_capacity(writes.capacity());
        self.cut_runs(&mut writes, &mut written);
        let paused = self.cut_triggers(&mut writes, &mut written);
        self.cut_nodes(&mut writes, &mut written);
        let asked = self.asked_at_once();
        let mut changes = Vec::with_capacity(asked);
        for (write, request) in self.outbox.asked.drain(..asked) {
            changes.push((request, change_of(&write)));
            writes.push(write);
            written.push(Written::Asked);
        }
        let mut memories = Vec::new();
        for (about, write) in self.cut_memories(&written, MEMORIES_PER_BATCH_MAX) {
            memories.push(about);
            writes.push(write);
            written.push(Written::Memory);
        }
        let counts = self.outbox.take_counts();
        written.resize(written.len() + counts.len(), Written::History);
        writes.extend(counts);
        self.outbox.proof_wanted = false;
        self.outbox.seq += 1;
        let fence = Fence { cell: self.config.cell, epoch: self.epoch, seq: self.outbox.seq };
        // When not everything fitted, what is about a run of the next batch waits for that. Only the first messages are looked
        // at, because a backlog of writes is a backlog of messages, in much the same order.
        let (messages, others) = if self.has_writes() {
            (self.outbox.take_written(HELD_PER_BATCH_MAX, &self.runs), Vec::new())
        } else {
            (self.outbox.take_held(), self.outbox.take_held_for_all())
        };
        self.outbox.in_flight =
            Some(InFlight { writes: written, messages, others, asked: changes, memories });
        Some(Batch { transaction: Transaction::fenced(fence, writes), paused })
    }

    fn has_writes(&self) -> bool {
        self.outbox.has_writes() || self.triggers.pending.is_dirty()
    }

    /// How many of the callers' writes go together: a row is written once in a batch, so the second caller who wants to pause
    /// the same thing waits for the next, and learns there what the first made of it.
    fn asked_at_once(&self) -> usize {
        let mut jobs = FxHashSet::default();
        let mut cell = false;
        let fits = |(write, _): &&(Write, RequestId)| match write {
            Write::PutJob(job) => jobs.insert(job.id),
            Write::PauseCell(_) => !std::mem::replace(&mut cell, true),
            _ => true,
        };
        self.outbox.asked.iter().take(ASKED_PER_BATCH_MAX).take_while(fits).count()
    }

    fn cut_runs(&mut self, writes: &mut Vec<Write>, written: &mut Vec<Written>) {
        let count = self.runs_at_once(RUNS_PER_BATCH_MAX);
        let mut runs = std::mem::take(&mut self.outbox.dirty_runs);
        for ix in runs.drain(..count) {
            if self.runs.entries[ix].status.state.is_terminal() {
                self.end_cut(ix);
            }
            // An insert, or the first write of what was read, may be refused: its end counts when it is not.
            let entry = &self.runs.entries[ix];
            if entry.status.version > 0 && !entry.adopted {
                self.count_end(ix);
            }
            let entry = &mut self.runs.entries[ix];
            entry.dirty = false;
            entry.in_flight = true;
            let expected = entry.status.version;
            entry.status.version += 1;
            entry.status.epoch = self.epoch;
            let status = entry.status.clone();
            if expected == 0 {
                writes.push(Write::InsertRun(Run { head: entry.head.clone(), status }));
                written.push(Written::InsertRun(ix));
            } else {
                writes.push(Write::UpdateRun(RunUpdate { id: entry.head.id, expected, status }));
                written.push(Written::UpdateRun(ix));
            }
        }
        self.outbox.dirty_runs = runs;
        self.cut_history(writes, written);
    }

    /// Attempts and events go with their run, never before it.
    fn cut_history(&mut self, writes: &mut Vec<Write>, written: &mut Vec<Written>) {
        for attempt in std::mem::take(&mut self.outbox.attempts) {
            let run = self.runs.find(attempt.token.run);
            if run.is_some_and(|ix| self.runs.entries[ix].dirty) {
                self.outbox.attempts.push(attempt);
                continue;
            }
            writes.push(Write::InsertAttempt(Box::new(attempt)));
            written.push(Written::History);
        }
        let events = std::mem::take(&mut self.outbox.events);
        for (ordinal, (ix, at, kind)) in events.into_iter().enumerate() {
            let entry = &self.runs.entries[ix];
            if entry.dirty {
                self.outbox.events.push((ix, at, kind));
                continue;
            }
            let event = RunEvent {
                run: entry.head.id,
                version: entry.status.version,
                ordinal: ordinal as u16,
                at,
                kind,
            };
            writes.push(Write::InsertEvent(Box::new(event)));
            written.push(Written::History);
        }
    }

    fn cut_nodes(&mut self, writes: &mut Vec<Write>, written: &mut Vec<Written>) {
        let count = self.outbox.dirty_nodes.len().min(NODES_PER_BATCH_MAX);
        let rest = self.outbox.dirty_nodes.split_off(count);
        for ix in std::mem::replace(&mut self.outbox.dirty_nodes, rest) {
            let Some(entry) = self.nodes.entries.get_mut(ix) else { continue };
            entry.dirty = false;
            entry.stored_revision += 1;
            entry.node.revision = entry.stored_revision;
            writes.push(Write::PutNode(Box::new(entry.node.clone())));
            written.push(Written::Node(ix));
        }
    }

    /// The batch is durable, with these outcomes.
    pub(crate) fn settle_batch(&mut self, now: Timestamp, outcomes: &[Outcome]) {
        let Some(in_flight) = self.outbox.in_flight.take() else { return };
        assert_eq!(in_flight.writes.len(), outcomes.len(), "one outcome for each write");
        let mut asked = in_flight.asked.into_iter();
        let mut memories = in_flight.memories.into_iter();
        let mut refused_runs = Vec::new();
        for (written, outcome) in in_flight.writes.iter().zip(outcomes) {
            match (written, outcome) {
                (Written::InsertRun(ix) | Written::UpdateRun(ix), Outcome::Applied) => self.settle(now, *ix),
                (Written::InsertRun(ix), Outcome::Conflict(conflict)) => {
                    let existing = match conflict {
                        Conflict::KeyTaken(Some(run)) => *run,
                        _ => self.runs.entries[*ix].head.id,
                    };
                    refused_runs.push((*ix, self.runs.entries[*ix].head.id, existing));
                }
                (Written::UpdateRun(ix), Outcome::Conflict(_)) if self.runs.entries[*ix].adopted => {
                    // It was read from the store before an earlier change of ours was written: read it again.
                    let id = self.runs.entries[*ix].head.id;
                    refused_runs.push((*ix, id, id));
                }
                (Written::UpdateRun(ix), Outcome::Conflict(conflict)) => {
                    let id = self.runs.entries[*ix].head.id;
                    self.diverged = Some(format!("{id} was changed by somebody else: {conflict:?}"));
                }
                (Written::Node(ix), Outcome::Conflict(conflict)) => self.node_conflict(*ix, conflict),
                (Written::Trigger(ix), outcome) => self.trigger_written(*ix, outcome.conflict()),
                (Written::InsertRun(_) | Written::UpdateRun(_) | Written::Node(_), Outcome::Undone) => {
                    self.diverged = Some("a batch that answers write by write was undone whole".to_owned());
                }
                (Written::Asked, outcome) => {
                    if let Some((request, change)) = asked.next() {
                        self.answer(now, request, change, *outcome == Outcome::Applied);
                    }
                }
                (Written::Memory, outcome) => {
                    if let (Some(about), Outcome::Conflict(conflict)) = (memories.next(), outcome) {
                        self.memory_conflict(about, conflict);
                    }
                }
                (Written::Node(_), Outcome::Applied) | (Written::History, _) => {}
            }
        }
        if self.diverged.is_some() {
            return; // Nothing follows from what may not be so.
        }
        self.outbox.now.reserve(in_flight.messages.len());
        for Held { run, message, .. } in in_flight.messages {
            let refused = refused_runs.iter().find(|(_, id, _)| *id == run);
            match (refused, message) {
                (None, message) => self.outbox.now.push(message),
                (Some((_, _, existing)), Message::Reply { request, answer }) => {
                    self.reply_now(request, answer_refused(&answer, *existing));
                }
                (Some(_), _) => {}
            }
        }
        self.outbox.now.extend(in_flight.others);
        for (ix, _, existing) in refused_runs {
            self.call_repeated(now, ix, existing);
            self.withdraw(now, ix, existing);
        }
    }

    /// A write that answers a caller is done, or was refused.
    fn answer(&mut self, now: Timestamp, request: RequestId, change: Change, applied: bool) {
        if !applied {
            return self.reply_now(request, changed());
        }
        match change {
            Change::Job(job, revision, pause) => self.job_paused(now, job, revision, pause),
            Change::Cell(pause) => self.cell_paused(now, pause),
            Change::Nothing => {}
        }
        self.reply_now(request, Answer::Done);
    }

    /// A write of the run is durable. A run that ended, left the cell or waits in the store is forgotten
    /// when nothing about it is owed any more.
    fn settle(&mut self, now: Timestamp, ix: usize) {
        let entry = &mut self.runs.entries[ix];
        entry.in_flight = false;
        entry.adopted = false;
        if entry.dirty {
            return;
        }
        if entry.status.state.is_terminal() || entry.status.cell != self.config.cell {
            self.count_end(ix);
            self.end_durable(ix);
            return self.forget(ix);
        }
        match entry.status.state {
            RunState::Waiting if entry.group.is_none() => {
                // It was left to the store while this write was under way; a read since may have missed it.
                let key = entry.queue_key();
                self.note_spilled(ix, key);
                self.forget(ix);
                self.read_in();
            }
            RunState::Ready if entry.status.place.is_some_and(|place| place.shelf == Shelf::Arrived) => {
                self.begin(now, ix);
            }
            RunState::Ready | RunState::Failed if entry.armed == Armed::NOT => {
                let due = Timestamp::from_micros(entry.status.place.map_or(0, |place| place.rank));
                if due <= self.overflow.horizon { self.arm_run(now, ix) } else { self.forget(ix) }
            }
            _ => {}
        }
    }
}

/// What takes effect when the write is durable.
fn change_of(write: &Write) -> Change {
    match write {
        Write::PutJob(job) => Change::Job(job.id, job.revision, job.pause.clone()),
        Write::PauseCell(pause) => Change::Cell(pause.as_deref().cloned()),
        Write::InsertRun(_)
        | Write::UpdateRun(_)
        | Write::InsertAttempt(_)
        | Write::InsertEvent(_)
        | Write::InsertJobVersion(_)
        | Write::PutNode(_)
        | Write::AddCounts(_)
        | Write::RemoveJob { .. }
        | Write::RemoveNode { .. }
        | Write::PutRecord(_)
        | Write::RemoveRecord { .. } => Change::Nothing,
    }
}

/// What a caller is told whose run the store refused: that there is this one already, or that their knowledge was old.
pub(crate) fn answer_refused(answer: &Answer, existing: RunId) -> Answer {
    match answer {
        Answer::Submitted { .. } => Answer::Submitted { run: existing, duplicate: true },
        Answer::Done | Answer::Refused { .. } => changed(),
    }
}

/// The answer to a caller whose knowledge was old.
pub(crate) fn changed() -> Answer {
    let message = "it changed since it was read; read it again".into();
    Answer::Refused { code: ErrorCode::Conflict, message }
}
