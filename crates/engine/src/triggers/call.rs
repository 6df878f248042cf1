//! A call of a webhook: one run, the run that an earlier call of the same delivery made, or a line that says why there is none.
//!
//! A delivery with a key is one run for ever: the key is part of the run, and the store takes no second run with it. So such a
//! run is inserted before anything else happens to it; what follows from it, its line of the ledger included, is written when it
//! begins. An owner that dies in between leaves a run that has not begun, and the next one begins it. Whoever cancels it before
//! that leaves a wish, and it ends when it begins: so there is no end without its line.

use std::sync::Arc;

use mainspring_model::spec::Trigger;
use mainspring_model::{ErrorCode, JobSpec, Pause, RunId, Shelf, Timestamp, time};
use serde_json::{Map, Value};

use super::ledger::{Occurrence, Outcome};
use super::row::TriggerKey;
use super::{Owed, Wanted};
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
        let planned = self.call_moment(ix, call.at.min(now));
        let key = &self.triggers.entries[ix].row.key;
        let key = call.key.as_deref().map(|text| key.delivery(text));
        let settled = || key.as_ref().and_then(|key| self.triggers.settled.get(key, call.at));
        if let Some(first) = call.first.or_else(settled) {
            self.note(ix, None, repeated(planned, now, first));
            self.call_told(ix, planned, false);
            let answer = Answer::Submitted { run: first, duplicate: true };
            return self.answer_when_written(ix, Owed::Answer(request, Box::new(answer)));
        }
        if key.as_ref().is_some_and(|key| self.triggers.unbegun.contains_key(key)) {
            // Its run may yet turn out to be an earlier one.
            return self.hold_call(ix, request, Wanted::Call(Box::new(call)));
        }
        if let Some(why) = self.why_inactive(ix, trigger, planned) {
            return self.refuse_call(now, (ix, planned), request, ErrorCode::Inactive, why);
        }
        if trigger.count.is_some_and(|count| self.calls_counted(ix).0 >= u64::from(count.get())) {
            return self.hold_call(ix, request, Wanted::Call(Box::new(call)));
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
        head.idempotency_key = key.clone();
        let run = self.enter_fired(now, head, spec);
        match key {
            Some(key) => {
                self.triggers.unbegun.insert(key, id);
                self.call_opened(ix, planned);
            }
            None => {
                self.begin(now, run);
                let counts = self.fired_begun(now, ix, run);
                self.call_told(ix, planned, counts);
            }
        }
        let answer = Answer::Submitted { run: id, duplicate: false };
        self.after_commit(run, Message::Reply { request, answer });
    }

    /// Calls that the last owner took may be in the ledger alone: it died before it wrote the row, or somebody put the job who
    /// did not know of them. False while that is being read.
    pub(super) fn recount_calls(&mut self, ix: usize) -> bool {
        if self.triggers.entries[ix].row.state.moved.as_ref().is_none_or(|moved| !moved.put) {
            return true;
        }
        let Some(book) = self.book(ix) else { return false };
        let state = &mut self.triggers.entries[ix].row.state;
        let (made, end) = book.calls;
        state.fired += made;
        state.cursor = end.unwrap_or(state.cursor).max(state.reached());
        state.moved = None;
        self.mark_trigger(ix);
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
        let first = self.runs.entries[run].head.id;
        let Some((ix, planned)) = self.called(now, run, first) else { return };
        let counts = self.fired_begun(now, ix, run);
        self.call_told(ix, planned, counts);
    }

    /// The store has another run of the same delivery: this one never was.
    pub(crate) fn call_repeated(&mut self, now: Timestamp, run: usize, first: RunId) {
        if self.is_open_call(run)
            && let Some((ix, planned)) = self.called(now, run, first)
        {
            self.note(ix, None, repeated(planned, now, first));
            self.call_told(ix, planned, false);
        }
    }

    /// Whether this run is of a delivery that this owner took, and nothing is told of that yet.
    fn is_open_call(&self, run: usize) -> bool {
        let head = &self.runs.entries[run].head;
        let key = head.idempotency_key.as_ref().filter(|_| !self.triggers.unbegun.is_empty());
        key.is_some_and(|key| self.triggers.unbegun.get(key) == Some(&head.id))
    }

    /// Calls that came before triggers were known begin now.
    pub(crate) fn begin_early_calls(&mut self, now: Timestamp) {
        for run in std::mem::take(&mut self.triggers.early_calls) {
            self.begin(now, run as usize);
        }
    }

    /// The trigger whose call made a run, and the moment of that; the call is settled, with the first run of its delivery.
    fn called(&mut self, now: Timestamp, run: usize, first: RunId) -> Option<(usize, Timestamp)> {
        let head = self.runs.entries[run].head.clone();
        let fired = head.fired.as_ref()?;
        let ix = self.triggers.find(head.job, &fired.trigger);
        if let Some(key) = &head.idempotency_key {
            self.triggers.unbegun.remove(key);
            self.triggers.settled.insert(key, first, now);
        }
        Some((ix?, fired.planned))
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
        self.call_told(ix, planned, false);
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
        let (_, made) = self.calls_counted(ix);
        let is_over = made >= count;
        is_over.then(|| format!("it fired {count} times, which is as often as it may"))
    }
}

/// The line of a delivery that came again.
fn repeated(planned: Timestamp, now: Timestamp, first: RunId) -> Occurrence {
    let reason = "the same delivery again".into();
    Occurrence { reason, run: Some(first), ..Occurrence::one(planned, now, Outcome::Merged) }
}
