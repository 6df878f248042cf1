//! What follows from runs that start and end: the next firing of a delay, the triggers of other jobs, a trigger that pauses
//! itself.
//!
//! What a trigger has to follow is written with the end ([`super::pending`]) and acted on when that is durable.

use std::sync::Arc;
use std::time::Duration;

use mainspring_model::{JobSpec, Namespace, Pause, RunHead, RunId, RunState, Timestamp};

use super::backfill::{MomentsQuery, MomentsRead};
use super::ledger::{Occurrence, Outcome};
use super::pending::End;
use super::row::TriggerKey;
use crate::cell::Cell;
use crate::message::Message;
use crate::runs::RunEntry;

/// Ends of another job that a trigger remembers until it may fire.
const PENDING_MAX: usize = 1_000;
/// Triggers that follow the ends of one job.
const FOLLOWERS_MAX: usize = 1_000;

/// A run that ended for good.
#[derive(Debug)]
pub(super) struct Ended {
    head: Arc<RunHead>,
    spec: Arc<JobSpec>,
    state: RunState,
}

/// A trigger that paused itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriggerPaused {
    /// Where its job lives.
    pub namespace: Namespace,
    /// Which.
    pub key: TriggerKey,
    /// The name of its job.
    pub job: Box<str>,
    /// Who, why and when.
    pub pause: Pause,
}

impl Cell {
    /// A node takes the run.
    pub(crate) fn fired_run_placed(&mut self, run: usize) {
        let head = &self.runs.entries[run].head;
        let Some(fired) = &head.fired else { return };
        if let Some(ix) = self.triggers.find(head.job, &fired.trigger) {
            let entry = &mut self.triggers.entries[ix];
            entry.waits &= entry.row.state.last != Some(head.id);
        }
    }

    /// The store has the run already, from before: nothing of it will be heard here.
    pub(crate) fn fired_run_withdrawn(&mut self, now: Timestamp, run: usize) {
        self.fired_run_placed(run);
        let head = &self.runs.entries[run].head;
        let Some(fired) = &head.fired else { return };
        let Some(ix) = self.triggers.find(head.job, &fired.trigger) else { return };
        if let Some(backfill) = fired.backfill {
            let run = head.id;
            return self.backfilled(now, ix, backfill, run, None);
        }
        let state = &self.triggers.entries[ix].row.state;
        // It goes on, or its end is among those that were not followed: nothing fires beside it.
        if state.awaits_end && state.last == Some(head.id) {
            self.heed_ends(ix);
        }
    }

    /// A run ended for good.
    pub(crate) fn run_over(&mut self, now: Timestamp, run: usize) {
        self.fired_run_placed(run);
        let entry = &self.runs.entries[run];
        let spec = self.shapes.of(entry).spec.clone();
        let ended = Ended { head: entry.head.clone(), spec, state: entry.status.state };
        match self.loading {
            Some(_) => self.triggers.early.push(ended),
            None => self.follow_own(now, &ended),
        }
    }

    /// What ended while triggers were not known yet.
    pub(crate) fn follow_early(&mut self, now: Timestamp) {
        for ended in std::mem::take(&mut self.triggers.early) {
            self.follow_own(now, &ended);
        }
    }

    fn follow_own(&mut self, now: Timestamp, Ended { head, spec, state }: &Ended) {
        let Some(fired) = &head.fired else { return };
        let Some(ix) = self.triggers.find(head.job, &fired.trigger) else { return };
        if fired.backfill.is_some() {
            return; // It is heard of when its end is durable.
        }
        let written = spec.triggers.iter().find(|trigger| *trigger.name.as_str() == *fired.trigger);
        let pause_after = written.and_then(|trigger| trigger.pause_after);
        let trigger = &mut self.triggers.entries[ix].row.state;
        let before = trigger.failures;
        match state {
            RunState::Success => trigger.failures = 0,
            RunState::FinalFailed => trigger.failures = before.saturating_add(1),
            _ => {}
        }
        let changed = trigger.failures != before && (pause_after.is_some() || before > 0);
        if pause_after.is_some_and(|most| trigger.failures >= most.get()) && trigger.pause.is_none() {
            let note = format!("paused itself: its last {} runs failed for good", trigger.failures);
            let pause = Pause { by: "mainspring".into(), note: note.into(), at: now };
            trigger.pause = Some(Box::new(pause.clone()));
            let paused = TriggerPaused {
                namespace: head.namespace.clone(),
                job: spec.name.as_str().into(),
                key: self.triggers.entries[ix].row.key.clone(),
                pause,
            };
            self.outbox.paused.insert(ix, (paused, false));
        }
        if changed {
            self.mark_trigger(ix);
            self.arm_trigger(ix);
        }
    }

    /// The run's end is being written: what follows it is written with it, and acts when it is durable.
    pub(crate) fn end_cut(&mut self, run: usize) {
        let RunEntry { head, status, adopted, .. } = &self.runs.entries[run];
        let (head, state) = (head.clone(), status.state);
        let unsure = (status.version == 0 || *adopted).then_some((self.epoch, status.finished_at));
        let depth = head.fired.as_ref().map_or(0, |fired| fired.depth);
        for (n, ix) in self.followers_of(run).into_iter().enumerate() {
            let entry = &self.triggers.entries[ix];
            let counts = match entry.row.state.after() {
                Some(after) => after.on.counts(state),
                None => true,
            };
            let key = entry.row.key.clone();
            let list = self.triggers.pending.list(&key);
            if let Some(end) = list.iter().find(|end| end.run == head.id) {
                if !end.is_doubted_by(self.epoch) {
                    continue;
                }
                // The run goes on to another end, so the store did not take the one that an earlier owner wrote.
                self.triggers.pending.remove(&key, head.id);
            }
            if !counts {
                continue;
            }
            let list = self.triggers.pending.list(&key);
            let by_hand = self.triggers.by_hand.get(&(ix as u32)).copied();
            let wished = self.last_now + Duration::from_micros(entry.row.state.delay_us);
            let end = End::new(head.id, entry.row.state.moment_for(wished, list, by_hand), depth, unsure);
            if n >= FOLLOWERS_MAX && entry.row.state.after().is_some() {
                let reason =
                    format!("more than {FOLLOWERS_MAX} triggers follow the job; this was of {}", head.id);
                let missed = Occurrence::one(end.planned, self.last_now, Outcome::Missed);
                self.note(ix, None, Occurrence { reason: reason.into(), ..missed });
                continue;
            }
            self.triggers.pending.push(&key, end);
            self.forget_oldest_end(ix);
        }
    }

    /// A trigger that is paused for long does not pile up: its record has a size.
    fn forget_oldest_end(&mut self, ix: usize) {
        let key = &self.triggers.entries[ix].row.key;
        let Some(list) = self.triggers.pending.get_mut(key) else { return };
        if list.len() <= PENDING_MAX {
            return;
        }
        let Some(end) = list.iter_mut().find(|end| end.durable && !end.told) else { return };
        end.told = true;
        let End { run, planned, .. } = *end;
        let reason = format!("too many ends wait; this was of {run}").into();
        let line = Occurrence { reason, ..Occurrence::one(planned, self.last_now, Outcome::Missed) };
        self.note_end(ix, None, line, Some(run));
    }

    /// How many triggers follow the end of a run that is about to be written.
    pub(crate) fn follower_count(&self, run: usize) -> usize {
        match self.runs.entries[run].status.state.is_terminal() {
            true => self.followers_of(run).len().min(FOLLOWERS_MAX),
            false => 0,
        }
    }

    /// The triggers that hear of the end of a run, in order.
    fn followers_of(&self, run: usize) -> Vec<usize> {
        if self.triggers.len() == 0 {
            return Vec::new();
        }
        let entry = &self.runs.entries[run];
        if self.triggers.followers.is_empty() && entry.head.fired.is_none() {
            return Vec::new();
        }
        let place = (entry.head.namespace.clone(), Box::from(self.shapes.of(entry).spec.name.as_str()));
        let mut followers: Vec<usize> =
            self.triggers.followers.get(&place).into_iter().flatten().map(|ix| *ix as usize).collect();
        followers.sort_unstable();
        let fired = entry.head.fired.as_ref().filter(|fired| fired.backfill.is_none());
        let own = fired.and_then(|fired| self.triggers.find(entry.head.job, &fired.trigger));
        followers.extend(own.filter(|ix| {
            let state = &self.triggers.entries[*ix].row.state;
            // Its last, or the one that its row does not know of yet.
            let due = || state.due_delay().map(|planned| self.triggers.entries[*ix].row.key.run_at(planned));
            state.delay_us > 0 && (state.last == Some(entry.head.id) || due() == Some(entry.head.id))
        }));
        followers
    }

    /// The run's end is durable: what follows it may act.
    pub(crate) fn end_durable(&mut self, run: usize) {
        let entry = &self.runs.entries[run];
        let (id, state) = (entry.head.id, entry.status.state);
        let fired = entry.head.fired.as_ref().filter(|_| state.is_terminal());
        let backfill = fired
            .and_then(|fired| Some((self.triggers.find(entry.head.job, &fired.trigger)?, fired.backfill?)));
        if let Some((ix, backfill)) = backfill {
            self.backfilled(self.last_now, ix, backfill, id, Some(state));
        }
        self.success_durable(run);
        for ix in self.followers_of(run) {
            let key = &self.triggers.entries[ix].row.key;
            if self.triggers.pending.confirm(key, id) {
                self.heed_ends(ix);
            }
        }
    }

    /// The store did not take the run's end: nothing follows it.
    pub(crate) fn end_withdrawn(&mut self, run: usize) {
        let id = self.runs.entries[run].head.id;
        for ix in self.followers_of(run) {
            let key = self.triggers.entries[ix].row.key.clone();
            let list = self.triggers.pending.list(&key);
            if list.iter().any(|end| end.run == id && !end.durable) {
                self.triggers.pending.remove(&key, id);
            }
        }
    }

    /// Asks for ends of the last owner that the store may not have taken.
    pub(super) fn ask_for_ends(&mut self, ix: usize) {
        let key = &self.triggers.entries[ix].row.key;
        let unsure = self.triggers.pending.list(key).iter().filter(|end| end.is_doubted_by(self.epoch));
        let runs: Vec<RunId> = unsure.map(|end| end.run).collect();
        if !runs.is_empty() {
            let query = MomentsQuery { key: key.clone(), backfill: None, moments: Vec::new(), runs };
            self.outbox.now.push(Message::ReadMoments(Box::new(query)));
        }
    }

    /// What the store has of ends that it may not have taken.
    pub(super) fn ends_known(&mut self, ix: usize, read: &MomentsRead) {
        let key = self.triggers.entries[ix].row.key.clone();
        for run in &read.query.runs {
            let known = self.runs.find(*run).map(|run| self.runs.entries[run].status.state);
            let mut list = self.triggers.pending.list(&key).iter();
            let Some(end) = list.find(|end| end.run == *run && !end.durable) else { continue };
            match known {
                Some(state) if state.is_terminal() => {} // Its end is on the way.
                None if read.run(*run).is_some_and(|(state, epoch, at)| end.is_of(state, epoch, at)) => {
                    self.triggers.pending.confirm(&key, *run);
                }
                _ => drop(self.triggers.pending.remove(&key, *run)),
            }
        }
        self.heed_ends(ix);
    }

    /// Has a trigger look at the ends that it has not followed.
    pub(super) fn heed_ends(&mut self, ix: usize) {
        let entry = &mut self.triggers.entries[ix];
        let mut ends =
            self.triggers.pending.list(&entry.row.key).iter().filter(|end| end.durable && !end.told);
        let state = &mut entry.row.state;
        if state.after().is_some() {
            let next = ends.next().map(|end| end.planned);
            (state.next, state.fires_at) = (next, next);
        } else if state.awaits_end
            && let Some(end) = ends.find(|end| Some(end.run) == state.last)
        {
            (state.next, state.fires_at, state.awaits_end) = (Some(end.planned), Some(end.planned), false);
            self.mark_trigger(ix);
        }
        self.arm_trigger(ix);
    }
}
