//! The cluster: its schedulers, its cells, whether it lives and is ready.

use mainspring_model::MemberId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Pause, Time};

/// The cluster at a glance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Cluster {
    /// The program's version here.
    pub software: String,
    /// The time that rows go by.
    pub now: Time,
    /// The schedulers.
    pub members: Vec<SchedulerMember>,
    /// The cells.
    pub cells: Vec<Cell>,
}

/// A scheduler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SchedulerMember {
    /// Which.
    pub id: MemberId,
    /// Where others reach it.
    pub address: String,
    /// When it last said that it lives.
    pub seen_at: Time,
    /// Active runs over all its cells.
    pub load: u64,
    /// Its version.
    pub software: String,
}

/// A cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Cell {
    /// Which.
    pub cell: u16,
    /// Who owns it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<MemberId>,
    /// Under which epoch.
    pub epoch: u64,
    /// Until when, unless renewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_until: Option<Time>,
    /// Whether its owner has read its active work; absent when no owner answered here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaded: Option<bool>,
    /// Who paused it and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<Pause>,
    /// Differs with each pause, and is 0 without one. Also its `ETag`.
    #[serde(default)]
    pub revision: u64,
    /// Runs that wait in its owner's memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<usize>,
    /// Runs that hold a node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<usize>,
    /// Nodes that its owner knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<usize>,
    /// How often its owner gave it up and loaded it anew since the owner's process started: each time is a defect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setbacks: Option<u64>,
}

/// A wish that a cell starts nothing (or, when it is resumed, that it starts again).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PauseCell {
    /// Why.
    #[schema(max_length = 4096)]
    pub note: String,
}

/// The process lives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Health {
    /// Always `ok`.
    pub status: String,
}

/// Whether the process takes requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Readiness {
    /// Whether it does.
    pub ready: bool,
    /// What it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<String>,
}
