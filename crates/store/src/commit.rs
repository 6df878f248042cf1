//! The one write verb's words: a transaction is a fence and writes; each write answers for itself.
//!
//! Invariant: a batch is written whole or not at all, and a conflict of one write does not undo the
//! others, unless the batch says so ([`Transaction::all_or_nothing`]). What [`crate::check::transaction`]
//! refuses is [`crate::Error::Invalid`] and changes nothing.
//!
//! A fenced transaction sent twice is written once and answers the same (I13): its `seq` is compared and
//! advanced in the lease row by the same commit, and [`crate::readback`] gives the second answer. An unfenced
//! one sent twice meets its own rows; [`crate::resend`] tells them from those of others.

use std::sync::Arc;

use mainspring_model::{
    Attempt, CellId, CounterKey, Counts, Epoch, Job, JobId, JobVersion, Node, NodeId, Pause, Run, RunEvent,
    RunId, RunStatus,
};

use crate::record::{Record, RecordKey, RecordKind};

/// A batch of writes.
#[derive(Debug, Clone, PartialEq)]
pub struct Transaction {
    /// Whose right it is. None only for what needs no owner: new runs for a cell that another scheduler
    /// owns, jobs, records.
    pub fence: Option<Fence>,
    /// Whether a conflict of one write undoes all others, which then answer [`Outcome::Undone`]: for a single-use
    /// token that is removed together with what it was good for. Unfenced transactions only, because an owner's
    /// seq is used up whatever its writes meet.
    pub all_or_nothing: bool,
    /// What to write, at most one write for each row. The answers are those of writing one after the other:
    /// of two runs with one key, or two jobs with one name, the first has it.
    pub writes: Vec<Write>,
}

/// Proof of ownership, checked and advanced in the same commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence {
    /// The cell.
    pub cell: CellId,
    /// The owner's epoch; another one in the lease row fails the whole batch.
    pub epoch: Epoch,
    /// This commit's number under the epoch: one more than the last, the first is 1. A number that the lease
    /// row already has means "this very batch was committed before"; any other is invalid. A released lease
    /// fences nothing; one past its end, that nobody took, still does.
    pub seq: u64,
}

/// One write.
#[derive(Debug, Clone, PartialEq)]
pub enum Write {
    /// Insert a run unless its id, or its (namespace, idempotency key), exists.
    InsertRun(Run),
    /// Replace the status of a run if its version is the expected one.
    UpdateRun(RunUpdate),
    /// Keep an attempt that another followed. Insert unless it exists.
    InsertAttempt(Box<Attempt>),
    /// Keep a remarkable event. Insert unless it exists.
    InsertEvent(Box<RunEvent>),
    /// Insert a job (revision 1) or replace it if its revision is the one before; not when another job has
    /// the name.
    PutJob(Box<Job>),
    /// Insert a version of a job unless it exists.
    InsertJobVersion(Box<JobVersion>),
    /// Remove a job if its revision is the expected one, which frees its name. Its versions and runs stay: history can
    /// still be explained, and a run that is not over ends under the version that it pins. Unfenced transactions only,
    /// because no row is left that could tell who removed it.
    RemoveJob {
        /// The job.
        id: JobId,
        /// The revision that the row must have.
        expected: u64,
    },
    /// Insert a node (revision 1) or replace it if its revision is the one before.
    PutNode(Box<Node>),
    /// Remove a node if its revision is the expected one. Unfenced transactions only, like [`Write::RemoveJob`].
    RemoveNode {
        /// The node.
        id: NodeId,
        /// The revision that the row must have.
        expected: u64,
    },
    /// Add to a roll-up. Fenced transactions only, because only they are written exactly once.
    AddCounts(Box<(CounterKey, Counts)>),
    /// Pause or resume the whole cell. Fenced transactions only.
    PauseCell(Option<Box<Pause>>),
    /// Insert a record (revision 1) or replace it if its revision is the one before.
    PutRecord(Box<Record>),
    /// Remove a record if its revision is the expected one. Unfenced transactions only, like [`Write::RemoveJob`].
    RemoveRecord {
        /// The record's kind.
        kind: RecordKind,
        /// Its key.
        key: RecordKey,
        /// The revision that the row must have.
        expected: u64,
    },
}

/// A compare-and-set of a run's status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunUpdate {
    /// The run.
    pub id: RunId,
    /// The version that the row must have.
    pub expected: u64,
    /// What it becomes; its version is `expected + 1`.
    pub status: RunStatus,
}

/// What became of one write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Written.
    Applied,
    /// Not written, because the store holds something else.
    Conflict(Conflict),
    /// Not written, because another write of its all-or-nothing batch met a conflict.
    Undone,
}

/// What the store holds instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conflict {
    /// The row exists.
    Exists,
    /// The unique name or key belongs to another row: for a run, the run with the idempotency key.
    KeyTaken(Option<RunId>),
    /// The row has another version or revision.
    Version(u64),
    /// There is no such row.
    Missing,
}

impl Transaction {
    /// Writes that need no owner.
    pub fn unfenced(writes: Vec<Write>) -> Self {
        Self { fence: None, all_or_nothing: false, writes }
    }
    /// Writes that need no owner, of which a conflict undoes all.
    pub fn all_or_nothing(writes: Vec<Write>) -> Self {
        Self { fence: None, all_or_nothing: true, writes }
    }
    /// Writes of the owner.
    pub fn fenced(fence: Fence, writes: Vec<Write>) -> Self {
        Self { fence: Some(fence), all_or_nothing: false, writes }
    }
}

impl Outcome {
    /// What was in the way of this very write.
    pub fn conflict(&self) -> Option<&Conflict> {
        match self {
            Self::Conflict(conflict) => Some(conflict),
            Self::Applied | Self::Undone => None,
        }
    }
}

impl Conflict {
    /// What a put of `revision` meets in a row of revision `found`; none when it fits. Revision 1 inserts, any other
    /// replaces the one before it.
    pub fn of_put(revision: u64, found: Option<u64>) -> Option<Self> {
        match found {
            None if revision == 1 => None,
            None => Some(Self::Missing),
            Some(_) if revision == 1 => Some(Self::Exists),
            Some(found) if found.wrapping_add(1) == revision => None,
            Some(found) => Some(Self::Version(found)),
        }
    }

    /// What a removal of `expected` meets in a row of revision `found`; none when it fits.
    pub fn of_removal(expected: u64, found: Option<u64>) -> Option<Self> {
        match found {
            None => Some(Self::Missing),
            Some(found) if found == expected => None,
            Some(found) => Some(Self::Version(found)),
        }
    }
}

impl Write {
    /// A run that nobody has looked at yet.
    pub fn insert_arrived(head: mainspring_model::RunHead, cell: CellId) -> Self {
        let status = RunStatus::arrived(cell, head.created_at);
        Self::InsertRun(Run { head: Arc::new(head), status })
    }
}
