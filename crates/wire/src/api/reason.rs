//! Why a run is not running, for readers: the kind, a sentence, what would unblock it, and the numbers.

use mainspring_model::Reason as Model;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Time;

/// Why a run waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Reason {
    /// The kind: `begin_time`, `backoff`, `concurrency`, `rate_limit`, `resources`, `no_node`, `priority`, `paused`,
    /// `cell_paused`, `quarantined` or `overflow`.
    pub kind: String,
    /// A sentence.
    pub message: String,
    /// What would let it go on.
    pub remedy: String,
    /// When that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// The rendered key of a concurrency or rate limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// How many run under that key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<u32>,
    /// How many may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Nodes that match everything but room, or that there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    /// What they lack, or the filter that left none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacks: Option<String>,
    /// The place in the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u32>,
    /// Who paused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// What they wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The attempt that comes next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_attempt: Option<u32>,
    /// How many attempts there may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts_max: Option<u32>,
}

impl From<&Model> for Reason {
    fn from(reason: &Model) -> Self {
        let mut this = Self {
            kind: reason.name().into(),
            message: reason.to_string(),
            remedy: reason.remedy(),
            until: None,
            key: None,
            running: None,
            limit: None,
            nodes: None,
            lacks: None,
            position: None,
            by: None,
            note: None,
            next_attempt: None,
            attempts_max: None,
        };
        match reason {
            Model::BeginTime { until } => this.until = Some((*until).into()),
            Model::Backoff { until, next_attempt, attempts_max } => {
                this.until = Some((*until).into());
                (this.next_attempt, this.attempts_max) = (Some(*next_attempt), Some(*attempts_max));
            }
            Model::Concurrency { key, running, limit } => {
                (this.key, this.running, this.limit) = (Some(key.to_string()), Some(*running), Some(*limit));
            }
            Model::RateLimit { key, limit, until } => {
                this.until = Some((*until).into());
                (this.key, this.limit) = (Some(key.to_string()), Some(*limit));
            }
            Model::Resources { matching, dimension } => {
                (this.nodes, this.lacks) = (Some(*matching), Some(dimension.to_string()));
            }
            Model::NoNode { filter, nodes } => {
                (this.nodes, this.lacks) = (Some(*nodes), Some(filter.name().into()));
            }
            Model::Priority { position } => this.position = Some(*position),
            Model::Paused { by, note } | Model::CellPaused { by, note } => {
                (this.by, this.note) = (Some(by.to_string()), Some(note.to_string()));
            }
            Model::Quarantined { losses } => this.running = Some(*losses),
            Model::Overflow => {}
        }
        this
    }
}
