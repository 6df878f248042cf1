//! Jobs that have to succeed before a planned moment fires.
//!
//! When a job that is needed last succeeded is read with what a trigger says, and heard of from then on. Nothing of it is kept: the
//! runs themselves say it to whoever owns the cell next. A moment whose needs are not met waits as long as the misfire policy
//! lets it fire late; then it is missed.

use std::time::Duration;

use mainspring_model::spec::{Misfire, MisfirePolicy, Trigger};
use mainspring_model::{Name, Namespace, RunState, Timestamp};
use rustc_hash::{FxHashMap, FxHashSet};

use super::catch_up::CatchUp;
use super::cursor::Again;
use super::row::TriggerState;
use crate::cell::Cell;

/// The last success of a job of the trigger's namespace. Runs of backfills do not count: they are about the past.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Success {
    /// The name of the job.
    pub job: Name,
    /// When it ended.
    pub at: Timestamp,
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
        let is_of_backfill = entry.head.fired.as_ref().is_some_and(|fired| fired.backfill.is_some());
        if entry.status.state != RunState::Success || is_of_backfill || entry.head.inline_spec.is_some() {
            return;
        }
        let at = entry.status.finished_at.unwrap_or(self.last_now);
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
        let in_time = Misfire::GRACE + trigger.jitter;
        let patience = match trigger.misfire.policy {
            MisfirePolicy::Skip => in_time,
            MisfirePolicy::Once | MisfirePolicy::All => trigger.misfire.window.max(in_time),
        };
        Some(planned + patience + Duration::from_micros(1))
    }

    /// The first job that a moment needs and that has not succeeded in time.
    fn unmet(&self, ix: usize, trigger: &Trigger, planned: Timestamp) -> Option<Name> {
        let namespace = &self.triggers.entries[ix].row.state.namespace;
        let last = |job: &Name| self.triggers.needs.last(namespace, job.as_str());
        let is_met = |job: &Name, within: Duration| last(job).is_some_and(|at| at > planned - within);
        let unmet = trigger.needs.iter().find(|need| !is_met(&need.job, need.within));
        unmet.map(|need| need.job.clone())
    }

    /// Why moments of a trigger that are late now passed.
    pub(super) fn why_passed(&self, ix: usize) -> String {
        match self.triggers.entries[ix].row.state.waits_for() {
            Some(job) => format!("`{job}` had not succeeded in time"),
            None => "it passed".to_owned(),
        }
    }
}
