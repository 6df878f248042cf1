//! How many runs ended how, hour by hour, from roll-ups.

use mainspring_model::{JobId, Namespace};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Time;

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
    /// From eligible to placed, on average, in milliseconds.
    pub queued_ms_mean: f64,
    /// From started to finished of the last attempt, on average, in milliseconds.
    pub running_ms_mean: f64,
}

impl From<&mainspring_model::Counts> for StatsTotals {
    fn from(counts: &mainspring_model::Counts) -> Self {
        let ended = counts.success + counts.final_failed + counts.cancelled + counts.skipped;
        let mean = |sum_us: u64| if ended == 0 { 0.0 } else { sum_us as f64 / ended as f64 / 1000.0 };
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
