//! An attempt that the node holds, from the order to the acknowledgement of its end.

use std::sync::Arc;

use bytes::Bytes;
use mainspring_model::{AttemptToken, Cause, JobSpec, Timestamp, Usage};

/// What is to be executed.
#[derive(Debug, Clone)]
pub struct Order {
    /// The attempt.
    pub token: AttemptToken,
    /// What the job says.
    pub spec: Arc<JobSpec>,
    /// Where the run belongs.
    pub namespace: String,
    /// Its parameters, a JSON object or nothing.
    pub params: Bytes,
    /// What it continues from.
    pub checkpoint: Option<Bytes>,
    /// How many attempts there may be.
    pub attempts_max: u32,
    /// When the run is given up, on the owner's clock: for the task to know, not to act on.
    pub deadline: Option<Timestamp>,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// Why.
    pub cause: Cause,
    /// Whether it ended because somebody but the task wanted it to.
    pub stopped: bool,
    /// When the task began, on the node's clock; none when it never did.
    pub begun_at: Option<Timestamp>,
    /// What it returned.
    pub result: Option<Bytes>,
    /// What it used.
    pub usage: Usage,
}

impl Ending {
    /// The end of an attempt that never executed.
    pub(super) fn before_start(cause: Cause, stopped: bool) -> Self {
        let usage = Usage { silent: true, ..Usage::default() };
        Self { cause, stopped, begun_at: None, result: None, usage }
    }
}

/// What the node knows of an attempt.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) stage: Stage,
    /// Whether it goes on without a lease.
    pub(super) keep: bool,
    /// Whether its outputs are copied away after a success.
    pub(super) publishes: bool,
    /// How far it said that it is, in thousandths.
    pub(super) permille: u16,
    /// What it said last about that, until it is told.
    pub(super) progress: Option<Box<str>>,
    /// Who wants it to end.
    pub(super) stop: Option<StopBy>,
}

/// How far it is.
#[derive(Debug)]
pub(super) enum Stage {
    /// Its files are being fetched. The sidecar does not know it.
    Preparing,
    /// The sidecar was told and has not answered.
    Launching { deadline: Option<Timestamp> },
    /// The task executes.
    Executing { since: Timestamp },
    /// The task ended well and its outputs are being copied away.
    Publishing { since: Timestamp, ending: Box<Ending> },
    /// It ended, and the owner has not acknowledged that.
    Over { ending: Box<Ending>, said_at: Option<Timestamp> },
}

/// Who wants an attempt to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StopBy {
    /// The owner said so.
    Owner,
    /// The node's lease ended.
    Lease,
}

impl Held {
    pub(super) fn new(stage: Stage) -> Self {
        Self { stage, keep: false, publishes: false, permille: 0, progress: None, stop: None }
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over { .. })
    }

    pub(super) fn over(ending: Ending) -> Self {
        Self::new(Stage::Over { ending: Box::new(ending), said_at: None })
    }
}
