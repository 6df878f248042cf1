//! What follows from runs that start and end: the next firing of a delay, the triggers of other jobs, a trigger that pauses
//! itself.

use std::time::Duration;

use mainspring_model::{Pause, RunState, Timestamp};

use crate::cell::Cell;

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
        if self.triggers.len() == 0 {
            return;
        }
        self.fired_run_placed(run);
        self.follow_own(now, run);
        self.follow_others(now, run);
    }

    fn follow_own(&mut self, now: Timestamp, run: usize) {
        let entry = &self.runs.entries[run];
        let Some(fired) = &entry.head.fired else { return };
        let Some(ix) = self.triggers.find(entry.head.job, &fired.trigger) else { return };
        let (id, state) = (entry.head.id, entry.status.state);
        let spec = self.shapes.of(entry).spec.clone();
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
        if trigger.awaits_end && trigger.last == Some(id) {
            self.delay_on(now, ix);
            changed = true;
        }
        if changed {
            self.mark_trigger(ix);
            self.arm_trigger(ix);
        }
    }

    fn follow_others(&mut self, now: Timestamp, run: usize) {
        if self.triggers.followers.is_empty() {
            return;
        }
        let entry = &self.runs.entries[run];
        let (id, state) = (entry.head.id, entry.status.state);
        let name = self.shapes.of(entry).spec.name.as_str();
        let Some(followers) = self.triggers.followers.get(&(entry.head.namespace.clone(), name.into()))
        else {
            return;
        };
        let mut followers: Vec<usize> = followers.iter().map(|ix| *ix as usize).collect();
        followers.sort_unstable();
        for ix in followers {
            let trigger = &mut self.triggers.entries[ix].row.state;
            let counts = trigger.after.as_ref().is_some_and(|after| after.on.counts(state));
            if !counts || trigger.pending.iter().any(|(have, _)| *have == id) {
                continue;
            }
            let latest = trigger.pending.last().map_or(trigger.cursor, |(_, planned)| *planned);
            let planned = now.max(latest + Duration::from_micros(1));
            let mut pending = std::mem::take(&mut trigger.pending).into_vec();
            pending.push((id, planned));
            trigger.pending = pending.into();
            (trigger.next, trigger.fires_at) = (Some(now), Some(now));
            self.mark_trigger(ix);
            self.arm_trigger(ix);
        }
    }
}
