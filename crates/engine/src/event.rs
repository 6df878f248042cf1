//! What happens to a cell: requests of callers, words of nodes, answers of the store, time.
//!
//! Events are data. A message that is lost, late or doubled on its way becomes an event that is missing,
//! late or doubled; every handler is written for that.

use std::sync::Arc;
use std::time::Duration;

use mainspring_model::{
    AttemptToken, Cause, Job, JobId, JobPause, JobSpec, Node, NodeId, Pause, Payload, Progress, Run, RunHead,
    RunId, Timestamp, Usage,
};
use mainspring_store::ShelfQuery;

use crate::triggers::{MomentsRead, SpecRead, TriggerCommand, TriggerKey, TriggersRead};

/// A caller's number for its request; the answer carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// Something that happened.
#[derive(Debug, Clone)]
pub enum Event {
    /// Somebody wants a run.
    Submit(Box<Submission>),
    /// Somebody wants a run to end; `kill` without grace.
    Cancel {
        /// Whom to answer.
        request: RequestId,
        /// The run.
        run: RunId,
        /// Its row, if the cell said that it is not in memory.
        row: Option<Box<LoadedRun>>,
        /// Who.
        by: Box<str>,
        /// Without grace.
        kill: bool,
    },
    /// Somebody does not want to wait for the back-off.
    RetryNow {
        /// Whom to answer.
        request: RequestId,
        /// The run.
        run: RunId,
        /// Its row, if the cell said that it is not in memory.
        row: Option<Box<LoadedRun>>,
        /// Who.
        by: Box<str>,
    },
    /// Somebody makes a run more or less important.
    Prioritise {
        /// Whom to answer.
        request: RequestId,
        /// The run.
        run: RunId,
        /// Its row, if the cell said that it is not in memory.
        row: Option<Box<LoadedRun>>,
        /// Who.
        by: Box<str>,
        /// Larger goes first.
        priority: u16,
    },
    /// Somebody pauses (or, with none, resumes) a job, as its row is now.
    PauseJob {
        /// Whom to answer.
        request: RequestId,
        /// The row.
        job: Box<Job>,
        /// Who and why.
        pause: Option<Pause>,
    },
    /// Somebody pauses or resumes the whole cell.
    PauseCell {
        /// Whom to answer.
        request: RequestId,
        /// Who and why.
        pause: Option<Pause>,
    },
    /// Somebody empties a node by a deadline, or, with none, takes it back into service.
    Drain {
        /// Whom to answer.
        request: RequestId,
        /// The node.
        node: NodeId,
        /// When patience ends.
        deadline: Option<Timestamp>,
    },
    /// Somebody knows that a silent node is gone.
    Lose {
        /// Whom to answer.
        request: RequestId,
        /// The node.
        node: NodeId,
    },
    /// A node (re)connected.
    Hello(Box<Hello>),
    /// A node lives.
    Heartbeat(Heartbeat),
    /// A node tells about an attempt.
    Report(Box<Report>),
    /// A node ends on purpose and holds no attempts.
    Goodbye {
        /// The node.
        node: NodeId,
        /// Its connection.
        session: u64,
    },
    /// The store answered a [`crate::Message::Read`].
    ShelfRead(Box<ShelfRead>),
    /// The store answered a [`crate::Message::ReadTriggers`].
    TriggersRead(Box<TriggersRead>),
    /// The store answered a [`crate::Message::ReadSpecs`].
    SpecsRead(Vec<SpecRead>),
    /// The store answered a [`crate::Message::ReadMoments`].
    MomentsRead(Box<MomentsRead>),
    /// Somebody wrote the triggers of a job. The answer is [`crate::Answer::Done`] when the rows are in memory, everything
    /// decided before is durable, and a fenced commit since has shown that the cell is still owned.
    TriggersChanged {
        /// Whom to answer.
        request: RequestId,
        /// The job.
        job: JobId,
    },
    /// Somebody changed a calendar.
    CalendarsChanged {
        /// Whom to answer.
        request: RequestId,
    },
    /// Somebody wants something of a trigger.
    Trigger {
        /// Whom to answer.
        request: RequestId,
        /// Which.
        key: TriggerKey,
        /// What.
        command: TriggerCommand,
    },
    /// Somebody inserted runs for this cell.
    Hint,
    /// Time passed.
    Tick,
}

/// A run to be.
#[derive(Debug, Clone)]
pub struct Submission {
    /// Whom to answer.
    pub request: RequestId,
    /// What is asked; the keys are filled in by the engine.
    pub head: RunHead,
    /// The specification that the head pins.
    pub spec: Arc<JobSpec>,
    /// Whether the job was paused when its row was read.
    pub pause: Option<JobPause>,
}

/// A node introduces itself, with everything it holds. The node's id lives in its journal: a node that lost
/// its journal joins under a new id, and the old one is given up like any silent node.
#[derive(Debug, Clone)]
pub struct Hello {
    /// Who it is. The owner decides `state`, `revision` and the times.
    pub node: Node,
    /// The number of this connection, larger than every earlier one of the node.
    pub session: u64,
    /// Counts as this heartbeat.
    pub beat: u64,
    /// Every attempt that executes, or has ended and is not acknowledged.
    pub held: Vec<Held>,
}

/// An attempt that a node holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// Which.
    pub token: AttemptToken,
    /// How far it is.
    pub stage: Stage,
}

impl Held {
    /// The attempt among those that a node holds, sorted by token.
    pub(crate) fn find(held: &[Self], token: AttemptToken) -> Option<&Self> {
        held.binary_search_by_key(&token, |held| held.token).ok().map(|at| &held[at])
    }
}

/// How far an attempt is on its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// On disk, not begun.
    Accepted,
    /// Executing for so long, on the node's clock.
    Executing(Duration),
    /// Ended; its ending is not acknowledged and is being reported.
    Over,
}

/// A node lives.
#[derive(Debug, Clone)]
pub struct Heartbeat {
    /// The node.
    pub node: NodeId,
    /// Its connection.
    pub session: u64,
    /// The heartbeat's number.
    pub beat: u64,
    /// Every attempt that executes, or has ended and is not acknowledged.
    pub held: Vec<Held>,
}

/// A node tells about an attempt.
#[derive(Debug, Clone)]
pub struct Report {
    /// The node.
    pub node: NodeId,
    /// Its connection.
    pub session: u64,
    /// The number of its next heartbeat: heartbeats from this one on know of what is said here.
    pub beat: u64,
    /// Which attempt.
    pub token: AttemptToken,
    /// What.
    pub news: News,
}

/// What happened to an attempt.
#[derive(Debug, Clone)]
pub enum News {
    /// The order is on the node's disk.
    Accepted,
    /// The task executes.
    Started,
    /// The task said something.
    Progressed {
        /// How far it is.
        progress: Option<Progress>,
        /// What the next attempt can continue from.
        checkpoint: Option<Payload>,
    },
    /// The attempt is over. Repeated until acknowledged.
    Finished(Ending),
}

/// How an attempt ended, as its node saw it.
#[derive(Debug, Clone)]
pub struct Ending {
    /// Why.
    pub cause: Cause,
    /// Whether it ended because the owner said [`crate::Message::Stop`].
    pub stopped: bool,
    /// How long ago the task began, on the node's clock; none when it never did. Its end may be told long after it.
    pub begun_ago: Option<Duration>,
    /// What it returned.
    pub result: Option<Payload>,
    /// What it used.
    pub usage: Usage,
}

impl Ending {
    /// An end about which nothing but its cause is known.
    pub fn of(cause: Cause) -> Self {
        Self { cause, stopped: false, begun_ago: None, result: None, usage: Usage::default() }
    }
}

/// A page of a shelf, with the specifications that its runs pin.
#[derive(Debug, Clone)]
pub struct ShelfRead {
    /// What was asked.
    pub query: ShelfQuery,
    /// The rows, each with its specification (none when it cannot be read) and its job's pause.
    pub rows: Vec<LoadedRun>,
    /// Whether more follow.
    pub more: bool,
}

/// A run as read from the store.
#[derive(Debug, Clone)]
pub struct LoadedRun {
    /// The row.
    pub run: Run,
    /// The specification that it pins, or none when that is missing or damaged.
    pub spec: Option<Arc<JobSpec>>,
    /// Whether its job is paused.
    pub pause: Option<JobPause>,
}
