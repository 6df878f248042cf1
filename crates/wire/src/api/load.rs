//! What is planned: firings by hour and pool, and where many come together.

use mainspring_model::Namespace;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::Time;

/// Which triggers, and which hours?
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct LoadRequest {
    /// Here and in all below; without it, everywhere that you may look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
    /// How many days; without it, 7.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1, maximum = 31)]
    pub days: Option<u16>,
    /// When the first hour begins; without it, the hour that it is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Time>,
}

/// What is planned, by hour and pool. Paused triggers and triggers of paused jobs plan nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LoadReport {
    /// When the first hour begins.
    pub from: Time,
    /// When the last hour ends.
    pub until: Time,
    /// Not everything is counted: there are too many triggers, or so many firings that `until` is earlier than asked.
    pub truncated: bool,
    /// Triggers that are counted.
    pub triggers: u64,
    /// Triggers that follow the ends of runs, or calls: nobody knows when they fire, and they are not counted.
    pub following: u64,
    /// Planned firings.
    pub firings: u64,
    /// By pool.
    pub pools: Vec<PoolLoad>,
    /// Where many fire in the same second, the most first. Triggers with `jitter`, and those that fire every so many seconds, are
    /// left out.
    pub crowds: Vec<Crowd>,
}

/// What is planned for a pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PoolLoad {
    /// The pool.
    pub pool: String,
    /// Planned firings, one number for each hour.
    pub firings: Vec<u64>,
    /// How long their runs will take by what runs of their jobs took in the last days, in milliseconds, one number for each hour in
    /// which they begin. Jobs that did not run add nothing.
    pub busy_ms: Vec<u64>,
}

/// A second in which several triggers fire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Crowd {
    /// The second; of several as crowded in this minute of the day, the first.
    pub at: Time,
    /// How many triggers fire in it.
    pub count: u64,
    /// How often several fire in one second of this minute of the day.
    pub times: u64,
    /// Which; of very many, some.
    pub triggers: Vec<CrowdTrigger>,
}

/// A trigger that fires with others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CrowdTrigger {
    /// Where its job lives.
    pub namespace: Namespace,
    /// What its job is called.
    pub job_name: String,
    /// What it is called within the job.
    pub name: String,
    /// What it follows, as the job file has it: `0 3 * * *`, `1h`.
    pub when: String,
    /// What it could say to fire by itself; absent when it draws its moment already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
}

/// A field of a trigger that would take it out of a crowd.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Spread {
    /// The field: `cron`, `offset` or `jitter`.
    pub field: String,
    /// Its value.
    pub value: String,
}
