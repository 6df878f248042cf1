//! Dispatch: to how many nodes a run goes, and which balancer picks among the candidates.
//!
//! Candidates are what [`super::Placement`] leaves. Today a run goes to one node; broadcast, multicast,
//! shards and map are further variants to come. The balancers themselves live in the engine.

use serde::Serialize;
use utoipa::ToSchema;

use super::Template;
use crate::name::Name;

/// To how many nodes a run goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(tag = "mode", rename_all = "snake_case")]
pub enum Dispatch {
    /// To one node.
    Unicast {
        /// Which candidate gets it. Without one, the body's kind decides.
        #[serde(skip_serializing_if = "Option::is_none")]
        balancer: Option<Balancer>,
    },
}

impl Default for Dispatch {
    fn default() -> Self {
        Self::Unicast { balancer: None }
    }
}

impl Dispatch {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// How one of several candidates is picked.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Balancer {
    /// Each in turn.
    RoundRobin,
    /// Any, with equal chance.
    Random,
    /// Any, with a chance in proportion to the node's weight.
    Weighted,
    /// The one that runs the fewest attempts.
    LeastActive,
    /// The same node for the same key, as long as the nodes stay the same; few keys move when they change.
    ConsistentHash(Template),
    /// The one with the smallest part of its CPU in use.
    LeastCpu,
    /// The one with the smallest part of its memory in use.
    LeastMemory,
    /// The fullest one that still has room.
    BestFit,
    /// The one with the fewest runs of this job.
    Spread,
    /// The first by name.
    First,
    /// The last by name.
    Last,
    /// The first of these, in this order, that can take it.
    Failover(Vec<Name>),
    /// The node of the job's last run; if it cannot take it, the one that runs the fewest attempts.
    Sticky,
    /// This node and no other.
    Node(Name),
}

impl Balancer {
    /// The balancer's word.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::RoundRobin => "round_robin",
            Self::Random => "random",
            Self::Weighted => "weighted",
            Self::LeastActive => "least_active",
            Self::ConsistentHash(_) => "consistent_hash",
            Self::LeastCpu => "least_cpu",
            Self::LeastMemory => "least_memory",
            Self::BestFit => "best_fit",
            Self::Spread => "spread",
            Self::First => "first",
            Self::Last => "last",
            Self::Failover(_) => "failover",
            Self::Sticky => "sticky",
            Self::Node(_) => "node",
        }
    }
}
