//! Balancers by hash: chance, and the same node for the same key.

use super::{Balancer, Candidates, NodeIx, Order};

/// Any node, by chance. The chance comes from the run's id and attempt, so a replay chooses the same.
#[derive(Debug, Clone, Copy)]
pub struct Random;

impl Balancer for Random {
    fn name(&self) -> &'static str {
        "random"
    }
    fn orders(&self) -> &'static [Order] {
        &[Order::Joined]
    }
    fn pick(&self, candidates: &mut Candidates<'_>) -> Option<NodeIx> {
        candidates.by_chance()
    }
    fn ranked<'a>(&self, candidates: &'a Candidates<'_>) -> Box<dyn Iterator<Item = NodeIx> + 'a> {
        Box::new(candidates.shuffled())
    }
}

/// The same node for the same key while it has room; when nodes come or go, few keys move.
#[derive(Debug, Clone, Copy)]
pub struct ConsistentHash;

impl Balancer for ConsistentHash {
    fn name(&self) -> &'static str {
        "consistent_hash"
    }
    fn orders(&self) -> &'static [Order] {
        &[]
    }
    fn uses_ring(&self) -> bool {
        true
    }
    fn pick(&self, candidates: &mut Candidates<'_>) -> Option<NodeIx> {
        candidates.ring_from(candidates.ask.key_hash).find(|ix| candidates.fits(*ix))
    }
    fn ranked<'a>(&self, candidates: &'a Candidates<'_>) -> Box<dyn Iterator<Item = NodeIx> + 'a> {
        Box::new(candidates.ring_from(candidates.ask.key_hash))
    }
}
