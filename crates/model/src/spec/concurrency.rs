//! Concurrency: how many runs of a job may be active at once, and what happens to one more.
//!
//! It holds for every run, whoever started it: a trigger, a person, a retry, a replay. A job without
//! this section has no limit; the word `overlap: allow` in a file says exactly that.

use std::num::NonZeroU32;

use serde::Serialize;
use utoipa::ToSchema;

use super::Template;

/// A limit on runs of one job that are active at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Concurrency {
    /// How many runs may be active at once.
    #[schema(value_type = u32, minimum = 1, required = false)]
    pub limit: NonZeroU32,
    /// Counts runs apart by this text, so that the limit holds for each value. Without one, for the job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Template>,
    /// What happens to a new run when the limit is reached.
    #[serde(skip_serializing_if = "Overlap::is_default")]
    pub overlap: Overlap,
    /// Of runs that wait for their turn, at most so many for a key; further ones are skipped.
    #[schema(value_type = Option<u32>, minimum = 1)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_max: Option<NonZeroU32>,
}

/// What happens to a new run when the limit is reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Overlap {
    /// The new run is skipped.
    Skip,
    /// One new run waits; further ones are skipped.
    QueueOne,
    /// Every new run waits for its turn.
    #[default]
    QueueAll,
    /// The oldest active run is asked to stop, and the new run takes its place when it has.
    CancelOld,
    /// The oldest active run is killed at once, and the new run takes its place when it is gone.
    KillOld,
}

impl Concurrency {
    /// At most `limit` runs of the job; others wait.
    pub fn new(limit: NonZeroU32) -> Self {
        Self { limit, key: None, overlap: Overlap::default(), queue_max: None }
    }
}

impl Overlap {
    /// Every policy.
    pub const ALL: [Self; 5] = [Self::Skip, Self::QueueOne, Self::QueueAll, Self::CancelOld, Self::KillOld];

    /// The policy's word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::QueueOne => "queue_one",
            Self::QueueAll => "queue_all",
            Self::CancelOld => "cancel_old",
            Self::KillOld => "kill_old",
        }
    }

    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
