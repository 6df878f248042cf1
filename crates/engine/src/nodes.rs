//! The nodes of a cell: who they are, when they were heard, what they hold and have left.
//!
//! Every change of a node goes through [`Nodes::change`], which keeps the sets' orders true. When nodes
//! are heard, lost or drained is decided in `commands`; here is only the table.

use std::collections::BTreeSet;

use mainspring_model::{Elapsed, Node, NodeId, NodeState, Resources};
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
    pub(crate) heard_at: Elapsed,
    /// When it first said hello to this owner, or again after it was lost.
    pub(crate) met_at: Elapsed,
    /// Its turn under the weighted balancer: grows by 1/weight with each placement. Whoever takes nothing for
    /// a while does not save up turns.
    pub(crate) turn: u64,
    /// It missed heartbeats and gets nothing new until it is heard again.
    pub(crate) quiet: bool,
    /// It left, or was silent for too long, and has not said hello since.
    pub(crate) away: bool,
    /// It holds more than it says it has: taken over so, or it shrank. It takes nothing until it is empty.
    pub(crate) overbooked: bool,
    /// The sets it is in.
    pub(crate) sets: Vec<usize>,
    /// Where the sets' orders list it; none when they do not.
    listed: Option<Standing>,
    /// It changed since the orders were made true.
    stale: bool,
    /// The deadline of its silence.
    pub(crate) armed: Armed<Elapsed>,
    /// The end of the patience with a node that is being drained.
    pub(crate) drain_armed: Armed,
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
        self.node.state == NodeState::Up && self.session > 0 && !self.quiet
    }

    /// Whether it is expected to take work again. One that is being emptied and is away may never be back.
    pub(crate) fn lives(&self) -> bool {
        match self.node.state {
            NodeState::Up => true,
            NodeState::Draining { .. } => !self.away,
            NodeState::Lost | NodeState::Left => false,
        }
    }

    pub(crate) fn capacity(&self) -> Room {
        Room::new(self.node.slots, &self.node.capacity)
    }

    /// What it has when it takes work: one that leaves says that it has no slots.
    pub(crate) fn size(&self) -> Room {
        Room { slots: self.node.slots.max(1), ..self.capacity() }
    }

    /// What its attempts take of its capacity.
    pub(crate) fn reserved(&self) -> Resources {
        let Resources { cpu_milli, memory_bytes, named } = &self.node.capacity;
        let named = named
            .iter()
            .map(|(name, milli)| (name.clone(), milli.saturating_sub(self.free.amount(name))))
            .filter(|(_, milli)| *milli > 0);
        Resources {
            cpu_milli: cpu_milli.saturating_sub(self.free.cpu_milli),
            memory_bytes: memory_bytes.saturating_sub(self.free.memory_bytes),
            named: named.collect(),
        }
    }

    /// Where it stands now; none when it takes nothing.
    fn standing(&self) -> Option<Standing> {
        self.is_open().then(|| Standing {
            active: self.runs.len() as u64,
            used_cpu: used(self.node.capacity.cpu_milli, self.free.cpu_milli),
            used_memory: used(self.node.capacity.memory_bytes, self.free.memory_bytes),
            turn: self.turn,
        })
    }
}

/// What the orders look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    active: u64,
    used_cpu: u64,
    used_memory: u64,
    turn: u64,
}

impl Standing {
    /// The place in an order; smaller comes first.
    pub(crate) fn key(&self, order: Order) -> u64 {
        match order {
            Order::Joined => 0,
            Order::Active => self.active,
            Order::UsedCpu => self.used_cpu,
            Order::UsedMemory => self.used_memory,
            Order::Turn => self.turn,
        }
    }
}

/// The used share in millionths.
pub(crate) fn used(capacity: u64, free: u64) -> u64 {
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
    /// Nodes that changed since the orders were made true.
    stale: Vec<usize>,
    /// The latest turn that was taken.
    pub(crate) turn: u64,
    /// A node left service or is gone: whoever waits for it, or avoids others, has to look again.
    pub(crate) fewer_serve: bool,
    /// Grows whenever it changes which nodes are in service or what they are.
    pub(crate) service: u64,
    /// Grows with every change of a node.
    pub(crate) changes: u64,
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
    pub(crate) fn insert(&mut self, node: Node, now: Elapsed, stored_revision: u64) -> usize {
        let id = node.id;
        let free = Room::new(node.slots, &node.capacity);
        let away = matches!(node.state, NodeState::Lost | NodeState::Left);
        let ix = self.entries.insert(NodeEntry {
            node,
            free,
            runs: BTreeSet::new(),
            session: 0,
            seen_beat: 0,
            heard_at: now,
            met_at: now,
            turn: 0,
            quiet: false,
            away,
            overbooked: false,
            sets: Vec::new(),
            listed: None,
            stale: false,
            armed: Armed::NOT,
            drain_armed: Armed::NOT,
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
        self.stale.retain(|stale| *stale != ix);
        let entry = self.entries.remove(ix);
        assert!(entry.runs.is_empty(), "a node that is forgotten holds nothing");
        self.by_id.remove(&entry.node.id);
    }

    /// Replaces who a node is. What it holds stays reserved, even when it says it shrank.
    pub(crate) fn replace(&mut self, ix: usize, node: Node, held: &Room) {
        self.leave_sets(ix);
        self.fewer_serve = true;
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

    /// Changes a node. The orders follow when somebody looks at them: see [`Self::freshen`].
    pub(crate) fn change<T>(&mut self, ix: usize, change: impl FnOnce(&mut NodeEntry) -> T) -> T {
        let entry = &mut self.entries[ix];
        let (was_in_service, was_alive) = (entry.in_service(), entry.lives());
        let answer = change(entry);
        self.fewer_serve |= (was_in_service && !entry.in_service()) || (was_alive && !entry.lives());
        self.service += u64::from(was_in_service != entry.in_service());
        match (was_in_service, entry.in_service()) {
            (false, true) => entry.sets.iter().for_each(|set| self.sets[*set].enter_service(ix, entry)),
            (true, false) => entry.sets.iter().for_each(|set| self.sets[*set].leave_service(entry)),
            (true, true) | (false, false) => {}
        }
        self.is_stale(ix);
        answer
    }

    fn is_stale(&mut self, ix: usize) {
        self.changes += 1;
        if !std::mem::replace(&mut self.entries[ix].stale, true) {
            self.stale.push(ix);
        }
    }

    /// Makes every order true. A full cluster never needs it: nobody looks for a node.
    pub(crate) fn freshen(&mut self) {
        for ix in self.stale.drain(..) {
            let entry = &mut self.entries[ix];
            entry.stale = false;
            if entry.listed.is_none() {
                entry.turn = entry.turn.max(self.turn);
            }
            let (old, new) = (entry.listed, entry.standing());
            for set in &entry.sets {
                self.sets[*set].relist(ix, &entry.node.name, old, new);
            }
            entry.listed = new;
        }
    }

    fn enter_sets(&mut self, ix: usize) {
        self.service += 1;
        let entry = &mut self.entries[ix];
        for (set_ix, set) in &mut self.sets {
            if set.filter.passes(&entry.node) {
                set.add(ix, &entry.node);
                entry.sets.push(set_ix);
                if entry.in_service() {
                    set.enter_service(ix, entry);
                }
            }
        }
        self.is_stale(ix);
    }

    fn leave_sets(&mut self, ix: usize) {
        self.service += 1;
        self.changes += 1;
        let entry = &mut self.entries[ix];
        let listed = entry.listed.take();
        for set_ix in std::mem::take(&mut entry.sets) {
            let set = &mut self.sets[set_ix];
            set.remove(ix, &entry.node);
            set.relist(ix, &entry.node.name, listed, None);
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
                        set.add(ix, &entry.node);
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
        self.freshen();
        let set = &mut self.sets[set_ix];
        let standing = |ix: usize| self.entries[ix].listed.map(|standing| (ix, standing));
        let listed: Vec<_> = set.members.iter().filter_map(|(_, ix)| standing(*ix)).collect();
        set.keep(order, listed.into_iter());
    }

    /// Makes sure that a set counts its members by a label.
    pub(crate) fn keep_domains(&mut self, set_ix: usize, label: &str) {
        let set = &mut self.sets[set_ix];
        let members: Vec<usize> = set.members.iter().map(|(_, ix)| *ix).collect();
        set.keep_domains(label, members.into_iter().map(|ix| &self.entries[ix].node));
    }

    /// Makes sure that a set keeps its open nodes by name.
    pub(crate) fn keep_names(&mut self, set_ix: usize) {
        let set = &mut self.sets[set_ix];
        let open = set.members.iter().filter(|(_, ix)| self.entries[*ix].listed.is_some());
        let open: Vec<_> = open.cloned().collect();
        set.keep_names(open.into_iter());
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
