//! What the use cases need of the process around them: the owners of cells, the logs, the news of both, and the files.
//!
//! The server implements these over its seats (`server/src/seat`); tests implement them over an engine of their own.

use async_trait::async_trait;
use bytes::Bytes;
use mainspring_engine::{Answer, JobActivity, Occurrence, Stats, TriggerCommand, TriggerKey, WaitingGroups};
use mainspring_model::spec::Digest;
use mainspring_model::{
    AttemptToken, BackfillId, CellId, Epoch, Job, JobId, JobPause, JobSpec, Namespace, Node, NodeFit, NodeId,
    Pause, Progress, Reason, Resources, Run, RunHead, RunId, RunState, Timestamp,
};
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast;

use crate::audit;
use crate::watch::Positions;

/// The owners of cells, wherever they are.
#[async_trait]
pub trait Cells: Send + Sync {
    /// How many cells the cluster has.
    fn count(&self) -> u16;

    /// The cell of a namespace.
    fn cell_of(&self, namespace: &Namespace) -> CellId {
        CellId::of(namespace, self.count())
    }

    /// The time that owners and rows go by: the store's, as this process follows it.
    fn now(&self) -> Timestamp;

    /// This host's wall clock. It decides nothing; a difference from the store's is reported.
    fn host_clock(&self) -> Timestamp;

    /// How far the store's clock stepped back, while time stands still until it has caught up.
    fn clock_frozen_by(&self) -> Option<Duration>;

    /// Makes runs durable, with the audit entries in the same transaction (one of those, where the runs are of several
    /// cells). Answers for each in order. Works without an owner too: then the runs wait in the store for one.
    ///
    /// Whoever commits gathers the entries of all calls in a transaction and writes what [`audit::Chain::record`] makes of
    /// them, which is one more row for the transaction and not for each call.
    async fn submit(&self, runs: Vec<NewRun>, audit: Vec<audit::Entry>) -> Result<Vec<Answer>, CellError>;

    /// Has the owner carry out a command, with the audit entries in the same transaction. Unknown outcomes are resolved
    /// before it answers.
    async fn command(
        &self,
        cell: CellId,
        command: Command,
        audit: Vec<audit::Entry>,
    ) -> Result<Answer, CellError>;

    /// Has the process at `url`, which owns the cell of the namespace, confirm that it goes by what is stored of a job, in the
    /// name of whoever asks.
    async fn confirm_elsewhere(&self, _url: &str, _namespace: &Namespace, _job: JobId) -> crate::Result<()> {
        Err(CellError::Nowhere.into())
    }

    /// Runs as their owner has them now, with the live reason of those that wait. Runs that no owner here has in memory are
    /// missing: the store's row is the truth about them.
    async fn live(&self, cell: CellId, runs: &[RunId]) -> Result<Vec<LiveRun>, CellError>;

    /// What the nodes of a cell that are nearest to taking a run lack, at most `count`, the nearest first; none when it does
    /// not wait for a node, or its owner is not here.
    async fn nearest_nodes(&self, cell: CellId, run: RunId, count: usize) -> Result<Vec<NodeFit>, CellError>;

    /// The cell as its owner sees it; none when nobody owns it.
    async fn overview(&self, cell: CellId) -> Result<Option<Overview>, CellError>;

    /// What waits in the cell, at most so many groups of it; none when nobody owns it.
    async fn waiting(&self, cell: CellId, groups_max: usize) -> Result<Option<WaitingGroups>, CellError>;

    /// What is under way of jobs in a cell, as its owner has it in memory; none when nobody owns it.
    async fn activity(&self, cell: CellId, jobs: &[JobId]) -> Result<Option<Vec<JobActivity>>, CellError>;

    /// Tells watchers of something in a cell that was written without its owner, when that is this process.
    async fn tell(&self, cell: CellId, what: Changed) -> Result<(), CellError>;

    /// What these nodes of a cell used in the last hour, as far as its owner remembers.
    async fn loads(&self, cell: CellId, nodes: &[NodeId]) -> Result<Vec<NodeLoad>, CellError>;

    /// The labels that were laid over those of a node have changed: have it say hello again, with
    /// [`crate::App::labels_of`] over its own.
    async fn relabelled(&self, _node: NodeId) {}

    /// What changes from now on, in the cells that this process owns.
    fn news(&self) -> broadcast::Receiver<Arc<News>>;

    /// The last piece of news of each cell that this process owns.
    fn news_at(&self) -> Positions;

    /// What changed in those cells after these positions, if all of it is still remembered; none asks the caller to read
    /// everything anew.
    fn news_since(&self, heard: &Positions) -> Option<Vec<Arc<News>>>;

    /// Whether this process owns the cell.
    fn owns(&self, cell: CellId) -> bool;

    /// Whether this process owns every cell.
    fn owns_all(&self) -> bool {
        true
    }

    /// The addresses of the other processes that own cells.
    async fn owners_elsewhere(&self) -> Vec<String> {
        Vec::new()
    }

    /// The same, as soon as they are others than these.
    async fn owners_other_than(&self, _known: &[String]) -> Vec<String> {
        std::future::pending().await
    }
}

/// A run to be made.
#[derive(Debug, Clone)]
pub struct NewRun {
    /// What is asked; keys are filled in by the engine.
    pub head: RunHead,
    /// The specification that the head pins.
    pub spec: Arc<JobSpec>,
    /// Whether the job is paused.
    pub pause: Option<JobPause>,
}

/// What an owner is asked to do.
#[derive(Debug, Clone)]
pub enum Command {
    /// End a run; `kill` without grace.
    Cancel {
        /// The run.
        run: RunId,
        /// Who.
        by: Box<str>,
        /// Without grace.
        kill: bool,
    },
    /// Do not wait for the back-off.
    RetryNow {
        /// The run.
        run: RunId,
        /// Who.
        by: Box<str>,
    },
    /// Make a run more or less important.
    Prioritise {
        /// The run.
        run: RunId,
        /// Who.
        by: Box<str>,
        /// Larger goes first.
        priority: u16,
    },
    /// Pause or resume a job, as its row is now.
    PauseJob {
        /// The row.
        job: Box<Job>,
        /// Who and why; none resumes.
        pause: Option<Pause>,
    },
    /// Pause or resume the whole cell.
    PauseCell {
        /// Who and why; none resumes.
        pause: Option<Pause>,
    },
    /// Read the triggers of a job again: somebody wrote them. It is done when the owner goes by them.
    TriggersChanged {
        /// The job.
        job: JobId,
    },
    /// Look for calendars that were changed.
    CalendarsChanged,
    /// Do something with a trigger.
    Trigger {
        /// Which.
        key: TriggerKey,
        /// What.
        command: TriggerCommand,
    },
    /// Empty a node by a deadline; with none, take it back into service.
    Drain {
        /// The node.
        node: NodeId,
        /// When patience ends.
        deadline: Option<Timestamp>,
    },
    /// Give up a silent node before its lease is over.
    Lose {
        /// The node.
        node: NodeId,
    },
    /// Do it only while what it is about has this revision: of several who read the same, one acts.
    If {
        /// As it was read.
        revision: u64,
        /// What.
        command: Box<Command>,
    },
}

impl Command {
    /// The run that it is about.
    pub fn run(&self) -> Option<RunId> {
        match self {
            Self::Cancel { run, .. } | Self::RetryNow { run, .. } | Self::Prioritise { run, .. } => {
                Some(*run)
            }
            Self::If { command, .. } => command.run(),
            Self::PauseJob { .. }
            | Self::PauseCell { .. }
            | Self::TriggersChanged { .. }
            | Self::CalendarsChanged
            | Self::Trigger { .. }
            | Self::Drain { .. }
            | Self::Lose { .. } => None,
        }
    }
}

/// Why the owner of a cell could not be asked.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CellError {
    /// Another process owns it: ask there.
    #[error("the cell is owned by {url}")]
    Elsewhere {
        /// Where its API is.
        url: String,
    },
    /// Nobody owns it at the moment, or the owner loads.
    #[error("no scheduler owns the cell at the moment")]
    Nowhere,
    /// The owner lost the cell on the way. It may be done, and that it was asked is written down.
    #[error("the scheduler that owned the cell lost it on the way; it may be done")]
    Deposed,
    /// The store does not answer; whether it was done is unknown.
    #[error("the store does not answer")]
    Unavailable,
}

/// A run in its owner's memory.
#[derive(Debug, Clone)]
pub struct LiveRun {
    /// As it is now.
    pub run: Run,
    /// Why it waits, with the numbers of this moment.
    pub reason: Option<Reason>,
}

/// A cell as its owner sees it.
#[derive(Debug, Clone)]
pub struct Overview {
    /// The cell.
    pub cell: CellId,
    /// Under which epoch.
    pub epoch: Epoch,
    /// Whether it has read its active work.
    pub loaded: bool,
    /// Whether it is paused.
    pub pause: Option<Pause>,
    /// Runs that wait in memory.
    pub waiting: usize,
    /// Runs that hold a node.
    pub running: usize,
    /// What it counted since it was taken.
    pub stats: Stats,
    /// How often its owner gave it up since the process started, because memory and rows differed or a rule was broken.
    pub setbacks: u64,
    /// Its nodes.
    pub nodes: Vec<LiveNode>,
}

/// A node as its owner sees it.
#[derive(Debug, Clone)]
pub struct LiveNode {
    /// The row.
    pub node: Node,
    /// Whether it is connected here.
    pub connected: bool,
    /// Attempts that it holds.
    pub running: usize,
    /// What they reserve of its capacity.
    pub reserved: Resources,
    /// The version of its agent, while it is connected.
    pub agent: Option<Arc<str>>,
    /// When it was last heard of.
    pub seen_at: Option<Timestamp>,
    /// CPU in use, in thousandths of a core.
    pub cpu_milli: u64,
    /// Memory in use.
    pub memory_bytes: u64,
}

/// What a node used, a sample for each minute.
#[derive(Debug, Clone)]
pub struct NodeLoad {
    /// The node.
    pub node: NodeId,
    /// The minute of the last sample.
    pub until: Timestamp,
    /// The oldest first; none for minutes in which it was silent.
    pub samples: Vec<Option<LoadSample>>,
}

/// What a node used in a minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadSample {
    /// CPU in use, in thousandths of a core.
    pub cpu_milli: u64,
    /// Memory in use.
    pub memory_bytes: u64,
    /// Attempts that it held.
    pub running: u32,
}

/// The place of a piece of news in an owner's tenure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    /// The cell.
    pub cell: CellId,
    /// The owner's epoch.
    pub epoch: Epoch,
    /// Counts up within it.
    pub number: u64,
}

/// Something durable changed.
#[derive(Debug, Clone)]
pub struct News {
    /// Which piece of news.
    pub mark: Mark,
    /// What.
    pub what: Changed,
}

/// What changed.
#[derive(Debug, Clone)]
pub enum Changed {
    /// The owner of the cell: what the last one may have left untold is not known.
    Owner,
    /// A run.
    Run {
        /// Which.
        id: RunId,
        /// Of which namespace.
        namespace: Namespace,
        /// Of which job.
        job: mainspring_model::JobId,
        /// Its state now.
        state: RunState,
        /// Its version now.
        version: u64,
        /// Which attempt is current.
        attempt: u32,
        /// When.
        at: Timestamp,
    },
    /// A node.
    Node {
        /// As it is now.
        node: Box<Node>,
    },
    /// A job.
    Job {
        /// Which.
        id: JobId,
        /// Of which namespace.
        namespace: Namespace,
        /// Its name.
        name: Box<str>,
        /// When.
        at: Timestamp,
    },
    /// Where a trigger stands.
    Trigger {
        /// Of which namespace.
        namespace: Namespace,
        /// Which.
        key: TriggerKey,
        /// The next planned moment.
        next: Option<Timestamp>,
        /// Whether it is paused.
        paused: bool,
        /// When.
        at: Timestamp,
    },
    /// A line of a ledger.
    Occurrence {
        /// Of which namespace.
        namespace: Namespace,
        /// Of which trigger.
        key: TriggerKey,
        /// The line.
        line: Box<Occurrence>,
    },
    /// A backfill.
    Backfill {
        /// Of which namespace.
        namespace: Namespace,
        /// Of which trigger.
        key: TriggerKey,
        /// Which.
        id: BackfillId,
        /// Whether it is over.
        over: bool,
        /// Runs that it made.
        made: u64,
        /// When.
        at: Timestamp,
    },
    /// How far a task is. It passes: it has no number and is not remembered.
    Progress {
        /// Of which run.
        run: RunPlace,
        /// How far.
        progress: Progress,
        /// When.
        at: Timestamp,
    },
    /// Why a run waits. It passes, too.
    Reason {
        /// Of which run.
        run: RunPlace,
        /// Why.
        reason: Option<Box<Reason>>,
        /// When.
        at: Timestamp,
    },
    /// A trigger paused itself.
    TriggerPaused {
        /// Of which namespace.
        namespace: Namespace,
        /// Which.
        key: TriggerKey,
        /// The name of its job.
        job: Box<str>,
        /// Why and when.
        pause: Pause,
    },
}

/// A run, and where it belongs.
#[derive(Debug, Clone)]
pub struct RunPlace {
    /// Which.
    pub id: RunId,
    /// Of which namespace.
    pub namespace: Namespace,
    /// Of which job.
    pub job: JobId,
}

impl Changed {
    /// Whether it passes: it has no number, and who was away is not told.
    pub const fn is_passing(&self) -> bool {
        matches!(self, Self::Progress { .. } | Self::Reason { .. })
    }
}

/// The captured output of attempts.
#[async_trait]
pub trait Logs: Send + Sync {
    /// Bytes of an attempt's log from `offset`, at most `limit`.
    async fn read(&self, attempt: AttemptToken, offset: u64, limit: usize) -> Result<LogPart, LogError>;

    /// Returns when the log may have grown beyond `length`, or has ended, or after a while.
    async fn grown(&self, attempt: AttemptToken, length: u64);

    /// Removes the logs of runs that retention removed.
    async fn remove(&self, runs: &[RunId]) -> Result<(), LogError>;
}

/// A part of a log. A log is a sequence of framed chunks (`wire::log`) with their times and streams.
#[derive(Debug, Clone, Default)]
pub struct LogPart {
    /// Where the bytes begin: later than was asked for, if what lay there was dropped.
    pub begin: u64,
    /// The bytes.
    pub data: Bytes,
    /// How long the log is by now.
    pub length: u64,
    /// Whether it is whole: nothing follows.
    pub ended: bool,
}

/// Why a log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// Another process has it.
    #[error("the log is at {url}")]
    Elsewhere {
        /// Where.
        url: String,
    },
    /// It could not be read.
    #[error("the log cannot be read")]
    Io(#[source] std::io::Error),
}

/// Bytes as they come.
pub type Content = Pin<Box<dyn futures_util::Stream<Item = std::io::Result<Bytes>> + Send>>;

/// Files by the digest of their content.
#[async_trait]
pub trait Artifacts: Send + Sync {
    /// Takes what comes, at most `bytes_max` of it. Nothing is kept of what was cut off.
    async fn receive(&self, content: Content, bytes_max: u64) -> Result<Box<dyn Incoming>, ArtifactError>;

    /// The content, or a part of it; none when there is no such file.
    async fn get(&self, digest: Digest, range: Option<Range<u64>>) -> Result<Option<Content>, ArtifactError>;

    /// Removes a file; it is no error when there is none.
    async fn remove(&self, digest: Digest) -> Result<(), ArtifactError>;

    /// Removes what came and was never kept, because the process that took it ended.
    async fn tidy(&self, now: Timestamp) -> Result<(), ArtifactError>;
}

/// A file that came and that nobody can read yet. It is removed unless it is kept.
#[async_trait]
pub trait Incoming: Send + Sync {
    /// What it is.
    fn stored(&self) -> StoredArtifact;

    /// Keeps it, for everybody who knows its digest. Keeping again what is there changes nothing.
    async fn keep(self: Box<Self>) -> Result<(), ArtifactError>;
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredArtifact {
    /// The digest of its content.
    pub digest: Digest,
    /// How long it is.
    pub bytes: u64,
}

/// Why a file could not be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    /// It is too long.
    #[error("the file is longer than {0} bytes")]
    TooLarge(u64),
    /// It could not be read from the caller.
    #[error("the upload was cut off")]
    Upload(#[source] std::io::Error),
    /// It could not be read or written.
    #[error("the file store does not answer")]
    Io(#[source] std::io::Error),
}
