//! Why a run is where it is, what would unblock it, and what each node lacks for it.

use mainspring_model::{NodeFit, NodeId, NodeLack, RunId, RunState, Seen, Shortage};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Cause, Reason};

/// Why a run is where it is, with what would unblock it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Why {
    /// The run.
    pub id: RunId,
    /// Where it is.
    pub state: RunState,
    /// One sentence for people.
    pub summary: String,
    /// The sentence in Chinese.
    #[serde(default)]
    pub summary_zh: String,
    /// Why it waits, from its owner's memory when `live`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Whether the owner of its cell answered; otherwise this is what was last written.
    pub live: bool,
    /// Requests that would let it go on, end it or run it again, the most helpful first.
    #[serde(default)]
    #[schema(max_items = 30)]
    pub actions: Vec<WhyAction>,
    /// While it waits for a node: what the nodes of its cell lack, those that are nearest to taking it first, at most 20.
    #[serde(default)]
    #[schema(max_items = 20)]
    pub nodes: Vec<NodeVerdict>,
}

/// A request that would help a run on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WhyAction {
    /// The operation, as in `x-permission` of the schema: `run.retry`, `run.cancel`, `run.rerun`, `job.resume`, `job.put`,
    /// `cell.resume`, `node.resume` or `node.invite`.
    pub operation: String,
    /// Its method.
    pub method: String,
    /// Its path, with the query.
    pub path: String,
    /// What to send, when it is known. For `job.put` it is the specification with `field` changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub body: Option<serde_json::Value>,
    /// Whether whoever asks may do it.
    pub allowed: bool,
    /// The name of the job, cell or node that it is about, when it is not the run itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// What of the specification is to be changed, such as `concurrency.limit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
}

/// What keeps one node from taking a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NodeVerdict {
    /// The node.
    pub id: NodeId,
    /// Its name.
    pub name: String,
    /// Its pool.
    pub pool: String,
    /// The first thing that it lacks.
    pub lacks: NodeLackKind,
    /// What keeps it away, when it is not available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub away: Option<NodeAway>,
    /// What is asked for of it: a pool, names, labels, a handler, or an amount such as `8 GiB of memory`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<String>,
    /// The amount that it has, or has free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has: Option<String>,
    /// The amounts as numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<LackingAmount>,
}

/// How much of a dimension is asked for and how much there is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LackingAmount {
    /// `slots`, `cpu`, `memory` or a named countable.
    pub dimension: String,
    /// Slots, thousandths of cpu and of a countable, bytes of memory.
    pub wanted: u64,
    /// The same of the node: all that it has when its capacity is too small, otherwise what is free.
    pub has: u64,
}

/// What a node may lack for a run; each is looked at when those before it are met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum NodeLackKind {
    /// It is in another pool.
    Pool,
    /// The balancer names others.
    Name,
    /// It does not carry the labels.
    Selector,
    /// It does not offer the handler.
    Handler,
    /// The run stays with another node.
    Bound,
    /// It is smaller than the request.
    Capacity,
    /// It takes no work, or not this.
    Available,
    /// It holds a job that was lost with its node, and so was this one.
    Suspect,
    /// It has too little free.
    Room,
}

/// What keeps a node from taking work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum NodeAway {
    /// It was silent for too long.
    Lost,
    /// It missed heartbeats, or has not said hello to this owner yet.
    Silent,
    /// Somebody asked for it to be emptied.
    Draining,
    /// It takes no more work because its agent is about to end.
    Leaving,
    /// It said goodbye.
    Left,
    /// It holds more than it says it has.
    Overbooked,
    /// The run failed there and shall go elsewhere.
    Failed,
    /// Something of it does not answer.
    Unwell,
}

impl From<mainspring_model::Away> for NodeAway {
    fn from(away: mainspring_model::Away) -> Self {
        use mainspring_model::Away;
        match away {
            Away::Lost => Self::Lost,
            Away::Silent => Self::Silent,
            Away::Draining => Self::Draining,
            Away::Leaving => Self::Leaving,
            Away::Left => Self::Left,
            Away::Overbooked => Self::Overbooked,
            Away::Failed => Self::Failed,
            Away::Unwell => Self::Unwell,
        }
    }
}

impl From<NodeFit> for NodeVerdict {
    fn from(fit: NodeFit) -> Self {
        let (mut wanted, mut has, mut amount, mut away) = (None, None, None, None);
        let mut count = |lacking: mainspring_model::Amount| {
            let mainspring_model::Amount { dimension, wanted: asked, has: most } = lacking;
            let seen = Some(Seen { nodes: 1, most });
            let shortage = Shortage { dimension: dimension.clone(), wanted: asked, seen };
            (wanted, has) = (Some(shortage.wanted_text()), shortage.most_text());
            amount = Some(LackingAmount { dimension: dimension.into(), wanted: asked, has: most });
        };
        let lacks = match fit.lacks {
            NodeLack::Capacity(lacking) => {
                count(lacking);
                NodeLackKind::Capacity
            }
            NodeLack::Room(lacking) => {
                count(lacking);
                NodeLackKind::Room
            }
            NodeLack::Pool { wanted: pool } => {
                (wanted, has) = (Some(pool.into()), Some(fit.pool.to_string()));
                NodeLackKind::Pool
            }
            NodeLack::Name { wanted: names } => {
                wanted = Some(names.join(", "));
                NodeLackKind::Name
            }
            NodeLack::Selector { wanted: selector } => {
                wanted = Some(selector.into());
                NodeLackKind::Selector
            }
            NodeLack::Handler { wanted: handler } => {
                wanted = Some(handler.into());
                NodeLackKind::Handler
            }
            NodeLack::Bound => NodeLackKind::Bound,
            NodeLack::Suspect => NodeLackKind::Suspect,
            NodeLack::Away(kept) => {
                away = Some(kept.into());
                NodeLackKind::Available
            }
        };
        Self { id: fit.node, name: fit.name.into(), pool: fit.pool.into(), lacks, away, wanted, has, amount }
    }
}
