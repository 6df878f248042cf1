//! Backfills: planned moments of the past that are made up for.

use mainspring_model::{BackfillId, BackfillOrder, JobId, Namespace, Reprocess, RunId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::Time;

/// Which moments to make up for, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BackfillRequest {
    /// Moments from this one on.
    pub from: Time,
    /// Moments before this one; without it, all that the trigger has passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// Which go first.
    #[serde(default)]
    pub order: BackfillOrder,
    /// What becomes of moments that had a run.
    #[serde(default)]
    pub reprocess: Reprocess,
    /// At most so many of its runs are active; without it, 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 100)]
    pub max_active: Option<u32>,
    /// How urgent its runs are, instead of the job's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<mainspring_model::spec::Priority>)]
    pub priority: Option<Value>,
    /// Chosen by the caller: the same id is the same backfill, however often it is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<BackfillId>,
}

/// What would a backfill do?
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct BackfillPlanRequest {
    /// Where the job lives; `default` when nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
    /// Moments from this one on.
    pub from: Time,
    /// Moments before this one; without it, all that the trigger has passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// Which go first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<BackfillOrder>,
    /// What becomes of moments that had a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reprocess: Option<Reprocess>,
}

/// What a backfill would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BackfillPlan {
    /// How many moments are in the range.
    pub total: usize,
    /// The first of them, in the order of the backfill.
    pub moments: Vec<PlannedMoment>,
    /// Whether there are more than are listed.
    pub truncated: bool,
}

/// What a backfill would do about a moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlannedMoment {
    /// The moment.
    pub planned: Time,
    /// The same on the wall clock of the trigger.
    pub local: String,
    /// What would happen.
    pub action: BackfillAction,
    /// Its last run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
}

/// What happens to a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BackfillAction {
    /// Its first run.
    Run,
    /// One more run.
    Again,
    /// Nothing, because of the run that it had.
    Leave,
}

/// A backfill and how far it got.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Backfill {
    /// Which.
    pub id: BackfillId,
    /// The trigger whose moments they are.
    pub trigger: String,
    /// How it is.
    pub state: BackfillState,
    /// Moments from this one on.
    pub from: Time,
    /// Moments before this one.
    pub until: Time,
    /// Which go first.
    pub order: BackfillOrder,
    /// What becomes of moments that had a run.
    pub reprocess: Reprocess,
    /// At most so many of its runs are active.
    pub max_active: u32,
    /// Who asked.
    pub by: String,
    /// When.
    pub at: Time,
    /// The last moment that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Time>,
    /// Its runs that have not ended.
    pub active: Vec<RunId>,
    /// Runs made.
    pub made: u64,
    /// Moments left alone, because of the run that they had.
    pub left: u64,
    /// Moments of which no run could be made; the history says why.
    pub refused: u64,
    /// Runs that succeeded.
    pub succeeded: u64,
    /// Runs that failed for good.
    pub failed: u64,
    /// Runs that were cancelled, or that nobody knows any more.
    pub other: u64,
    /// When its last run ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Time>,
    /// Who stopped it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<String>,
}

/// Backfills of many triggers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Backfills {
    /// The newest first.
    pub items: Vec<JobBackfill>,
    /// There are more backfills, or more triggers than were looked at.
    pub partial: bool,
}

/// A backfill and whose it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobBackfill {
    /// Where the job lives.
    pub namespace: Namespace,
    /// The job.
    pub job: JobId,
    /// What the job is called.
    pub job_name: String,
    /// The backfill.
    #[serde(flatten)]
    pub backfill: Backfill,
}

/// How a backfill is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BackfillState {
    /// Moments are left.
    Running,
    /// No more runs are made; some have not ended.
    Finishing,
    /// All moments have been looked at and all runs have ended.
    Done,
    /// Somebody stopped it, and its runs have ended.
    Stopped,
}

impl BackfillState {
    /// Its word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Finishing => "finishing",
            Self::Done => "done",
            Self::Stopped => "stopped",
        }
    }
}
