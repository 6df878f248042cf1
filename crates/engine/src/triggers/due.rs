//! A trigger whose time has come, or comes soon.

use std::time::Duration;

use mainspring_cron::Schedule;
use mainspring_model::spec::{Trigger, When};
use mainspring_model::{JobId, Timestamp};

use super::catch_up::{Stretch, catch_up};
use super::row::{Occurrence, Outcome};
use crate::cell::Cell;
use crate::message::Message;
use crate::timers::Subject;

/// What a trigger says is read so long before it is due.
const LEAD: Duration = Duration::from_secs(2);
/// What is due again so soon is not forgotten.
const KEPT: Duration = Duration::from_secs(10);
/// A trigger whose specification cannot be read is looked at again.
const UNREADABLE_WAIT: Duration = Duration::from_secs(60);

impl Cell {
    /// Has a trigger looked at when it is due; a little before, if what it says is not known.
    pub(super) fn arm_trigger(&mut self, ix: usize) {
        let entry = &mut self.triggers.entries[ix];
        let due = match entry.asked {
            Some(_) => Some(self.last_now),
            None => entry.row.state.fires_at.filter(|_| entry.row.state.pause.is_none()),
        };
        let at = if entry.spec.is_some() { due } else { due.map(|due| due - LEAD) };
        self.triggers.timers.disarm(&mut entry.armed, Subject::Trigger(ix));
        self.triggers.timers.arm(&mut entry.armed, at, Subject::Trigger(ix));
    }

    pub(crate) fn trigger_due(&mut self, now: Timestamp, ix: usize) {
        self.triggers.entries[ix].armed = crate::timers::Armed::NOT;
        if self.triggers.entries[ix].stale {
            return; // It is armed when it was read.
        }
        let entry = &self.triggers.entries[ix];
        let (job, version) = (entry.row.key.job, entry.row.state.version);
        if entry.spec.is_none() {
            match self.shapes.find(job, version) {
                Some(shape) => {
                    self.triggers.entries[ix].spec = Some(self.shapes.shapes[shape].spec.clone());
                }
                None => return self.want_spec(ix, job, version),
            }
        }
        self.look(now, ix);
    }

    fn want_spec(&mut self, ix: usize, job: JobId, version: u32) {
        let waiting = self.triggers.wanted.entry((job, version)).or_default();
        if waiting.is_empty() {
            self.triggers.to_read.push((job, version));
        }
        if !waiting.contains(&(ix as u32)) {
            waiting.push(ix as u32);
        }
    }

    /// Asks for what has to be read, all at once.
    pub(crate) fn ask_for_specs(&mut self) {
        if !self.triggers.to_read.is_empty() {
            let keys = std::mem::take(&mut self.triggers.to_read);
            self.outbox.now.push(Message::ReadSpecs(keys));
        }
    }

    /// What a job says was read.
    pub(crate) fn specs_read(&mut self, now: Timestamp, specs: Vec<super::SpecRead>) {
        for super::SpecRead { job, version, spec, pause } in specs {
            if let Some(pause) = pause {
                self.learn_pause(job, pause);
            }
            for ix in self.triggers.wanted.remove(&(job, version)).unwrap_or_default() {
                let ix = ix as usize;
                let entry = &mut self.triggers.entries[ix];
                if entry.row.state.version != version {
                    self.arm_trigger(ix); // It is of another version by now.
                    continue;
                }
                if spec.is_none() {
                    let again = Some(now + UNREADABLE_WAIT);
                    self.triggers.timers.arm(&mut entry.armed, again, Subject::Trigger(ix));
                    continue;
                }
                entry.spec = spec.clone();
                self.look(now, ix);
            }
        }
    }

    /// Everything is known: fires what is due.
    fn look(&mut self, now: Timestamp, ix: usize) {
        let entry = &self.triggers.entries[ix];
        let Some(spec) = entry.spec.clone() else { return };
        let state = &entry.row.state;
        let Some(trigger) =
            spec.triggers.iter().find(|trigger| *trigger.name.as_str() == *entry.row.key.name)
        else {
            return self.forget_spec(now, ix);
        };
        let seed = Trigger::seed(&state.namespace, spec.name.as_str());
        self.fire_asked(now, ix, &spec, trigger);
        let entry = &self.triggers.entries[ix];
        if entry.row.state.fires_at.is_none_or(|at| at > now) {
            return self.forget_spec(now, ix);
        }
        if self.is_trigger_paused(ix) {
            // Whoever resumes has it looked at again.
            self.triggers.entries[ix].spec = None;
            return;
        }
        match trigger.schedule(seed) {
            Some(schedule) => self.fire_by_clock(now, ix, &spec, trigger, &schedule, seed),
            None => self.fire_by_ends(now, ix, &spec, trigger),
        }
        self.mark_trigger(ix);
        self.forget_spec(now, ix);
    }

    fn fire_by_clock(
        &mut self,
        now: Timestamp,
        ix: usize,
        spec: &std::sync::Arc<mainspring_model::JobSpec>,
        trigger: &Trigger,
        schedule: &Schedule,
        seed: u64,
    ) {
        let state = &self.triggers.entries[ix].row.state;
        let cursor = state.cursor;
        let mut plan = catch_up(trigger, schedule, seed, cursor, now);
        let left = trigger.count.map(|count| u64::from(count.get()).saturating_sub(state.fired));
        let cursor = plan.cursor().unwrap_or(cursor);
        plan.fire.truncate(left.map_or(usize::MAX, |left| left as usize));
        self.pass(now, ix, plan.missed, Outcome::Missed, "it passed");
        self.pass(now, ix, plan.merged, Outcome::Merged, "it passed");
        for planned in &plan.fire {
            let id = self.triggers.entries[ix].row.key.run_at(*planned);
            self.fire(now, ix, spec, trigger, *planned, id);
        }
        let state = &mut self.triggers.entries[ix].row.state;
        state.cursor = cursor;
        let is_over = trigger.count.is_some_and(|count| state.fired >= u64::from(count.get()));
        let next = schedule.next(cursor.as_micros()).map(Timestamp::from_micros);
        state.next = next.filter(|_| !is_over);
        state.fires_at = state.next.map(|next| trigger.fires_at(seed, next));
    }

    fn fire_by_ends(
        &mut self,
        now: Timestamp,
        ix: usize,
        spec: &std::sync::Arc<mainspring_model::JobSpec>,
        trigger: &Trigger,
    ) {
        let state = &mut self.triggers.entries[ix].row.state;
        let next = state.next;
        (state.next, state.fires_at) = (None, None);
        let pending =
            state.follows.as_mut().map(|follows| std::mem::take(&mut follows.pending)).unwrap_or_default();
        match &trigger.when {
            When::Delay { .. } => {
                // As its row has it: whoever comes after does not fire it again.
                let planned = next.unwrap_or(now).max(state.cursor + Duration::from_micros(1));
                state.cursor = planned;
                let id = self.triggers.entries[ix].row.key.run_at(planned);
                let fired = self.fire(now, ix, spec, trigger, planned, id);
                let state = &mut self.triggers.entries[ix].row.state;
                state.awaits_end = fired;
                if !fired {
                    self.delay_on(now, ix);
                }
            }
            _ => {
                for (ended, planned) in pending {
                    let key = &self.triggers.entries[ix].row.key;
                    let id = key.run_after(ended);
                    self.fire(now, ix, spec, trigger, planned, id);
                    self.triggers.entries[ix].row.state.cursor = planned;
                }
            }
        }
    }

    /// The next firing is so much later than now.
    pub(super) fn delay_on(&mut self, now: Timestamp, ix: usize) {
        let state = &mut self.triggers.entries[ix].row.state;
        let next = now + Duration::from_micros(state.delay_us);
        (state.next, state.fires_at, state.awaits_end) = (Some(next), Some(next), false);
    }

    /// Planned moments that made no run.
    fn pass(&mut self, now: Timestamp, ix: usize, stretch: Option<Stretch>, outcome: Outcome, reason: &str) {
        let Some(Stretch { first, last, count }) = stretch else { return };
        let through = (last > first).then_some(last);
        let line =
            Occurrence { through, count, reason: reason.into(), ..Occurrence::one(first, now, outcome) };
        self.note(ix, None, line);
    }

    /// What it says is not needed for a while.
    fn forget_spec(&mut self, now: Timestamp, ix: usize) {
        let entry = &mut self.triggers.entries[ix];
        let is_soon = entry.row.state.fires_at.is_some_and(|at| at.since(now) <= KEPT);
        if !is_soon {
            entry.spec = None;
        }
        self.arm_trigger(ix);
    }

    pub(super) fn is_trigger_paused(&self, ix: usize) -> bool {
        let entry = &self.triggers.entries[ix];
        self.pause.is_some() || entry.row.state.pause.is_some() || self.shapes.is_paused(entry.row.key.job)
    }

    /// Nothing holds these back any more: moments that passed go by their policy.
    pub(crate) fn triggers_resumed(&mut self, job: Option<JobId>) {
        let released = match job {
            Some(job) => self.triggers.of_job(job),
            None => self.triggers.by_key.values().map(|ix| *ix as usize).collect(),
        };
        for ix in released {
            self.arm_trigger(ix);
        }
    }
}
