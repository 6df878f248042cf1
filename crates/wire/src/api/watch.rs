//! News as it happens, over server-sent events. The event's id is the mark to resume from (`Last-Event-ID`).

use mainspring_model::{JobId, Namespace, NodeId, RunId, RunState};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Time;

/// A piece of news.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WatchEvent {
    /// Where it stands in the stream: the event's id.
    pub mark: String,
    /// What changed.
    #[serde(flatten)]
    pub what: WatchWhat,
}

/// What changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WatchWhat {
    /// A run.
    Run {
        /// Which.
        id: RunId,
        /// Of which namespace.
        namespace: Namespace,
        /// Of which job.
        job: JobId,
        /// Its state now.
        state: RunState,
        /// Its version now.
        version: u64,
        /// Its current attempt.
        attempt: u32,
        /// When.
        at: Time,
    },
    /// A node.
    Node {
        /// Which.
        id: NodeId,
        /// Its name.
        name: String,
        /// Its pool.
        pool: String,
        /// Its state now.
        state: String,
        /// Its revision now.
        revision: u64,
    },
    /// A trigger paused itself, because its runs failed.
    TriggerPaused {
        /// Of which namespace.
        namespace: Namespace,
        /// Of which job.
        job: JobId,
        /// What the job is called.
        job_name: String,
        /// The trigger's name.
        trigger: String,
        /// Why.
        note: String,
        /// When.
        at: Time,
    },
    /// What happened between the last event and this one is forgotten: read everything anew.
    Reset,
}
