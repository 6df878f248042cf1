//! What a seat is told: by callers, by nodes, and by what runs beside it.

use std::sync::Arc;

use mainspring_app::audit;
use mainspring_app::ports::{CellError, Changed, Command, LiveRun, NewRun, NodeLoad, Overview};
use mainspring_engine::{
    Answer, Event, JobActivity, LeaseAnswer, LoadedRun, MomentsRead, ShelfRead, SpecRead, TriggersRead,
    WaitingGroups,
};
use mainspring_model::{JobId, Node, NodeFit, NodeId, Pause, RunId};
use mainspring_store::{Outcome, Record};
use mainspring_wire::agent::ToNode;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::DropGuard;

/// Something for the seat.
#[derive(Debug)]
pub(crate) enum Input {
    /// Runs to be made.
    Submit {
        runs: Vec<NewRun>,
        audit: Vec<audit::Entry>,
        reply: oneshot::Sender<Result<Vec<Answer>, CellError>>,
    },
    /// Something to be done.
    Command {
        command: Command,
        row: Option<Box<LoadedRun>>,
        audit: Vec<audit::Entry>,
        reply: oneshot::Sender<Result<Answer, CellError>>,
    },
    /// Runs to be looked at.
    Live { runs: Vec<RunId>, reply: oneshot::Sender<Vec<LiveRun>> },
    /// Nodes to be looked at, for a run that waits for one.
    NearestNodes { run: RunId, count: usize, reply: oneshot::Sender<Vec<NodeFit>> },
    /// The cell to be looked at.
    Overview { reply: oneshot::Sender<Option<Overview>> },
    /// What waits in the cell to be looked at.
    Waiting { groups_max: usize, reply: oneshot::Sender<Option<WaitingGroups>> },
    /// Jobs to be looked at.
    Activity { jobs: Vec<JobId>, reply: oneshot::Sender<Option<Vec<JobActivity>>> },
    /// What nodes used in the last hour.
    Loads { nodes: Vec<NodeId>, reply: oneshot::Sender<Vec<NodeLoad>> },
    /// Something that was written without the owner, for watchers.
    Tell(Changed),
    /// A node's connection.
    Node(NodeInput),
}

impl Input {
    /// A command, for whoever will have somebody to answer.
    pub(crate) fn command(
        command: Command,
        row: Option<Box<LoadedRun>>,
        audit: Vec<audit::Entry>,
    ) -> impl FnOnce(oneshot::Sender<Result<Answer, CellError>>) -> Self {
        move |reply| Self::Command { command, row, audit, reply }
    }
}

/// What happens on a node's connection.
#[derive(Debug)]
pub(crate) enum NodeInput {
    /// It said hello; `outward` takes what it is told.
    Connected { node: NodeId, session: u64, hello: Box<Event>, agent: Arc<str>, outward: Outward },
    /// It said something else, in order.
    Said { node: NodeId, events: Vec<Event>, usage: Option<Usage> },
    /// What people say about it changed: it has to say hello again.
    Relabelled { node: NodeId },
    /// The connection is gone.
    Disconnected { node: NodeId, session: u64 },
}

/// The seat's end of a connection. Dropping it hangs up.
#[derive(Debug)]
pub(crate) struct Outward {
    pub(super) words: mpsc::Sender<ToNode>,
    _hang_up: DropGuard,
}

impl Outward {
    pub(crate) fn new(words: mpsc::Sender<ToNode>, hang_up: DropGuard) -> Self {
        Self { words, _hang_up: hang_up }
    }
}

/// What a node's machine uses.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    pub(crate) cpu_milli: u64,
    pub(crate) memory_bytes: u64,
}

/// What comes back from what runs beside the task.
#[derive(Debug)]
pub(super) enum Delivery {
    /// The store answered a question about the lease.
    Lease(LeaseAnswer),
    /// What a new owner has to know. None when the store did not answer in time.
    Tenure(Option<Box<Handover>>),
    /// A batch was written, or the fence was lost (none).
    Committed(Option<Vec<Outcome>>),
    /// A page was read. None when nobody wants it any more.
    Read(Option<Box<ShelfRead>>),
    /// Rows of triggers were read. None when nobody wants them any more.
    Triggers(Option<Box<TriggersRead>>),
    /// What triggers say was read. None when nobody wants it any more.
    Specs(Option<Vec<SpecRead>>),
    /// What became of planned moments was read. None when nobody wants it any more.
    Moments(Option<Box<MomentsRead>>),
}

/// What the store says about a cell that was just taken.
#[derive(Debug)]
pub(crate) struct Handover {
    pub(crate) nodes: Vec<Node>,
    pub(crate) pause: Option<Pause>,
    pub(crate) memories: Vec<Record>,
}
