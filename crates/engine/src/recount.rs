//! Counting again: what the cell keeps up to date step by step, against what its runs say. Nothing here changes or decides
//! anything; the tests and the simulation ask it after everything that happens, and a shell may.

use std::collections::{BTreeMap, BTreeSet};

use mainspring_model::RunState;

use crate::cell::Cell;

impl Cell {
    /// Where memory contradicts itself: a reservation that is not a run's, a run that has none, a key that is held by
    /// nobody, a queue that is longer or shorter than it says. Empty is as it should be.
    pub fn recount(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        self.recount_nodes(&mut wrong);
        self.recount_keys(&mut wrong);
        for (kept, counted) in [(false, self.queue.waiting), (true, self.queue.kept)] {
            let groups = self.queue.groups.iter().filter(|(_, group)| group.kept == kept);
            let waiting: usize = groups.map(|(_, group)| group.waiting.len()).sum();
            if waiting != counted {
                wrong.push(format!("{waiting} runs wait (kept: {kept}), {counted} are counted"));
            }
        }
        wrong
    }

    fn recount_nodes(&self, wrong: &mut Vec<String>) {
        let mut held = BTreeSet::new();
        for (node_ix, node) in &self.nodes.entries {
            let name = &node.node.name;
            for run in &node.runs {
                let Some(entry) = self.runs.entries.get(*run) else {
                    wrong.push(format!("{name} holds a run that is gone"));
                    continue;
                };
                let here = entry.status.state == RunState::Running && entry.status.node == Some(node.node.id);
                if !here || !held.insert(*run) {
                    wrong.push(format!("{name} holds {}, which is not its own", entry.head.id));
                }
            }
            let (room, capacity) = (self.held_room(node_ix), node.capacity());
            let mut free = node.free.clone();
            if !node.overbooked {
                free.give(&room);
                if free != capacity {
                    wrong.push(format!("{name} has {:?} free, {room:?} held, of {capacity:?}", node.free));
                }
            }
        }
        for ix in self.runs.indices() {
            let entry = &self.runs.entries[ix];
            if entry.status.state == RunState::Running && !held.contains(&ix) {
                wrong.push(format!("{} runs and no node holds it", entry.head.id));
            }
        }
    }

    fn recount_keys(&self, wrong: &mut Vec<String>) {
        let mut holding: BTreeMap<(usize, &str), BTreeSet<usize>> = BTreeMap::new();
        for ix in self.runs.indices() {
            let entry = &self.runs.entries[ix];
            let shape = self.shapes.of(entry);
            if entry.status.state == RunState::Running && shape.spec.concurrency.is_some() {
                holding.entry((shape.job, entry.concurrency_key())).or_default().insert(ix);
            }
        }
        let kept: BTreeMap<_, _> = self.concurrency.holding().collect();
        for key in holding.keys().chain(kept.keys()).collect::<BTreeSet<_>>() {
            let (runs, kept) = (holding.get(key), kept.get(key).copied());
            if runs != kept {
                wrong.push(format!("key `{}` is held by {runs:?}, {kept:?} are kept", key.1));
            }
        }
    }
}
