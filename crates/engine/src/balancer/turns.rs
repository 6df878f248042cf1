//! Balancers by turn: everyone in turn, or in turn by weight.

use super::{Balancer, Candidates, NodeIx, Order};

/// Every node in turn.
#[derive(Debug, Clone, Copy)]
pub struct RoundRobin;

impl Balancer for RoundRobin {
    fn name(&self) -> &'static str {
        "round_robin"
    }
    fn orders(&self) -> &'static [Order] {
        &[Order::Joined]
    }
    fn pick(&self, candidates: &mut Candidates<'_>) -> Option<NodeIx> {
        candidates.next_in_turn()
    }
    fn ranked<'a>(&self, candidates: &'a Candidates<'_>) -> Box<dyn Iterator<Item = NodeIx> + 'a> {
        Box::new(candidates.from_cursor())
    }
}

/// In turn by weight: a node of weight 3 is chosen three times as often as one of weight 1, evenly spread.
#[derive(Debug, Clone, Copy)]
pub struct Weighted;

impl Balancer for Weighted {
    fn name(&self) -> &'static str {
        "weighted"
    }
    fn orders(&self) -> &'static [Order] {
        &[Order::Turn]
    }
    fn pick(&self, candidates: &mut Candidates<'_>) -> Option<NodeIx> {
        candidates.first_by(Order::Turn)
    }
}
