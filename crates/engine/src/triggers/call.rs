//! A call of a webhook: one run, the run that an earlier call of the same delivery made, or a line that says why there is none.
//!
//! A delivery with a key is one run for ever: the key is part of the run, and the store takes no second run with it. So such a
//! run is inserted before anything else happens to it; what follows from it, its line of the ledger included, is written when it
//! begins. An owner that dies in between leaves a run that has not begun, and the next one begins it.

use std::sync::Arc;
use std::time::Duration;

use mainspring_model::spec::Trigger;
use mainspring_model::{ErrorCode, JobSpec, Pause, RunId, Shelf, Timestamp, time};
use serde_json::{Map, Value};

use super::Owed;
use super::ledger::{Occurrence, Outcome};
use super::row::TriggerKey;
use crate::cell::Cell;
use crate::event::RequestId;
use crate::message::{Answer, Message};

/// How the keys of deliveries begin among the idempotency keys of runs.
const PREFIX: &str = "hook/";

/// What a call of a webhook brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCall {
    /// When it came.
    pub at: Timestamp,
    /// The same for the same delivery; none when each call counts.
    pub key: Option<Box<str>>,
    /// The version of the job that it was checked against.
    pub version: u32,
    /// The run of the same key, if the store had one.
    pub first: Option<RunId>,
    /// What it gives to the job's parameters.
    pub parameters: Map<String, Value>,
}

impl TriggerKey {
    /// The idempotency key of the run of a delivery.
    pub fn delivery(&self, key: &str) -> Box<str> {
        format!("{PREFIX}{}/{}/{key}", self.job, self.name).into()
    }
}

impl Cell {
    pub(super) fn take_call(
        &mut self,
        now: Timestamp,
        ix: usize,
        (spec, trigger): (&Arc<JobSpec>, &Trigger),
        request: RequestId,
        call: HookCall,
    ) {
        let state = &mut self.triggers.entries[ix].row.state;
        // Each has a moment of its own: that is where its line stands.
        let planned = call.at.min(now).max(state.cursor + Duration::from_micros(1));
        state.cursor = planned;
        self.mark_trigger(ix);
        let key = &self.triggers.entries[ix].row.key;
        let key = call.key.as_deref().map(|text| key.delivery(text));
        let under_way = key.as_ref().and_then(|key| self.triggers.unbegun.get(key)).copied();
        if let Some(first) = call.first.or(under_way) {
            self.note(ix, None, repeated(planned, now, first));
            let answer = Answer::Submitted { run: first, duplicate: true };
            return match under_way {
                // It may yet turn out to be an earlier one.
                Some(_) => self.outbox.after_commit(under_way, Message::Reply { request, answer }),
                None => self.answer_when_written(ix, Owed::Answer(request, Box::new(answer))),
            };
        }
        if let Some(why) = self.why_inactive(ix, trigger, planned) {
            return self.refuse_call(now, (ix, planned), request, ErrorCode::Inactive, why);
        }
        let id = self.triggers.entries[ix].row.key.run_at(planned);
        let mut head = match self.head_with(now, ix, spec, &call.parameters, (planned, id)) {
            Ok(head) => head,
            Err(wrong) => {
                let is_same = self.triggers.entries[ix].row.state.version == call.version;
                // The job changed since the call was checked: the same call may be right for it.
                let code = if is_same { ErrorCode::InvalidParameter } else { ErrorCode::QueueFull };
                return self.refuse_call(now, (ix, planned), request, code, wrong);
            }
        };
        let is_keyed = key.is_some();
        if let Some(key) = &key {
            self.triggers.unbegun.insert(key.clone(), id);
            // It counts from now on; its line follows when it begins.
            self.triggers.entries[ix].row.state.fired += 1;
        }
        head.idempotency_key = key;
        let run = self.enter_fired(now, head, spec);
        if !is_keyed {
            self.begin(now, run);
            self.fired_begun(now, ix, run);
        }
        let answer = Answer::Submitted { run: id, duplicate: false };
        self.outbox.after_commit(Some(id), Message::Reply { request, answer });
    }

    /// Calls that the last owner took may be in the ledger alone, where somebody put the job who did not know of them. False while
    /// that is being read.
    pub(super) fn recount_calls(&mut self, ix: usize) -> bool {
        let Some(book) = self.book(ix) else { return false };
        let state = &mut self.triggers.entries[ix].row.state;
        if state.moved.take().is_some_and(|moved| moved.put) {
            state.fired += book.made(state.cursor);
            state.cursor = book.end().unwrap_or(state.cursor).max(state.cursor);
            self.mark_trigger(ix);
        }
        true
    }

    /// Whether this run is of a delivery with a key and has not begun: then its line is not written yet.
    pub(crate) fn is_unbegun_call(&self, run: usize) -> bool {
        let entry = &self.runs.entries[run];
        let key = entry.head.idempotency_key.as_deref();
        entry.head.fired.is_some()
            && key.is_some_and(|key| key.starts_with(PREFIX))
            && entry.status.place.is_some_and(|place| place.shelf == Shelf::Arrived)
    }

    /// The run of a delivery has begun.
    pub(crate) fn call_begun(&mut self, now: Timestamp, run: usize) {
        let Some(ix) = self.called(run) else { return };
        let planned = self.runs.entries[run].head.fired.as_ref().map_or(now, |fired| fired.planned);
        let state = &mut self.triggers.entries[ix].row.state;
        // Whoever took it wrote the cursor and the count together. Where somebody's put overtook that, the ledger is counted.
        let is_counted = planned <= state.cursor;
        let is_recounted = state.moved.as_ref().is_some_and(|moved| moved.put);
        let before = state.fired.saturating_sub(u64::from(is_counted));
        state.fired = before;
        self.fired_begun(now, ix, run);
        let state = &mut self.triggers.entries[ix].row.state;
        if !is_counted && is_recounted {
            state.fired = before;
        } else {
            state.cursor = state.cursor.max(planned);
        }
        self.mark_trigger(ix);
    }

    /// The store has another run of the same delivery: this one never was.
    pub(crate) fn call_repeated(&mut self, now: Timestamp, run: usize, first: RunId) {
        if !self.is_unbegun_call(run) {
            return;
        }
        let planned = self.runs.entries[run].head.fired.as_ref().map(|fired| fired.planned);
        if let (Some(ix), Some(planned)) = (self.called(run), planned) {
            let state = &mut self.triggers.entries[ix].row.state;
            state.fired = state.fired.saturating_sub(u64::from(planned <= state.cursor));
            self.note(ix, None, repeated(planned, now, first));
            self.mark_trigger(ix);
        }
    }

    /// Calls that came before triggers were known begin now.
    pub(crate) fn begin_early_calls(&mut self, now: Timestamp) {
        for run in std::mem::take(&mut self.triggers.early_calls) {
            self.begin(now, run as usize);
        }
    }

    /// The trigger whose call made a run; it is no longer one that has not begun.
    fn called(&mut self, run: usize) -> Option<usize> {
        let head = &self.runs.entries[run].head;
        if let Some(key) = &head.idempotency_key {
            self.triggers.unbegun.remove(key);
        }
        self.triggers.find(head.job, &head.fired.as_ref()?.trigger)
    }

    /// Whoever cannot be served is told, and so is the ledger.
    fn refuse_call(
        &mut self,
        now: Timestamp,
        (ix, planned): (usize, Timestamp),
        request: RequestId,
        code: ErrorCode,
        why: String,
    ) {
        let reason = super::fire::cut(why.clone()).into();
        self.note(ix, None, Occurrence { reason, ..Occurrence::one(planned, now, Outcome::Missed) });
        let answer = Answer::Refused { code, message: why };
        self.answer_when_written(ix, Owed::Answer(request, Box::new(answer)));
    }

    fn why_inactive(&self, ix: usize, trigger: &Trigger, planned: Timestamp) -> Option<String> {
        let entry = &self.triggers.entries[ix];
        let state = &entry.row.state;
        let paused = |what: &str, pause: &Pause| match pause.note.is_empty() {
            true => format!("{what} is paused by {}", pause.by),
            false => format!("{what} is paused by {}: {}", pause.by, pause.note),
        };
        if let Some(pause) = state.pause.as_deref() {
            return Some(paused("the trigger", pause));
        }
        if let Some(pause) = self.shapes.pause_of(entry.row.key.job) {
            return Some(paused("the job", pause));
        }
        if let Some(pause) = &self.pause {
            return Some(paused("the cell", pause));
        }
        if let Some(from) = trigger.from.filter(|from| planned < *from) {
            return Some(format!("it takes calls from {} on", time::text::format(from)));
        }
        if let Some(until) = trigger.until.filter(|until| planned >= *until) {
            return Some(format!("it took calls until {}", time::text::format(until)));
        }
        let count = trigger.count.map(|count| u64::from(count.get()))?;
        let is_over = state.fired >= count;
        is_over.then(|| format!("it fired {count} times, which is as often as it may"))
    }
}

/// The line of a delivery that came again.
fn repeated(planned: Timestamp, now: Timestamp, first: RunId) -> Occurrence {
    let reason = "the same delivery again".into();
    Occurrence { reason, run: Some(first), ..Occurrence::one(planned, now, Outcome::Merged) }
}
