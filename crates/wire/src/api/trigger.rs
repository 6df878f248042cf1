//! Triggers, where they stand, what they plan and what became of it.

use mainspring_model::spec;
use mainspring_model::{BackfillId, JobId, Namespace, RunId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::{Pause, Time};

/// A trigger of a job. Its `ETag` is its `revision`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = JobTrigger)]
pub struct Trigger {
    /// The job.
    pub job: JobId,
    /// What the job is called.
    pub job_name: String,
    /// Where it lives.
    pub namespace: Namespace,
    /// What it is called within the job.
    pub name: String,
    /// The version of the job that it is in.
    pub version: u32,
    /// Grows by one with every firing and every change.
    pub revision: u64,
    /// When it fires, in words.
    pub description: Description,
    /// What the job file says.
    #[schema(value_type = spec::Trigger)]
    pub spec: Value,
    /// Planned moments up to here are accounted for.
    pub cursor: Time,
    /// The next planned moment; absent when there is none, or when it follows the ends of runs, or calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Time>,
    /// When that fires: with its jitter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fires_at: Option<Time>,
    /// The job that the next moment waits for: it is due, and fires when that job has succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<String>,
    /// Runs that it made.
    pub fired: u64,
    /// Of the last ones, those in a row that failed for good.
    pub failures: u32,
    /// Who paused it and why; absent when it is not paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<Pause>,
    /// Who paused its job and why: nothing fires meanwhile; absent when the job is not paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_pause: Option<Pause>,
    /// The jobs that it follows or needs and that are not there: it does not fire until they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_jobs: Vec<String>,
    /// Its last run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_run: Option<RunId>,
}

/// The same in several languages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Description {
    /// English.
    pub en: String,
    /// Chinese.
    pub zh: String,
}

/// What became of a planned moment, or of several in a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Occurrence {
    /// The moment, or the first of several.
    pub planned: Time,
    /// The last of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<Time>,
    /// How many; absent when they are too many to count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// What became of it.
    pub outcome: OccurrenceOutcome,
    /// Why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The run that was made, or that it is covered by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The backfill that made up for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backfill: Option<BackfillId>,
    /// When it was decided.
    pub at: Time,
    /// How much later than planned, in milliseconds.
    pub late_ms: u64,
}

/// What became of planned moments of many triggers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Occurrences {
    /// The newest moment first. May be empty although more follow: then few passed the filter.
    pub items: Vec<JobOccurrence>,
    /// Where the list goes on; absent when nothing follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// There are more triggers than were looked at.
    pub partial: bool,
}

/// What became of a planned moment, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobOccurrence {
    /// Where the job lives.
    pub namespace: Namespace,
    /// The job.
    pub job: JobId,
    /// What the job is called.
    pub job_name: String,
    /// The trigger.
    pub trigger: String,
    /// The moment and what became of it.
    #[serde(flatten)]
    pub occurrence: Occurrence,
}

/// How many planned moments became what. What somebody fired by hand, and what backfills made up for, is not counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OccurrenceCounts {
    /// A run was made.
    pub fired: u64,
    /// Of those, how many were fired later than `late_ms` after their moment.
    pub late: u64,
    /// Covered by another run.
    pub merged: u64,
    /// Left out by the job's overlap policy.
    pub skipped: u64,
    /// They passed.
    pub missed: u64,
    /// There are more: not all triggers, or not all of their moments, were looked at, or some were too many to count.
    pub partial: bool,
}

/// What became of a planned moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OccurrenceOutcome {
    /// A run was made.
    Fired,
    /// It is covered by another run.
    Merged,
    /// The job's overlap policy left it out.
    Skipped,
    /// It passed.
    Missed,
}

impl OccurrenceOutcome {
    /// Its word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fired => "fired",
            Self::Merged => "merged",
            Self::Skipped => "skipped",
            Self::Missed => "missed",
        }
    }
}

/// What would a trigger do?
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PreviewRequest {
    /// The trigger, as a job file has it, in JSON: `{"cron": "0 3 * * *", "zone": "Europe/Berlin"}`.
    #[param(min_length = 2, max_length = 1024)]
    pub trigger: String,
    /// Where the job lives; it decides what `H` stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
    /// What the job is called; it decides what `H` stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[param(max_length = 128)]
    pub job: Option<String>,
    /// Moments after this; without it, from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Time>,
    /// How many moments; without it, 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1, maximum = 1000)]
    pub count: Option<u16>,
}

/// What a trigger would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Preview {
    /// When it fires, in words.
    pub description: Description,
    /// Where its wall clock is read.
    pub zone: String,
    /// The next moments. None for triggers that follow the ends of runs, or calls.
    pub moments: Vec<Planned>,
}

/// A planned moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Planned {
    /// The moment.
    pub at: Time,
    /// What the wall clock of the zone shows.
    pub local: String,
    /// When it fires, if jitter makes that later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fires_at: Option<Time>,
    /// What is odd about it: clocks are turned.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// Where a trigger goes on from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CursorRequest {
    /// Planned moments up to here are accounted for.
    pub cursor: Time,
}
