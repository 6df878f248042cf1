//! How a job fares: its newest ends, what follows from them, what is under way and what comes next.

use mainspring_model::{RunId, RunState};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Time;

/// How a job fares. Rate and percentiles are those of `ends` alone, not of a span of time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobHealth {
    /// The ends of its newest runs that are over, the newest run first: at most 30. Behind a backlog of 20,000 active runs
    /// there may be fewer than there are.
    #[schema(max_items = 30)]
    pub ends: Vec<RunEnd>,
    /// Of those that succeeded or failed for good, the part that succeeded; absent when there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub success_rate: Option<f64>,
    /// From eligible to placed of those that needed no second attempt, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued_ms: Option<Percentiles>,
    /// From started to finished of the last attempt of those that ran, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running_ms: Option<Percentiles>,
    /// What is under way, from the memory of owners; absent when none answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<ActiveRuns>,
    /// How many triggers it has; absent when the owner of its cell did not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub triggers: Option<u32>,
    /// The next planned moment; absent when there is none, when the job is paused or when the owner did not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<NextFiring>,
}

/// The end of a run, in short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunEnd {
    /// The run.
    pub run: RunId,
    /// How it ended.
    pub state: RunState,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Time>,
    /// From started to finished of its last attempt, in milliseconds; absent when it never ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
}

/// Percentiles of so many values, each a value that was seen (nearest rank).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Percentiles {
    /// The median.
    pub p50: f64,
    /// 95 of 100 are no larger.
    pub p95: f64,
    /// How many values.
    pub samples: u32,
}

/// Runs that are under way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ActiveRuns {
    /// Those that hold a node.
    pub running: u64,
    /// Those that wait in a queue.
    pub waiting: u64,
    /// There may be more: some wait in the store alone, or not every owner answered.
    pub at_least: bool,
}

/// A planned moment that comes next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NextFiring {
    /// The trigger.
    pub trigger: String,
    /// The moment.
    pub planned: Time,
    /// When it fires: with its jitter.
    pub fires_at: Time,
}

impl Percentiles {
    /// Those of some values; none when there are no values.
    pub fn of(mut values: Vec<u64>) -> Option<Self> {
        values.sort_unstable();
        let rank = |part: f64| (part * values.len() as f64).ceil() as usize;
        let at = |part: f64| values.get(rank(part).max(1) - 1).map(|value| *value as f64);
        Some(Self { p50: at(0.5)?, p95: at(0.95)?, samples: u32::try_from(values.len()).unwrap_or(u32::MAX) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_seen() {
        let check = |values: &[u64], expected: Option<(f64, f64)>| {
            let found = Percentiles::of(values.to_vec());
            assert_eq!(found.map(|one| (one.p50, one.p95)), expected, "{values:?}");
            assert_eq!(found.map_or(0, |one| one.samples as usize), values.len());
        };
        check(&[], None);
        check(&[7], Some((7.0, 7.0)));
        check(&[9, 1], Some((1.0, 9.0)));
        check(&[3, 1, 2], Some((2.0, 3.0)));
        check(&(1..=20).collect::<Vec<_>>(), Some((10.0, 19.0)));
        check(&(1..=100).rev().collect::<Vec<_>>(), Some((50.0, 95.0)));
    }
}
