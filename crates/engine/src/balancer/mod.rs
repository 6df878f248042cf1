//! Balancers: which of the nodes that pass the filter and have room.
//!
//! A balancer asks [`Candidates`] for nodes in an order that the cell keeps up to date, and takes the
//! first that fits, or the best of the first few. None looks at every node, so placement does not slow
//! down with the cluster. A user's own balancer implements the same trait.

mod candidates;
mod hashed;
mod named;
mod ordered;
mod scored;
mod turns;

use mainspring_model::spec;

pub use crate::nodeset::Order;
use crate::room::Room;
pub use candidates::{Ask, Candidates, NodeIx};
pub use hashed::{ConsistentHash, Random};
pub use named::{Failover, First, Last};
pub use ordered::{BestFit, LeastActive, LeastCpu, LeastMemory};
pub use scored::Spread;
pub use turns::{RoundRobin, Weighted};

/// Chooses a node.
pub trait Balancer: std::fmt::Debug + Send + Sync {
    /// The word of the specification.
    fn name(&self) -> &'static str;
    /// The orders it asks for, so that they are kept.
    fn orders(&self) -> &'static [Order];
    /// Whether it asks for open nodes by name.
    fn uses_names(&self) -> bool {
        false
    }
    /// Whether it asks for the ring.
    fn uses_ring(&self) -> bool {
        false
    }
    /// A node with room, or none.
    fn pick(&self, candidates: &mut Candidates<'_>) -> Option<NodeIx>;
    /// Nodes, best first, whether they have room or not: for a job that weighs preferences of its own.
    fn ranked<'a>(&self, candidates: &'a Candidates<'_>) -> Box<dyn Iterator<Item = NodeIx> + 'a> {
        match self.orders().first() {
            Some(order) => Box::new(candidates.by(*order)),
            None => Box::new(candidates.by_name()),
        }
    }
}

/// The balancer that a specification names, for runs that need this.
pub(crate) fn of(spec: &spec::Balancer, need: &Room) -> Box<dyn Balancer> {
    match spec {
        spec::Balancer::RoundRobin => Box::new(RoundRobin),
        spec::Balancer::Random => Box::new(Random),
        spec::Balancer::Weighted => Box::new(Weighted),
        // A sticky job looks for its last node before any balancer is asked; this is for the rest.
        spec::Balancer::LeastActive | spec::Balancer::Sticky => Box::new(LeastActive),
        spec::Balancer::ConsistentHash(_) => Box::new(ConsistentHash),
        spec::Balancer::LeastCpu => Box::new(LeastCpu),
        spec::Balancer::LeastMemory => Box::new(LeastMemory),
        spec::Balancer::BestFit => Box::new(BestFit::new(need)),
        spec::Balancer::Spread => Box::new(Spread),
        // The filter of the class already leaves only the named node.
        spec::Balancer::First | spec::Balancer::Node(_) => Box::new(First),
        spec::Balancer::Last => Box::new(Last),
        spec::Balancer::Failover(names) => {
            Box::new(Failover::new(names.iter().map(|name| name.as_str().into()).collect()))
        }
    }
}
