//! What is under way of some jobs, as the owner has it in memory. Nothing here changes or decides anything.

use mainspring_model::{JobId, Timestamp};
use rustc_hash::FxHashMap;

use crate::cell::Cell;

/// What is under way of a job in a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobActivity {
    /// The job.
    pub job: JobId,
    /// Runs that hold a node.
    pub running: usize,
    /// Runs that wait in memory.
    pub waiting: usize,
    /// Some of its runs may wait in the store alone: there may be more than that.
    pub has_more: bool,
    /// Its triggers.
    pub triggers: usize,
    /// The next planned moment of those that are not paused.
    pub next: Option<NextFiring>,
}

/// A planned moment that comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextFiring {
    /// The trigger.
    pub trigger: Box<str>,
    /// The moment.
    pub planned: Timestamp,
    /// When it fires: with its jitter.
    pub fires_at: Timestamp,
}

impl Cell {
    /// What is under way of each of these jobs, in their order. Takes as long as there are attempts under way.
    pub fn activity(&self, jobs: &[JobId]) -> Vec<JobActivity> {
        let mut running: FxHashMap<JobId, usize> = jobs.iter().map(|job| (*job, 0)).collect();
        for run in self.nodes.entries.iter().flat_map(|(_, node)| &node.runs) {
            if let Some(count) = running.get_mut(&self.runs.entries[*run].head.job) {
                *count += 1;
            }
        }
        let of_job = |job: &JobId| {
            let groups = self.shapes.find_job(*job).into_iter().flat_map(|entry| &entry.groups);
            let groups = groups.map(|group| &self.queue.groups[*group]);
            let (triggers, next) = self.triggers.next_of(*job);
            JobActivity {
                job: *job,
                running: running.get(job).copied().unwrap_or_default(),
                waiting: groups.clone().map(|group| group.waiting.len()).sum(),
                has_more: self.overflow.after.is_some()
                    || groups.clone().any(|group| group.spilled_from.is_some()),
                triggers,
                next,
            }
        };
        jobs.iter().map(of_job).collect()
    }
}
