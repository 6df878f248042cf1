//! Balancers by name: the first, the last, or an order that the job gives.

use super::{Balancer, Candidates, NodeIx, Order};

/// The first by name that fits.
#[derive(Debug, Clone, Copy)]
pub struct First;

impl Balancer for First {
    fn name(&self) -> &'static str {
        "first"
    }
    fn orders(&self) -> &'static [Order] {
        &[]
    }
    fn uses_names(&self) -> bool {
        true
    }
    fn pick(&self, candidates: &mut Candidates<'_>) -> Option<NodeIx> {
        candidates.open_by_name().find(|ix| candidates.fits(*ix))
    }
}

/// The last by name that fits.
#[derive(Debug, Clone, Copy)]
pub struct Last;

impl Balancer for Last {
    fn name(&self) -> &'static str {
        "last"
    }
    fn orders(&self) -> &'static [Order] {
        &[]
    }
    fn uses_names(&self) -> bool {
        true
    }
    fn pick(&self, candidates: &mut Candidates<'_>) -> Option<NodeIx> {
        candidates.open_by_name().rev().find(|ix| candidates.fits(*ix))
    }
    fn ranked<'a>(&self, candidates: &'a Candidates<'_>) -> Box<dyn Iterator<Item = NodeIx> + 'a> {
        Box::new(candidates.by_name().rev())
    }
}

/// The first that fits of the nodes that the job lists, in its order.
#[derive(Debug, Clone)]
pub struct Failover {
    names: Vec<Box<str>>,
}

impl Failover {
    /// In this order.
    pub fn new(names: Vec<Box<str>>) -> Self {
        Self { names }
    }
}

impl Balancer for Failover {
    fn name(&self) -> &'static str {
        "failover"
    }
    fn orders(&self) -> &'static [Order] {
        &[]
    }
    fn pick(&self, candidates: &mut Candidates<'_>) -> Option<NodeIx> {
        let rank = |ix: &NodeIx| self.names.iter().position(|name| **name == *candidates.name(*ix));
        candidates.by_name().filter(|ix| candidates.fits(*ix)).min_by_key(rank)
    }
    fn ranked<'a>(&self, candidates: &'a Candidates<'_>) -> Box<dyn Iterator<Item = NodeIx> + 'a> {
        let rank = |ix: &NodeIx| self.names.iter().position(|name| **name == *candidates.name(*ix));
        let mut nodes: Vec<NodeIx> = candidates.by_name().collect();
        nodes.sort_by_key(rank);
        Box::new(nodes.into_iter())
    }
}
