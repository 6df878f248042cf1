//! The order in which a batch's writes are sent: grouped by table and action, each group sorted by primary key,
//! so that all transactions lock in one order. Positions refer to the transaction's writes, so that answers
//! find their way back.
//!
//! Runs with an idempotency key are sorted by it, because two batches may bring one key under different ids. Two
//! groups keep the caller's order where it decides who wins: jobs, because two may want one name; and runs with
//! one idempotency key, which go in successive waves.

use std::collections::HashMap;

use mainspring_model::RunId;
use mainspring_store::{Transaction, Write};

/// Positions of the writes of each group.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Runs to insert. All of a wave have different idempotency keys; most plans have one wave.
    pub(crate) run_inserts: Vec<Vec<u32>>,
    /// Statuses to replace.
    pub(crate) run_updates: Vec<u32>,
    /// Attempts to keep.
    pub(crate) attempts: Vec<u32>,
    /// Events to keep.
    pub(crate) events: Vec<u32>,
    /// Jobs to insert, replace or remove, in the caller's order.
    pub(crate) jobs: Vec<u32>,
    /// Versions to insert.
    pub(crate) job_versions: Vec<u32>,
    /// Nodes to insert.
    pub(crate) node_inserts: Vec<u32>,
    /// Nodes to replace.
    pub(crate) node_updates: Vec<u32>,
    /// Nodes to remove.
    pub(crate) node_removals: Vec<u32>,
    /// Roll-ups to add to.
    pub(crate) counters: Vec<u32>,
    /// The pause of the cell.
    pub(crate) pause: Option<u32>,
    /// Records to insert.
    pub(crate) record_inserts: Vec<u32>,
    /// Records to replace.
    pub(crate) record_updates: Vec<u32>,
    /// Records to remove.
    pub(crate) record_removals: Vec<u32>,
}

impl Plan {
    /// The plan of a transaction that was checked.
    pub(crate) fn of(transaction: &Transaction) -> Self {
        let writes = &transaction.writes;
        let mut plan = Self::default();
        let mut inserts = Vec::new();
        for (at, write) in writes.iter().enumerate() {
            let at = at as u32;
            match write {
                Write::InsertRun(_) => inserts.push(at),
                Write::UpdateRun(_) => plan.run_updates.push(at),
                Write::InsertAttempt(_) => plan.attempts.push(at),
                Write::InsertEvent(_) => plan.events.push(at),
                Write::PutJob(_) | Write::RemoveJob { .. } => plan.jobs.push(at),
                Write::InsertJobVersion(_) => plan.job_versions.push(at),
                Write::PutNode(node) if node.revision == 1 => plan.node_inserts.push(at),
                Write::PutNode(_) => plan.node_updates.push(at),
                Write::RemoveNode { .. } => plan.node_removals.push(at),
                Write::AddCounts(_) => plan.counters.push(at),
                Write::PauseCell(_) => plan.pause = Some(at),
                Write::PutRecord(record) if record.revision == 1 => plan.record_inserts.push(at),
                Write::PutRecord(_) => plan.record_updates.push(at),
                Write::RemoveRecord { .. } => plan.record_removals.push(at),
            }
        }
        plan.run_inserts = waves(writes, inserts);
        for wave in &mut plan.run_inserts {
            wave.sort_unstable_by(|left, right| insert_key(writes, *left).cmp(&insert_key(writes, *right)));
        }
        for group in [
            &mut plan.run_updates,
            &mut plan.attempts,
            &mut plan.events,
            &mut plan.job_versions,
            &mut plan.node_inserts,
            &mut plan.node_updates,
            &mut plan.node_removals,
            &mut plan.counters,
            &mut plan.record_inserts,
            &mut plan.record_updates,
            &mut plan.record_removals,
        ] {
            sort(group, writes);
        }
        plan
    }

    /// Whether it cannot be locked in the order of its keys, so that no two such batches may be under way.
    pub(crate) fn takes_turns(&self) -> bool {
        !(self.jobs.is_empty() && self.node_removals.is_empty() && self.record_removals.is_empty())
    }
}

/// Splits inserts so that no wave has an idempotency key twice.
fn waves(writes: &[Write], inserts: Vec<u32>) -> Vec<Vec<u32>> {
    let mut seen = HashMap::new();
    let mut waves = Vec::new();
    let mut first = Vec::with_capacity(inserts.len());
    for at in inserts {
        let Write::InsertRun(run) = &writes[at as usize] else { continue };
        let before = match &run.head.idempotency_key {
            None => 0,
            Some(key) => {
                let count = seen.entry((run.head.namespace.as_str(), &**key)).or_insert(0usize);
                std::mem::replace(count, *count + 1)
            }
        };
        match before {
            0 => first.push(at),
            later => {
                if waves.len() < later {
                    waves.push(Vec::new());
                }
                waves[later - 1].push(at);
            }
        }
    }
    if !first.is_empty() {
        waves.insert(0, first);
    }
    waves
}

/// Those without an idempotency key first, by id; then those with one, by it.
fn insert_key(writes: &[Write], at: u32) -> Option<(Option<(&str, &str)>, RunId)> {
    match &writes[at as usize] {
        Write::InsertRun(run) => {
            let key = run.head.idempotency_key.as_ref().map(|key| (run.head.namespace.as_str(), &**key));
            Some((key, run.head.id))
        }
        _ => None,
    }
}

fn sort(group: &mut [u32], writes: &[Write]) {
    group.sort_unstable_by(|left, right| key(&writes[*left as usize]).cmp(&key(&writes[*right as usize])));
}

/// The primary key within the group: an id, a number, a name.
fn key(write: &Write) -> ([u8; 16], i64, i64, &[u8]) {
    match write {
        Write::UpdateRun(update) => (*update.id.as_bytes(), 0, 0, b""),
        Write::InsertAttempt(attempt) => {
            (*attempt.token.run.as_bytes(), i64::from(attempt.token.number), 0, b"")
        }
        Write::InsertEvent(event) => {
            (*event.run.as_bytes(), event.version as i64, i64::from(event.ordinal), b"")
        }
        Write::InsertJobVersion(version) => (*version.job.as_bytes(), i64::from(version.version), 0, b""),
        Write::PutNode(node) => (*node.id.as_bytes(), 0, 0, b""),
        Write::RemoveNode { id, .. } => (*id.as_bytes(), 0, 0, b""),
        Write::AddCounts(add) => {
            let namespace = add.0.namespace.as_str().as_bytes();
            (*add.0.job.as_bytes(), add.0.hour.as_micros(), 0, namespace)
        }
        Write::PutRecord(record) => ([0; 16], i64::from(record.kind.0), 0, record.key.as_bytes()),
        Write::RemoveRecord { kind, key, .. } => ([0; 16], i64::from(kind.0), 0, key.as_bytes()),
        // These keep another order, or are alone.
        Write::InsertRun(_) | Write::PutJob(_) | Write::RemoveJob { .. } | Write::PauseCell(_) => {
            ([0; 16], 0, 0, b"")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mainspring_model::{CellId, JobId, Payload, Run, RunHead, RunStatus, Timestamp};
    use mainspring_store::RunUpdate;

    use super::*;

    fn insert(random: u128, key: Option<&str>) -> Write {
        let head = RunHead {
            id: RunId::new(Timestamp::ZERO, random),
            namespace: "acme".parse().unwrap(),
            job: JobId::MIN,
            job_version: 1,
            inline_spec: None,
            idempotency_key: key.map(Into::into),
            priority: 0,
            created_at: Timestamp::ZERO,
            not_before: None,
            deadline: None,
            params: Payload::from([]),
            keys: None,
            submitted_by: "".into(),
            fired: None,
            overlap: Default::default(),
        };
        Write::InsertRun(Run { head: Arc::new(head), status: RunStatus::arrived(CellId(0), Timestamp::ZERO) })
    }

    fn update(random: u128) -> Write {
        let status = RunStatus::arrived(CellId(0), Timestamp::ZERO);
        Write::UpdateRun(RunUpdate { id: RunId::new(Timestamp::ZERO, random), expected: 0, status })
    }

    #[test]
    fn groups_are_sorted_by_key_and_remember_their_place() {
        let writes = vec![update(9), insert(7, None), update(3), insert(2, None)];
        let plan = Plan::of(&Transaction::unfenced(writes));
        assert_eq!(plan.run_inserts, [vec![3, 1]]);
        assert_eq!(plan.run_updates, [2, 0]);
    }

    #[test]
    fn one_key_goes_in_waves_in_the_callers_order() {
        let writes = vec![insert(9, Some("k")), insert(5, None), insert(1, Some("k")), insert(0, Some("k"))];
        let plan = Plan::of(&Transaction::unfenced(writes));
        assert_eq!(plan.run_inserts, [vec![1, 0], vec![2], vec![3]]);
    }
}
