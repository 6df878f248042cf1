//! What changes without a write: how far tasks are, and why runs wait. It is told in passing, at most once a second for each run
//! and for so many of them, so that watchers who asked for more are not held up.
//!
//! Why a run waits is worked out when somebody asks, so only runs that somebody looked at lately are looked at again.

use std::time::Duration;

use mainspring_app::ports::{Changed, LiveRun, RunPlace};
use mainspring_engine::Cell;
use mainspring_model::{Elapsed, Reason, RunId, RunState, Timestamp};
use rustc_hash::{FxHashMap, FxHashSet};

use super::task::Seat;

/// How often one run is told of at most.
const EVERY: Duration = Duration::from_secs(1);
/// Runs whose tasks said how far they are and that are told of in the next second.
const PROGRESSED_MAX: usize = 500;
/// Runs that are looked at again.
const LOOKED_AT_MAX: usize = 200;
/// For how long.
const LOOKED_AT_FOR: Duration = Duration::from_secs(60);

/// What is to be told.
#[derive(Debug, Default)]
pub(super) struct Passing {
    progressed: FxHashSet<RunId>,
    looked_at: FxHashMap<RunId, LookedAt>,
    /// When it was last told.
    told_at: Option<Elapsed>,
    due: Option<Elapsed>,
}

/// A waiting run that somebody looked at.
#[derive(Debug)]
struct LookedAt {
    until: Elapsed,
    /// What they were told.
    reason: Option<Reason>,
}

impl Passing {
    /// A task said how far it is.
    pub(super) fn progressed(&mut self, run: RunId, now: Elapsed) {
        if self.progressed.len() < PROGRESSED_MAX {
            self.progressed.insert(run);
            self.wake(now);
        }
    }

    /// Somebody was shown these runs.
    pub(super) fn looked_at(&mut self, runs: &[LiveRun], now: Elapsed) {
        for LiveRun { run, reason } in runs.iter().filter(|live| live.run.status.state == RunState::Waiting) {
            let id = run.head.id;
            if self.looked_at.len() >= LOOKED_AT_MAX && !self.looked_at.contains_key(&id) {
                break;
            }
            self.looked_at.insert(id, LookedAt { until: now + LOOKED_AT_FOR, reason: reason.clone() });
            self.wake(now);
        }
    }

    /// When it is to be told next.
    pub(super) fn due(&self) -> Option<Elapsed> {
        self.due
    }

    fn wake(&mut self, now: Elapsed) {
        let earliest = self.told_at.map_or(now + EVERY, |told| (told + EVERY).max(now));
        self.due.get_or_insert(earliest);
    }

    /// What became another since it was last told.
    fn take(&mut self, cell: &Cell, now: Elapsed, at: Timestamp) -> Vec<Changed> {
        self.due = None;
        self.told_at = Some(now);
        let place = |id: RunId| {
            let head = cell.head(id)?;
            Some(RunPlace { id, namespace: head.namespace.clone(), job: head.job })
        };
        let mut changes = Vec::new();
        for id in self.progressed.drain() {
            let progress = cell.run(id).and_then(|run| run.status.extra?.progress);
            if let (Some(run), Some(progress)) = (place(id), progress) {
                changes.push(Changed::Progress { run, progress, at });
            }
        }
        self.looked_at.retain(|id, seen| {
            let reason = cell.why(*id);
            if reason != seen.reason {
                seen.reason = reason.clone();
                if let Some(run) = place(*id) {
                    changes.push(Changed::Reason { run, reason: reason.clone().map(Box::new), at });
                }
            }
            reason.is_some() && now < seen.until
        });
        if !self.looked_at.is_empty() {
            self.due = Some(now + EVERY);
        }
        changes
    }
}

impl Seat {
    /// Tells what is due of it.
    pub(super) fn tell_passing(&mut self) {
        let now = self.config.clock.elapsed();
        if self.passing.due().is_none_or(|due| due > now) {
            return;
        }
        let at = self.config.clock.now();
        let Some(reign) = self.tenure.as_ref() else { return };
        reign.news.pass(self.passing.take(&reign.cell, now, at));
    }
}
