//! What a sidecar is told when it starts.

use std::path::PathBuf;
use std::time::Duration;

/// Options of [`crate::run`].
#[derive(Debug, Clone)]
pub struct Options {
    /// The directory of the socket, the journal and the attempts. Made if it is missing; others may pass
    /// through it, to tasks of theirs.
    pub data: PathBuf,
    /// Whether attempts get cgroups where the system lets us make them.
    pub cgroups: bool,
    /// The journal is rewritten when it is longer than this and mostly history.
    pub journal_compact_bytes: u64,
    /// How long it stays without an agent and without a task. The journal keeps what the next one needs to know.
    pub linger: Duration,
    /// The process is killed at this step of its journal, the first being 1. For tests of what follows.
    pub crash_at: Option<u32>,
}

impl Options {
    /// The defaults for a directory.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        Self {
            data: data.into(),
            cgroups: true,
            journal_compact_bytes: 1024 * 1024,
            linger: Duration::from_secs(60),
            crash_at: None,
        }
    }
}
