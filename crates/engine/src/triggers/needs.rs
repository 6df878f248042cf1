//! Jobs that have to succeed before a planned moment fires.
//!
//! When a job that is needed last succeeded is read with what a trigger says, and heard of from then on. Nothing of it is kept: the
//! runs themselves say it to whoever owns the cell next. A moment whose needs are not met waits as long as the misfire policy
//! lets it fire late; then it is missed.

use std::time::Duration;

use mainspring_model::spec::{Misfire, MisfirePolicy, Trigger};
use mainspring_model::{Name, Namespace, RunHead, RunState, RunStatus, Timestamp};
use rustc_hash::{FxHashMap, FxHashSet};

use super::catch_up::{CatchUp, Stretch};
use super::cursor::Again;
use super::ledger::Outcome;
use super::row::TriggerState;
use crate::cell::Cell;

/// Why a moment passed that waited for nothing.
pub(super) const PASSED: &str = "it passed";

/// The last success of a job of the trigger's namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Success {
    /// The name of the job.
    pub job: Name,
    /// When it ended.
    pub at: Timestamp,
}

impl Success {
    /// When a run succeeded, if it counts as a success of its job: it is not about the past, and does what the job says.
    pub fn moment(head: &RunHead, status: &RunStatus) -> Option<Timestamp> {
        let is_of_backfill = head.fired.as_ref().is_some_and(|fired| fired.backfill.is_some());
        let counts = status.state == RunState::Success && !is_of_backfill && head.inline_spec.is_none();
        status.finished_at.filter(|_| counts)
    }
}

/// A job that triggers need.
#[derive(Debug, Default)]
struct Needed {
    /// When it last succeeded, as far as that was heard.
    at: Option<Timestamp>,
    by: FxHashSet<u32>,
}

/// All jobs that triggers of the cell need, by namespace and name.
#[derive(Debug, Default)]
pub(super) struct Needs(FxHashMap<(Namespace, Box<str>), Needed>);

impl Needs {
    pub(super) fn insert(&mut self, ix: usize, state: &TriggerState) {
        for job in state.needs() {
            let place = (state.namespace.clone(), job.as_str().into());
            self.0.entry(place).or_default().by.insert(ix as u32);
        }
    }

    pub(super) fn remove(&mut self, ix: usize, state: &TriggerState) {
        for job in state.needs() {
            let place = (state.namespace.clone(), job.as_str().into());
            if let Some(needed) = self.0.get_mut(&place) {
                needed.by.remove(&(ix as u32));
                if needed.by.is_empty() {
                    self.0.remove(&place);
                }
            }
        }
    }

    /// Whether somebody wants to hear of a job.
    pub(super) fn contains(&self, namespace: &Namespace, job: &str) -> bool {
        !self.0.is_empty() && self.0.contains_key(&(namespace.clone(), job.into()))
    }

    /// A job succeeded. Answers whom that concerns.
    fn heard(&mut self, namespace: &Namespace, job: &str, at: Timestamp) -> Vec<usize> {
        let Some(needed) = self.0.get_mut(&(namespace.clone(), job.into())) else { return Vec::new() };
        needed.at = needed.at.max(Some(at));
        let mut by: Vec<usize> = needed.by.iter().map(|ix| *ix as usize).collect();
        by.sort_unstable();
        by
    }

    /// When a job last succeeded.
    fn last(&self, namespace: &Namespace, job: &str) -> Option<Timestamp> {
        self.0.get(&(namespace.clone(), job.into()))?.at
    }
}

impl Cell {
    /// A run's end is durable: moments that waited for it go on.
    pub(super) fn success_durable(&mut self, run: usize) {
        if self.triggers.needs.0.is_empty() {
            return;
        }
        let entry = &self.runs.entries[run];
        let Some(at) = Success::moment(&entry.head, &entry.status) else { return };
        let (namespace, spec) = (entry.head.namespace.clone(), self.shapes.of(entry).spec.clone());
        self.heard_success(&namespace, spec.name.as_str(), at);
    }

    /// A job succeeded: moments that waited for it go on.
    fn heard_success(&mut self, namespace: &Namespace, job: &str, at: Timestamp) {
        for ix in self.triggers.needs.heard(namespace, job, at) {
            let waits_for = self.triggers.entries[ix].row.state.waits_for();
            if waits_for.is_some_and(|name| name.as_str() == job) {
                self.heed_success(ix);
            }
        }
    }

    /// What was read with what a trigger says.
    pub(super) fn successes_read(&mut self, ix: usize, successes: &[Success]) {
        let namespace = self.triggers.entries[ix].row.state.namespace.clone();
        for Success { job, at } in successes {
            if self.triggers.needs.last(&namespace, job.as_str()) < Some(*at) {
                self.heard_success(&namespace, job.as_str(), *at);
            }
        }
    }

    /// Has a trigger look whether what it waits for has come.
    pub(super) fn heed_success(&mut self, ix: usize) {
        let state = &mut self.triggers.entries[ix].row.state;
        if state.waits_for().is_some() {
            state.fires_at = Some(self.last_now);
            self.arm_trigger(ix);
        }
    }

    /// Leaves of a plan what may fire. What waits for another job stays planned; answers when patience with it ends.
    pub(super) fn hold_unmet(
        &mut self,
        now: Timestamp,
        ix: usize,
        trigger: &Trigger,
        again: &Again<'_>,
        plan: &mut CatchUp,
    ) -> Option<Timestamp> {
        let mut moments = plan.fire.iter().enumerate().filter(|(_, planned)| !again.kept.contains(planned));
        let held = moments.find_map(|(at, planned)| Some((at, *planned, self.unmet(ix, trigger, *planned)?)));
        let state = &mut self.triggers.entries[ix].row.state;
        let Some((at, planned, job)) = held else {
            state.wait_for(None);
            return None;
        };
        state.wait_for(Some(job));
        plan.fire.truncate(at);
        if at == 0 && plan.merged.take().is_some() {
            // They are covered by the first that fires, and none does. What is too old for that is missed.
            let too_old = now - trigger.misfire.window;
            let first = again.moments.after(self.triggers.entries[ix].row.state.cursor);
            plan.missed = first.filter(|first| *first < too_old).and_then(|first| {
                let before = again.moments.last(first - Duration::from_micros(1), too_old);
                again.moments.stretch(first, before)
            });
        }
        Some(planned + patience(trigger) + Duration::from_micros(1))
    }

    /// The first job that a moment needs and that has not succeeded in time.
    fn unmet(&self, ix: usize, trigger: &Trigger, planned: Timestamp) -> Option<Name> {
        let namespace = &self.triggers.entries[ix].row.state.namespace;
        let last = |job: &Name| self.triggers.needs.last(namespace, job.as_str());
        let is_met = |job: &Name, within: Duration| last(job).is_some_and(|at| at > planned - within);
        let unmet = trigger.needs.iter().find(|need| !is_met(&need.job, need.within));
        unmet.map(|need| need.job.clone())
    }

    /// Moments that are late now made no run: because a job that they waited for had not succeeded, or because nobody was there.
    pub(super) fn miss(
        &mut self,
        now: Timestamp,
        ix: usize,
        (trigger, waited): (&Trigger, Option<Name>),
        again: &Again<'_>,
        missed: Option<Stretch>,
    ) {
        let Some(Stretch { first, last, .. }) = missed else { return };
        let waited = waited.filter(|job| self.lacked(ix, trigger, job, first));
        let came = self.triggers.since - patience(trigger);
        let mut tell = |stretch, why: &str| self.pass(now, ix, (again, stretch), Outcome::Missed, why);
        let Some(job) = waited else { return tell(missed, PASSED) };
        // The first of them waited. Those whose time to wait was over when this owner came were seen by nobody.
        let unseen = again.moments.last(first, came.min(last + Duration::from_micros(1)));
        let Some(unseen) = unseen else { return tell(missed, &lacked(&job)) };
        let after = |at: Timestamp| again.moments.after(at).filter(|next| *next <= last);
        tell(again.moments.stretch(first, Some(first)), &lacked(&job));
        tell(after(first).and_then(|next| again.moments.stretch(next, Some(unseen))), PASSED);
        tell(after(unseen).and_then(|next| again.moments.stretch(next, Some(last))), &lacked(&job));
    }

    /// Whether a job that a moment waited for had not succeeded while it did.
    fn lacked(&self, ix: usize, trigger: &Trigger, job: &Name, planned: Timestamp) -> bool {
        let namespace = &self.triggers.entries[ix].row.state.namespace;
        let last = self.triggers.needs.last(namespace, job.as_str());
        let need = trigger.needs.iter().find(|need| need.job == *job);
        let until = planned + patience(trigger);
        need.is_some_and(|need| last.is_none_or(|at| at <= planned - need.within || at > until))
    }
}

/// How long a moment may wait.
fn patience(trigger: &Trigger) -> Duration {
    let in_time = Misfire::GRACE + trigger.jitter;
    match trigger.misfire.policy {
        MisfirePolicy::Skip => in_time,
        MisfirePolicy::Once | MisfirePolicy::All => trigger.misfire.window.max(in_time),
    }
}

/// Why a moment passed that waited for a job.
pub(super) fn lacked(job: &Name) -> String {
    format!("`{job}` had not succeeded in time")
}
