//! A backfill goes on: asks for moments, makes runs of them, hears of their ends.

use std::sync::Arc;
use std::time::Duration;

use mainspring_cron::Schedule;
use mainspring_model::spec::Trigger;
use mainspring_model::{
    BackfillId, ErrorCode, JobSpec, Makeup, OverlapRule, RunHead, RunId, RunState, RunStatus, Timestamp,
};

use super::super::fire::cut;
use super::super::ledger::{Occurrence, Outcome};
use super::{Backfill, LIVE_MAX, MomentsQuery, MomentsRead, OVER_MAX};
use crate::cell::Cell;
use crate::message::Message;

impl Cell {
    /// Whether a backfill of the trigger wants to be looked at.
    pub(in super::super) fn backfill_wants(&self, ix: usize) -> bool {
        let is_asking = |id: BackfillId| self.triggers.asking.contains_key(&(ix as u32, id));
        let is_unsure = |one: &Backfill| self.triggers.unsure.contains(&(ix as u32, one.id));
        let wants = |one: &Backfill| {
            !is_asking(one.id) && (one.has_room() || is_unsure(one) && !one.active.is_empty())
        };
        self.triggers.entries[ix].row.state.backfills().iter().any(wants)
    }

    /// Whether an answer is awaited, for which the specification is needed.
    pub(in super::super) fn backfill_asks(&self, ix: usize) -> bool {
        let backfills = self.triggers.entries[ix].row.state.backfills();
        backfills.iter().any(|one| self.triggers.asking.contains_key(&(ix as u32, one.id)))
    }

    /// A new owner does not know which of its runs have ended meanwhile.
    pub(in super::super) fn recall_backfills(&mut self, ix: usize) {
        let backfills = self.triggers.entries[ix].row.state.backfills();
        let unsure = backfills.iter().filter(|one| !one.active.is_empty());
        self.triggers.unsure.extend(unsure.map(|one| (ix as u32, one.id)));
    }

    /// A new backfill.
    pub(in super::super) fn start_backfill(
        &mut self,
        now: Timestamp,
        ix: usize,
        mut new: Backfill,
    ) -> Result<(), (ErrorCode, String)> {
        let state = &mut self.triggers.entries[ix].row.state;
        if state.follows_ends() {
            let message = "the trigger follows no clock: it has no planned moments to make up for";
            return Err((ErrorCode::InvalidRequest, message.to_owned()));
        }
        // What is ahead fires by itself.
        new.until = new.until.min(now + Duration::from_micros(1));
        let backfills = state.backfills_mut();
        if let Some(known) = backfills.iter().find(|one| one.id == new.id) {
            return match known.is_same_wish(&new) {
                true => Ok(()), // The same request came twice.
                false => {
                    let message = format!("{} was used for a backfill that asked for something else", new.id);
                    Err((ErrorCode::IdempotencyMismatch, message))
                }
            };
        }
        if backfills.iter().filter(|one| one.ended_at.is_none()).count() >= LIVE_MAX {
            let message =
                format!("{LIVE_MAX} backfills of the trigger go on already; wait for one, or stop one");
            return Err((ErrorCode::Conflict, message));
        }
        backfills.push(new);
        let over = backfills.iter().filter(|one| one.ended_at.is_some()).count();
        if over > OVER_MAX
            && let Some(oldest) = backfills.iter().position(|one| one.ended_at.is_some())
        {
            backfills.remove(oldest);
        }
        Ok(())
    }

    /// No more runs of it are made; those that are active go on.
    pub(in super::super) fn stop_backfill(
        &mut self,
        now: Timestamp,
        ix: usize,
        id: BackfillId,
        by: &str,
    ) -> Result<(), (ErrorCode, String)> {
        let state = &mut self.triggers.entries[ix].row.state;
        let Some(one) = state.backfill_mut(id) else {
            return Err((ErrorCode::NotFound, format!("the trigger has no backfill {id}")));
        };
        one.stop(by, now);
        Ok(())
    }

    /// Asks what became of the next moments, where there is room for them.
    pub(in super::super) fn step_backfills(
        &mut self,
        now: Timestamp,
        ix: usize,
        schedule: Option<&Schedule>,
    ) {
        if !self.backfill_wants(ix) {
            return;
        }
        let key = self.triggers.entries[ix].row.key.clone();
        let mut queries = Vec::new();
        let mut over = Vec::new();
        for one in self.triggers.entries[ix].row.state.backfills() {
            let place = (ix as u32, one.id);
            if self.triggers.asking.contains_key(&place) {
                continue;
            }
            let (mut moments, mut runs) = (Vec::new(), Vec::new());
            if self.triggers.unsure.contains(&place) && !one.active.is_empty() {
                runs = one.active.iter().map(|(run, _)| *run).collect();
            } else if one.has_room() {
                self.triggers.unsure.remove(&place);
                moments = schedule.map_or_else(Vec::new, |schedule| one.next_moments(schedule));
                if moments.is_empty() {
                    over.push(one.id);
                }
            }
            if !moments.is_empty() || !runs.is_empty() {
                let query = MomentsQuery { key: key.clone(), backfill: Some(one.id), moments, runs };
                queries.push((place, query));
            }
        }
        for id in over {
            if let Some(one) = self.triggers.entries[ix].row.state.backfill_mut(id) {
                one.looked_at_all = true;
                one.end_if_over(now);
                self.mark_trigger(ix);
            }
        }
        for (place, query) in queries {
            self.triggers.asking.insert(place, query.moments.clone());
            self.outbox.now.push(Message::ReadMoments(Box::new(query)));
        }
    }

    /// What became of moments was read.
    pub(crate) fn moments_read(&mut self, now: Timestamp, read: &MomentsRead) {
        let MomentsQuery { key, backfill, moments, .. } = &read.query;
        let Some(ix) = self.triggers.find(key.job, &key.name) else { return };
        let Some(backfill) = backfill else { return self.ends_known(ix, read) };
        let place = (ix as u32, *backfill);
        if self.triggers.asking.get(&place) != Some(moments) {
            return; // It answers an earlier question.
        }
        self.triggers.asking.remove(&place);
        let before = self.triggers.entries[ix].row.state.backfill_mut(*backfill).cloned();
        if self.triggers.unsure.remove(&place) {
            self.settle_backfill(now, ix, *backfill, read);
        } else if let Some(spec) = self.triggers.entries[ix].spec.clone() {
            let written = spec.triggers.iter().find(|trigger| *trigger.name.as_str() == *key.name);
            for planned in moments {
                match written.zip(self.triggers.entries[ix].row.state.backfill_mut(*backfill)) {
                    Some((trigger, one)) if one.has_room() => {
                        self.make_up(now, ix, (*backfill, *planned), (&spec, trigger), read);
                    }
                    _ => break,
                }
            }
        }
        if let Some(one) = self.triggers.entries[ix].row.state.backfill_mut(*backfill) {
            one.end_if_over(now);
        }
        if self.triggers.entries[ix].row.state.backfill_mut(*backfill).cloned() != before {
            self.mark_trigger(ix);
        }
        self.arm_trigger(ix);
    }

    /// What ended while nobody owned the cell is no longer active.
    fn settle_backfill(&mut self, now: Timestamp, ix: usize, id: BackfillId, read: &MomentsRead) {
        let active = match self.triggers.entries[ix].row.state.backfill_mut(id) {
            Some(one) => one.active.clone(),
            None => return,
        };
        for (run, _) in active {
            let in_memory = self.runs.find(run).map(|run| self.runs.entries[run].status.state);
            match in_memory.or_else(|| read.state(run)) {
                Some(state) if !state.is_terminal() => {}
                state => self.backfilled(now, ix, id, run, state),
            }
        }
    }

    /// One moment: its run is made, or it is left alone.
    fn make_up(
        &mut self,
        now: Timestamp,
        ix: usize,
        (id, planned): (BackfillId, Timestamp),
        (spec, trigger): (&Arc<JobSpec>, &Trigger),
        read: &MomentsRead,
    ) {
        let key = self.triggers.entries[ix].row.key.clone();
        let Some(one) = self.triggers.entries[ix].row.state.backfill_mut(id) else { return };
        one.cursor = Some(planned);
        let priority = one.priority;
        // An owner before made it, and could not write down that it had.
        if let Some(run) = read.own(planned) {
            one.tally.made += 1;
            one.active.push((run, planned));
            return match read.state(run) {
                Some(state) if !state.is_terminal() => {}
                state => self.backfilled(now, ix, id, run, state),
            };
        }
        let run = match one.reprocess.decide(read.last(planned)) {
            Makeup::Leave(_) => return one.tally.left += 1,
            Makeup::Run => key.run_at(planned),
            Makeup::Again(before) => key.run_again(planned, before),
        };
        let mut line = Occurrence { backfill: Some(id), ..Occurrence::one(planned, now, Outcome::Fired) };
        match self.head_of(now, ix, spec, trigger, planned, run) {
            Ok(head) if self.runs.find(run).is_none() => {
                self.count_made(ix, id, run, planned);
                let made = self.make_run(now, head, (id, priority), spec);
                line.run = Some(run);
                self.note(ix, Some(made), line);
            }
            Ok(_) => {
                // Another backfill, or the trigger itself, makes it this moment.
                if let Some(one) = self.triggers.entries[ix].row.state.backfill_mut(id) {
                    one.tally.left += 1;
                }
            }
            Err(wrong) => {
                if let Some(one) = self.triggers.entries[ix].row.state.backfill_mut(id) {
                    one.tally.refused += 1;
                }
                line.outcome = Outcome::Missed;
                line.reason = cut(wrong).into();
                self.note(ix, None, line);
            }
        }
    }

    fn count_made(&mut self, ix: usize, id: BackfillId, run: RunId, planned: Timestamp) {
        if let Some(one) = self.triggers.entries[ix].row.state.backfill_mut(id) {
            one.tally.made += 1;
            one.active.push((run, planned));
        }
    }

    fn make_run(
        &mut self,
        now: Timestamp,
        head: RunHead,
        (id, priority): (BackfillId, Option<u16>),
        spec: &Arc<JobSpec>,
    ) -> usize {
        let fired = head.fired.map(|mut fired| {
            fired.backfill = Some(id);
            fired
        });
        let priority = priority.unwrap_or(head.priority);
        let head = RunHead { fired, priority, overlap: OverlapRule::Wait, ..head };
        self.stats.submitted += 1;
        let status = RunStatus { version: 0, ..RunStatus::arrived(self.config.cell, now) };
        let run = self.enter(now, Arc::new(head), status, spec);
        self.mark(run);
        self.begin(now, run);
        run
    }

    /// A run of a backfill ended: the next may begin.
    pub(in super::super) fn backfilled(
        &mut self,
        now: Timestamp,
        ix: usize,
        id: BackfillId,
        run: RunId,
        state: Option<RunState>,
    ) {
        let Some(one) = self.triggers.entries[ix].row.state.backfill_mut(id) else { return };
        let Some(at) = one.active.iter().position(|(active, _)| *active == run) else { return };
        one.active.remove(at);
        match state {
            Some(RunState::Success) => one.tally.succeeded += 1,
            Some(RunState::FinalFailed) => one.tally.failed += 1,
            _ => one.tally.other += 1,
        }
        one.end_if_over(now);
        self.mark_trigger(ix);
        self.arm_trigger(ix);
    }
}
