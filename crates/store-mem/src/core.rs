//! The rows, and the one write verb over them.
//!
//! Invariants: every run that is not over stands in `shelves` exactly once, at its place; `keys` and `names`
//! hold exactly what the rows of runs and jobs say; a batch that fails has changed nothing.

use std::collections::{BTreeMap, BTreeSet};

use mainspring_model::{
    Attempt, CellId, Counts, Job, JobId, JobVersion, Lease, Member, MemberId, Namespace, Node, NodeId, Pause,
    Run, RunEvent, RunId, Shelf, Timestamp,
};
use mainspring_store::readback::{self, RunMark};
use mainspring_store::{
    Conflict, Error, Fence, Outcome, Record, RecordKey, RecordKind, Result, Transaction, Write, check,
};

use crate::change::Change;

/// All rows of a store. Cloning copies the rows but shares the heads of runs.
#[derive(Debug, Clone, Default)]
pub struct MemCore {
    pub(crate) runs: BTreeMap<RunId, Run>,
    pub(crate) keys: BTreeMap<(Namespace, Box<str>), RunId>,
    pub(crate) shelves: BTreeSet<(CellId, Shelf, i64, RunId)>,
    pub(crate) attempts: BTreeMap<(RunId, u32), Attempt>,
    pub(crate) events: BTreeMap<(RunId, u64, u16), RunEvent>,
    pub(crate) jobs: BTreeMap<JobId, Job>,
    pub(crate) names: BTreeMap<(Namespace, Box<str>), JobId>,
    pub(crate) job_versions: BTreeMap<(JobId, u32), JobVersion>,
    pub(crate) nodes: BTreeMap<NodeId, Node>,
    pub(crate) counters: BTreeMap<(Timestamp, JobId, Namespace), Counts>,
    pub(crate) pauses: BTreeMap<CellId, Pause>,
    pub(crate) records: BTreeMap<(RecordKind, RecordKey), Record>,
    pub(crate) leases: BTreeMap<CellId, Lease>,
    pub(crate) members: BTreeMap<MemberId, Member>,
    pub(crate) changes: Option<Vec<Change>>,
}

/// What the lease row says about a fence that holds.
enum Turn {
    Next,
    Repeated,
}

impl MemCore {
    /// A store without rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes the batch and answers for each write, in order.
    pub fn commit(&mut self, transaction: &Transaction) -> Result<Vec<Outcome>> {
        check::transaction(transaction)?;
        let Transaction { fence, writes, all_or_nothing } = transaction;
        if *all_or_nothing {
            return Ok(self.apply_all_or_nothing(writes));
        }
        if let Some(fence) = fence {
            match self.check_fence(fence)? {
                Turn::Repeated => {
                    return Ok(writes.iter().map(|write| self.read_back(write, fence)).collect());
                }
                Turn::Next => {
                    if let Some(lease) = self.leases.get_mut(&fence.cell) {
                        lease.seq = fence.seq;
                    }
                }
            }
        }
        Ok(writes.iter().map(|write| self.apply(write, fence.as_ref())).collect())
    }

    fn apply_all_or_nothing(&mut self, writes: &[Write]) -> Vec<Outcome> {
        let before = self.clone();
        let mut outcomes: Vec<Outcome> = writes.iter().map(|write| self.apply(write, None)).collect();
        if outcomes.iter().any(|outcome| outcome.conflict().is_some()) {
            *self = before;
            for outcome in outcomes.iter_mut().filter(|outcome| **outcome == Outcome::Applied) {
                *outcome = Outcome::Undone;
            }
        }
        outcomes
    }

    fn check_fence(&self, fence: &Fence) -> Result<Turn> {
        let lost = Error::FenceLost { cell: fence.cell, epoch: fence.epoch };
        let Some(lease) = self.leases.get(&fence.cell) else { return Err(lost) };
        if lease.epoch != fence.epoch || lease.holder.is_none() {
            return Err(lost);
        }
        match fence.seq.checked_sub(lease.seq) {
            Some(1) => Ok(Turn::Next),
            Some(0) => Ok(Turn::Repeated),
            _ => Err(Error::Invalid(format!("seq {} out of turn: the last was {}", fence.seq, lease.seq))),
        }
    }

    /// The answer to a write of a batch that is here already.
    fn read_back(&self, write: &Write, fence: &Fence) -> Outcome {
        let mark = |id: &RunId| self.runs.get(id).map(|run| RunMark::from(&run.status));
        match write {
            Write::InsertRun(run) => {
                let key = run.head.idempotency_key.as_deref();
                let holder = key.and_then(|key| self.key_holder(&run.head.namespace, key));
                readback::insert_run(run, fence.epoch, mark(&run.head.id), holder)
            }
            Write::UpdateRun(update) => readback::update_run(update, fence.epoch, mark(&update.id)),
            Write::InsertAttempt(attempt) => {
                readback::insert(self.attempts.contains_key(&(attempt.token.run, attempt.token.number)))
            }
            Write::InsertEvent(event) => {
                readback::insert(self.events.contains_key(&(event.run, event.version, event.ordinal)))
            }
            Write::PutJob(job) => readback::put_job(job, self.jobs.get(&job.id), self.is_name_taken(job)),
            Write::InsertJobVersion(version) => {
                readback::insert(self.job_versions.contains_key(&(version.job, version.version)))
            }
            Write::PutNode(node) => readback::put_node(node, self.nodes.get(&node.id)),
            Write::PutRecord(record) => {
                let row = self.records.get(&(record.kind, record.key.clone()));
                readback::put_record(record, row)
            }
            // No fenced batch has removals.
            Write::RemoveJob { .. } | Write::RemoveNode { .. } | Write::RemoveRecord { .. } => {
                Outcome::Conflict(Conflict::Missing)
            }
            Write::AddCounts(_) | Write::PauseCell(_) => Outcome::Applied,
        }
    }

    pub(crate) fn key_holder(&self, namespace: &Namespace, key: &str) -> Option<RunId> {
        self.keys.get(&(namespace.clone(), key.into())).copied()
    }

    /// Whether another job has the job's name.
    pub(crate) fn is_name_taken(&self, job: &Job) -> bool {
        self.names.get(&(job.namespace.clone(), job.name.clone())).is_some_and(|holder| *holder != job.id)
    }
}
