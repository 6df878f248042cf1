//! How many runs ended how, hour by hour, from roll-ups.

use mainspring_model::{JobId, Namespace};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Percentiles, Time};

/// Roll-ups of a span of time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StatsReport {
    /// Hours that begin at or after.
    pub from: Time,
    /// Hours that begin before.
    pub until: Time,
    /// All of them added up.
    pub total: StatsTotals,
    /// By hour and job, oldest first.
    pub hours: Vec<StatsHour>,
    /// There are more hours than fit: ask for a shorter span.
    pub truncated: bool,
}

/// One hour of one job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StatsHour {
    /// When the hour begins.
    pub hour: Time,
    /// The job's namespace.
    pub namespace: Namespace,
    /// The job.
    pub job: JobId,
    /// What is counted.
    #[serde(flatten)]
    pub totals: StatsTotals,
}

/// What is counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StatsTotals {
    /// Runs that ended well.
    pub success: u64,
    /// Runs that failed for good.
    pub final_failed: u64,
    /// Runs that were cancelled.
    pub cancelled: u64,
    /// Runs that were skipped.
    pub skipped: u64,
    /// Attempts made by those runs.
    pub attempts: u64,
    /// From eligible to placed, on average over the runs that ran, in milliseconds.
    pub queued_ms_mean: f64,
    /// From started to finished of the last attempt, on average over the runs that ran, in milliseconds.
    pub running_ms_mean: f64,
}

/// How runs ended step by step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StatsSeries {
    /// The first step begins here, at a full hour.
    pub from: Time,
    /// Hours that begin before.
    pub until: Time,
    /// How long a step is, in seconds.
    pub step_s: u64,
    /// All of them added up.
    pub total: StatsTotals,
    /// Steps in which something ended, the oldest first.
    pub points: Vec<SeriesPoint>,
    /// With `by`, the same for each job or namespace: those with the most failures first, then those with the most ends.
    pub groups: Vec<SeriesGroup>,
    /// There are more groups than are told, or more hours than could be added up.
    pub partial: bool,
}

/// The steps of a job or of a namespace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SeriesGroup {
    /// The namespace.
    pub namespace: Namespace,
    /// The job, by job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobId>,
    /// What it is called, if it is still there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_name: Option<String>,
    /// Steps in which something ended, the oldest first.
    pub points: Vec<SeriesPoint>,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SeriesPoint {
    /// When it begins.
    pub at: Time,
    /// Runs that ended well.
    pub success: u64,
    /// Runs that failed for good.
    pub final_failed: u64,
    /// Runs that were cancelled.
    pub cancelled: u64,
    /// Runs that were skipped.
    pub skipped: u64,
    /// From eligible to placed, on average over the runs that ran, in milliseconds; absent when none ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued_ms_mean: Option<f64>,
    /// From started to finished of the last attempt, on average over the runs that ran, in milliseconds; absent when none ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running_ms_mean: Option<f64>,
    /// From eligible to placed, of the runs with one attempt; only where every end of the step could be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued_ms: Option<Percentiles>,
    /// From started to finished of the last attempt; only where every end of the step could be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running_ms: Option<Percentiles>,
}

/// What steps are told apart by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SeriesBy {
    /// By job.
    Job,
    /// By namespace.
    Namespace,
}

impl From<&mainspring_model::Counts> for StatsTotals {
    fn from(counts: &mainspring_model::Counts) -> Self {
        let ran = counts.ran();
        let mean = |sum_us: u64| if ran == 0 { 0.0 } else { sum_us as f64 / ran as f64 / 1000.0 };
        Self {
            success: counts.success,
            final_failed: counts.final_failed,
            cancelled: counts.cancelled,
            skipped: counts.skipped,
            attempts: counts.attempts,
            queued_ms_mean: mean(counts.queued_us),
            running_ms_mean: mean(counts.running_us),
        }
    }
}
