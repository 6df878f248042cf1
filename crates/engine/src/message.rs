//! What a cell wants said. Messages that follow from a write leave only after the write is durable
//! ([`crate::Cell::committed`] releases them); the rest leaves at once.

use std::sync::Arc;
use std::time::Duration;

use mainspring_model::{
    AttemptToken, CellId, Epoch, ErrorCode, JobId, JobSpec, NodeId, Payload, RunHead, RunId,
};
use mainspring_store::{RecordQuery, ShelfQuery};

use crate::event::RequestId;
use crate::triggers::MomentsQuery;

/// Something to be said.
#[derive(Debug, Clone)]
pub enum Message {
    /// To a caller.
    Reply {
        /// Its request.
        request: RequestId,
        /// The answer.
        answer: Answer,
    },
    /// To a node: you are connected to the owner of your cell. Orders of earlier epochs and sessions are void.
    Welcome {
        /// The node.
        node: NodeId,
        /// Its connection.
        session: u64,
        /// The heartbeat that the hello counted as.
        beat: u64,
        /// The owner's epoch.
        epoch: Epoch,
    },
    /// To a node: your heartbeat arrived.
    Beat {
        /// The node.
        node: NodeId,
        /// Its connection.
        session: u64,
        /// The heartbeat.
        beat: u64,
    },
    /// To a node: I do not know this connection, say hello.
    WhoAreYou {
        /// The node.
        node: NodeId,
    },
    /// To a node: execute. Sent again until accepted.
    Start(Box<Order>),
    /// To a node: end this attempt, whether you know it or not, and report that it is over. Sent again until then.
    Stop {
        /// The node.
        node: NodeId,
        /// Its connection.
        session: u64,
        /// Which attempt.
        token: AttemptToken,
        /// Time between TERM and KILL.
        grace: Duration,
    },
    /// To a node: this attempt's end is durable (or of no interest any more); forget it.
    Forget {
        /// The node.
        node: NodeId,
        /// Which attempt.
        token: AttemptToken,
        /// Whether the token was stale: what it reported changed nothing.
        stale: bool,
    },
    /// To the store: answer with [`crate::Event::ShelfRead`].
    Read(ShelfQuery),
    /// To the store: answer with [`crate::Event::TriggersRead`].
    ReadTriggers(RecordQuery),
    /// To the store: answer with [`crate::Event::SpecsRead`], these versions of jobs and the pauses of those jobs.
    ReadSpecs(Vec<(JobId, u32)>),
    /// To the store: answer with [`crate::Event::MomentsRead`].
    ReadMoments(Box<MomentsQuery>),
    /// To whoever looks after the store: this row cannot be read, and what it is about is left out.
    Damaged {
        /// Which.
        row: String,
    },
    /// To whoever owns `cell`: runs were handed to you.
    Hint {
        /// The cell.
        cell: CellId,
    },
}

/// An order to execute one attempt.
#[derive(Debug, Clone)]
pub struct Order {
    /// The node.
    pub node: NodeId,
    /// The connection it is meant for; void on another.
    pub session: u64,
    /// The last heartbeat that the owner had seen: the node refuses an order that travelled too long.
    pub seen_beat: u64,
    /// The attempt.
    pub token: AttemptToken,
    /// What was asked.
    pub head: Arc<RunHead>,
    /// What to execute.
    pub spec: Arc<JobSpec>,
    /// What the attempt continues from.
    pub checkpoint: Option<Payload>,
    /// How many attempts there may be, for "attempt 2 of 4".
    pub attempts_max: u32,
}

/// An answer to a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The run is durable. With `duplicate`, it is the earlier run of the same idempotency key.
    Submitted {
        /// The run.
        run: RunId,
        /// Whether it existed.
        duplicate: bool,
    },
    /// It is done and durable.
    Done,
    /// It was not done.
    Refused {
        /// Why, for programs.
        code: ErrorCode,
        /// Why, for people.
        message: String,
    },
}
