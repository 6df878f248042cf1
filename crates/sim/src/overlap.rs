//! What overlap policies promise, looked at in committed rows: those that wait for their first attempt never pile up, whoever
//! owns the cell and however much of it is in memory. A retry comes back without being asked, so only first attempts count, and of
//! those not the runs of backfills, which wait whatever the policy says.

use std::collections::BTreeMap;

use mainspring_model::spec::Overlap;
use mainspring_model::{JobId, JobSpec, OverlapRule, RunHead, RunId, RunState, RunStatus};

use crate::checker::{Verdict, fail};

/// A run that was refused and comes back stands beside its successor.
const COMEBACKS: usize = 2;

/// Runs that wait for their first attempt.
#[derive(Debug, Default)]
pub(crate) struct Overlaps {
    waiting: BTreeMap<RunId, (JobId, Box<str>)>,
}

impl Overlaps {
    /// A row changed.
    pub(crate) fn changed(&mut self, head: &RunHead, after: &RunStatus) {
        let is_counted = head.overlap == OverlapRule::Policy;
        if is_counted && after.state == RunState::Waiting && after.attempt == 0 {
            self.waiting.insert(head.id, (head.job, key(head).into()));
        } else {
            self.waiting.remove(&head.id);
        }
    }

    /// All changes of a commit are known.
    pub(crate) fn check(&self, head: &RunHead, spec: &JobSpec) -> Verdict {
        let Some(concurrency) = &spec.concurrency else { return Ok(()) };
        let limit = concurrency.limit.get() as usize;
        let most = match concurrency.overlap {
            Overlap::QueueAll => return Ok(()),
            Overlap::Skip => limit,
            Overlap::QueueOne => limit + 1,
            Overlap::CancelOld | Overlap::KillOld => limit + COMEBACKS,
        };
        let same = |(job, have): &&(JobId, Box<str>)| *job == head.job && **have == *key(head);
        let waiting = self.waiting.values().filter(same).count();
        if waiting > most {
            return fail("overlap", head.id, format!("{waiting} wait for their first attempt, {most} may"));
        }
        Ok(())
    }
}

fn key(head: &RunHead) -> &str {
    head.keys.as_ref().map_or("", |keys| &keys.concurrency)
}
