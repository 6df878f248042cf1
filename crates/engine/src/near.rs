//! How near each node is to taking a run that waits for one: what `no_room` adds up, node by node, for whoever asks.
//!
//! It looks at every node of the cell, so a shell asks it for one run at a time and never for a list.

use mainspring_model::{Amount, NodeFit, NodeLack, RunId, RunState};

use crate::cell::Cell;
use crate::no_room::away;
use crate::nodes::NodeEntry;
use crate::queue::Group;
use crate::room::Room;

impl Cell {
    /// What the nodes that are nearest to taking the run lack, at most `count` of them; none when it does not wait for a node.
    pub fn nearest_nodes(&self, run: RunId, count: usize) -> Vec<NodeFit> {
        let Some(ix) = self.runs.find(run) else { return Vec::new() };
        let entry = &self.runs.entries[ix];
        let waits = entry.status.state == RunState::Waiting && self.pause.is_none();
        let Some(group_ix) = entry.group.map(|group| group as usize).filter(|_| waits) else {
            return Vec::new();
        };
        let group = &self.queue.groups[group_ix];
        if group.block.is_some() {
            return Vec::new();
        }
        let bound = self.bound_to(group);
        let shuns = !self.is_only_one(group_ix) && bound.is_none();
        let is_suspect = self.is_suspect(group.job);
        let fit = |(ix, entry): (usize, &NodeEntry)| {
            let suspect = is_suspect && self.suspects.others_on(ix, group.job);
            let failed = shuns && group.key.excluded().contains(&entry.node.id);
            let is_bound_elsewhere = bound.is_some_and(|bound| bound != ix);
            let lacks = self.lack_of(group, entry, Asked { is_bound_elsewhere, failed, suspect })?;
            let node = &entry.node;
            Some(NodeFit { node: node.id, name: node.name.clone(), pool: node.pool.clone(), lacks })
        };
        NodeFit::nearest(self.nodes.entries.iter().filter_map(fit).collect(), count)
    }

    /// The first thing that the node lacks; none when it would take the group.
    fn lack_of(&self, group: &Group, entry: &NodeEntry, asked: Asked) -> Option<NodeLack> {
        let class = &self.queue.classes[group.class];
        let (filter, need, node) = (&class.key.filter, &class.key.need, &entry.node);
        if node.pool != filter.pool {
            return Some(NodeLack::Pool { wanted: filter.pool.clone() });
        }
        if !filter.names.is_empty() && !filter.names.contains(&node.name) {
            return Some(NodeLack::Name { wanted: filter.names.clone() });
        }
        if !filter.selector.matches(&node.labels) {
            return Some(NodeLack::Selector { wanted: filter.selector.to_string().into() });
        }
        if !filter.passes(node) {
            return Some(NodeLack::Handler { wanted: filter.handler.clone().unwrap_or_default() });
        }
        if asked.is_bound_elsewhere {
            return Some(NodeLack::Bound);
        }
        if let Some(amount) = lacking(&entry.size(), need) {
            return Some(NodeLack::Capacity(amount));
        }
        if let Some(away) = away(entry, asked.failed) {
            return Some(NodeLack::Away(away));
        }
        match lacking(&entry.free, need) {
            Some(amount) => Some(NodeLack::Room(amount)),
            None => asked.suspect.then_some(NodeLack::Suspect),
        }
    }
}

/// What is known of a node and a group before the node's own filters.
#[derive(Clone, Copy)]
struct Asked {
    is_bound_elsewhere: bool,
    failed: bool,
    suspect: bool,
}

fn lacking(room: &Room, need: &Room) -> Option<Amount> {
    let dimension = room.lacking(need)?;
    Some(Amount { dimension: dimension.into(), wanted: need.amount(dimension), has: room.amount(dimension) })
}
