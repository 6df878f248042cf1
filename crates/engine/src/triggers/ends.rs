//! What follows from runs that start and end: the next firing of a delay, the triggers of other jobs, a trigger that pauses
//! itself.

use std::sync::Arc;
use std::time::Duration;

use mainspring_model::{JobSpec, Pause, RunHead, RunState, Timestamp};

use super::row::{Occurrence, Outcome};
use crate::cell::Cell;

/// Ends of another job that a trigger remembers until it may fire.
const PENDING_MAX: usize = 1_000;

/// A run that ended for good.
#[derive(Debug)]
pub(super) struct Ended {
    head: Arc<RunHead>,
    spec: Arc<JobSpec>,
    state: RunState,
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
        let state = &self.triggers.entries[ix].row.state;
        if state.awaits_end && state.last == Some(head.id) {
            self.delay_on(now, ix);
            self.mark_trigger(ix);
            self.arm_trigger(ix);
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
            None => self.follow(now, &ended),
        }
    }

    /// What ended while triggers were not known yet.
    pub(crate) fn follow_early(&mut self, now: Timestamp) {
        for ended in std::mem::take(&mut self.triggers.early) {
            self.follow(now, &ended);
        }
    }

    fn follow(&mut self, now: Timestamp, ended: &Ended) {
        if self.triggers.len() > 0 {
            self.follow_own(now, ended);
            self.follow_others(now, ended);
        }
    }

    fn follow_own(&mut self, now: Timestamp, Ended { head, spec, state }: &Ended) {
        let Some(fired) = &head.fired else { return };
        let Some(ix) = self.triggers.find(head.job, &fired.trigger) else { return };
        let written = spec.triggers.iter().find(|trigger| *trigger.name.as_str() == *fired.trigger);
        let pause_after = written.and_then(|trigger| trigger.pause_after);
        let trigger = &mut self.triggers.entries[ix].row.state;
        let before = trigger.failures;
        match state {
            RunState::Success => trigger.failures = 0,
            RunState::FinalFailed => trigger.failures = before.saturating_add(1),
            _ => {}
        }
        let mut changed = trigger.failures != before && (pause_after.is_some() || before > 0);
        if pause_after.is_some_and(|most| trigger.failures >= most.get()) && trigger.pause.is_none() {
            let note = format!("paused itself: its last {} runs failed for good", trigger.failures);
            trigger.pause = Some(Box::new(Pause { by: "mainspring".into(), note: note.into(), at: now }));
        }
        if trigger.awaits_end && trigger.last == Some(head.id) {
            self.delay_on(now, ix);
            changed = true;
        }
        if changed {
            self.mark_trigger(ix);
            self.arm_trigger(ix);
        }
    }

    fn follow_others(&mut self, now: Timestamp, Ended { head, spec, state }: &Ended) {
        let place = (head.namespace.clone(), Box::from(spec.name.as_str()));
        let Some(followers) = self.triggers.followers.get(&place) else { return };
        let mut followers: Vec<usize> = followers.iter().map(|ix| *ix as usize).collect();
        followers.sort_unstable();
        for ix in followers {
            let trigger = &mut self.triggers.entries[ix].row.state;
            let Some(follows) = &mut trigger.follows else { continue };
            let pending = &mut follows.pending;
            if !follows.after.on.counts(*state) || pending.iter().any(|(have, _)| *have == head.id) {
                continue;
            }
            let latest = pending.last().map_or(trigger.cursor, |(_, planned)| *planned);
            let planned = now.max(latest + Duration::from_micros(1));
            pending.push((head.id, planned));
            // A trigger that is paused for long does not pile up: its row has a size.
            let passed = (pending.len() > PENDING_MAX).then(|| pending.remove(0));
            (trigger.next, trigger.fires_at) = (Some(now), Some(now));
            if let Some((ended, planned)) = passed {
                let reason = format!("too many ends wait; this was of {ended}").into();
                self.note(ix, None, Occurrence { reason, ..Occurrence::one(planned, now, Outcome::Missed) });
            }
            self.mark_trigger(ix);
            self.arm_trigger(ix);
        }
    }
}
