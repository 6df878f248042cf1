//! Each write made for the first time: an insert-if-absent or a compare-and-set that answers for itself.
//! The answer to a batch that comes twice is in `core`.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::mem;
use std::sync::Arc;

use mainspring_model::{
    CellId, CounterKey, Counts, Job, JobId, Node, NodeId, Pause, Run, RunId, RunStatus, Shelf,
};
use mainspring_store::{Conflict, Fence, Outcome, Record, RecordKey, RecordKind, RunUpdate, Write};

use crate::change::Change;
use crate::core::MemCore;

impl MemCore {
    pub(crate) fn apply(&mut self, write: &Write, fence: Option<&Fence>) -> Outcome {
        match write {
            Write::InsertRun(run) => self.insert_run(run, fence),
            Write::UpdateRun(update) => self.update_run(update, fence),
            Write::InsertAttempt(attempt) => {
                insert_absent(&mut self.attempts, (attempt.token.run, attempt.token.number), attempt)
            }
            Write::InsertEvent(event) => {
                insert_absent(&mut self.events, (event.run, event.version, event.ordinal), event)
            }
            Write::PutJob(job) => self.put_job(job),
            Write::InsertJobVersion(version) => {
                insert_absent(&mut self.job_versions, (version.job, version.version), version)
            }
            Write::RemoveJob { id, expected } => self.remove_job(*id, *expected),
            Write::PutNode(node) => self.put_node(node),
            Write::RemoveNode { id, expected } => self.remove_node(*id, *expected),
            Write::AddCounts(add) => self.add_counts(&add.0, &add.1),
            Write::PauseCell(pause) => self.pause_cell(fence, pause.as_deref()),
            Write::PutRecord(record) => self.put_record(record),
            Write::RemoveRecord { kind, key, expected } => self.remove_record(*kind, key, *expected),
        }
    }

    fn insert_run(&mut self, run: &Run, fence: Option<&Fence>) -> Outcome {
        let head = &run.head;
        if self.runs.contains_key(&head.id) {
            return Outcome::Conflict(Conflict::Exists);
        }
        if let Some(key) = &head.idempotency_key {
            match self.keys.entry((head.namespace.clone(), key.clone())) {
                Entry::Occupied(holder) => return Outcome::Conflict(Conflict::KeyTaken(Some(*holder.get()))),
                Entry::Vacant(free) => free.insert(head.id),
            };
        }
        self.shelves.extend(shelf_key(head.id, &run.status));
        self.runs.insert(head.id, run.clone());
        self.note(|| Change {
            head: Arc::clone(head),
            before: None,
            after: Some(run.status.clone()),
            fence: fence.copied(),
        });
        Outcome::Applied
    }

    fn update_run(&mut self, update: &RunUpdate, fence: Option<&Fence>) -> Outcome {
        let Some(run) = self.runs.get_mut(&update.id) else { return Outcome::Conflict(Conflict::Missing) };
        if run.status.version != update.expected {
            return Outcome::Conflict(Conflict::Version(run.status.version));
        }
        let before = mem::replace(&mut run.status, update.status.clone());
        let head = Arc::clone(&run.head);
        let (old, new) = (shelf_key(update.id, &before), shelf_key(update.id, &update.status));
        if old != new {
            if let Some(old) = old {
                self.shelves.remove(&old);
            }
            self.shelves.extend(new);
        }
        self.note(|| Change {
            head,
            before: Some(before),
            after: Some(update.status.clone()),
            fence: fence.copied(),
        });
        Outcome::Applied
    }

    fn put_job(&mut self, job: &Job) -> Outcome {
        let found = self.jobs.get(&job.id).map(|row| row.revision);
        if let Some(conflict) = Conflict::of_put(job.revision, found) {
            return Outcome::Conflict(conflict);
        }
        if self.is_name_taken(job) {
            return Outcome::Conflict(Conflict::KeyTaken(None));
        }
        if let Some(before) = self.jobs.insert(job.id, job.clone()) {
            self.names.remove(&(before.namespace, before.name));
        }
        self.names.insert((job.namespace.clone(), job.name.clone()), job.id);
        Outcome::Applied
    }

    fn remove_job(&mut self, id: JobId, expected: u64) -> Outcome {
        let found = self.jobs.get(&id).map(|row| row.revision);
        if let Some(conflict) = Conflict::of_removal(expected, found) {
            return Outcome::Conflict(conflict);
        }
        if let Some(job) = self.jobs.remove(&id) {
            self.names.remove(&(job.namespace, job.name));
        }
        Outcome::Applied
    }

    fn put_node(&mut self, node: &Node) -> Outcome {
        let found = self.nodes.get(&node.id).map(|row| row.revision);
        if let Some(conflict) = Conflict::of_put(node.revision, found) {
            return Outcome::Conflict(conflict);
        }
        self.nodes.insert(node.id, node.clone());
        Outcome::Applied
    }

    fn remove_node(&mut self, id: NodeId, expected: u64) -> Outcome {
        let found = self.nodes.get(&id).map(|row| row.revision);
        if let Some(conflict) = Conflict::of_removal(expected, found) {
            return Outcome::Conflict(conflict);
        }
        self.nodes.remove(&id);
        Outcome::Applied
    }

    fn add_counts(&mut self, key: &CounterKey, counts: &Counts) -> Outcome {
        self.counters.entry((key.hour, key.job, key.namespace.clone())).or_default().add(counts);
        Outcome::Applied
    }

    fn put_record(&mut self, record: &Record) -> Outcome {
        let key = (record.kind, record.key.clone());
        let found = self.records.get(&key).map(|row| row.revision);
        if let Some(conflict) = Conflict::of_put(record.revision, found) {
            return Outcome::Conflict(conflict);
        }
        self.records.insert(key, record.clone());
        Outcome::Applied
    }

    fn remove_record(&mut self, kind: RecordKind, key: &RecordKey, expected: u64) -> Outcome {
        let key = (kind, key.clone());
        let found = self.records.get(&key).map(|row| row.revision);
        if let Some(conflict) = Conflict::of_removal(expected, found) {
            return Outcome::Conflict(conflict);
        }
        self.records.remove(&key);
        Outcome::Applied
    }

    fn pause_cell(&mut self, fence: Option<&Fence>, pause: Option<&Pause>) -> Outcome {
        // Without a fence there is no cell to pause; such a batch was refused before it came here.
        if let Some(fence) = fence {
            match pause {
                Some(pause) => self.pauses.insert(fence.cell, pause.clone()),
                None => self.pauses.remove(&fence.cell),
            };
        }
        Outcome::Applied
    }
}

/// Where a run stands among the shelves, if it is not over.
pub(crate) fn shelf_key(id: RunId, status: &RunStatus) -> Option<(CellId, Shelf, i64, RunId)> {
    status.place.map(|place| (status.cell, place.shelf, place.rank, id))
}

fn insert_absent<K: Ord, V: Clone>(rows: &mut BTreeMap<K, V>, key: K, row: &V) -> Outcome {
    match rows.entry(key) {
        Entry::Occupied(_) => Outcome::Conflict(Conflict::Exists),
        Entry::Vacant(free) => {
            free.insert(row.clone());
            Outcome::Applied
        }
    }
}
