//! Nodes, pools and how a node joins.

use std::collections::BTreeMap;

use mainspring_model::{CellId, Labels, NodeId, NodeState as Model, Resources};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Time;

/// A node. Its `ETag` is its `revision`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Node {
    /// The node.
    pub id: NodeId,
    /// Its name.
    pub name: String,
    /// Its pool.
    pub pool: String,
    /// The cell whose owner gives it work.
    pub cell: u16,
    /// Whether it takes work. One that empties itself before its agent ends is draining, without a deadline and
    /// without slots.
    pub state: NodeState,
    /// When the patience of a draining node ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain_deadline: Option<Time>,
    /// What selectors look at.
    pub labels: Labels,
    /// The labels among them that were given through the API and not by the node.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub assigned_labels: Labels,
    /// What it has.
    pub capacity: Resources,
    /// How many attempts it takes at once.
    pub slots: u32,
    /// Its share under the `weighted` balancer.
    pub weight: u32,
    /// The functions it offers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handlers: Vec<String>,
    /// Grows by one with every change.
    pub revision: u64,
    /// When it first joined.
    pub joined_at: Time,
    /// When the row last changed.
    pub updated_at: Time,
    /// Whether it is connected to its cell's owner; absent when no owner answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connected: Option<bool>,
    /// Attempts that it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<usize>,
    /// When it was last heard of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_at: Option<Time>,
    /// CPU in use, in thousandths of a core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_used_milli: Option<u64>,
    /// Memory in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_used_bytes: Option<u64>,
    /// What its attempts reserve of its capacity; absent when no owner answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved: Option<Resources>,
    /// The version of its agent, while it is connected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// What it used in the last hour, when that was asked for and its owner remembers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<NodeLoad>,
    /// Whether labels, handlers and the agent's version are left out, because whoever asks is viewer in a namespace only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reduced: bool,
}

/// Whether a node takes work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum NodeState {
    /// It takes work.
    Up,
    /// It takes no new work and is emptied.
    Draining,
    /// It was silent for too long.
    Lost,
    /// It said goodbye.
    Left,
}

/// What a node used, minute by minute. It is in the memory of its cell's owner, and begins anew with another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NodeLoad {
    /// The minute of the last sample.
    pub until: Time,
    /// CPU in use in thousandths of a core, the oldest minute first; null where nothing was heard.
    #[schema(max_items = 60)]
    pub cpu_milli: Vec<Option<u64>>,
    /// Memory in use, of the same minutes.
    #[schema(max_items = 60)]
    pub memory_bytes: Vec<Option<u64>>,
    /// Attempts that it held, at the same minutes.
    #[schema(max_items = 60)]
    pub running: Vec<Option<u32>>,
}

/// Nodes of one name, added up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Pool {
    /// The pool.
    pub name: String,
    /// Nodes by state.
    pub nodes: BTreeMap<String, usize>,
    /// Slots of the nodes that are up.
    pub slots: u64,
    /// Capacity of the nodes that are up.
    pub capacity: Resources,
    /// Attempts that they hold.
    pub running: usize,
    /// What those of the nodes that are up reserve of their capacity.
    #[serde(default)]
    pub reserved: Resources,
    /// CPU in use on the nodes that are connected, in thousandths of a core.
    #[serde(default)]
    pub cpu_used_milli: u64,
    /// Memory in use on them.
    #[serde(default)]
    pub memory_used_bytes: u64,
}

impl NodeState {
    /// The state's word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Draining => "draining",
            Self::Lost => "lost",
            Self::Left => "left",
        }
    }

    /// The state of a node. One that is leaving is emptied like one that somebody drains.
    pub const fn of(node: &mainspring_model::Node) -> Self {
        if node.is_leaving() {
            return Self::Draining;
        }
        match node.state {
            Model::Up => Self::Up,
            Model::Draining { .. } => Self::Draining,
            Model::Lost => Self::Lost,
            Model::Left => Self::Left,
        }
    }
}

impl Node {
    /// Without what is for those who look after nodes: labels, handlers, the agent's version and the load.
    #[must_use]
    pub fn reduced(self) -> Self {
        Self {
            labels: Labels::new(),
            assigned_labels: Labels::new(),
            handlers: Vec::new(),
            agent_version: None,
            load: None,
            reduced: true,
            ..self
        }
    }
}

/// A wish to empty a node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DrainRequest {
    /// How long what runs may go on, such as `10m`; the default is an hour. Then it is stopped and moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<String>,
}

/// Labels to lay over those that a node gives itself; what is not named here goes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeLabels {
    /// The labels.
    pub labels: Labels,
}

/// What a join token is good for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct JoinTokenRequest {
    /// Only for a node of this pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// How long it is good for, such as `1h`; the default is an hour, the most a week.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<String>,
}

/// A token with which one node joins once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JoinToken {
    /// The token; it is not shown again.
    pub token: String,
    /// Good until then.
    pub expires_at: Time,
    /// Only for a node of this pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
}

impl From<&mainspring_model::Node> for Node {
    /// Without what only the owner of its cell knows.
    fn from(node: &mainspring_model::Node) -> Self {
        let CellId(cell) = node.cell;
        Self {
            id: node.id,
            name: node.name.to_string(),
            pool: node.pool.to_string(),
            cell,
            state: NodeState::of(node),
            drain_deadline: match node.state {
                Model::Draining { deadline } => Some(deadline.into()),
                Model::Up | Model::Lost | Model::Left => None,
            },
            labels: node.labels.clone(),
            assigned_labels: Labels::new(),
            capacity: node.capacity.clone(),
            slots: node.slots,
            weight: node.weight,
            handlers: node.handlers.iter().map(ToString::to_string).collect(),
            revision: node.revision,
            joined_at: node.joined_at.into(),
            updated_at: node.updated_at.into(),
            connected: None,
            running: None,
            seen_at: None,
            cpu_used_milli: None,
            memory_used_bytes: None,
            reserved: None,
            agent_version: None,
            load: None,
            reduced: false,
        }
    }
}
