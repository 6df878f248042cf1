//! A run: what was asked (`RunHead`, never changes) and where it stands (`RunStatus`).
//!
//! A store keeps both in one row. Only the owner of the run's cell changes the status, always by
//! compare-and-set on its version. Earlier attempts and remarkable events are rows of their own.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::attempt::{AttemptToken, Usage};
use crate::cause::Cause;
use crate::cell::{CellId, Epoch};
use crate::id::{BackfillId, JobId, NodeId, RunId};
use crate::namespace::Namespace;
use crate::reason::Reason;
use crate::state::RunState;
use crate::time::Timestamp;

/// Bytes that the core carries and never looks into.
pub type Payload = Arc<[u8]>;

/// What was asked. Written once, with the insert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunHead {
    /// The run.
    pub id: RunId,
    /// Where it belongs.
    pub namespace: Namespace,
    /// The job; for a run submitted without one, an id derived from its specification.
    pub job: JobId,
    /// The pinned version of the job.
    pub job_version: u32,
    /// The specification of a run without a job.
    pub inline_spec: Option<Payload>,
    /// Unique within the namespace, if given: the same key is the same run (I5).
    pub idempotency_key: Option<Box<str>>,
    /// How important: larger goes first. [`RunStatus::priority`] says what it is by now.
    pub priority: u16,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// Not eligible before this.
    pub not_before: Option<Timestamp>,
    /// Given up after this.
    pub deadline: Option<Timestamp>,
    /// Its parameters, checked against the job's.
    pub params: Payload,
    /// The keys that the job's templates gave for these parameters; none when the job has no such template.
    pub keys: Option<Box<RunKeys>>,
    /// Who or what asked for it.
    pub submitted_by: Arc<str>,
    /// What fired it, if that was not a person.
    pub fired: Option<Box<Fired>>,
    /// How it regards other runs of its job.
    pub overlap: OverlapRule,
}

/// How a run regards other runs of its job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OverlapRule {
    /// As the job says.
    #[default]
    Policy,
    /// It waits for its turn, whatever the job says of runs that find others: it is not skipped, nobody stops it, and while it
    /// waits it is in nobody's way.
    Wait,
    /// It begins beside the others, whatever the limit. It counts for those that come after it.
    Force,
}

/// The trigger that fired a run, and for which moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fired {
    /// The trigger's name within the job.
    pub trigger: Box<str>,
    /// The planned moment: the run's logical time.
    pub planned: Timestamp,
    /// The backfill that it is part of.
    pub backfill: Option<BackfillId>,
    /// How many runs led to it, each of which followed the end of the one before.
    pub depth: u16,
}

/// Rendered keys of a run; each is empty when the job has no such template.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct RunKeys {
    /// Counts against the concurrency limit.
    pub concurrency: Box<str>,
    /// Counts against the rate limit.
    pub rate: Box<str>,
    /// Chooses the node of a consistent-hash balancer.
    pub hash: Box<str>,
}

/// Where a run stands. Rewritten as a whole, at most once in a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunStatus {
    /// The cell whose owner may change it.
    pub cell: CellId,
    /// Grows by one with every write.
    pub version: u64,
    /// The epoch of the owner that wrote it; 0 when a scheduler that does not own the cell inserted it.
    pub epoch: Epoch,
    /// Its state.
    pub state: RunState,
    /// Where a new owner finds it; none when it is over.
    pub place: Option<Place>,
    /// The current or last attempt; 0 before the first.
    pub attempt: u32,
    /// The epoch in the current or last attempt's token.
    pub attempt_epoch: Epoch,
    /// How many attempts infrastructure ended.
    pub losses: u32,
    /// The node of the current or last attempt.
    pub node: Option<NodeId>,
    /// When it was first queued.
    pub eligible_at: Option<Timestamp>,
    /// When the current or last attempt was made.
    pub placed_at: Option<Timestamp>,
    /// When the current or last attempt started, if known.
    pub started_at: Option<Timestamp>,
    /// When the last attempt or the run ended.
    pub finished_at: Option<Timestamp>,
    /// Why the last attempt or the run ended.
    pub cause: Option<Cause>,
    /// Why it waits, or the last thing it waited for.
    pub reason: Option<Box<Reason>>,
    /// What most runs never have.
    pub extra: Option<Box<RunExtra>>,
}

/// The parts of a status that most runs never have.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RunExtra {
    /// Somebody asked for its end and it has not ended yet.
    pub cancel: Option<CancelRequest>,
    /// Nodes on which earlier attempts failed, the latest last.
    pub failed_nodes: Vec<NodeId>,
    /// The last reported progress.
    pub progress: Option<Progress>,
    /// What the next attempt continues from.
    pub checkpoint: Option<Payload>,
    /// What the last attempt returned.
    pub result: Option<Payload>,
    /// What the last attempt used.
    pub usage: Usage,
    /// When its first attempt began, once that has ended.
    pub begun_at: Option<Timestamp>,
    /// When it was last queued, if that was after an attempt.
    pub queued_at: Option<Timestamp>,
    /// How often it was given to another cell.
    pub hops: u16,
    /// How important somebody made it since it was asked for.
    pub priority: Option<u16>,
    /// Two attempts may have executed at once: clocks or a node's obedience cannot be trusted here (I11).
    pub maybe_doubled: bool,
}

/// Where an owner finds a run that is not over. Finding active work reads these, never history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The shelf.
    pub shelf: Shelf,
    /// The order on the shelf, smallest first; the run id breaks ties.
    pub rank: i64,
}

/// The shelves of active work. The numbers are what stores keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Shelf {
    /// Inserted or handed over by somebody else, not yet seen by the owner. Ranked by time.
    Arrived = 0,
    /// Placed on a node. Ranked by time.
    Flight = 1,
    /// Queued. Ranked by queue order.
    Waiting = 2,
    /// Due later: a begin time or a back-off. Ranked by that time.
    Timed = 3,
}

impl Shelf {
    /// Every shelf.
    pub const ALL: [Self; 4] = [Self::Arrived, Self::Flight, Self::Waiting, Self::Timed];

    /// The shelf that a store kept as `number`.
    pub const fn from_number(number: u8) -> Option<Self> {
        if (number as usize) < Self::ALL.len() { Some(Self::ALL[number as usize]) } else { None }
    }
}

/// Somebody asked for a run's end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelRequest {
    /// Who, or which policy.
    pub by: Box<str>,
    /// When.
    pub at: Timestamp,
    /// Without grace.
    pub kill: bool,
}

/// How far a task says it is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Progress {
    /// In thousandths.
    pub permille: u16,
    /// The task's words.
    pub message: Box<str>,
}

/// A whole run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// What was asked.
    pub head: Arc<RunHead>,
    /// Where it stands.
    pub status: RunStatus,
}

impl RunStatus {
    /// The status of a run that nobody has looked at yet: ready, version 1, on the arrivals' shelf.
    pub fn arrived(cell: CellId, created_at: Timestamp) -> Self {
        Self {
            cell,
            version: 1,
            epoch: Epoch(0),
            state: RunState::Ready,
            place: Some(Place { shelf: Shelf::Arrived, rank: created_at.as_micros() }),
            attempt: 0,
            attempt_epoch: Epoch(0),
            losses: 0,
            node: None,
            eligible_at: None,
            placed_at: None,
            started_at: None,
            finished_at: None,
            cause: None,
            reason: None,
            extra: None,
        }
    }

    /// The token of the current or last attempt of `run`.
    pub fn token(&self, run: RunId) -> AttemptToken {
        AttemptToken { run, number: self.attempt, epoch: self.attempt_epoch }
    }

    /// The rare parts, made when first needed.
    pub fn extra_mut(&mut self) -> &mut RunExtra {
        self.extra.get_or_insert_default()
    }

    /// Since when a run that waits has been waiting, whoever owned it then.
    pub fn waits_since(&self) -> Option<Timestamp> {
        let queued_at = self.extra.as_ref().and_then(|extra| extra.queued_at);
        queued_at.or(self.finished_at).or(self.eligible_at)
    }

    /// When the first attempt began, or the current one if it is the first.
    pub fn begun_at(&self) -> Option<Timestamp> {
        let begun_at = self.extra.as_ref().and_then(|extra| extra.begun_at);
        begun_at.or(self.started_at).or(self.placed_at)
    }

    /// How important the run with this head is by now: larger goes first.
    pub fn priority(&self, head: &RunHead) -> u16 {
        self.extra.as_ref().and_then(|extra| extra.priority).unwrap_or(head.priority)
    }

    /// The pending request to end it.
    pub fn cancel(&self) -> Option<&CancelRequest> {
        self.extra.as_ref().and_then(|extra| extra.cancel.as_ref())
    }
}
