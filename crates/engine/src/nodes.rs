//! The nodes of a cell: who they are, when they were heard, what they hold and have left.
//!
//! Every change of a node goes through [`Nodes::change`], which keeps the sets' orders true. When nodes
//! are heard, lost or drained is decided in `commands`; here is only the table.

use std::collections::BTreeSet;

use mainspring_model::{Node, NodeId, NodeState, Timestamp};
use rustc_hash::FxHashMap;
use slab::Slab;

use crate::nodeset::{Filter, NodeSet, Order};
use crate::room::Room;
use crate::timers::Armed;

#[derive(Debug)]
pub(crate) struct NodeEntry {
    pub(crate) node: Node,
    /// What is left of its capacity.
    pub(crate) free: Room,
    /// Attempts it holds, by run.
    pub(crate) runs: BTreeSet<usize>,
    /// The current connection; 0 before the first hello under this owner.
    pub(crate) session: u64,
    /// The last heartbeat that arrived.
    pub(crate) seen_beat: u64,
    pub(crate) heard_at: Timestamp,
    /// Its turn under the weighted balancer: grows by 1/weight with each placement.
    pub(crate) turn: u64,
    /// It holds more than it says it has: taken over so, or it shrank. It takes nothing until it is empty.
    pub(crate) overbooked: bool,
    /// The sets it is in.
    pub(crate) sets: Vec<usize>,
    pub(crate) armed: Armed,
    /// The row's revision in the store; 0 when it has none.
    pub(crate) stored_revision: u64,
    pub(crate) dirty: bool,
}

impl NodeEntry {
    /// Whether it takes another attempt, room permitting.
    pub(crate) fn is_open(&self) -> bool {
        self.in_service() && self.free.slots > 0 && !self.overbooked
    }

    /// Whether it takes new work at all.
    pub(crate) fn in_service(&self) -> bool {
        self.node.state == NodeState::Up && self.session > 0
    }

    /// Whether it is expected to take work again.
    pub(crate) fn lives(&self) -> bool {
        matches!(self.node.state, NodeState::Up | NodeState::Draining { .. })
    }

    pub(crate) fn capacity(&self) -> Room {
        Room::new(self.node.slots, &self.node.capacity)
    }

    /// Where it stands in an order; smaller comes first.
    pub(crate) fn key(&self, order: Order) -> u64 {
        match order {
            Order::Joined => 0,
            Order::Active => self.runs.len() as u64,
            Order::UsedCpu => used(self.node.capacity.cpu_milli, self.free.cpu_milli),
            Order::UsedMemory => used(self.node.capacity.memory_bytes, self.free.memory_bytes),
            Order::FreeCpu => self.free.cpu_milli,
            Order::Turn => self.turn,
        }
    }
}

/// The used share in millionths.
fn used(capacity: u64, free: u64) -> u64 {
    if capacity == 0 {
        return 0;
    }
    (u128::from(capacity.saturating_sub(free)) * 1_000_000 / u128::from(capacity)) as u64
}

#[derive(Debug, Default)]
pub(crate) struct Nodes {
    pub(crate) entries: Slab<NodeEntry>,
    by_id: FxHashMap<NodeId, usize>,
    pub(crate) sets: Slab<NodeSet>,
    set_by_filter: FxHashMap<Filter, usize>,
}

impl Nodes {
    pub(crate) fn find(&self, id: NodeId) -> Option<usize> {
        self.by_id.get(&id).copied()
    }

    pub(crate) fn get(&self, ix: usize) -> &NodeEntry {
        &self.entries[ix]
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// A node that was not known.
    pub(crate) fn insert(&mut self, node: Node, now: Timestamp, stored_revision: u64) -> usize {
        let id = node.id;
        let free = Room::new(node.slots, &node.capacity);
        let ix = self.entries.insert(NodeEntry {
            node,
            free,
            runs: BTreeSet::new(),
            session: 0,
            seen_beat: 0,
            heard_at: now,
            turn: 0,
            overbooked: false,
            sets: Vec::new(),
            armed: Armed::NOT,
            stored_revision,
            dirty: false,
        });
        self.by_id.insert(id, ix);
        self.enter_sets(ix);
        ix
    }

    /// Forgets a node; it holds nothing.
    pub(crate) fn remove(&mut self, ix: usize) {
        self.leave_sets(ix);
        let entry = self.entries.remove(ix);
        assert!(entry.runs.is_empty(), "a node that is forgotten holds nothing");
        self.by_id.remove(&entry.node.id);
    }

    /// Replaces who a node is. What it holds stays reserved, even when it says it shrank.
    pub(crate) fn replace(&mut self, ix: usize, node: Node, held: &Room) {
        self.leave_sets(ix);
        let entry = &mut self.entries[ix];
        entry.node = node;
        let capacity = entry.capacity();
        entry.overbooked = !capacity.fits(held);
        entry.free = Room {
            slots: capacity.slots.saturating_sub(held.slots),
            cpu_milli: capacity.cpu_milli.saturating_sub(held.cpu_milli),
            memory_bytes: capacity.memory_bytes.saturating_sub(held.memory_bytes),
            named: capacity
                .named
                .iter()
                .map(|(name, milli)| {
                    let held =
                        held.named.iter().find(|(have, _)| have == name).map_or(0, |(_, milli)| *milli);
                    (name.clone(), milli.saturating_sub(held))
                })
                .collect(),
        };
        self.enter_sets(ix);
    }

    /// Changes a node and keeps every order true.
    pub(crate) fn change<T>(&mut self, ix: usize, change: impl FnOnce(&mut NodeEntry) -> T) -> T {
        let entry = &mut self.entries[ix];
        let (was_open, was_in_service) = (entry.is_open(), entry.in_service());
        if was_open {
            for set in &entry.sets {
                self.sets[*set].close(ix, entry);
            }
        }
        let answer = change(entry);
        if entry.is_open() {
            for set in &entry.sets {
                self.sets[*set].open(ix, entry);
            }
        }
        match (was_in_service, entry.in_service()) {
            (false, true) => entry.sets.iter().for_each(|set| self.sets[*set].enter_service(ix, entry)),
            (true, false) => entry.sets.iter().for_each(|set| self.sets[*set].leave_service(entry)),
            (true, true) | (false, false) => {}
        }
        answer
    }

    fn enter_sets(&mut self, ix: usize) {
        let entry = &mut self.entries[ix];
        for (set_ix, set) in &mut self.sets {
            if set.filter.passes(&entry.node) {
                set.members.insert((entry.node.name.clone(), ix));
                entry.sets.push(set_ix);
                if entry.is_open() {
                    set.open(ix, entry);
                }
                if entry.in_service() {
                    set.enter_service(ix, entry);
                }
            }
        }
    }

    fn leave_sets(&mut self, ix: usize) {
        let entry = &mut self.entries[ix];
        for set_ix in std::mem::take(&mut entry.sets) {
            let set = &mut self.sets[set_ix];
            set.members.remove(&(entry.node.name.clone(), ix));
            set.close(ix, entry);
            if entry.in_service() {
                set.leave_service(entry);
            }
        }
    }

    /// The set with this filter, made if need be; pair with [`Self::drop_set`].
    pub(crate) fn use_set(&mut self, filter: &Filter) -> usize {
        let set_ix = match self.set_by_filter.get(filter) {
            Some(set_ix) => *set_ix,
            None => {
                let set_ix = self.sets.insert(NodeSet::new(filter.clone()));
                self.set_by_filter.insert(filter.clone(), set_ix);
                for (ix, entry) in &mut self.entries {
                    if filter.passes(&entry.node) {
                        let set = &mut self.sets[set_ix];
                        set.members.insert((entry.node.name.clone(), ix));
                        set.serving += u32::from(entry.in_service());
                        entry.sets.push(set_ix);
                    }
                }
                set_ix
            }
        };
        self.sets[set_ix].users += 1;
        set_ix
    }

    /// Makes sure that a set keeps `order`.
    pub(crate) fn keep_order(&mut self, set_ix: usize, order: Order) {
        let set = &mut self.sets[set_ix];
        let open: Vec<(usize, &NodeEntry)> = set
            .members
            .iter()
            .map(|(_, ix)| (*ix, &self.entries[*ix]))
            .filter(|(_, entry)| entry.is_open())
            .collect();
        set.keep(order, open.into_iter());
    }

    /// Makes sure that a set keeps its ring.
    pub(crate) fn keep_ring(&mut self, set_ix: usize) {
        let set = &mut self.sets[set_ix];
        let members: Vec<usize> = set.members.iter().map(|(_, ix)| *ix).collect();
        let entries = &self.entries;
        set.keep_ring(
            members.into_iter().map(|ix| (ix, &entries[ix])).filter(|(_, entry)| entry.in_service()),
        );
    }

    /// One user fewer; an unused set goes away.
    pub(crate) fn drop_set(&mut self, set_ix: usize) {
        self.sets[set_ix].users -= 1;
        if self.sets[set_ix].users > 0 {
            return;
        }
        let set = self.sets.remove(set_ix);
        self.set_by_filter.remove(&set.filter);
        for (_, ix) in set.members {
            self.entries[ix].sets.retain(|in_set| *in_set != set_ix);
        }
    }
}
