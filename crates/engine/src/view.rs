//! What a shell may look at: the cell as it is in memory. Nothing here changes or decides anything.

use std::sync::Arc;

use mainspring_model::{Node, Pause, Resources, RunHead, RunId, Timestamp};

use crate::cell::Cell;
use crate::stats::Stats;

/// A node in the owner's memory.
#[derive(Debug)]
pub struct NodeView<'a> {
    /// The row, as it is or will be when it is next written.
    pub node: &'a Node,
    /// Attempts that it holds.
    pub running: usize,
    /// What its attempts reserve of its capacity.
    pub reserved: Resources,
    /// When it was last heard; before the first hello to this owner, when the cell was taken. In the store's time, by the
    /// time that has passed since.
    pub heard_at: Timestamp,
}

impl Cell {
    /// What the cell counted since it was taken.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// Runs that wait in memory.
    pub fn waiting(&self) -> usize {
        self.queue.waiting + self.queue.kept
    }

    /// Runs that hold a node.
    pub fn running(&self) -> usize {
        self.nodes.entries.iter().map(|(_, node)| node.runs.len()).sum()
    }

    /// Whether, and why, the whole cell is paused.
    pub fn pause(&self) -> Option<&Pause> {
        self.pause.as_ref()
    }

    /// What was asked by a run that is in memory.
    pub fn head(&self, id: RunId) -> Option<&Arc<RunHead>> {
        self.runs.find(id).map(|ix| &self.runs.entries[ix].head)
    }

    /// How many nodes the cell has.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The nodes, in no order.
    pub fn nodes(&self) -> impl Iterator<Item = NodeView<'_>> {
        self.nodes.entries.iter().map(|(_, entry)| NodeView {
            node: &entry.node,
            running: entry.runs.len(),
            reserved: entry.reserved(),
            heard_at: self.last_now - self.elapsed.since(entry.heard_at),
        })
    }
}
