//! Attempts: one try of a run on one node, and the token that proves which one speaks.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::cause::Cause;
use crate::cell::Epoch;
use crate::id::{AttemptId, NodeId, RunId};
use crate::time::Timestamp;

/// Names one attempt for ever. Results, progress, logs and heartbeats carry it; one that is not the
/// run's current attempt is stale and changes nothing (I9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AttemptToken {
    /// The run.
    pub run: RunId,
    /// The attempt, from 1.
    pub number: u32,
    /// The epoch of the owner that made the attempt.
    pub epoch: Epoch,
}

impl AttemptToken {
    /// The attempt's printable id.
    pub fn id(&self) -> AttemptId {
        AttemptId::of(self.run, self.number)
    }
}

impl fmt::Display for AttemptToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} attempt {} ({})", self.run, self.number, self.epoch)
    }
}

/// An attempt that is over, kept as a row of its own because another followed. The last attempt of a
/// run lives in the run's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Which one.
    pub token: AttemptToken,
    /// Where.
    pub node: NodeId,
    /// When the order became durable.
    pub placed_at: Timestamp,
    /// When the task started, if it is known to have.
    pub started_at: Option<Timestamp>,
    /// When its end was recorded.
    pub finished_at: Timestamp,
    /// Why it ended.
    pub cause: Cause,
    /// What it used.
    pub usage: Usage,
}

/// What an attempt used of its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// CPU time of all its processes.
    pub cpu_us: u64,
    /// The most memory it held at once.
    pub memory_peak_bytes: u64,
    /// Whether it wrote nothing: then there is no log to wait for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub silent: bool,
}
