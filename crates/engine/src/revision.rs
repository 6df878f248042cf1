//! Which revision a thing has, counting what is changed and not written yet: whoever acts on what they read compares with
//! it in the step in which they act, so that of several who read the same one acts.

use mainspring_model::{NodeId, RunId};
use mainspring_store::Write;

use crate::cell::Cell;
use crate::outbox::Change;
use crate::triggers::TriggerKey;

impl Cell {
    /// Of a run; none when it is not in memory.
    pub fn version_of_run(&self, run: RunId) -> Option<u64> {
        let entry = &self.runs.entries[self.runs.find(run)?];
        Some(entry.status.version + u64::from(entry.dirty))
    }

    /// Of a node; none when it is not in memory.
    pub fn revision_of_node(&self, node: NodeId) -> Option<u64> {
        let entry = self.nodes.get(self.nodes.find(node)?);
        Some(entry.stored_revision + u64::from(entry.dirty))
    }

    /// Of a trigger; none when it is not in memory. Somebody may have written a later one that this owner has not read yet.
    pub fn revision_of_trigger(&self, key: &TriggerKey) -> Option<u64> {
        self.triggers.revision(key)
    }

    /// Whether a pause or a resume of the cell waits for being written, or is.
    pub fn is_pausing(&self) -> bool {
        let waits = self.outbox.asked.iter().any(|(write, _)| matches!(write, Write::PauseCell(_)));
        let mut flies = self.outbox.in_flight.iter().flat_map(|batch| &batch.asked);
        waits || flies.any(|(_, change)| matches!(change, Change::Cell(_)))
    }
}
