//! A new run: checked, keyed, then queued, timed or skipped, and placed at once if it can be. One insert,
//! already placed, is all an ordinary run costs at its start.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use mainspring_model::spec::Overlap;
use mainspring_model::{
    CancelRequest, Cause, Command, ErrorCode, OverlapRule, RunEventKind, RunState, RunStatus, Timestamp,
    limits,
};

use crate::cell::Cell;
use crate::event::Submission;
use crate::keys;
use crate::message::{Answer, Message};
use crate::queue::Group;

impl Cell {
    pub(crate) fn submit(&mut self, now: Timestamp, submission: Submission) {
        let Submission { request, mut head, spec, pause } = submission;
        let refuse = |code, message| Answer::Refused { code, message };
        if let Some(message) = too_large(&head) {
            return self.reply_now(request, refuse(ErrorCode::TooLarge, message));
        }
        if self.runs.find(head.id).is_some() {
            // The same submission came twice; the first answers for both when it is durable.
            let answer = Answer::Submitted { run: head.id, duplicate: true };
            return self.after_commit_of(head.id, Message::Reply { request, answer });
        }
        match keys::render(&spec, &head.params) {
            Ok(keys) => head.keys = keys,
            Err(message) => return self.reply_now(request, refuse(ErrorCode::InvalidTemplate, message)),
        }
        self.stats.submitted += 1;
        let run = head.id;
        // A run that turns out to be an earlier one must not have touched others, and has not ended.
        let is_late = head.deadline.is_some_and(|deadline| deadline <= now);
        let after_insert = head.idempotency_key.is_some() && (spec.concurrency.is_some() || is_late);
        let status = RunStatus { version: 0, ..RunStatus::arrived(self.config.cell, head.created_at) };
        let ix = self.enter(now, Arc::new(head), status, &spec);
        if let Some(pause) = pause {
            self.learn_pause(self.runs.entries[ix].head.job, pause);
        }
        self.mark(ix);
        let answer = Answer::Submitted { run, duplicate: false };
        self.after_commit(ix, Message::Reply { request, answer });
        if !after_insert {
            self.begin(now, ix);
        }
    }

    /// A ready run: wait for its time, or enter the queue as the overlap policy allows.
    pub(crate) fn begin(&mut self, now: Timestamp, ix: usize) {
        let is_call = self.is_unbegun_call(ix);
        self.begin_now(now, ix);
        if is_call {
            self.call_begun(now, ix);
        }
    }

    fn begin_now(&mut self, now: Timestamp, ix: usize) {
        let entry = &self.runs.entries[ix];
        if let Some(CancelRequest { by, .. }) = entry.status.cancel() {
            let by = by.clone();
            return self.end_with(now, ix, Command::Cancel, Cause::Cancelled { by });
        }
        if let Some(due) = entry.head.not_before.filter(|due| *due > now) {
            return self.hold_until(now, ix, due);
        }
        if entry.head.deadline.is_some_and(|deadline| deadline <= now) {
            let limit = mainspring_model::TimeoutKind::Total;
            return self.end_with(now, ix, Command::GiveUp, Cause::Timeout { limit });
        }
        if self.shapes.of(entry).kept && !self.sees_kept() {
            return self.hold_until(now, ix, now + self.overlap_wait());
        }
        if self.overlap(now, ix) {
            self.enqueue(now, ix);
        }
    }

    /// How long a run waits for the others to be known: a moment after a takeover; beyond the horizon, and so in the store, when
    /// there are too many.
    fn overlap_wait(&self) -> Duration {
        let crowded = self.queue.kept >= self.config.kept_max;
        if crowded { self.config.timed_horizon * 2 } else { self.config.repeat_every }
    }

    /// Applies the overlap policy; false when the run was skipped. Those that wait count like those that hold a node: a job
    /// that finds no node must not pile up.
    fn overlap(&mut self, now: Timestamp, ix: usize) -> bool {
        let entry = &self.runs.entries[ix];
        let shape = self.shapes.of(entry);
        let Some(concurrency) = &shape.spec.concurrency else { return true };
        if entry.head.overlap != OverlapRule::Policy {
            return true;
        }
        let (job, limit, overlap) = (shape.job, concurrency.limit.get(), concurrency.overlap);
        let queue_max = concurrency.queue_max.map_or(u32::MAX, NonZeroU32::get);
        let key: Box<str> = entry.concurrency_key().into();
        let free = limit.saturating_sub(self.concurrency.count(job, &key));
        match overlap {
            Overlap::QueueAll => {
                self.waiting_for(job, &key) < free.saturating_add(queue_max) || self.skip(now, ix)
            }
            Overlap::Skip => self.waiting_for(job, &key) < free || self.skip(now, ix),
            Overlap::QueueOne => self.waiting_for(job, &key) <= free || self.skip(now, ix),
            Overlap::CancelOld | Overlap::KillOld => {
                // Whoever was asked before makes way for an earlier newcomer.
                let mut others = self.active_for(job, &key);
                others.retain(|other| {
                    let other = &self.runs.entries[*other];
                    other.status.cancel().is_none() && other.head.overlap != OverlapRule::Wait
                });
                if others.len() >= limit as usize {
                    self.overlap_old(now, others[0], overlap == Overlap::KillOld);
                }
                true
            }
        }
    }

    fn skip(&mut self, now: Timestamp, ix: usize) -> bool {
        self.end_with(now, ix, Command::Skip, Cause::Overlap);
        false
    }

    /// The groups of a job in which runs wait for a key.
    fn groups_for(&self, job: usize, key: &str) -> impl Iterator<Item = &Group> {
        let groups = self.shapes.jobs[job].groups.iter().map(|group| &self.queue.groups[*group]);
        groups.filter(move |group| group.key.concurrency() == &*key)
    }

    /// How many wait for a key; of those that are only in the store, one is counted. Those that wait whatever the policy says
    /// are in nobody's way.
    fn waiting_for(&self, job: usize, key: &str) -> u32 {
        let waiting = |group: &Group| group.waiting.len() + usize::from(group.spilled_from.is_some());
        let counts = |group: &&Group| group.key.overlap != OverlapRule::Wait;
        self.groups_for(job, key).filter(counts).map(waiting).sum::<usize>() as u32
    }

    /// The runs that hold or wait for a key, the oldest first.
    fn active_for(&self, job: usize, key: &str) -> Vec<usize> {
        let running = self.concurrency.running(job, key).into_iter().flatten().copied();
        let waiting = self.groups_for(job, key).flat_map(|group| group.waiting.values());
        let mut active: Vec<usize> = running.chain(waiting.map(|run| *run as usize)).collect();
        active.sort_by_key(|run| {
            let entry = &self.runs.entries[*run];
            let waits = entry.status.state == RunState::Waiting;
            (waits, entry.status.placed_at.filter(|_| !waits), entry.head.id)
        });
        active
    }

    fn overlap_old(&mut self, now: Timestamp, ix: usize, kill: bool) {
        self.tell(now, ix, RunEventKind::Overlapped);
        if self.runs.entries[ix].status.state == RunState::Waiting {
            return self.end_with(now, ix, Command::Cancel, Cause::Overlap);
        }
        let status = &mut self.runs.entries[ix].status;
        status.extra_mut().cancel = Some(CancelRequest { by: "overlap policy".into(), at: now, kill });
        self.stop(now, ix, Cause::Overlap);
    }
}

fn too_large(head: &mainspring_model::RunHead) -> Option<String> {
    let key_bytes = head.idempotency_key.as_ref().map_or(0, |key| key.len());
    [
        ("params", head.params.len(), limits::PARAMS_BYTES_MAX),
        ("idempotency_key", key_bytes, limits::IDEMPOTENCY_KEY_BYTES_MAX),
    ]
    .into_iter()
    .find(|(_, bytes, max)| bytes > max)
    .map(|(field, bytes, max)| format!("{field}: has {bytes} bytes, at most {max} are allowed"))
}
