//! One firing: a run like any other, and a line of the ledger.

use std::sync::Arc;
use std::time::Duration;

use mainspring_model::spec::{MisfirePolicy, Trigger};
use mainspring_model::{Fired, JobSpec, Payload, RunHead, RunId, RunState, RunStatus, Timestamp, limits};
use serde_json::{Map, Value};

use super::Wanted;
use super::ledger::{Occurrence, Outcome};
use crate::cell::Cell;
use crate::keys;
use crate::message::{Answer, Message};
use crate::shape::priority_of;

/// A run to be made.
pub(super) struct Making {
    id: RunId,
    /// How many runs led to it.
    depth: u16,
    created_at: Timestamp,
}

impl Making {
    pub(super) fn new(now: Timestamp, id: RunId, depth: u16) -> Self {
        Self { id, depth, created_at: now }
    }
}

impl Cell {
    /// Makes the run of a planned moment; false when the ledger says why there is none.
    pub(super) fn fire(
        &mut self,
        now: Timestamp,
        ix: usize,
        spec: &Arc<JobSpec>,
        trigger: &Trigger,
        planned: Timestamp,
        Making { id, depth, created_at }: Making,
    ) -> bool {
        let mut line = Occurrence::one(planned, now, Outcome::Fired);
        if let Some(run) = self.runs.find(id) {
            // It was made before, by an owner or under a row that was not written.
            line.run = Some(id);
            self.triggers.entries[ix].row.state.fired += 1;
            self.made(ix, run);
            self.note(ix, Some(run), line);
            return !self.runs.entries[run].status.state.is_terminal();
        }
        if let Some(before) = self.waiting_run(ix, spec, trigger) {
            line.outcome = Outcome::Merged;
            line.reason = "the run before it has not started".into();
            line.run = Some(before);
            self.note(ix, None, line);
            return false;
        }
        let head = match self.head_of(created_at, ix, spec, trigger, planned, id) {
            Ok(head) => head,
            Err(wrong) => {
                line.outcome = Outcome::Missed;
                line.reason = cut(wrong).into();
                self.note(ix, None, line);
                return false;
            }
        };
        let head = RunHead { fired: head.fired.map(|fired| Box::new(Fired { depth, ..*fired })), ..head };
        let run = self.enter_fired(now, head, spec);
        self.begin(now, run);
        self.triggers.entries[ix].row.state.fired += u64::from(self.fired_begun(now, ix, run));
        !self.runs.entries[run].status.state.is_terminal()
    }

    /// Makes the run, and nothing of it yet.
    pub(super) fn enter_fired(&mut self, now: Timestamp, head: RunHead, spec: &Arc<JobSpec>) -> usize {
        self.stats.submitted += 1;
        let status = RunStatus { version: 0, ..RunStatus::arrived(self.config.cell, now) };
        let run = self.enter(now, Arc::new(head), status, spec);
        self.mark(run);
        run
    }

    /// The run of a moment has begun, or was left out: its line goes with it. Answers whether it counts.
    pub(super) fn fired_begun(&mut self, now: Timestamp, ix: usize, run: usize) -> bool {
        let entry = &self.runs.entries[run];
        let planned = entry.head.fired.as_ref().map_or(now, |fired| fired.planned);
        let mut line = Occurrence::one(planned, now, Outcome::Fired);
        line.run = Some(entry.head.id);
        let counts = entry.status.state != RunState::Skipped;
        if counts {
            self.made(ix, run);
        } else {
            line.outcome = Outcome::Skipped;
            line.reason = "overlap".into();
        }
        self.note(ix, Some(run), line);
        counts
    }

    /// This is the trigger's last run now.
    fn made(&mut self, ix: usize, run: usize) {
        let run = &self.runs.entries[run];
        let entry = &mut self.triggers.entries[ix];
        entry.row.state.last = Some(run.head.id);
        entry.waits = is_untouched(&run.status);
    }

    /// The last run, if nothing has taken it yet: a job without nodes leaves one waiting run and not a flood. Not where the
    /// job says how its runs wait for each other, or the trigger that each moment counts.
    fn waiting_run(&self, ix: usize, spec: &JobSpec, trigger: &Trigger) -> Option<RunId> {
        let entry = &self.triggers.entries[ix];
        let may = spec.concurrency.is_none() && trigger.misfire.policy != MisfirePolicy::All;
        entry.row.state.last.filter(|_| entry.waits && may)
    }

    pub(super) fn head_of(
        &self,
        now: Timestamp,
        ix: usize,
        spec: &JobSpec,
        trigger: &Trigger,
        planned: Timestamp,
        id: RunId,
    ) -> Result<RunHead, String> {
        self.head_with(now, ix, spec, &trigger.parameters_at(planned)?, (planned, id))
    }

    /// The head of a run with these parameters.
    pub(super) fn head_with(
        &self,
        now: Timestamp,
        ix: usize,
        spec: &JobSpec,
        given: &Map<String, Value>,
        (planned, id): (Timestamp, RunId),
    ) -> Result<RunHead, String> {
        let row = &self.triggers.entries[ix].row;
        let params = spec
            .parameters
            .resolve(given)
            .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
        let params: Payload = serde_json::to_vec(&params).map_err(|error| error.to_string())?.into();
        if params.len() > limits::PARAMS_BYTES_MAX {
            return Err(format!("params: have {} bytes", params.len()));
        }
        Ok(RunHead {
            id,
            namespace: row.state.namespace.clone(),
            job: row.key.job,
            job_version: row.state.version,
            inline_spec: None,
            idempotency_key: None,
            priority: priority_of(spec),
            created_at: now,
            not_before: None,
            deadline: None,
            keys: keys::render(spec, &params)?,
            params,
            overlap: Default::default(),
            submitted_by: format!("trigger:{}", row.key.name).into(),
            fired: Some(Box::new(Fired {
                trigger: (&*row.key.name).into(),
                planned,
                backfill: None,
                depth: 0,
            })),
        })
    }

    /// Fires for those who asked, whatever the clock says.
    pub(super) fn fire_asked(&mut self, now: Timestamp, ix: usize, spec: &Arc<JobSpec>, trigger: &Trigger) {
        let mut planned = now;
        let asked = self.triggers.entries[ix].asked.take();
        for (request, wanted) in asked.into_iter().flat_map(|asked| *asked) {
            let by = match wanted {
                Wanted::ByHand(by) => by,
                Wanted::Call(call) => {
                    self.take_call(now, ix, (spec, trigger), request, *call);
                    continue;
                }
            };
            if self.triggers.entries[ix].row.state.is_called {
                // Beside calls, each has a moment of its own, as they have.
                planned = self.call_moment(ix, now);
                self.call_told(ix, planned, false);
            }
            let entry = &mut self.triggers.entries[ix];
            let beside_ends = entry.row.state.after().is_some() || entry.row.state.delay_us > 0;
            if beside_ends {
                // No line stands for both this and an end.
                let ends = self.triggers.pending.list(&entry.row.key);
                let before = self.triggers.by_hand.get(&(ix as u32)).copied();
                planned = entry.row.state.moment_for(now, ends, before);
            }
            while self.runs.find(entry.row.key.run_at(planned)).is_some() {
                planned = planned - Duration::from_micros(1);
            }
            if beside_ends {
                self.triggers.by_hand.insert(ix as u32, planned);
            }
            let id = entry.row.key.run_at(planned);
            // Who asks does not wait for the run before, and takes nothing from what was planned.
            entry.waits = false;
            let (last, awaits_end, fired) =
                (entry.row.state.last, entry.row.state.awaits_end, entry.row.state.fired);
            // A moment just after that of an end may be a little ahead: no run is older than its moment.
            let making = Making { created_at: now.max(planned), ..Making::new(now, id, 0) };
            let made = self.fire(now, ix, spec, trigger, planned, making);
            // Nothing begins before its moment: the next one's is before this.
            planned = planned - Duration::from_micros(1);
            let state = &mut self.triggers.entries[ix].row.state;
            state.fired = fired;
            if awaits_end {
                state.last = last;
            }
            self.mark_trigger(ix);
            if let Some(line) = self.outbox.ledger.back_mut() {
                line.fired_by(&by);
            }
            let exists = made || self.runs.find(id).is_some();
            let answer = match exists {
                true => Answer::Submitted { run: id, duplicate: false },
                false => Answer::Refused {
                    code: mainspring_model::ErrorCode::InvalidParameter,
                    message: "it made no run; its history says why".to_owned(),
                },
            };
            let reply = Message::Reply { request, answer };
            if exists { self.after_commit_of(id, reply) } else { self.outbox.after_all(reply) }
        }
    }
}

/// Whether no node has had the run yet.
pub(super) fn is_untouched(status: &RunStatus) -> bool {
    matches!(status.state, RunState::Ready | RunState::Waiting) && status.attempt == 0
}

/// The beginning of what went wrong.
pub(super) fn cut(mut text: String) -> String {
    let mut end = text.len().min(limits::MESSAGE_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}
