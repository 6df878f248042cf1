//! Backfills: planned moments of the past that are made up for, a few at a time.
//!
//! A backfill is part of its trigger's row, so it goes on with whoever owns the cell. The ledger says which runs a moment had
//! ([`MomentsQuery`]), [`Reprocess`] decides, and what is made has a line of its own beside the first. A run follows from the
//! trigger, the moment and the run before it, so two backfills of the same moments, or one that is looked at twice, make one.
//!
//! - `moments` finds the next moment, and what became of it before: pure.
//! - `step` makes runs and hears of their ends.

mod moments;
mod step;

use std::num::NonZeroU32;

use mainspring_model::{BackfillId, BackfillOrder, Reprocess, RunId, Timestamp};
use serde::{Deserialize, Serialize};

pub use moments::{MomentsQuery, MomentsRead};

/// Of a trigger's backfills that are over, so many are remembered.
const OVER_MAX: usize = 10;
/// Backfills of a trigger that go on at the same time.
const LIVE_MAX: usize = 10;

/// A backfill and how far it got.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backfill {
    /// Which.
    pub id: BackfillId,
    /// Moments from this one on.
    pub from: Timestamp,
    /// Moments before this one.
    pub until: Timestamp,
    /// The end of the range as it was asked for; without a word about it, that is wherever the trigger is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_until: Option<Timestamp>,
    /// Which go first.
    #[serde(default)]
    pub order: BackfillOrder,
    /// What becomes of those that had a run.
    #[serde(default)]
    pub reprocess: Reprocess,
    /// At most so many of its runs are active.
    pub max_active: NonZeroU32,
    /// How important its runs are; none when as the job says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u16>,
    /// Who asked.
    pub by: Box<str>,
    /// When.
    pub at: Timestamp,
    /// The last moment that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Timestamp>,
    /// Its runs that have not ended, and their moments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub active: Vec<(RunId, Timestamp)>,
    /// Every moment was looked at, or it was stopped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub looked_at_all: bool,
    /// How many moments had what becomes of them.
    #[serde(default)]
    pub tally: Tally,
    /// When its last run ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Who stopped it, or what did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<Box<str>>,
}

/// What became of the moments of a backfill.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tally {
    /// Runs made.
    pub made: u64,
    /// Left alone, because of a run before.
    pub left: u64,
    /// No run could be made; the ledger says why.
    pub refused: u64,
    /// Runs that succeeded.
    pub succeeded: u64,
    /// Runs that failed for good.
    pub failed: u64,
    /// Runs that were cancelled, or that nobody knows any more.
    pub other: u64,
}

impl Backfill {
    /// How many of its runs may be active at most.
    pub const MAX_ACTIVE_MAX: u32 = 100;

    /// One that nobody has looked at: each moment from one to before another, the oldest first, one at a time, none again.
    pub fn new(id: BackfillId, from: Timestamp, until: Timestamp, by: &str, at: Timestamp) -> Self {
        Self {
            id,
            from,
            until,
            asked_until: None,
            order: BackfillOrder::default(),
            reprocess: Reprocess::default(),
            max_active: NonZeroU32::MIN,
            priority: None,
            by: by.into(),
            at,
            cursor: None,
            active: Vec::new(),
            looked_at_all: false,
            tally: Tally::default(),
            ended_at: None,
            stopped_by: None,
        }
    }

    /// Whether nothing more becomes of it.
    pub fn is_over(&self) -> bool {
        self.ended_at.is_some()
    }

    /// Whether the same was asked for.
    fn is_same_wish(&self, other: &Self) -> bool {
        let range = |one: &Self| (one.from, one.asked_until);
        let wish = |one: &Self| (range(one), one.order, one.reprocess, one.max_active, one.priority);
        wish(self) == wish(other)
    }

    /// Whether there is something to look at and room for it.
    fn has_room(&self) -> bool {
        !self.looked_at_all && self.active.len() < self.max_active.get() as usize
    }

    /// No more runs of it are made; those that are active go on.
    pub(super) fn stop(&mut self, by: &str, now: Timestamp) {
        if !self.looked_at_all {
            self.looked_at_all = true;
            self.stopped_by = Some(by.into());
            self.end_if_over(now);
        }
    }

    fn end_if_over(&mut self, now: Timestamp) {
        if self.looked_at_all && self.active.is_empty() && self.ended_at.is_none() {
            self.ended_at = Some(now);
        }
    }
}
