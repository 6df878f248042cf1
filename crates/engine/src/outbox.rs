//! What the cell owes the world: rows to write and messages to send.
//!
//! "Persist, then act" is kept here and not by the shell's care: a message that follows from a change is
//! held with the batch of that change and comes out only when [`crate::Cell::committed`] says that the
//! batch is durable. A run changed by many events is written once in a batch.

use std::collections::{BTreeSet, VecDeque};

use mainspring_model::{
    Attempt, CounterKey, Counts, JobId, Namespace, Pause, RunEventKind, RunId, Timestamp,
};
use mainspring_store::{Transaction, Write};
use rustc_hash::FxHashMap;

use crate::event::RequestId;
use crate::memory::About;
use crate::message::{Answer, Message};
use crate::runs::Runs;
use crate::triggers::{Line, PER_BATCH_MAX, TriggerPaused};

/// A transaction under way. Until it is answered no other is cut.
#[derive(Debug)]
pub struct Batch {
    /// What to commit. Send the very same again when the outcome is unknown or the store was away.
    pub transaction: Transaction,
    /// Triggers that pause themselves with it, to be written down like what people do.
    pub paused: Vec<TriggerPaused>,
}

#[derive(Debug, Default)]
pub(crate) struct Outbox {
    /// Messages that need no commit.
    pub(crate) now: Vec<Message>,
    /// Messages that follow from changes not yet cut into a batch, in their order.
    held: VecDeque<Held>,
    /// Messages that follow from everything changed so far.
    held_for_all: Vec<Message>,
    /// Runs changed since the last cut.
    pub(crate) dirty_runs: Vec<usize>,
    /// Nodes changed since the last cut.
    pub(crate) dirty_nodes: Vec<usize>,
    /// Attempts that another follows.
    pub(crate) attempts: Vec<Attempt>,
    /// Events, each written with the next version of its run.
    pub(crate) events: Vec<(usize, Timestamp, RunEventKind)>,
    counts: FxHashMap<(JobId, Timestamp), (Namespace, Counts)>,
    /// What the cell remembers about jobs and changed since the last cut.
    pub(crate) memories: BTreeSet<About>,
    /// Triggers changed since the last cut.
    pub(crate) dirty_triggers: Vec<usize>,
    /// Those of them that paused themselves, and whether that is being written.
    pub(crate) paused: FxHashMap<usize, (TriggerPaused, bool)>,
    /// Lines of the ledger, in the order of their runs.
    pub(crate) ledger: VecDeque<Line>,
    /// How many of those there are of each trigger that has any.
    pub(crate) unfinished: FxHashMap<u32, u32>,
    /// Whether a commit is wanted even if there is nothing to write: it proves that the cell is still owned.
    pub(crate) proof_wanted: bool,
    /// Writes that answer a caller.
    pub(crate) asked: Vec<(Write, RequestId)>,
    pub(crate) in_flight: Option<InFlight>,
    /// The number of the last batch.
    pub(crate) seq: u64,
}

/// A message that leaves when what changed of its run is durable.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) run: RunId,
    /// Where the run was when the message was held.
    ix: u32,
    pub(crate) message: Message,
}

/// What to do when the batch is answered.
#[derive(Debug)]
pub(crate) struct InFlight {
    /// For each write, what it was.
    pub(crate) writes: Vec<Written>,
    pub(crate) messages: VecDeque<Held>,
    /// Messages that wait for the whole batch.
    pub(crate) others: Vec<Message>,
    /// What the writes that answer a caller change, in their order.
    pub(crate) asked: Vec<(RequestId, Change)>,
    /// What the writes of memories are about, in their order.
    pub(crate) memories: Vec<About>,
}

/// What takes effect in memory when it is durable.
#[derive(Debug)]
pub(crate) enum Change {
    /// The job's row has this revision now, and this pause.
    Job(JobId, u64, Option<Pause>),
    Cell(Option<Pause>),
    Nothing,
}

/// What a write of a batch was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    InsertRun(usize),
    UpdateRun(usize),
    Node(usize),
    Trigger(usize),
    Asked,
    Memory,
    History,
}

impl Written {
    /// The run that it was about.
    pub(crate) fn run(&self) -> Option<usize> {
        match self {
            Self::InsertRun(ix) | Self::UpdateRun(ix) => Some(*ix),
            _ => None,
        }
    }
}

impl Outbox {
    /// Sends once everything changed so far is durable.
    pub(crate) fn after_all(&mut self, message: Message) {
        self.held_for_all.push(message);
    }

    /// Sends once everything changed so far is durable, and at least one more commit has passed the fence.
    pub(crate) fn after_proof(&mut self, message: Message) {
        self.proof_wanted = true;
        self.held_for_all.push(message);
    }

    /// Sends once what changed of the run is durable.
    pub(crate) fn after_run(&mut self, id: RunId, ix: usize, message: Message) {
        self.held.push_back(Held { run: id, ix: ix as u32, message });
    }

    pub(crate) fn count(&mut self, namespace: &Namespace, job: JobId, hour: Timestamp, counts: &Counts) {
        let (_, sum) =
            self.counts.entry((job, hour)).or_insert_with(|| (namespace.clone(), Counts::default()));
        sum.add(counts);
    }

    pub(crate) fn take_counts(&mut self) -> Vec<Write> {
        // In key order: a replay of the same events makes the same transaction.
        let mut counts: Vec<_> = self.counts.drain().collect();
        counts.sort_by_key(|(key, _)| *key);
        counts
            .into_iter()
            .map(|((job, hour), (namespace, counts))| {
                Write::AddCounts(Box::new((CounterKey { namespace, job, hour }, counts)))
            })
            .collect()
    }

    /// All that is held.
    pub(crate) fn take_held(&mut self) -> VecDeque<Held> {
        let room = VecDeque::with_capacity(self.held.len() + self.held.len() / 4);
        std::mem::replace(&mut self.held, room)
    }

    /// What is held for everything.
    pub(crate) fn take_held_for_all(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.held_for_all)
    }

    /// Those of the first `max` held messages whose runs are not to be written; the others keep their places.
    pub(crate) fn take_written(&mut self, max: usize, runs: &Runs) -> VecDeque<Held> {
        let looked = self.held.len().min(max);
        let (mut go, mut wait) = (VecDeque::with_capacity(looked), Vec::new());
        for held in self.held.drain(..looked) {
            let entry = runs.entries.get(held.ix as usize);
            if entry.is_some_and(|entry| entry.dirty && entry.head.id == held.run) {
                wait.push(held);
            } else {
                go.push_back(held);
            }
        }
        for held in wait.into_iter().rev() {
            self.held.push_front(held);
        }
        go
    }

    /// What may be said at once.
    pub(crate) fn take_now(&mut self) -> Vec<Message> {
        renew(&mut self.now)
    }

    /// A line of this trigger goes with the batch; whether it was the last.
    pub(crate) fn line_cut(&mut self, trigger: u32) -> bool {
        let Some(lines) = self.unfinished.get_mut(&trigger) else { return false };
        *lines -= 1;
        let last = *lines == 0;
        if last {
            self.unfinished.remove(&trigger);
        }
        last
    }

    /// How many writes there are beside those of runs.
    pub(crate) fn other_writes(&self) -> usize {
        self.events.len()
            + self.dirty_nodes.len()
            + self.attempts.len()
            + self.asked.len()
            + self.counts.len()
            + self.memories.len()
            + self.ledger.len().min(PER_BATCH_MAX)
            + self.dirty_triggers.len().min(PER_BATCH_MAX)
    }

    /// Everything owed about a run is void. Tells the requests that still wait, and what they would have been answered.
    pub(crate) fn drop_run(&mut self, ix: usize, id: RunId) -> Vec<(RequestId, Answer)> {
        self.dirty_runs.retain(|have| *have != ix);
        self.events.retain(|(have, ..)| *have != ix);
        self.attempts.retain(|attempt| attempt.token.run != id);
        let mut unanswered = Vec::new();
        self.held.retain(|held| {
            let is_void = held.run == id;
            if let (true, Message::Reply { request, answer }) = (is_void, &held.message) {
                unanswered.push((*request, answer.clone()));
            }
            !is_void
        });
        unanswered
    }

    /// Whether there is anything to write.
    pub(crate) fn has_writes(&self) -> bool {
        self.proof_wanted || self.has_rows()
    }

    fn has_rows(&self) -> bool {
        !(self.dirty_runs.is_empty()
            && self.dirty_nodes.is_empty()
            && self.attempts.is_empty()
            && self.events.is_empty()
            && self.counts.is_empty()
            && self.asked.is_empty()
            && self.memories.is_empty()
            && self.ledger.is_empty()
            && self.dirty_triggers.is_empty())
    }
}

/// Takes a list away and leaves one that has room for as much again, and a little more.
fn renew<T>(list: &mut Vec<T>) -> Vec<T> {
    let room = Vec::with_capacity(list.len() + list.len() / 4);
    std::mem::replace(list, room)
}
