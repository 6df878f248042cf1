//! What one node lacks for a run that waits: the verdict on each node, where [`crate::reason::Reason`] tells of all at once.

use std::cmp::Reverse;

use crate::id::NodeId;
use crate::no_node::Away;

/// A node and what keeps it from taking a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeFit {
    /// The node.
    pub node: NodeId,
    /// Its name.
    pub name: Box<str>,
    /// Its pool.
    pub pool: Box<str>,
    /// What it lacks.
    pub lacks: NodeLack,
}

/// What keeps a node from taking a run: the first of the filters that it does not pass, in the order of the variants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeLack {
    /// It is in another pool.
    Pool {
        /// The pool that the run wants.
        wanted: Box<str>,
    },
    /// The balancer names others.
    Name {
        /// Those.
        wanted: Vec<Box<str>>,
    },
    /// It does not carry the labels.
    Selector {
        /// What is asked for.
        wanted: Box<str>,
    },
    /// It does not offer the handler.
    Handler {
        /// What is asked for.
        wanted: Box<str>,
    },
    /// The run stays with another node.
    Bound,
    /// It is smaller than the request.
    Capacity(Amount),
    /// It takes no work, or not this.
    Away(Away),
    /// It holds a job that was lost with its node, and this run's job was too.
    Suspect,
    /// It has too little left.
    Room(Amount),
}

/// How much is asked for of a dimension, and how much there is: counts of slots, thousandths of cpu and of a countable, bytes
/// of memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amount {
    /// `slots`, `cpu`, `memory` or a named countable.
    pub dimension: Box<str>,
    /// How much the run asks for.
    pub wanted: u64,
    /// How much the node has, or has free.
    pub has: u64,
}

impl NodeLack {
    /// The word for it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Pool { .. } => "pool",
            Self::Name { .. } => "name",
            Self::Selector { .. } => "selector",
            Self::Handler { .. } => "handler",
            Self::Bound => "bound",
            Self::Capacity(_) => "capacity",
            Self::Away(_) => "available",
            Self::Suspect => "suspect",
            Self::Room(_) => "room",
        }
    }

    /// How near the node is to taking the run: the more filters it passes the nearer, and then the larger its share of what is
    /// asked for, in millionths.
    fn nearness(&self) -> (u8, u64) {
        match self {
            Self::Pool { .. } => (0, 0),
            Self::Name { .. } => (1, 0),
            Self::Selector { .. } => (2, 0),
            Self::Handler { .. } => (3, 0),
            Self::Bound => (4, 0),
            Self::Capacity(amount) => (5, amount.share()),
            Self::Away(_) => (6, 0),
            Self::Suspect => (7, 0),
            Self::Room(amount) => (8, amount.share()),
        }
    }
}

impl Amount {
    fn share(&self) -> u64 {
        (u128::from(self.has) * 1_000_000 / u128::from(self.wanted.max(1))) as u64
    }
}

impl NodeFit {
    /// Keeps the nearest `count`, the nearest first.
    pub fn nearest(mut fits: Vec<Self>, count: usize) -> Vec<Self> {
        fits.sort_by(|one, other| {
            let key = |fit: &Self| Reverse(fit.lacks.nearness());
            key(one).cmp(&key(other)).then_with(|| one.name.cmp(&other.name))
        });
        fits.truncate(count);
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    fn fit(name: &str, lacks: NodeLack) -> NodeFit {
        NodeFit { node: NodeId::new(Timestamp::ZERO, 1), name: name.into(), pool: "default".into(), lacks }
    }

    fn memory(has: u64) -> Amount {
        Amount { dimension: "memory".into(), wanted: 8, has }
    }

    #[test]
    fn the_nearest_node_lacks_the_least() {
        let fits = vec![
            fit("elsewhere", NodeLack::Pool { wanted: "gpu".into() }),
            fit("small", NodeLack::Capacity(memory(4))),
            fit("full", NodeLack::Room(memory(1))),
            fit("b", NodeLack::Room(memory(7))),
            fit("a", NodeLack::Room(memory(7))),
            fit("gone", NodeLack::Away(Away::Lost)),
        ];
        let names = |count| -> Vec<String> {
            NodeFit::nearest(fits.clone(), count).iter().map(|fit| fit.name.to_string()).collect()
        };
        assert_eq!(names(9), ["a", "b", "full", "gone", "small", "elsewhere"]);
        assert_eq!(names(2), ["a", "b"]);
    }
}
