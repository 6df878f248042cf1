//! What happens to a node.

use std::time::Duration;

use bytes::Bytes;
use mainspring_model::{AttemptToken, Cause, Usage};
use mainspring_wire::agent::{NodeUsage, OwnerWord};

/// Something that happened. Words that are late, doubled or of an earlier connection change nothing.
#[derive(Debug)]
pub enum Input {
    /// A stream is open. Its number is on disk and larger than every earlier one.
    Connected {
        /// The number.
        session: u64,
    },
    /// The stream is gone.
    Disconnected,
    /// The other end of the stream said something.
    Heard(OwnerWord),
    /// Preparing an attempt has ended: it can be launched, or why not.
    Prepared {
        /// Which.
        token: AttemptToken,
        /// Whether its outputs are to be copied away after a success, or why it cannot start.
        outcome: Result<bool, String>,
    },
    /// The outputs of an attempt are copied away, or why not.
    Published {
        /// Which.
        token: AttemptToken,
        /// Why not.
        outcome: Result<(), String>,
    },
    /// The sidecar is there, and this is all that its journal knows.
    Attached(Vec<KnownTask>),
    /// The sidecar is gone. Its tasks may well go on.
    Detached,
    /// The sidecar answered a probe.
    Answered,
    /// The sidecar was found, or tells of its journal.
    Stirred,
    /// The sidecar started a task.
    Started {
        /// Which.
        token: AttemptToken,
    },
    /// A task said how far it is.
    Progressed {
        /// Which.
        token: AttemptToken,
        /// How far, in thousandths; as far as before if it did not say.
        permille: Option<u16>,
        /// In its own words.
        message: Box<str>,
    },
    /// A task is over and nothing of it is left, or it never began.
    Ended {
        /// Which.
        token: AttemptToken,
        /// How.
        end: TaskEnd,
    },
    /// What the machine has in use.
    Used(NodeUsage),
    /// Take no more work, and say goodbye when nothing is held.
    Drain,
    /// The agent ends; its tasks stay with the sidecar. Say goodbye if there are none.
    Leave,
    /// Time passed.
    Tick,
}

/// A task in the sidecar's journal.
#[derive(Debug, Clone)]
pub struct KnownTask {
    /// Which attempt.
    pub token: AttemptToken,
    /// How far.
    pub stage: KnownStage,
    /// Whether its job wants it to go on without a lease.
    pub keep: bool,
    /// Whether its outputs are to be copied away after a success.
    pub publishes: bool,
}

/// How far a task in the sidecar's journal is.
#[derive(Debug, Clone)]
pub enum KnownStage {
    /// Executing for so long.
    Executing(Duration),
    /// Ended.
    Over(TaskEnd),
}

/// How the sidecar saw a task end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskEnd {
    /// Why.
    pub cause: Cause,
    /// Whether the sidecar ended it because it was told to, or because its lease passed.
    pub stopped: bool,
    /// How long ago it began; none when it never did.
    pub begun_ago: Option<Duration>,
    /// What it left in its output file.
    pub result: Option<Bytes>,
    /// What it used.
    pub usage: Usage,
}
