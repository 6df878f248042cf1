//! Why no node takes what waits: which filter left none, what keeps those that match, or what they lack.
//!
//! A try that fails in passing remembers no more than it has at hand ([`Cell::lack`]). Whoever asks is told everything
//! ([`Cell::why_no_room`]): that looks at each node, once for a class as long as no node changes.

use std::collections::BTreeMap;

use mainspring_model::{
    Away, NoNode, NodeFilter, NodeState, Reason, Seen, Shortage, Unavailable, limits, spec::Sticky,
};

use crate::cell::Cell;
use crate::class::Class;
use crate::nodes::NodeEntry;
use crate::queue::Group;
use crate::room::Room;

impl Cell {
    /// Why no node takes the group, for whoever asks; none when one would.
    pub(crate) fn why_no_room(&self, group_ix: usize) -> Option<Reason> {
        let group = &self.queue.groups[group_ix];
        if self.is_restricted(group) {
            return self.look_for_room(group_ix);
        }
        let told = &self.queue.classes[group.class].told;
        if let Some((at, why)) = &*told.borrow()
            && *at == self.nodes.changes
        {
            return why.clone();
        }
        let why = self.look_for_room(group_ix);
        *told.borrow_mut() = Some((self.nodes.changes, why.clone()));
        why
    }

    /// What a try that just failed found lacking.
    pub(crate) fn lack(&self, group_ix: usize) -> Option<Reason> {
        let group = &self.queue.groups[group_ix];
        let class = &self.queue.classes[group.class];
        if self.is_hopeless(group.class) || self.is_suspect(group.job) {
            return self.look_for_room(group_ix);
        }
        let set = &self.nodes.sets[class.set];
        let avoided =
            if self.is_only_one(group_ix) { 0 } else { self.excluded_serving(group).count() as u32 };
        let matching = match self.bound_to(group) {
            Some(bound) => u32::from(self.nodes.get(bound).in_service()),
            None => set.serving - avoided,
        };
        let allowed = |ix: &usize| away(self.nodes.get(*ix), false).is_none() && self.allows(group_ix, *ix);
        let mut serving = set.members.iter().map(|(_, ix)| *ix).filter(allowed);
        let lacking = serving.find_map(|ix| self.nodes.get(ix).free.lacking(&class.key.need));
        match lacking {
            Some(dimension) if matching > 0 => {
                let wanted = class.key.need.amount(dimension);
                let shortage = Shortage { dimension: dimension.into(), wanted, seen: None };
                Some(Reason::Resources { matching, shortage })
            }
            Some(_) | None => self.look_for_room(group_ix),
        }
    }

    /// Whether some nodes that the class allows are not allowed to the group.
    pub(crate) fn is_restricted(&self, group: &Group) -> bool {
        let sticky = self.queue.classes[group.class].key.sticky;
        group.is_restricted() || sticky == Some(Sticky::Require) || self.is_suspect(group.job)
    }

    /// Whether no node of the cell can take the class, whatever it does: neither time nor an end will help.
    pub(crate) fn is_hopeless(&self, class_ix: usize) -> bool {
        let class = &self.queue.classes[class_ix];
        let fits = |ix: usize| self.nodes.get(ix).capacity().fits(&class.key.need);
        !self.nodes.sets[class.set].members.iter().any(|(_, ix)| fits(*ix))
    }

    fn look_for_room(&self, group_ix: usize) -> Option<Reason> {
        let group = &self.queue.groups[group_ix];
        let class = &self.queue.classes[group.class];
        let need = &class.key.need;
        let bound = self.bound_to(group);
        let matching: Vec<usize> = match bound {
            Some(bound) => vec![bound],
            None => self.nodes.sets[class.set].members.iter().map(|(_, ix)| *ix).collect(),
        };
        if matching.is_empty() {
            return Some(self.unmatched(class));
        }
        let no_node = |nodes: usize, filter| {
            let pool = class.key.filter.pool.clone();
            Some(Reason::NoNode(Box::new(NoNode { nodes: nodes as u32, pool, filter })))
        };
        let (large, small): (Vec<usize>, Vec<usize>) =
            matching.into_iter().partition(|ix| self.nodes.get(*ix).size().fits(need));
        if large.is_empty() {
            let sizes = small.iter().map(|ix| self.nodes.get(*ix).size());
            return no_node(small.len(), NodeFilter::Capacity(shortage(need, sizes)?));
        }
        let mut unavailable = Unavailable { bound: bound.is_some(), ..Unavailable::default() };
        let shuns = !self.is_only_one(group_ix) && bound.is_none();
        let mut serving = Vec::new();
        for ix in &large {
            let node = self.nodes.get(*ix);
            match away(node, shuns && group.key.excluded().contains(&node.node.id)) {
                Some(away) => *unavailable.away.entry(away).or_default() += 1,
                None => serving.push(*ix),
            }
        }
        if serving.is_empty() {
            unavailable.node = self.name_of_only(&large);
            return no_node(large.len(), NodeFilter::Available(unavailable));
        }
        self.kept_apart(group, &serving, need).or_else(|| self.shortage_of(&serving, need))
    }

    /// Which filter leaves no node at all.
    fn unmatched(&self, class: &Class) -> Reason {
        let filter = &class.key.filter;
        let nodes = || self.nodes.entries.iter().map(|(_, entry)| &entry.node);
        let in_pool = || nodes().filter(|node| node.pool == filter.pool);
        let named = || in_pool().filter(|node| filter.names.is_empty() || filter.names.contains(&node.name));
        let labelled = || named().filter(|node| filter.selector.matches(&node.labels));
        let (passed, filter_failed) = if in_pool().next().is_none() {
            (self.nodes.len(), NodeFilter::Pool { others: self.pools() })
        } else if named().next().is_none() {
            (in_pool().count(), NodeFilter::Name { names: filter.names.clone() })
        } else if labelled().next().is_none() {
            (named().count(), NodeFilter::Selector { selector: filter.selector.to_string().into() })
        } else {
            let handler = filter.handler.clone().unwrap_or_default();
            (labelled().count(), NodeFilter::Handler { handler })
        };
        let pool = filter.pool.clone();
        Reason::NoNode(Box::new(NoNode { nodes: passed as u32, pool, filter: filter_failed }))
    }

    /// The pools that have nodes which are not gone.
    fn pools(&self) -> BTreeMap<Box<str>, u32> {
        let mut pools = BTreeMap::new();
        for (_, entry) in &self.nodes.entries {
            let pool = &entry.node.pool;
            let gone = matches!(entry.node.state, NodeState::Lost | NodeState::Left);
            if !gone && (pools.contains_key(pool) || pools.len() < limits::POOLS_TOLD) {
                *pools.entry(pool.clone()).or_default() += 1;
            }
        }
        pools
    }

    /// Nodes have room, but a suspect of another job holds each of them.
    fn kept_apart(&self, group: &Group, serving: &[usize], need: &Room) -> Option<Reason> {
        if !self.is_suspect(group.job) {
            return None;
        }
        let has_room = |ix: &usize| {
            let node = self.nodes.get(*ix);
            node.is_open() && node.free.fits(need)
        };
        let roomy: Vec<usize> = serving.iter().copied().filter(has_room).collect();
        let all_held = roomy.iter().all(|ix| self.suspects.others_on(*ix, group.job));
        (all_held && !roomy.is_empty()).then(|| Reason::Suspect {
            losses: self.shapes.jobs[group.job].health.losses,
            nodes: roomy.len() as u32,
            node: self.name_of_only(&roomy),
        })
    }

    fn shortage_of(&self, serving: &[usize], need: &Room) -> Option<Reason> {
        let shortage = shortage(need, serving.iter().map(|ix| self.nodes.get(*ix).free.clone()))?;
        Some(Reason::Resources { matching: serving.len() as u32, shortage })
    }

    fn name_of_only(&self, nodes: &[usize]) -> Option<Box<str>> {
        match nodes {
            [one] => Some(self.nodes.get(*one).node.name.clone()),
            _ => None,
        }
    }
}

/// What most of these rooms lack; none when a need fits into one of them.
fn shortage(need: &Room, rooms: impl Iterator<Item = Room>) -> Option<Shortage> {
    let mut lacking: BTreeMap<&str, Seen> = BTreeMap::new();
    for room in rooms {
        let dimension = room.lacking(need)?;
        let seen = lacking.entry(dimension).or_insert(Seen { nodes: 0, most: 0 });
        seen.nodes += 1;
        seen.most = seen.most.max(room.amount(dimension));
    }
    let (dimension, seen) = lacking.into_iter().max_by_key(|(_, seen)| seen.nodes)?;
    Some(Shortage { dimension: dimension.into(), wanted: need.amount(dimension), seen: Some(seen) })
}

/// What keeps a node that is large enough from taking a run, whatever it holds.
pub(crate) fn away(node: &NodeEntry, failed: bool) -> Option<Away> {
    match node.node.state {
        NodeState::Lost => Some(Away::Lost),
        NodeState::Left => Some(Away::Left),
        NodeState::Draining { .. } => Some(Away::Draining),
        NodeState::Up if !node.in_service() => Some(Away::Silent),
        NodeState::Up if node.node.is_unwell() => Some(Away::Unwell),
        NodeState::Up if node.node.is_leaving() => Some(Away::Leaving),
        NodeState::Up if node.overbooked => Some(Away::Overbooked),
        NodeState::Up => failed.then_some(Away::Failed),
    }
}
