//! A trigger whose time has come, or comes soon.

use std::sync::Arc;
use std::time::Duration;

use mainspring_model::spec::{Trigger, When};
use mainspring_model::{ErrorCode, JobId, JobSpec, RunId, Timestamp, limits};

use super::catch_up::catch_up;
use super::cursor::Again;
use super::fire::Making;
use super::ledger::{Occurrence, Outcome};
use super::needs::{PASSED, lacked};
use super::pending::End;
use crate::cell::Cell;
use crate::message::{Answer, Message};
use crate::timers::Subject;

/// What a trigger says is read so long before it is due.
const LEAD: Duration = Duration::from_secs(2);
/// What is due again so soon is not forgotten.
const KEPT: Duration = Duration::from_secs(10);
/// A trigger that waits for another job asks after that again.
const WAITING_LOOK: Duration = Duration::from_secs(60);
/// A trigger whose specification, or calendar, cannot be read is looked at again.
pub(super) const UNREADABLE_WAIT: Duration = Duration::from_secs(60);

impl Cell {
    /// Has a trigger looked at when it is due; a little before, if what it says is not known.
    pub(super) fn arm_trigger(&mut self, ix: usize) {
        let wants = self.backfill_wants(ix) || self.triggers.moves.contains_key(&(ix as u32));
        let entry = &mut self.triggers.entries[ix];
        let due = match entry.asked {
            Some(_) => Some(self.last_now),
            None if wants => Some(self.last_now),
            None => entry.row.state.fires_at.filter(|_| entry.row.state.pause.is_none()),
        };
        // What it waits for may come where nobody tells this owner.
        let is_waiting = entry.row.state.waits_for().is_some();
        let due = due.map(|due| if is_waiting { due.min(self.last_now + WAITING_LOOK) } else { due });
        let at = if entry.spec.is_some() { due } else { due.map(|due| due - LEAD) };
        self.triggers.timers.disarm(&mut entry.armed, Subject::Trigger(ix));
        self.triggers.timers.arm(&mut entry.armed, at, Subject::Trigger(ix));
    }

    pub(crate) fn trigger_due(&mut self, now: Timestamp, ix: usize) {
        let entry = &mut self.triggers.entries[ix];
        self.triggers.timers.disarm(&mut entry.armed, Subject::Trigger(ix));
        if entry.stale || entry.dirty || entry.in_flight {
            return; // It is armed when it was read or written: a row is never more than one look behind.
        }
        let (job, version) = (entry.row.key.job, entry.row.state.version);
        self.drop_old_calendars(now, ix);
        if self.triggers.entries[ix].spec.is_none() {
            let known = self.shapes.find(job, version).map(|shape| self.shapes.shapes[shape].spec.clone());
            // Calendars, and successes that are needed, are read with the specification.
            let is_enough = |trigger: &Trigger| trigger.calendar.is_empty() && trigger.needs.is_empty();
            match known.filter(|spec| spec.triggers.iter().all(is_enough)) {
                Some(spec) => self.triggers.entries[ix].spec = Some(spec),
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
        let mut unanswerable = Vec::new();
        for super::SpecRead { job, version, spec, pause, calendars, successes } in specs {
            if let Some(pause) = pause {
                self.learn_pause(job, pause);
            }
            for ix in self.triggers.wanted.remove(&(job, version)).unwrap_or_default() {
                let ix = ix as usize;
                // One that is gone may have left its place to another.
                let found = self.triggers.entries.get_mut(ix);
                let Some(entry) = found.filter(|entry| entry.row.key.job == job) else { continue };
                if entry.row.state.version != version {
                    self.arm_trigger(ix); // It is of another version by now.
                    continue;
                }
                if self.triggers.reread.remove(&(ix as u32)) {
                    self.want_spec(ix, job, version);
                    continue;
                }
                if spec.is_none() {
                    let asked = entry.asked.take().into_iter().flat_map(|asked| *asked);
                    unanswerable.extend(asked.map(|(request, _)| request));
                    let moves = self.triggers.moves.remove(&(ix as u32)).unwrap_or_default();
                    unanswerable.extend(moves.into_iter().map(|wanted| wanted.request));
                    let again = Some(now + UNREADABLE_WAIT);
                    self.triggers.timers.arm(&mut entry.armed, again, Subject::Trigger(ix));
                    continue;
                }
                entry.spec = spec.clone();
                self.successes_read(ix, &successes);
                if !calendars.is_empty() {
                    self.triggers.calendars.insert(ix as u32, (now, calendars.clone()));
                }
                self.trigger_due(now, ix);
            }
        }
        for request in unanswerable {
            let message = "what the job says cannot be read".to_owned();
            self.reply_now(request, Answer::Refused { code: ErrorCode::Internal, message });
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
        if state.is_called && !self.recount_calls(ix) {
            return; // It is looked at when the ledger was read.
        }
        self.fire_asked(now, ix, &spec, trigger);
        if self.lacks_calendar(ix, trigger) {
            return self.wait_for_calendar(now, ix);
        }
        let is_looked_at_often = !trigger.calendar.is_empty() || !trigger.needs.is_empty();
        let before = is_looked_at_often.then(|| self.triggers.entries[ix].row.state.clone());
        let state = &mut self.triggers.entries[ix].row.state;
        state.heeds = !trigger.calendar.is_empty();
        if state.waits_for().is_some() {
            state.fires_at = Some(now);
        }
        let schedule = trigger.schedule(seed, self.triggers.calendars_of(ix));
        self.step_backfills(now, ix, schedule.as_ref());
        self.move_asked(ix, trigger, schedule.as_ref(), seed);
        let entry = &self.triggers.entries[ix];
        if entry.row.state.fires_at.is_none_or(|at| at > now) {
            return self.forget_spec(now, ix);
        }
        if self.is_trigger_paused(ix) {
            // Whoever resumes has it looked at again. A backfill goes on, and needs what the trigger says.
            if !self.backfill_asks(ix) {
                self.drop_spec(ix);
            }
            self.forget_book(ix);
            return;
        }
        match schedule {
            Some(schedule) => {
                let Some(book) = self.book(ix) else { return };
                let again = Again::new(&schedule, &self.triggers.entries[ix].row.state, book);
                self.fire_by_clock(now, ix, (&spec, trigger, seed), &again);
            }
            None => self.fire_by_ends(now, ix, &spec, trigger),
        }
        // Many are looked at again because of a calendar or a job that they need, and few change.
        if before.is_none_or(|before| before != self.triggers.entries[ix].row.state) {
            self.mark_trigger(ix);
        }
        self.forget_spec(now, ix);
    }

    fn fire_by_clock(
        &mut self,
        now: Timestamp,
        ix: usize,
        (spec, trigger, seed): (&Arc<JobSpec>, &Trigger, u64),
        again: &Again<'_>,
    ) {
        self.tell_moves(now, ix, again);
        let state = &mut self.triggers.entries[ix].row.state;
        if state.is_spent(trigger) {
            (state.next, state.fires_at) = (None, None);
            return state.wait_for(None);
        }
        let mut plan = catch_up(trigger, again.moments.0, seed, state.cursor, now);
        let waited = state.waits_for().cloned();
        let late = plan.missed;
        let held = self.hold_unmet(now, ix, trigger, again, &mut plan);
        let state = &self.triggers.entries[ix].row.state;
        let mut cursor = plan.cursor().unwrap_or(state.cursor);
        plan.fire.retain(|planned| !again.kept.contains(planned));
        match self.triggers.entries[ix].row.state.waits_for().filter(|_| plan.missed != late).cloned() {
            Some(job) => self.pass(now, ix, (again, plan.missed), Outcome::Missed, &lacked(&job)),
            None => self.miss(now, ix, (trigger, waited), again, plan.missed),
        }
        self.pass(now, ix, (again, plan.merged), Outcome::Merged, PASSED);
        let mut spent = self.triggers.entries[ix].row.state.is_spent(trigger);
        for planned in &plan.fire {
            if spent {
                break; // There are no more moments.
            }
            let id = self.triggers.entries[ix].row.key.run_at(*planned);
            self.fire(now, ix, spec, trigger, *planned, Making::new(now, id, 0));
            self.tell_over(again.old.get(planned).copied());
            spent = self.triggers.entries[ix].row.state.is_spent(trigger);
            if spent {
                cursor = *planned;
                self.triggers.entries[ix].row.state.wait_for(None);
            }
        }
        let state = &mut self.triggers.entries[ix].row.state;
        state.cursor = cursor;
        state.next = again.moments.after(cursor).filter(|_| !spent);
        state.fires_at = held.filter(|_| !spent).or(state.next.map(|next| trigger.fires_at(seed, next)));
        if let Some(moved) = &mut state.moved {
            moved.told = moved.told.filter(|told| *told > cursor);
        }
        if state.moved.as_deref() == Some(&Default::default()) {
            state.moved = None;
        }
    }

    fn fire_by_ends(&mut self, now: Timestamp, ix: usize, spec: &Arc<JobSpec>, trigger: &Trigger) {
        let entry = &mut self.triggers.entries[ix];
        let due = entry.row.state.due_delay();
        (entry.row.state.next, entry.row.state.fires_at) = (None, None);
        let list = self.triggers.pending.get_mut(&entry.row.key).map(Vec::as_mut_slice).unwrap_or_default();
        let mut ends: Vec<End> = Vec::new();
        for end in list.iter_mut().filter(|end| end.durable && !end.told) {
            end.told = true;
            ends.push(*end);
        }
        match &trigger.when {
            When::Delay { .. } => {
                // As its row has it: whoever comes after does not fire it again.
                let planned = due.unwrap_or(now);
                entry.row.state.cursor = planned;
                let id = entry.row.key.run_at(planned);
                let fired = self.fire(now, ix, spec, trigger, planned, Making::new(now, id, 0));
                if let Some(last) = ends.pop() {
                    self.tell_end(last.run);
                }
                let key = self.triggers.entries[ix].row.key.clone();
                for end in ends {
                    self.triggers.pending.remove(&key, end.run);
                }
                self.triggers.entries[ix].row.state.awaits_end = fired;
                match fired {
                    true => self.heed_ends(ix),
                    false => self.delay_on(now, ix),
                }
            }
            _ => {
                for End { run, planned, depth, .. } in ends {
                    let depth = depth.saturating_add(1);
                    let id = self.triggers.entries[ix].row.key.run_after(run);
                    if depth > limits::CHAIN_DEPTH_MAX {
                        let reason = format!("{run} is the last of {depth} runs that followed each other");
                        let line = Occurrence::one(planned, now, Outcome::Skipped);
                        self.note(ix, None, Occurrence { reason: reason.into(), ..line });
                    } else {
                        self.fire(now, ix, spec, trigger, planned, Making::new(now, id, depth));
                    }
                    self.tell_end(run);
                    self.triggers.entries[ix].row.state.cursor = planned;
                }
            }
        }
    }

    /// The line that was written last tells what became of this end.
    fn tell_end(&mut self, run: RunId) {
        if let Some(line) = self.outbox.ledger.back_mut() {
            line.tells(run);
        }
    }

    /// The next firing is so much later than now.
    pub(super) fn delay_on(&mut self, now: Timestamp, ix: usize) {
        let state = &mut self.triggers.entries[ix].row.state;
        let next = now + Duration::from_micros(state.delay_us);
        (state.next, state.fires_at, state.awaits_end) = (Some(next), Some(next), false);
    }

    /// What it says is not needed for a while.
    fn forget_spec(&mut self, now: Timestamp, ix: usize) {
        let fires_at = self.triggers.entries[ix].row.state.fires_at;
        // What a calendar says may be another thing the next time.
        let kept = if self.triggers.calendars_of(ix).is_empty() { KEPT } else { LEAD };
        let is_soon = fires_at.is_some_and(|at| at.since(now) <= kept);
        if !is_soon && !self.backfill_asks(ix) {
            self.drop_spec(ix);
        }
        self.arm_trigger(ix);
    }

    pub(super) fn drop_spec(&mut self, ix: usize) {
        self.triggers.entries[ix].spec = None;
        self.triggers.calendars.remove(&(ix as u32));
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
