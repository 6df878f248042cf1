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

#[cfg(test)]
mod tests {
    use mainspring_model::{CellId, JobId, Namespace, RunId, RunState, Timestamp};
    use mainspring_store::{Retention, RunUpdate, Transaction, Write};

    use super::*;

    const MADE: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

    fn head(n: u128) -> RunHead {
        RunHead {
            id: RunId::new(MADE, n),
            namespace: Namespace::default(),
            job: JobId::MIN,
            job_version: 1,
            inline_spec: None,
            idempotency_key: Some("k".into()),
            priority: 0,
            created_at: MADE,
            not_before: None,
            deadline: None,
            params: Arc::from([]),
            keys: None,
            submitted_by: "x".into(),
            fired: None,
            overlap: Default::default(),
        }
    }

    fn commit(core: &mut MemCore, write: Write) {
        core.commit(&Transaction::unfenced(vec![write])).unwrap();
    }

    /// Inserts a run, fails to insert another with its key, ends it, and removes it.
    fn live_and_die(core: &mut MemCore) {
        let head = head(1);
        let id = head.id;
        commit(core, Write::insert_arrived(head, CellId(0)));
        commit(core, Write::insert_arrived(self::head(2), CellId(0)));
        let mut status = RunStatus::arrived(CellId(0), MADE);
        (status.version, status.state, status.place) = (2, RunState::Success, None);
        commit(core, Write::UpdateRun(RunUpdate { id, expected: 1, status }));
        let rule = Retention { job: None, made_before: Some(Timestamp::MAX), keep_newest: None };
        assert_eq!(core.retain(&rule, 10).unwrap(), 1);
    }

    #[test]
    fn every_change_of_a_row_is_told_once_and_a_conflict_is_none() {
        let mut core = MemCore::new();
        core.record_changes();
        live_and_die(&mut core);
        let states = |status: &Option<RunStatus>| status.as_ref().map(|status| status.state);
        let told: Vec<_> = core
            .take_changes()
            .iter()
            .map(|change| (states(&change.before), states(&change.after)))
            .collect();
        assert_eq!(
            told,
            [
                (None, Some(RunState::Ready)),
                (Some(RunState::Ready), Some(RunState::Success)),
                (Some(RunState::Success), None),
            ]
        );
        assert_eq!(core.take_changes(), []);
    }

    #[test]
    fn nothing_is_kept_unless_asked_for() {
        let mut core = MemCore::new();
        live_and_die(&mut core);
        assert_eq!(core.take_changes(), []);
        assert!(core.changes.is_none());
    }

    #[test]
    fn a_clone_has_rows_of_its_own_and_shares_their_heads() {
        let mut core = MemCore::new();
        commit(&mut core, Write::insert_arrived(head(1), CellId(0)));
        let before = core.clone();
        let id = head(1).id;
        let mut status = RunStatus::arrived(CellId(0), MADE);
        status.version = 2;
        commit(&mut core, Write::UpdateRun(RunUpdate { id, expected: 1, status }));
        let (old, new) = (before.run(id).unwrap(), core.run(id).unwrap());
        assert_eq!((old.status.version, new.status.version), (1, 2));
        assert!(Arc::ptr_eq(&old.head, &new.head));
    }

    #[test]
    fn no_index_outlives_its_row() {
        let mut core = MemCore::new();
        live_and_die(&mut core);
        assert!(core.runs.is_empty() && core.keys.is_empty() && core.shelves.is_empty());
    }
}
