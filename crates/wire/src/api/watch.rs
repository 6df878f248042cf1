//! News as it happens, over server-sent events. The event's id is the mark to resume from (`Last-Event-ID`).

use mainspring_model::{BackfillId, JobId, Namespace, NodeId, RunId, RunState};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{NodeState, OccurrenceOutcome, Reason, Time};

/// A piece of news.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WatchEvent {
    /// Where it stands in the stream: the event's id.
    pub mark: String,
    /// What changed.
    #[serde(flatten)]
    pub what: WatchWhat,
}

/// What changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WatchWhat {
    /// The stream begins: the server that tells it.
    Hello {
        /// The time that schedules and rows go by: the store's.
        now: Time,
        /// The server's version.
        software: String,
    },
    /// A run.
    Run {
        /// Which.
        id: RunId,
        /// Of which namespace.
        namespace: Namespace,
        /// Of which job.
        job: JobId,
        /// Its state now.
        state: RunState,
        /// Its version now.
        version: u64,
        /// Its current attempt.
        attempt: u32,
        /// When.
        at: Time,
    },
    /// A node.
    Node {
        /// Which.
        id: NodeId,
        /// Its name.
        name: String,
        /// Its pool.
        pool: String,
        /// Its state now.
        state: NodeState,
        /// Its revision now.
        revision: u64,
    },
    /// A trigger paused itself, because its runs failed.
    TriggerPaused {
        /// Of which namespace.
        namespace: Namespace,
        /// Of which job.
        job: JobId,
        /// What the job is called.
        job_name: String,
        /// The trigger's name.
        trigger: String,
        /// Why.
        note: String,
        /// When.
        at: Time,
    },
    /// A job was put, paused, resumed or removed.
    Job {
        /// Which.
        id: JobId,
        /// Of which namespace.
        namespace: Namespace,
        /// Its name.
        name: String,
        /// When.
        at: Time,
    },
    /// A trigger stands elsewhere: it fired, passed a moment, or was changed.
    Trigger {
        /// Of which namespace.
        namespace: Namespace,
        /// Of which job.
        job: JobId,
        /// The trigger's name.
        trigger: String,
        /// The next planned moment, if one is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<Time>,
        /// Whether it is paused.
        paused: bool,
        /// When.
        at: Time,
    },
    /// A line of a trigger's ledger.
    Occurrence {
        /// Of which namespace.
        namespace: Namespace,
        /// Of which job.
        job: JobId,
        /// The trigger's name.
        trigger: String,
        /// The planned moment, or the first of several.
        planned: Time,
        /// What became of it.
        outcome: OccurrenceOutcome,
        /// The run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<RunId>,
        /// When it was decided.
        at: Time,
    },
    /// A backfill went on.
    Backfill {
        /// Which.
        id: BackfillId,
        /// Of which namespace.
        namespace: Namespace,
        /// Of which job.
        job: JobId,
        /// The trigger's name.
        trigger: String,
        /// Whether it is over.
        over: bool,
        /// Runs that it made.
        made: u64,
        /// When.
        at: Time,
    },
    /// How far a running task is: the latest, at most once a second for each run. It is not repeated to who was away.
    Progress {
        /// Of which run.
        id: RunId,
        /// Of which namespace.
        namespace: Namespace,
        /// Of which job.
        job: JobId,
        /// How far, from 0 to 1.
        fraction: f64,
        /// The task's words.
        message: String,
        /// When.
        at: Time,
    },
    /// Why a waiting run waits became another, at most once a second for each run. Only of runs that somebody looked at in the
    /// last minute; it is not repeated to who was away.
    Reason {
        /// Of which run.
        id: RunId,
        /// Of which namespace.
        namespace: Namespace,
        /// Of which job.
        job: JobId,
        /// Why; absent when it waits for nothing any more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Box<Reason>>,
        /// When.
        at: Time,
    },
    /// What happened between the last event and this one is forgotten: read everything anew.
    Reset,
}

/// Kinds of events that may be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WatchKind {
    /// Runs.
    Run,
    /// Nodes.
    Node,
    /// Triggers that paused themselves.
    TriggerPaused,
    /// Jobs.
    Job,
    /// Triggers.
    Trigger,
    /// Lines of ledgers.
    Occurrence,
    /// Backfills.
    Backfill,
    /// How far running tasks are.
    Progress,
    /// Why runs wait.
    Reason,
}

impl WatchKind {
    /// Every kind.
    pub const ALL: [Self; 9] = [
        Self::Run,
        Self::Node,
        Self::TriggerPaused,
        Self::Job,
        Self::Trigger,
        Self::Occurrence,
        Self::Backfill,
        Self::Progress,
        Self::Reason,
    ];
    /// Those that are told to who asks for none.
    pub const DEFAULT: [Self; 3] = [Self::Run, Self::Node, Self::TriggerPaused];

    /// The kind's word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Node => "node",
            Self::TriggerPaused => "trigger_paused",
            Self::Job => "job",
            Self::Trigger => "trigger",
            Self::Occurrence => "occurrence",
            Self::Backfill => "backfill",
            Self::Progress => "progress",
            Self::Reason => "reason",
        }
    }
}

impl WatchWhat {
    /// Its kind; none of those that everybody is told.
    pub const fn kind(&self) -> Option<WatchKind> {
        Some(match self {
            Self::Hello { .. } | Self::Reset => return None,
            Self::Run { .. } => WatchKind::Run,
            Self::Node { .. } => WatchKind::Node,
            Self::TriggerPaused { .. } => WatchKind::TriggerPaused,
            Self::Job { .. } => WatchKind::Job,
            Self::Trigger { .. } => WatchKind::Trigger,
            Self::Occurrence { .. } => WatchKind::Occurrence,
            Self::Backfill { .. } => WatchKind::Backfill,
            Self::Progress { .. } => WatchKind::Progress,
            Self::Reason { .. } => WatchKind::Reason,
        })
    }

    /// The event's name on the stream.
    pub const fn name(&self) -> &'static str {
        match (self, self.kind()) {
            (Self::Hello { .. }, _) => "hello",
            (_, Some(kind)) => kind.name(),
            (_, None) => "reset",
        }
    }

    /// Whether it is told as it passes: it has no place in the stream, and is not repeated.
    pub const fn is_passing(&self) -> bool {
        matches!(self, Self::Progress { .. } | Self::Reason { .. })
    }
}
