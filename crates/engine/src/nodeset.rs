//! Sets of nodes that pass the same filter, kept in the orders that balancers ask for.
//!
//! Runs with equal filters share a set, so a node's change costs the number of *distinct filters* it
//! passes, never the number of runs. Only open nodes (in service, with a free slot) are in the orders:
//! a full cluster is found out without looking at its nodes.

use std::collections::{BTreeMap, BTreeSet};

use mainspring_model::Node;
use mainspring_model::selector::Selector;

use crate::nodes::{NodeEntry, Standing, used};
use crate::room::Room;

/// What a node must pass, whatever room it has.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Filter {
    pub(crate) pool: Box<str>,
    pub(crate) selector: Selector,
    pub(crate) handler: Option<Box<str>>,
    /// Only these, if any are named.
    pub(crate) names: Vec<Box<str>>,
}

impl Filter {
    pub(crate) fn passes(&self, node: &Node) -> bool {
        *self.pool == *node.pool
            && (self.names.is_empty() || self.names.contains(&node.name))
            && self.handler.as_ref().is_none_or(|handler| node.handlers.binary_search(handler).is_ok())
            && self.selector.matches(&node.labels)
    }
}

/// An order in which open nodes are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    /// By when they joined: the order of round robin.
    Joined,
    /// Fewest attempts first.
    Active,
    /// Least reserved cpu first, as a share of capacity.
    UsedCpu,
    /// Least reserved memory first, as a share of capacity.
    UsedMemory,
    /// Whose turn it is by weight.
    Turn,
}

/// The value of a label, or its absence.
pub(crate) type Domain = Option<Box<str>>;

const POINTS_PER_NODE: u64 = 16;

#[derive(Debug)]
pub(crate) struct NodeSet {
    pub(crate) filter: Filter,
    /// Classes that use the set.
    pub(crate) users: u32,
    /// Every node that passes the filter, by name.
    pub(crate) members: BTreeSet<(Box<str>, usize)>,
    /// The same in no order, to draw from.
    pub(crate) lots: Vec<usize>,
    /// How many of them are in service.
    pub(crate) serving: u32,
    /// The most cpu and memory that a member ever had: what needs more of it than this leaves has no room anywhere.
    largest: Room,
    /// Those of them that are open, in each order somebody asked for.
    orders: BTreeMap<Order, BTreeSet<(u64, usize)>>,
    /// How many members have each value of a label, for the labels somebody spreads over.
    domains: BTreeMap<Box<str>, BTreeMap<Domain, u32>>,
    /// Those of them that are open, by name, if somebody asked for it.
    names: Option<BTreeSet<(Box<str>, usize)>>,
    /// Points of the open nodes on a ring, if somebody asked for it.
    ring: Option<BTreeMap<u64, usize>>,
    /// Where round robin stands.
    pub(crate) cursor: (u64, usize),
}

impl NodeSet {
    pub(crate) fn new(filter: Filter) -> Self {
        Self {
            filter,
            users: 0,
            members: BTreeSet::new(),
            lots: Vec::new(),
            serving: 0,
            largest: Room::default(),
            orders: BTreeMap::new(),
            domains: BTreeMap::new(),
            names: None,
            ring: None,
            cursor: (0, 0),
        }
    }

    /// A node that passes the filter.
    pub(crate) fn add(&mut self, ix: usize, node: &Node) {
        self.members.insert((node.name.clone(), ix));
        self.lots.push(ix);
        self.largest.cpu_milli = self.largest.cpu_milli.max(node.capacity.cpu_milli);
        self.largest.memory_bytes = self.largest.memory_bytes.max(node.capacity.memory_bytes);
        for (label, domains) in &mut self.domains {
            *domains.entry(node.labels.get(label).map(Into::into)).or_insert(0) += 1;
        }
    }

    /// A node that no longer does.
    pub(crate) fn remove(&mut self, ix: usize, node: &Node) {
        self.members.remove(&(node.name.clone(), ix));
        self.lots.retain(|lot| *lot != ix);
        for (label, domains) in &mut self.domains {
            let domain: Domain = node.labels.get(label).map(Into::into);
            if let Some(count) = domains.get_mut(&domain) {
                *count -= 1;
                if *count == 0 {
                    domains.remove(&domain);
                }
            }
        }
    }

    /// Makes sure that members are counted by `label`.
    pub(crate) fn keep_domains<'a>(&mut self, label: &str, members: impl Iterator<Item = &'a Node>) {
        if self.domains.contains_key(label) {
            return;
        }
        let domains = self.domains.entry(label.into()).or_default();
        for node in members {
            *domains.entry(node.labels.get(label).map(Into::into)).or_insert(0) += 1;
        }
    }

    /// The values of a label that is counted.
    pub(crate) fn domains(&self, label: &str) -> impl Iterator<Item = &Domain> {
        self.domains.get(label).into_iter().flat_map(|domains| domains.keys())
    }

    /// Makes sure that `order` is kept; `open` are the open members.
    pub(crate) fn keep(&mut self, order: Order, open: impl Iterator<Item = (usize, Standing)>) {
        self.orders.entry(order).or_insert_with(|| open.map(|(ix, node)| (node.key(order), ix)).collect());
    }

    /// Makes sure that names are kept; `open` are the open members.
    pub(crate) fn keep_names(&mut self, open: impl Iterator<Item = (Box<str>, usize)>) {
        self.names.get_or_insert_with(|| open.collect());
    }

    /// Makes sure that the ring is kept.
    pub(crate) fn keep_ring<'a>(&mut self, open: impl Iterator<Item = (usize, &'a NodeEntry)>) {
        if self.ring.is_none() {
            self.ring =
                Some(open.flat_map(|(ix, node)| points(node).map(move |point| (point, ix))).collect());
        }
    }

    /// The open nodes in an order that is kept.
    pub(crate) fn order(&self, order: Order) -> impl DoubleEndedIterator<Item = (u64, usize)> {
        self.orders.get(&order).into_iter().flatten().copied()
    }

    /// The same, from a key on.
    pub(crate) fn order_from(&self, order: Order, from: (u64, usize)) -> impl Iterator<Item = (u64, usize)> {
        self.orders.get(&order).into_iter().flat_map(move |set| set.range(from..)).copied()
    }

    /// The same backwards, from the last that may have room for a need. In an order by used shares, those behind it have not.
    pub(crate) fn fullest_for(&self, order: Order, need: &Room) -> impl Iterator<Item = (u64, usize)> {
        let share_max = match order {
            Order::UsedCpu => used(self.largest.cpu_milli, need.cpu_milli),
            Order::UsedMemory => used(self.largest.memory_bytes, need.memory_bytes),
            Order::Joined | Order::Active | Order::Turn => u64::MAX,
        };
        let set = self.orders.get(&order).into_iter();
        set.flat_map(move |set| set.range(..=(share_max, usize::MAX)).rev()).copied()
    }

    /// The open nodes by name, if that is kept.
    pub(crate) fn open_by_name(&self) -> impl DoubleEndedIterator<Item = usize> {
        self.names.iter().flatten().map(|(_, ix)| *ix)
    }

    /// The open nodes clockwise from `point`; a node may come more than once.
    pub(crate) fn ring_from(&self, point: u64) -> impl Iterator<Item = usize> {
        self.ring
            .iter()
            .flat_map(move |ring| ring.range(point..).chain(ring.range(..point)))
            .map(|(_, ix)| *ix)
    }

    /// Moves a node in the orders from where it stood to where it stands.
    pub(crate) fn relist(&mut self, ix: usize, name: &str, old: Option<Standing>, new: Option<Standing>) {
        if let Some(names) = self.names.as_mut().filter(|_| old.is_some() != new.is_some()) {
            let place = (name.into(), ix);
            match new {
                Some(_) => drop(names.insert(place)),
                None => drop(names.remove(&place)),
            }
        }
        for (order, set) in &mut self.orders {
            let key = |standing: Standing| standing.key(*order);
            let (old, new) = (old.map(key), new.map(key));
            if old == new {
                continue;
            }
            if let Some(old) = old {
                set.remove(&(old, ix));
            }
            set.extend(new.map(|new| (new, ix)));
        }
    }

    /// A member takes work from now on. The ring changes only with this, not with every attempt: a full
    /// node stays on it and is passed over, so keys keep their nodes.
    pub(crate) fn enter_service(&mut self, ix: usize, node: &NodeEntry) {
        self.serving += 1;
        if let Some(ring) = &mut self.ring {
            ring.extend(points(node).map(|point| (point, ix)));
        }
    }

    /// A member takes no more work.
    pub(crate) fn leave_service(&mut self, node: &NodeEntry) {
        self.serving -= 1;
        if let Some(ring) = &mut self.ring {
            for point in points(node) {
                ring.remove(&point);
            }
        }
    }
}

fn points(node: &NodeEntry) -> impl Iterator<Item = u64> {
    let hash = node.node.id.hash64();
    (0..POINTS_PER_NODE)
        .map(move |n| mainspring_model::hash::mix(hash ^ n.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}
