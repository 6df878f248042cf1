//! The queue for people: groups of waiting runs, with what each waits for.
//!
//! Groups are what the queue works with, so the answer costs one look at the nodes for each group and not for each run.
//! Runs that were spilled to the store are not counted; the answer says that there are some.

use mainspring_model::{JobId, Namespace, Reason, RunId, Timestamp};

use crate::cell::Cell;
use crate::class::QueueKey;
use crate::queue::Group;

/// Runs of a group among which the one that has waited longest is looked for.
const AGES_MAX: usize = 1_000;

/// Runs of one job that wait in memory for the same thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingGroup {
    /// Their job.
    pub job: JobId,
    /// Its name, in the version that the first of them pins.
    pub job_name: Box<str>,
    /// Where they belong.
    pub namespace: Namespace,
    /// The pool that they ask for.
    pub pool: Box<str>,
    /// What the first of them waits for.
    pub reason: Reason,
    /// The one that comes first.
    pub first: RunId,
    /// How many they are.
    pub count: usize,
    /// Since when the one that has waited longest does, among the first thousand.
    pub oldest: Timestamp,
}

/// What waits in a cell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WaitingGroups {
    /// The groups, in the order of their first runs in the queue.
    pub groups: Vec<WaitingGroup>,
    /// More runs wait: there were more groups than asked for, or runs were spilled to the store.
    pub is_partial: bool,
}

impl Cell {
    /// What waits in memory, at most `groups_max` groups of it.
    pub fn waiting_groups(&self, groups_max: usize) -> WaitingGroups {
        let mut found = WaitingGroups {
            groups: Vec::new(),
            is_partial: !self.is_loaded() || self.overflow.after.is_some(),
        };
        let mut groups: Vec<(QueueKey, &Group)> = Vec::new();
        for (_, group) in &self.queue.groups {
            found.is_partial |= group.spilled_from.is_some();
            groups.extend(group.waiting.first_key_value().map(|(key, _)| (*key, group)));
        }
        found.is_partial |= groups.len() > groups_max;
        groups.sort_unstable_by_key(|(key, _)| *key);
        found.groups =
            groups.into_iter().take(groups_max).map(|(_, group)| self.waiting_group(group)).collect();
        found
    }

    fn waiting_group(&self, group: &Group) -> WaitingGroup {
        let first = &self.runs.entries[group.first()];
        let spec = &self.shapes.shapes[group.key.shape].spec;
        let ages = group.waiting.values().take(AGES_MAX).map(|ix| {
            let entry = &self.runs.entries[*ix as usize];
            entry.status.waits_since().unwrap_or(entry.since)
        });
        WaitingGroup {
            job: first.head.job,
            job_name: spec.name.as_str().into(),
            namespace: first.head.namespace.clone(),
            pool: spec.placement.pool().into(),
            reason: self.why_waiting(group.first()),
            first: first.head.id,
            count: group.waiting.len(),
            oldest: ages.min().unwrap_or(first.since),
        }
    }
}
