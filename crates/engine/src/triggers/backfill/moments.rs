//! The moments of a backfill, and what the ledger says of them.

use std::time::Duration;

use mainspring_cron::Schedule;
use mainspring_model::{BackfillId, BackfillOrder, Epoch, Run, RunId, RunState, Timestamp};
use mainspring_store::{Page, Record, RecordKey, RecordQuery};

use super::super::catch_up::Moments;
use super::super::ledger::Occurrence;
use super::super::row::TriggerKey;
use super::Backfill;

/// Moments whose past is asked for at once: as many as there is room for, and some, because many are left alone.
const AT_ONCE: std::ops::RangeInclusive<usize> = 20..=100;
/// Lines of the ledger read at once.
const LINES: usize = 100;

/// Asks what became of moments before: answered with [`MomentsRead`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MomentsQuery {
    /// The trigger.
    pub key: TriggerKey,
    /// Who asks; none when it is about ends that were not followed yet.
    pub backfill: Option<BackfillId>,
    /// The moments, in the order of the backfill.
    pub moments: Vec<Timestamp>,
    /// Runs whose states are wanted too.
    pub runs: Vec<RunId>,
}

/// What became of moments before.
#[derive(Debug, Clone)]
pub struct MomentsRead {
    /// What was asked.
    pub query: MomentsQuery,
    /// The ledger's lines about them, in its order.
    pub lines: Vec<Occurrence>,
    /// The runs of those lines, as far as they are known: how they stand, and who wrote that.
    pub runs: Vec<(RunId, RunState, Epoch, Option<Timestamp>)>,
}

impl Backfill {
    /// The moments that come next, at most so many.
    pub fn upcoming(&self, schedule: &Schedule, max: usize) -> Vec<Timestamp> {
        let mut cursor = self.cursor;
        let next = || {
            cursor = self.after(schedule, cursor);
            cursor
        };
        std::iter::from_fn(next).take(max).collect()
    }

    /// Those that are looked at next.
    pub(super) fn next_moments(&self, schedule: &Schedule) -> Vec<Timestamp> {
        let room = (self.max_active.get() as usize).saturating_sub(self.active.len());
        self.upcoming(schedule, room.clamp(*AT_ONCE.start(), *AT_ONCE.end()))
    }

    fn after(&self, schedule: &Schedule, cursor: Option<Timestamp>) -> Option<Timestamp> {
        let moments = Moments(schedule);
        let before_all = self.from - Duration::from_micros(1);
        match self.order {
            BackfillOrder::Oldest => {
                moments.after(cursor.unwrap_or(before_all)).filter(|next| *next < self.until)
            }
            BackfillOrder::Newest => moments.last(before_all, cursor.unwrap_or(self.until)),
        }
    }
}

impl MomentsQuery {
    /// The ledger from the first moment on; none when it is about no moment.
    pub fn first_page(&self) -> Option<RecordQuery> {
        let first = self.moments.iter().min().copied()?;
        Some(self.page(self.key.ledger_before(first)))
    }

    fn page(&self, after: RecordKey) -> RecordQuery {
        self.key.lines_after(after, LINES)
    }

    /// Takes the lines of a page that are about the moments; answers the next page, if one is needed. Where there are many lines
    /// between two moments, what is between is left out.
    pub fn take(&self, page: &Page<Record>, lines: &mut Vec<Occurrence>) -> Option<RecordQuery> {
        let read: Vec<Occurrence> = page.rows.iter().filter_map(Occurrence::read).collect();
        let end = page.rows.last().filter(|_| page.more).map(|record| record.key.clone());
        let reached = read.last().map(|line| line.planned);
        let is_about = |line: &Occurrence| line.is_own() && self.moments.contains(&line.planned);
        lines.extend(read.into_iter().filter(is_about));
        let next = self.moments.iter().filter(|moment| reached.is_some_and(|at| **moment >= at)).min()?;
        let before = self.key.ledger_before(*next);
        end.map(|end| self.page(end.max(before)))
    }

    /// The runs whose states are wanted: the last of each moment, that which it would have made by itself, whatever the ledger
    /// says, and those that were asked for.
    pub fn wanted(&self, lines: &[Occurrence]) -> Vec<RunId> {
        let by_itself = self.moments.iter().map(|planned| self.key.run_at(*planned));
        let last = self.moments.iter().filter_map(|planned| last_of(lines, *planned)?.run);
        let mut wanted: Vec<RunId> = by_itself.chain(last).chain(self.runs.iter().copied()).collect();
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    }
}

/// The line of the run that was made last for a moment.
fn last_of(lines: &[Occurrence], planned: Timestamp) -> Option<&Occurrence> {
    lines.iter().filter(|line| line.planned == planned).max_by_key(|line| line.at)
}

impl MomentsRead {
    /// Reads it from a store that answers at once.
    pub fn read<E>(
        query: MomentsQuery,
        mut records: impl FnMut(RecordQuery) -> Result<Page<Record>, E>,
        runs: impl FnOnce(&[RunId]) -> Result<Vec<Run>, E>,
    ) -> Result<Self, E> {
        let (mut lines, mut next) = (Vec::new(), query.first_page());
        while let Some(asked) = next {
            next = query.take(&records(asked)?, &mut lines);
        }
        let runs = runs(&query.wanted(&lines))?;
        Ok(Self::of(query, lines, &runs))
    }

    /// What was read.
    pub fn of(query: MomentsQuery, lines: Vec<Occurrence>, runs: &[Run]) -> Self {
        let runs = runs
            .iter()
            .map(|run| (run.head.id, run.status.state, run.status.epoch, run.status.finished_at))
            .collect();
        Self { query, lines, runs }
    }

    /// The last run of a moment, and its state if it is known.
    pub fn last(&self, planned: Timestamp) -> Option<(RunId, Option<RunState>)> {
        let told = last_of(&self.lines, planned).and_then(|line| line.run);
        if let Some(run) = told {
            return Some((run, self.state(run)));
        }
        // The ledger is not kept as long as runs may be.
        let by_itself = self.query.key.run_at(planned);
        self.state(by_itself).map(|state| (by_itself, Some(state)))
    }

    /// The run that this backfill made for a moment already.
    pub(super) fn own(&self, planned: Timestamp) -> Option<RunId> {
        let is_own = |line: &&Occurrence| line.planned == planned && line.backfill == self.query.backfill;
        self.lines.iter().find(is_own).and_then(|line| line.run)
    }

    pub(super) fn state(&self, run: RunId) -> Option<RunState> {
        self.run(run).map(|(state, ..)| state)
    }

    /// How a run stands, who wrote that, and when it ended.
    pub(crate) fn run(&self, run: RunId) -> Option<(RunState, Epoch, Option<Timestamp>)> {
        let found = self.runs.iter().find(|(known, ..)| *known == run);
        found.map(|(_, state, epoch, at)| (*state, *epoch, *at))
    }
}
