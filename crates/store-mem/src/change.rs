//! The feed of changes: what a checker reads after each step of a simulation to hold the invariants at
//! every moment, not only at the end. Off unless asked for, so that it costs nothing.

use std::sync::Arc;

use mainspring_model::{RunHead, RunStatus};
use mainspring_store::Fence;

use crate::core::MemCore;

/// One row of a run that was written or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Which run.
    pub head: Arc<RunHead>,
    /// What the row said; none when it was inserted.
    pub before: Option<RunStatus>,
    /// What it says; none when retention removed it.
    pub after: Option<RunStatus>,
    /// Under whose right; none for writes without an owner and for retention.
    pub fence: Option<Fence>,
}

impl MemCore {
    /// Keeps every change of a run's row from now on, until it is taken.
    pub fn record_changes(&mut self) {
        self.changes.get_or_insert_default();
    }

    /// The changes since the last call, in the order in which they were written; none unless recorded.
    pub fn take_changes(&mut self) -> Vec<Change> {
        self.changes.as_mut().map(std::mem::take).unwrap_or_default()
    }

    pub(crate) fn note(&mut self, change: impl FnOnce() -> Change) {
        if let Some(changes) = &mut self.changes {
            changes.push(change());
        }
    }
}
