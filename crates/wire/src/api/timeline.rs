//! What happened to a run, in order: the moments of its row and the remarkable events.

use mainspring_model::NodeId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Cause, Time};

/// Something that happened to a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TimelineEntry {
    /// When.
    pub at: Time,
    /// What.
    pub kind: TimelineKind,
    /// A sentence.
    pub message: String,
    /// The sentence in Chinese.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message_zh: String,
    /// Of which attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// On which node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// Who did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Why something ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimelineKind {
    /// It was accepted.
    Accepted,
    /// It was queued.
    Queued,
    /// An attempt was given to a node.
    Placed,
    /// The task started.
    Started,
    /// Somebody asked for its end.
    CancelRequested,
    /// Somebody skipped the back-off.
    RetriedNow,
    /// Somebody made it more or less important.
    Prioritised,
    /// The node of the attempt was lost.
    NodeLost,
    /// The attempt survived a change of owner or connection.
    Reattached,
    /// Another cell has it now.
    HandedOver,
    /// Two attempts may have executed at once.
    MaybeDoubled,
    /// A newer run of the same key replaced it.
    Overlapped,
    /// An attempt ended.
    AttemptEnded,
    /// The run ended.
    Ended,
}
