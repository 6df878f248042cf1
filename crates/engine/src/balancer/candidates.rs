//! The view a balancer has of the nodes: those that pass the filter, in kept orders, and whether one has
//! room. It cannot see runs, queues or other classes.

use mainspring_model::hash;
use rustc_hash::FxHashMap;

use crate::nodes::{NodeEntry, Nodes};
use crate::nodeset::{Domain, Order};
use crate::room::Room;
use crate::suspects::Suspects;

/// Draws before the nodes are gone through in order.
const DRAWS_MAX: u64 = 16;

/// A node within a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIx(pub(crate) usize);

/// Who asks for a node.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// A number that is stable for the run and attempt: the source of chance.
    pub chance: u64,
    /// A number that is stable for the run's hash key.
    pub key_hash: u64,
    /// How many attempts of the same job each node holds, for those that hold any.
    pub(crate) job_nodes: &'a FxHashMap<usize, u32>,
    /// Nodes that may not be chosen.
    pub(crate) excluded: &'a [usize],
    /// The suspects and the job that asks, if it is one of them: it may not join those of other jobs.
    pub(crate) suspects: Option<(&'a Suspects, usize)>,
}

/// What a balancer chooses from.
pub struct Candidates<'a> {
    pub(crate) nodes: &'a mut Nodes,
    pub(crate) set: usize,
    pub(crate) need: &'a Room,
    /// Who asks.
    pub ask: Ask<'a>,
}

impl Candidates<'_> {
    /// Whether a node is open, has room, and is not excluded.
    pub fn fits(&self, ix: NodeIx) -> bool {
        let entry = self.entry(ix);
        entry.is_open()
            && entry.free.fits(self.need)
            && !self.ask.excluded.contains(&ix.0)
            && !self.ask.suspects.is_some_and(|(suspects, job)| suspects.others_on(ix.0, job))
    }

    /// The first that fits in an order.
    pub fn first_by(&self, order: Order) -> Option<NodeIx> {
        self.by(order).find(|ix| self.fits(*ix))
    }

    /// From the fullest by an order of used shares; those that are too full for the run are mostly left out.
    pub fn fullest_by(&self, order: Order) -> impl Iterator<Item = NodeIx> {
        self.set().fullest_for(order, self.need).map(|(_, ix)| NodeIx(ix))
    }

    /// All that fit in an order.
    pub fn by(&self, order: Order) -> impl DoubleEndedIterator<Item = NodeIx> {
        self.set().order(order).map(|(_, ix)| NodeIx(ix))
    }

    /// Clockwise on the ring from a point.
    pub fn ring_from(&self, point: u64) -> impl Iterator<Item = NodeIx> {
        self.set().ring_from(point).map(NodeIx)
    }

    /// Every node that passes the filter, by name, with room or not.
    pub fn by_name(&self) -> impl DoubleEndedIterator<Item = NodeIx> {
        self.set().members.iter().map(|(_, ix)| NodeIx(*ix))
    }

    /// The open ones by name; none for a balancer that does not say that it [uses names](super::Balancer::uses_names).
    pub fn open_by_name(&self) -> impl DoubleEndedIterator<Item = NodeIx> {
        self.set().open_by_name().map(NodeIx)
    }

    /// The first that fits after the set's cursor, going round; the cursor moves behind it.
    pub fn next_in_turn(&mut self) -> Option<NodeIx> {
        let found = self.from_cursor().find(|ix| self.fits(*ix))?;
        self.taken(found);
        Some(found)
    }

    /// All that are open from the set's cursor on, going round.
    pub fn from_cursor(&self) -> impl Iterator<Item = NodeIx> {
        let after = self.set().order_from(Order::Joined, self.set().cursor).map(|(_, ix)| NodeIx(ix));
        after.chain(self.by(Order::Joined))
    }

    /// Moves the set's cursor behind a node.
    pub(crate) fn taken(&mut self, ix: NodeIx) {
        self.nodes.sets[self.set].cursor = (0, ix.0 + 1);
    }

    /// The values that a label has among the nodes that pass the filter.
    pub(crate) fn domains(&self, label: &str) -> impl Iterator<Item = &Domain> {
        self.set().domains(label)
    }

    /// One that fits, drawn by chance. When few do, the first that does from a place chosen by chance.
    pub fn by_chance(&self) -> Option<NodeIx> {
        let lots = &self.set().lots;
        let draw = |n| lots[(hash::mix(self.ask.chance.wrapping_add(n)) % lots.len() as u64) as usize];
        let mut drawn = (0..DRAWS_MAX).filter(|_| !lots.is_empty()).map(|n| NodeIx(draw(n)));
        if let Some(drawn) = drawn.find(|ix| self.fits(*ix)) {
            return Some(drawn);
        }
        let start = (self.ask.chance % self.nodes.entries.capacity().max(1) as u64) as usize;
        let after = self.set().order_from(Order::Joined, (0, start)).map(|(_, ix)| NodeIx(ix));
        after.chain(self.by(Order::Joined)).find(|ix| self.fits(*ix))
    }

    /// All that pass the filter, each once, from a place and with a stride that are chosen by chance.
    pub fn shuffled(&self) -> impl Iterator<Item = NodeIx> {
        let lots = &self.set().lots;
        let count = lots.len().max(1);
        let first = (self.ask.chance % count as u64) as usize;
        let drawn = 1 + (hash::mix(self.ask.chance) % count as u64) as usize;
        let stride = (drawn..).find(|stride| gcd(*stride, count) == 1).unwrap_or(1) % count;
        (0..lots.len()).map(move |n| NodeIx(lots[(first + n * stride) % count]))
    }

    /// How many attempts of the same job a node holds.
    pub fn same_job(&self, ix: NodeIx) -> u32 {
        self.ask.job_nodes.get(&ix.0).copied().unwrap_or(0)
    }

    /// A node's name.
    pub fn name(&self, ix: NodeIx) -> &str {
        &self.entry(ix).node.name
    }

    pub(crate) fn entry(&self, ix: NodeIx) -> &NodeEntry {
        &self.nodes.entries[ix.0]
    }

    fn set(&self) -> &crate::nodeset::NodeSet {
        &self.nodes.sets[self.set]
    }
}

/// The largest number that divides both.
fn gcd(one: usize, other: usize) -> usize {
    if other == 0 { one } else { gcd(other, one % other) }
}
