//! What triggers that need other jobs promise: a moment fires only when each of those has succeeded, late enough and in the
//! store; what waits has a reason to, and not for longer than patience lasts.

use std::collections::BTreeMap;
use std::time::Duration;

use mainspring_engine::{Outcome, TriggerKey, TriggerRow};
use mainspring_model::spec::Misfire;
use mainspring_model::{CellId, Epoch, JobId, RunHead, RunState, Timestamp};
use mainspring_store_mem::Change;

use crate::checker::{Verdict, Violation, fail};
use crate::jobs::SimJob;
use crate::written::Written;

/// An owner knows what it committed when it decides what it commits so much later.
const KNOWN_AFTER: u64 = 3;

/// A trigger that needs other jobs.
#[derive(Debug)]
struct Needy {
    needs: Vec<(JobId, Duration)>,
    /// How long a moment may wait.
    patience: Duration,
    /// When they succeeded, and with which commit of the cell.
    successes: Vec<(JobId, Timestamp, u64)>,
    is_waiting: bool,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    of: BTreeMap<(JobId, Box<str>), Needy>,
    /// The last batch of each cell, and how many there were.
    commits: BTreeMap<CellId, (Option<(Epoch, u64)>, u64)>,
    pub seen: Seen,
}

/// Moments that waited, fired, and were missed because they waited too long.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Seen {
    pub waited: u64,
    pub fired: u64,
    pub missed: u64,
}

impl Needs {
    pub(crate) fn new(jobs: &[SimJob]) -> Self {
        let mut of = BTreeMap::new();
        for sim in jobs {
            for trigger in sim.spec.triggers.iter().filter(|trigger| !trigger.needs.is_empty()) {
                let id = |name: &str| {
                    let is_it = |other: &&SimJob| {
                        other.job.namespace == sim.job.namespace && other.spec.name.as_str() == name
                    };
                    jobs.iter().find(is_it).expect("a job that is needed").job.id
                };
                let needs = trigger.needs.iter().map(|need| (id(need.job.as_str()), need.within)).collect();
                let patience = trigger.misfire.window.max(Misfire::GRACE + trigger.jitter);
                let needy = Needy { needs, patience, successes: Vec::new(), is_waiting: false };
                of.insert((sim.job.id, trigger.name.as_str().into()), needy);
            }
        }
        Self { of, ..Self::default() }
    }

    /// A transaction was done.
    pub(crate) fn committed(&mut self, written: &Written, changes: &[Change]) -> Verdict {
        let mut number = 0;
        if let Some(cell) = written.owner {
            let (last, count) = self.commits.entry(cell).or_default();
            if written.batch > *last {
                (*last, *count) = (written.batch, *count + 1);
            } else if changes.is_empty() {
                return Ok(()); // It came again, and not because the store was away: it says what its owner knew then.
            }
            number = *count;
        }
        for change in changes.iter().filter(|change| change.before.is_none()) {
            let line = written.lines.iter().find(|(_, line)| line.run == Some(change.head.id));
            if !line.is_some_and(|(_, line)| line.by_hand) {
                self.check_run(&change.head)?;
            }
        }
        for change in changes {
            let success = change.after.as_ref().filter(|after| after.state == RunState::Success);
            if let Some(at) = success.and_then(|after| after.finished_at) {
                self.succeeded(&change.head, at, number);
            }
        }
        for (key, line) in &written.lines {
            let is_late =
                line.outcome == Outcome::Missed && line.reason.ends_with("had not succeeded in time");
            if is_late && self.of.contains_key(&place(key)) {
                self.seen.missed += line.count.unwrap_or(1);
            }
        }
        for row in &written.rows {
            let Some(needy) = self.of.get_mut(&place(&row.key)) else { continue };
            let is_waiting = row.state.waits_for().is_some();
            self.seen.waited += u64::from(is_waiting && !needy.is_waiting);
            needy.is_waiting = is_waiting;
            let Some(next) = row.state.next.filter(|_| is_waiting && written.owner.is_some()) else {
                continue;
            };
            let goes_on = row.state.fires_at == Some(next + needy.patience + Duration::from_micros(1));
            if goes_on && needy.lacks(next, number.saturating_sub(KNOWN_AFTER)).is_none() {
                let (key, what) = (&row.key, format!("{next} waits, and all that it needs has succeeded"));
                return Err(Violation {
                    invariant: "needs",
                    what: format!("{} of {}: {what}", key.name, key.job),
                    about: vec![key.job.to_string()],
                });
            }
        }
        Ok(())
    }

    /// A run of a moment was made: everything that it needs was there before.
    fn check_run(&mut self, head: &RunHead) -> Verdict {
        let Some(fired) = head.fired.as_ref().filter(|fired| fired.backfill.is_none()) else { return Ok(()) };
        let Some(needy) = self.of.get(&(head.job, fired.trigger.clone())) else { return Ok(()) };
        self.seen.fired += 1;
        match needy.lacks(fired.planned, u64::MAX) {
            Some(job) => {
                fail("needs", head.id, format!("{} fired before {job} had succeeded", fired.planned))
            }
            None => Ok(()),
        }
    }

    /// A run succeeded. Those of backfills are about the past.
    fn succeeded(&mut self, head: &RunHead, at: Timestamp, commit: u64) {
        if head.fired.as_ref().is_some_and(|fired| fired.backfill.is_some()) {
            return;
        }
        for needy in self.of.values_mut() {
            if needy.needs.iter().any(|(needed, _)| *needed == head.job) {
                needy.successes.push((head.job, at, commit));
            }
        }
    }

    /// Whether a moment of the trigger waits, with reason, and may still do so now.
    pub(crate) fn may_wait(&self, row: &TriggerRow, now: Option<Timestamp>) -> bool {
        let (Some(needy), Some(next)) = (self.of.get(&place(&row.key)), row.state.next) else { return false };
        let in_time = now.is_some_and(|now| now <= next + needy.patience);
        row.state.waits_for().is_some() && in_time && needy.lacks(next, u64::MAX).is_some()
    }
}

impl Needy {
    /// The first job that a moment needs and that has not succeeded in time, by a commit.
    fn lacks(&self, planned: Timestamp, by: u64) -> Option<JobId> {
        let is_met = |job: JobId, within: Duration| {
            let mut successes = self.successes.iter().filter(|(of, _, commit)| *of == job && *commit <= by);
            successes.any(|(_, at, _)| *at > planned - within)
        };
        self.needs.iter().find(|(job, within)| !is_met(*job, *within)).map(|(job, _)| *job)
    }
}

fn place(key: &TriggerKey) -> (JobId, Box<str>) {
    (key.job, (&*key.name).into())
}
