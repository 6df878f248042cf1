//! What others may look at: the cell in its owner's memory.

use mainspring_app::ports::{LiveNode, LiveRun, Overview};
use mainspring_engine::{JobActivity, WaitingGroups};
use mainspring_model::{JobId, NodeFit, NodeId, RunId};
use rustc_hash::FxHashSet;

use super::input::Usage;
use super::task::Seat;

impl Seat {
    pub(super) fn live(&self, runs: &[RunId]) -> Vec<LiveRun> {
        let Some(reign) = &self.tenure else { return Vec::new() };
        let live = |id: &RunId| Some(LiveRun { run: reign.cell.run(*id)?, reason: reign.cell.why(*id) });
        runs.iter().filter_map(live).collect()
    }

    pub(super) fn waiting(&self, groups_max: usize) -> Option<WaitingGroups> {
        self.tenure.as_ref().map(|tenure| tenure.cell.waiting_groups(groups_max))
    }

    pub(super) fn activity(&self, jobs: &[JobId]) -> Option<Vec<JobActivity>> {
        let tenure = self.tenure.as_ref().filter(|tenure| tenure.cell.is_loaded())?;
        Some(tenure.cell.activity(jobs))
    }

    pub(super) fn nearest_nodes(&self, run: RunId, count: usize) -> Vec<NodeFit> {
        self.tenure.as_ref().map(|tenure| tenure.cell.nearest_nodes(run, count)).unwrap_or_default()
    }

    /// Remembers what a node uses, once a minute.
    pub(super) fn sample(&mut self, node: NodeId, usage: Usage) {
        let Some(tenure) = &self.tenure else { return };
        let running = || tenure.cell.nodes().find(|view| view.node.id == node).map_or(0, |view| view.running);
        let is_new = self.loads.sample(node, self.config.clock.now(), usage, running);
        if is_new && self.loads.len() > tenure.cell.node_count() {
            let known: FxHashSet<NodeId> = tenure.cell.nodes().map(|view| view.node.id).collect();
            self.loads.retain(|node| known.contains(&node));
        }
    }

    pub(super) fn overview(&self) -> Option<Overview> {
        let reign = self.tenure.as_ref()?;
        let nodes = reign.cell.nodes().map(|view| {
            let usage = self.connections.usage(view.node.id);
            LiveNode {
                node: view.node.clone(),
                connected: usage.is_some(),
                running: view.running,
                reserved: view.reserved,
                agent: self.connections.agent(view.node.id),
                seen_at: Some(view.heard_at),
                cpu_milli: usage.map_or(0, |usage| usage.cpu_milli),
                memory_bytes: usage.map_or(0, |usage| usage.memory_bytes),
            }
        });
        Some(Overview {
            cell: self.id,
            epoch: reign.cell.epoch(),
            loaded: reign.cell.is_loaded(),
            pause: reign.cell.pause().cloned(),
            waiting: reign.cell.waiting(),
            running: reign.cell.running(),
            stats: reign.cell.stats(),
            setbacks: self.setbacks.count(),
            nodes: nodes.collect(),
        })
    }
}
