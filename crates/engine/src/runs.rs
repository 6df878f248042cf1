//! The runs in memory: active ones, and ended ones until their end is durable.

use std::sync::Arc;

use mainspring_model::{AttemptToken, Cause, RunHead, RunId, RunStatus, Timestamp};
use rustc_hash::FxHashMap;
use slab::Slab;

/// What the owner knows of the current attempt beyond the row. A new owner learns it from the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// There is none.
    Idle,
    /// Ordered; the node has not answered.
    Ordered,
    /// The node has it on disk; heartbeats from `beat` on list it.
    Accepted { beat: u64 },
    /// It executes.
    Started { beat: u64 },
}

#[derive(Debug)]
pub(crate) struct RunEntry {
    pub(crate) head: Arc<RunHead>,
    pub(crate) status: RunStatus,
    pub(crate) shape: usize,
    /// The group it waits in.
    pub(crate) group: Option<usize>,
    pub(crate) phase: Phase,
    /// When it entered its state, or when the order or stop was last sent.
    pub(crate) since: Timestamp,
    /// When the task last said something.
    pub(crate) spoke_at: Timestamp,
    /// Why the owner asked the node to end the attempt.
    pub(crate) stopping: Option<Box<Cause>>,
    pub(crate) armed: Option<Timestamp>,
    /// The row's version in the store (or in the commit under way); 0 when it has none.
    pub(crate) stored_version: u64,
    pub(crate) dirty: bool,
    /// A commit under way carries it; it stays in memory until that is answered.
    pub(crate) in_flight: bool,
    /// Read from the store and not written since: the read may have been older than our last write.
    pub(crate) adopted: bool,
    /// Its end is in the roll-ups.
    pub(crate) counted: bool,
}

impl RunEntry {
    pub(crate) fn token(&self) -> AttemptToken {
        self.status.token(self.head.id)
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
    pub(crate) entries: Slab<RunEntry>,
    by_id: FxHashMap<RunId, usize>,
}

impl Runs {
    pub(crate) fn find(&self, id: RunId) -> Option<usize> {
        self.by_id.get(&id).copied()
    }

    pub(crate) fn insert(&mut self, entry: RunEntry) -> usize {
        let id = entry.head.id;
        let ix = self.entries.insert(entry);
        self.by_id.insert(id, ix);
        ix
    }

    pub(crate) fn remove(&mut self, ix: usize) -> RunEntry {
        let entry = self.entries.remove(ix);
        self.by_id.remove(&entry.head.id);
        entry
    }
}
