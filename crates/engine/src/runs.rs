//! The runs in memory: active ones, and ended ones until their end is durable.

use std::sync::Arc;

use mainspring_model::{AttemptToken, Cause, Elapsed, RunHead, RunId, RunStatus, Timestamp};
use rustc_hash::FxHashMap;

use crate::pool::Pool;
use crate::timers::Armed;

/// What the owner knows of the current attempt beyond the row. A new owner learns it from the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// There is none.
    Idle,
    /// Ordered since `at`; the node has not answered.
    Ordered { at: Elapsed },
    /// Ordered since `at`. The node has it on disk; heartbeats from `beat` on list it.
    Accepted { at: Elapsed, beat: u64 },
    /// It executes since `at`.
    Started { at: Elapsed, beat: u64 },
}

/// A run in memory. There may be many, so every byte is paid for a hundred thousand times.
#[derive(Debug)]
pub(crate) struct RunEntry {
    pub(crate) head: Arc<RunHead>,
    /// As it is, or will be when it is next written; its version is the row's (or that of the commit under
    /// way), 0 before the first.
    pub(crate) status: RunStatus,
    pub(crate) shape: u32,
    /// The group it waits in.
    pub(crate) group: Option<u32>,
    pub(crate) phase: Phase,
    /// When it entered its state.
    pub(crate) since: Timestamp,
    /// When the order or stop was last sent, or, once it executes, when the task last reported.
    pub(crate) spoke_at: Elapsed,
    /// Why the owner asked the node to end the attempt.
    pub(crate) stopping: Option<Box<Cause>>,
    pub(crate) armed: Armed,
    /// The deadline of its attempt.
    pub(crate) wait_armed: Armed<Elapsed>,
    pub(crate) dirty: bool,
    /// A commit under way carries it; it stays in memory until that is answered.
    pub(crate) in_flight: bool,
    /// Read from the store and not written since: the read may have been older than our last write.
    pub(crate) adopted: bool,
    /// How long it waited for nodes, as far as this owner saw.
    pub(crate) queued_ms: u32,
    /// Its end is in the roll-ups.
    pub(crate) counted: bool,
}

const _: () = assert!(size_of::<RunEntry>() <= 288, "a waiting run would cost more memory");

impl RunEntry {
    pub(crate) fn token(&self) -> AttemptToken {
        self.status.token(self.head.id)
    }

    /// How important it is by now.
    pub(crate) fn priority(&self) -> u16 {
        self.status.priority(&self.head)
    }

    /// Its place in the queue while it waits.
    pub(crate) fn queue_key(&self) -> (i64, RunId) {
        (self.status.place.map_or(0, |place| place.rank), self.head.id)
    }

    pub(crate) fn concurrency_key(&self) -> &str {
        self.head.keys.as_ref().map_or("", |keys| &keys.concurrency)
    }

    pub(crate) fn rate_key(&self) -> &str {
        self.head.keys.as_ref().map_or("", |keys| &keys.rate)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Runs {
    pub(crate) entries: Pool<RunEntry>,
    by_id: FxHashMap<RunId, u32>,
}

impl Runs {
    pub(crate) fn find(&self, id: RunId) -> Option<usize> {
        self.by_id.get(&id).map(|ix| *ix as usize)
    }

    /// All of them, in no order.
    pub(crate) fn indices(&self) -> impl Iterator<Item = usize> {
        self.by_id.values().map(|ix| *ix as usize)
    }

    pub(crate) fn insert(&mut self, entry: RunEntry) -> usize {
        let id = entry.head.id;
        let ix = self.entries.insert(entry);
        self.by_id.insert(id, ix as u32);
        ix
    }

    pub(crate) fn remove(&mut self, ix: usize) {
        self.by_id.remove(&self.entries[ix].head.id);
        self.entries.remove(ix);
    }
}
