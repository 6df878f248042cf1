//! Events of a run that its row's timestamps cannot tell: who cancelled it, which node was lost, where
//! it was handed. The ordinary timeline (accepted, queued, placed, started, finished) is in the row.

use serde::{Deserialize, Serialize};

use crate::cell::CellId;
use crate::id::{NodeId, RunId};
use crate::time::Timestamp;

/// One remarkable thing that happened to a run. Its key is (run, version, ordinal), so writing it twice
/// is writing it once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEvent {
    /// The run.
    pub run: RunId,
    /// The version of the row that the same commit wrote.
    pub version: u64,
    /// Tells events of one version apart.
    pub ordinal: u16,
    /// When.
    pub at: Timestamp,
    /// What.
    pub kind: RunEventKind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RunEventKind {
    /// Somebody asked for its end.
    CancelRequested {
        /// Who.
        by: Box<str>,
    },
    /// Somebody skipped the back-off.
    RetriedNow {
        /// Who.
        by: Box<str>,
    },
    /// Somebody made it more or less important.
    Prioritised {
        /// Who.
        by: Box<str>,
        /// What it was.
        from: u16,
        /// What it is now.
        to: u16,
    },
    /// The node of the attempt was lost.
    NodeLost {
        /// The node.
        node: NodeId,
        /// The attempt.
        attempt: u32,
    },
    /// The attempt survived the change of its owner or its node's reconnection.
    Reattached {
        /// The node.
        node: NodeId,
        /// The attempt.
        attempt: u32,
    },
    /// The cell could not place it and gave it to another.
    HandedOver {
        /// The cell that has it now.
        to: CellId,
    },
    /// Two attempts may have executed at once.
    MaybeDoubled {
        /// The earlier attempt, which was heard of after it had been given up.
        attempt: u32,
    },
    /// A newer run of the same key replaced it.
    Overlapped,
}
