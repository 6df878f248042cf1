//! Looking through all that waits in the store, for the few that must not stay there unseen.
//!
//! The timeouts of runs that wait in the store hold all the same, though nothing in memory has a timer for them.
//! Whoever leaves memory while it waits has the moment noted at which it would be given up; only the earliest is kept. When
//! that comes, the waiting shelf is looked through from its beginning, what is over is ended, and the next moment is
//! learned. Between two looks is a rest, ten times as long as the look took, so that a store with a long overflow is never
//! busy with this. What a new owner did not load may be of jobs that are kept in memory (see `overflow`): the first look
//! takes those in.

use mainspring_model::{Elapsed, JobSpec, Run, RunHead, RunState, RunStatus, Shelf, Timestamp};

use crate::cell::Cell;
use crate::class::QueueKey;
use crate::deadlines::earliest;
use crate::event::{LoadedRun, ShelfRead};
use crate::shape::is_kept;
use crate::timers::{Armed, Subject, Wait};

/// The rest after a look, in looks.
const RESTS_PER_LOOK: u32 = 10;

#[derive(Debug, Default)]
pub(crate) struct Overdue {
    /// Before this none of them is to be given up; none when none ever is.
    due: Option<Timestamp>,
    /// When the look that is under way began.
    looks_since: Option<Elapsed>,
    rests_until: Elapsed,
    armed: Armed,
    rest_armed: Armed<Elapsed>,
    kept: Kept,
}

/// Whether all runs of jobs that are kept in memory are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Kept {
    #[default]
    Here,
    /// Some may be in the store.
    Unseen,
    /// The look that is under way finds them.
    Sought,
}

impl Cell {
    /// A run leaves memory and waits in the store from now on.
    pub(crate) fn note_overdue(&mut self, ix: usize) {
        let entry = &self.runs.entries[ix];
        let spec = &self.shapes.of(entry).spec;
        let at = given_up_at(&entry.head, &entry.status, spec, entry.since);
        self.overdue_from(at);
    }

    /// It is not known what waits in the store, nor for how long.
    pub(crate) fn suspect_overdue(&mut self, now: Timestamp) {
        self.overdue.kept = Kept::Unseen;
        self.overdue_from(Some(now));
    }

    /// Whether every waiting run of a kept job is in memory, and there is room for one more.
    pub(crate) fn sees_kept(&self) -> bool {
        self.overdue.kept == Kept::Here && self.queue.kept < self.config.kept_max
    }

    fn overdue_from(&mut self, at: Option<Timestamp>) {
        if at.is_some() {
            self.overdue.due = earliest(self.overdue.due, at);
            self.arm_overdue();
        }
    }

    fn arm_overdue(&mut self) {
        self.timers.arm(&mut self.overdue.armed, self.overdue.due, Subject::Overdue);
    }

    /// One of them may be over by now.
    pub(crate) fn overdue_due(&mut self, now: Timestamp) {
        self.overdue.armed = Armed::NOT;
        if self.overdue.looks_since.is_some() {
            return; // What was noted since it began is looked at after it.
        }
        if self.elapsed < self.overdue.rests_until {
            let at = Some(self.overdue.rests_until);
            return self.waits.arm(&mut self.overdue.rest_armed, at, Wait::Rest);
        }
        if self.overdue.due.is_none_or(|due| due > now) {
            return self.arm_overdue();
        }
        self.overdue.due = None;
        self.overdue.looks_since = Some(self.elapsed);
        if self.overdue.kept == Kept::Unseen {
            self.overdue.kept = Kept::Sought;
        }
        self.read_overdue(None);
    }

    /// The rest after a look is over.
    pub(crate) fn rested(&mut self, now: Timestamp) {
        self.overdue.rest_armed = Armed::NOT;
        self.overdue_due(now);
    }

    /// Looks through the waiting shelf have no bound on the rank, but for this one: so they are told apart.
    fn read_overdue(&mut self, after: Option<QueueKey>) {
        self.read(Shelf::Waiting, after, Some(i64::MAX), self.config.page_rows);
    }

    /// A page of those that wait in the store.
    pub(crate) fn overdue_read(&mut self, now: Timestamp, read: ShelfRead) {
        let Some(began_at) = self.overdue.looks_since else { return };
        let key = |run: &Run| (run.status.place.map_or(0, |place| place.rank), run.head.id);
        let last = read.rows.last().map(|row| key(&row.run));
        for row in read.rows {
            self.look_at_time(now, row);
        }
        if last.is_some() && read.more {
            return self.read_overdue(last);
        }
        self.overdue.looks_since = None;
        if self.overdue.kept == Kept::Sought {
            self.overdue.kept = Kept::Here;
        }
        self.overdue.rests_until = self.elapsed + self.elapsed.since(began_at) * RESTS_PER_LOOK;
        self.arm_overdue();
    }

    fn look_at_time(&mut self, now: Timestamp, row: LoadedRun) {
        if row.spec.as_deref().is_some_and(is_kept) {
            self.adopt(now, row);
            return;
        }
        let LoadedRun { run: Run { head, status }, spec, .. } = row;
        let waits_here = status.state == RunState::Waiting && status.cell == self.config.cell;
        let Some(spec) = spec.filter(|_| waits_here && self.runs.find(head.id).is_none()) else { return };
        let since = status.waits_since().unwrap_or(now).min(now);
        let at = given_up_at(&head, &status, &spec, since);
        if at.is_some_and(|at| at <= now) {
            let ix = self.enter(now, head, status, &spec);
            self.runs.entries[ix].since = since;
            self.run_due(now, ix);
        } else {
            self.overdue.due = earliest(self.overdue.due, at);
        }
    }
}

/// When a run that has been waiting since a moment is given up.
pub(crate) fn given_up_at(
    head: &RunHead,
    status: &RunStatus,
    spec: &JobSpec,
    since: Timestamp,
) -> Option<Timestamp> {
    let queue = spec.timeout.queue.map(|queue| since + queue);
    earliest(earliest(queue, retried_until(status, spec)), last_moment(head, status, spec))
}

/// Until when another attempt of a run may begin, once one has.
pub(crate) fn retried_until(status: &RunStatus, spec: &JobSpec) -> Option<Timestamp> {
    let begun_at = status.extra.as_ref().and_then(|extra| extra.begun_at)?;
    spec.retry.max_elapsed.map(|max| begun_at + max)
}

/// When a run is given up whatever it does.
pub(crate) fn last_moment(head: &RunHead, status: &RunStatus, spec: &JobSpec) -> Option<Timestamp> {
    let total = spec.timeout.total.and_then(|total| status.eligible_at.map(|begun| begun + total));
    earliest(head.deadline, total)
}
