//! Jobs that have to succeed before a planned moment fires.
//!
//! A trigger that needs other jobs hears of their successes as one that follows them does: the last success of each is written
//! with the end itself ([`super::pending`]). What succeeded before the trigger was there, its row says. A moment whose needs are
//! not met waits as long as the misfire policy lets it fire late; then it is missed.

use std::collections::BTreeSet;
use std::time::Duration;

use mainspring_model::spec::{Misfire, MisfirePolicy, Trigger};
use mainspring_model::{Name, RunState, Timestamp, hash};
use serde::{Deserialize, Serialize};

use super::catch_up::CatchUp;
use super::pending::End;
use crate::cell::Cell;
use crate::runs::RunEntry;

/// A job that a trigger needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Needed {
    /// Its name.
    pub job: Name,
    /// When it last succeeded before the trigger was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Timestamp>,
}

/// The last success of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Success {
    /// Its name.
    pub job: Name,
    /// When it ended.
    pub at: Timestamp,
}

impl Needed {
    pub(super) fn begin(trigger: &Trigger, successes: &[Success]) -> Vec<Self> {
        let last = |job: &Name| successes.iter().find(|one| one.job == *job).map(|one| one.at);
        trigger.needs.iter().map(|need| Self { job: need.job.clone(), before: last(&need.job) }).collect()
    }
}

/// What the ends of a job are known by.
fn mark_of(job: &str) -> u64 {
    hash::bytes(job.as_bytes()) | 1
}

impl Cell {
    /// The end of a run is being written: if it is a success of a job that the trigger needs, that is written with it.
    pub(super) fn success_cut(&mut self, ix: usize, run: usize) {
        let entry = &self.runs.entries[run];
        let RunEntry { head, status, .. } = entry;
        let of = mark_of(self.shapes.of(entry).spec.name.as_str());
        let key = self.triggers.entries[ix].row.key.clone();
        let list = self.triggers.pending.list(&key);
        if status.state != RunState::Success || list.iter().any(|end| end.run == head.id) {
            return;
        }
        let end = End { of, ..End::new(head.id, self.last_now, 0) };
        // Until this one is durable, the last that is counts.
        let last = list.iter().rfind(|end| end.of == of && end.durable).map(|end| end.run);
        let is_old = |end: &&End| end.of == of && end.durable && Some(end.run) != last;
        let old: Vec<_> = list.iter().filter(is_old).map(|end| end.run).collect();
        for run in old {
            self.triggers.pending.remove(&key, run);
        }
        self.triggers.pending.push(&key, end);
    }

    /// Leaves of a plan what may fire. What waits for another job stays planned; answers when patience with it ends.
    pub(super) fn hold_unmet(
        &mut self,
        ix: usize,
        trigger: &Trigger,
        kept: &BTreeSet<Timestamp>,
        plan: &mut CatchUp,
    ) -> Option<Timestamp> {
        if trigger.needs.is_empty() {
            return None;
        }
        let mut moments = plan.fire.iter().enumerate().filter(|(_, planned)| !kept.contains(planned));
        let held = moments.find_map(|(at, planned)| Some((at, *planned, self.unmet(ix, trigger, *planned)?)));
        let follows = self.triggers.entries[ix].row.state.follows.get_or_insert_default();
        let Some((at, planned, job)) = held else {
            follows.waits_for = None;
            return None;
        };
        follows.waits_for = Some(job);
        plan.fire.truncate(at);
        if at == 0 {
            // They are covered by the first that fires, and none does.
            plan.merged = None;
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
        let row = &self.triggers.entries[ix].row;
        let ends = self.triggers.pending.list(&row.key);
        let is_met = |job: &Name, within: Duration| {
            let of = mark_of(job.as_str());
            let heard = ends.iter().filter(|end| end.durable && end.of == of).map(|end| end.planned);
            let before =
                row.state.needs().iter().filter(|need| need.job == *job).filter_map(|need| need.before);
            heard.chain(before).any(|at| at > planned - within)
        };
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
