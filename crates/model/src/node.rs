//! Nodes: who can execute, what they offer, and whether they take new work.

use serde::{Deserialize, Serialize};

use crate::cell::CellId;
use crate::id::NodeId;
use crate::label::Labels;
use crate::resource::Resources;
use crate::time::Timestamp;

/// A node as it joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The node.
    pub id: NodeId,
    /// The cell whose owner gives it work.
    pub cell: CellId,
    /// Its name for people and for `balancer: {node: …}`.
    pub name: Box<str>,
    /// The pool it belongs to.
    pub pool: Box<str>,
    /// What selectors look at.
    pub labels: Labels,
    /// What it has.
    pub capacity: Resources,
    /// How many attempts it takes at once.
    pub slots: u32,
    /// Its share under the `weighted` balancer.
    pub weight: u32,
    /// The functions it offers, sorted.
    pub handlers: Vec<Box<str>>,
    /// Whether it takes work.
    pub state: NodeState,
    /// Grows by one with every write of this row.
    pub revision: u64,
    /// When it first joined.
    pub joined_at: Timestamp,
    /// When the row was last written; heartbeats do not write it.
    pub updated_at: Timestamp,
}

impl Node {
    /// The label by which a node says what of it does not answer.
    pub const UNWELL_LABEL: &str = "unwell";

    /// Whether it takes work, as far as its row tells.
    pub const fn takes_work(&self) -> bool {
        matches!(self.state, NodeState::Up) && !self.is_leaving()
    }

    /// Whether it takes no more work by its own wish: an agent that empties itself before it ends says that it has no slots.
    pub const fn is_leaving(&self) -> bool {
        matches!(self.state, NodeState::Up) && self.slots == 0
    }

    /// Whether it takes no work because something of it does not answer, as its label says.
    pub fn is_unwell(&self) -> bool {
        self.is_leaving() && self.labels.get(Self::UNWELL_LABEL).is_some()
    }

    /// Whether it was given up, or said goodbye: nothing starts there.
    pub const fn is_gone(&self) -> bool {
        matches!(self.state, NodeState::Lost | NodeState::Left)
    }

    /// The word for its state. One that is leaving is emptied like one that somebody drains.
    pub const fn state_name(&self) -> &'static str {
        if self.is_leaving() { NodeState::DRAINING } else { self.state.name() }
    }
}

/// Whether a node takes work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum NodeState {
    /// It takes work.
    Up,
    /// It takes no new work; what still runs at the deadline is stopped and moved.
    Draining {
        /// When patience ends.
        deadline: Timestamp,
    },
    /// It was silent for too long; its attempts were given up.
    Lost,
    /// It said goodbye.
    Left,
}

impl NodeState {
    /// Every state's word.
    pub const NAMES: [&str; 4] = ["up", "draining", "lost", "left"];
    const DRAINING: &str = "draining";

    /// The state's word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Draining { .. } => Self::DRAINING,
            Self::Lost => "lost",
            Self::Left => "left",
        }
    }
}
