//! The scheduler of one cell: plain state, one function in, effects out.
//!
//! ```text
//! cell.handle(now, event)            decides, changes memory, marks what changed
//! cell.take_messages()               what may be said at once
//! cell.cut(now) -> Batch             what must be written; one batch is under way at a time
//! cell.committed(now, outcomes)      releases the messages that waited for the batch
//! ```
//!
//! No IO, no clock, no chance, no async: the same events give the same effects. Each kind of event is one
//! file in `commands`; the placement pass is in `place`; what ends a run is in `lifecycle`.

use mainspring_model::{Epoch, ErrorCode, Node, Pause, Run, RunEvent, RunId, RunState, Timestamp, limits};
use mainspring_store::{Conflict, Fence, Outcome, RunUpdate, Transaction, Write};

use crate::concurrency::Concurrency;
use crate::config::Config;
use crate::event::Event;
use crate::load::Loading;
use crate::message::{Answer, Message};
use crate::nodes::Nodes;
use crate::outbox::{Batch, InFlight, Outbox, Written};
use crate::overflow::Overflow;
use crate::queue::Queue;
use crate::rate::RateLimits;
use crate::runs::Runs;
use crate::shape::Shapes;
use crate::stats::Stats;
use crate::suspects::Suspects;
use crate::timers::{Armed, Subject, Timers};

/// Runs written at once; leaves room in a transaction for nodes, attempts, events and counts.
const RUNS_PER_BATCH_MAX: usize = limits::TRANSACTION_WRITES_MAX / 4;

/// The scheduler of one cell under one epoch.
#[derive(Debug)]
pub struct Cell {
    pub(crate) config: Config,
    pub(crate) epoch: Epoch,
    /// The owner may act until then; renewals move it.
    pub(crate) lease_until: Timestamp,
    pub(crate) loading: Option<Loading>,
    pub(crate) pause: Option<Pause>,
    pub(crate) runs: Runs,
    pub(crate) shapes: Shapes,
    pub(crate) queue: Queue,
    pub(crate) nodes: Nodes,
    pub(crate) timers: Timers,
    pub(crate) concurrency: Concurrency,
    pub(crate) rates: RateLimits,
    pub(crate) overflow: Overflow,
    pub(crate) outbox: Outbox,
    /// The latest moment an event came.
    pub(crate) last_now: Timestamp,
    /// Attempts of jobs that lost a node and have not succeeded since.
    pub(crate) suspects: Suspects,
    /// Grows whenever a node gains room that the queue did not take.
    pub(crate) room: u64,
    pub(crate) poll_armed: Armed,
    pub(crate) stats: Stats,
    /// The store contradicted the memory: the cell must be given up and loaded anew.
    diverged: Option<String>,
}

/// What a new owner knows before it loads: its lease, and the cell's nodes and pause as read from the store.
#[derive(Debug, Clone)]
pub struct Tenure {
    /// The granted epoch.
    pub epoch: Epoch,
    /// The owner may act until then, by its own clock, counted from before it asked.
    pub lease_until: Timestamp,
    /// The nodes that have not left.
    pub nodes: Vec<Node>,
    /// Whether the cell is paused.
    pub pause: Option<Pause>,
}

impl Cell {
    /// A cell under a fresh lease. It loads before it acts: see [`Self::take_messages`] for the first reads.
    pub fn new(config: Config, tenure: Tenure, now: Timestamp) -> Self {
        let Tenure { epoch, lease_until, nodes, pause } = tenure;
        let mut cell = Self {
            config,
            epoch,
            lease_until,
            loading: None,
            pause,
            runs: Runs::default(),
            shapes: Shapes::default(),
            queue: Queue::default(),
            nodes: Nodes::default(),
            timers: Timers::default(),
            concurrency: Concurrency::default(),
            rates: RateLimits::default(),
            overflow: Overflow::default(),
            outbox: Outbox::default(),
            last_now: now,
            suspects: Suspects::default(),
            room: 1,
            poll_armed: Armed::NOT,
            stats: Stats::default(),
            diverged: None,
        };
        cell.begin_loading(now, nodes);
        cell
    }

    /// One event. A cell whose lease ended does nothing at all: it may have a successor.
    pub fn handle(&mut self, now: Timestamp, event: Event) {
        self.last_now = now;
        if now >= self.lease_until || self.diverged.is_some() {
            self.refuse(&event);
            return;
        }
        // What is not loaded yet must not be taken for a stranger, and no time passes for it.
        if self.loading.is_some() && !matches!(event, Event::ShelfRead(_)) {
            self.refuse(&event);
            return;
        }
        match event {
            Event::Submit(submission) => self.submit(now, *submission),
            Event::Cancel { request, run, row, by, kill } => {
                self.cancel(now, request, (run, row), by, kill);
            }
            Event::RetryNow { request, run, row, by } => self.retry_now(now, request, (run, row), by),
            Event::PauseJob { request, job, pause } => self.pause_job(now, request, *job, pause),
            Event::PauseCell { request, pause } => self.pause_cell(now, request, pause),
            Event::Drain { request, node, deadline } => self.drain(now, request, node, deadline),
            Event::Hello(hello) => self.hello(now, *hello),
            Event::Heartbeat(heartbeat) => self.heartbeat(now, heartbeat),
            Event::Report(report) => self.report(now, *report),
            Event::Goodbye { node, session } => self.goodbye(now, node, session),
            Event::ShelfRead(read) => self.shelf_read(now, *read),
            Event::Hint => self.poll_arrivals(now),
            Event::Tick => self.tick(now),
        }
    }

    /// What may be said at once.
    pub fn take_messages(&mut self) -> Vec<Message> {
        self.outbox.take_now()
    }

    /// When [`Event::Tick`] is next of use.
    pub fn next_deadline(&self) -> Option<Timestamp> {
        self.timers.next()
    }

    /// The lease was renewed: the owner may act until `until`.
    pub fn renewed(&mut self, until: Timestamp) {
        self.lease_until = self.lease_until.max(until);
    }

    /// Why the cell must be given up and loaded anew, if it must.
    pub fn diverged(&self) -> Option<&str> {
        self.diverged.as_deref()
    }

    /// Whether the cell has read its active work and acts.
    pub fn is_loaded(&self) -> bool {
        self.loading.is_none()
    }

    /// The cell's epoch.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Everything to be written since the last cut, once each. None while a batch is under way, or when
    /// there is nothing to write.
    pub fn cut(&mut self) -> Option<Batch> {
        if self.outbox.in_flight.is_some() || self.diverged.is_some() {
            return None;
        }
        if !self.outbox.has_writes() {
            let held = self.outbox.take_held();
            self.outbox.now.extend(held.into_iter().map(|(_, message)| message));
            return None;
        }
        let runs = self.outbox.dirty_runs.len().min(RUNS_PER_BATCH_MAX);
        // Counts are added on the way, mostly one for each job.
        let mut writes = Vec::with_capacity(runs + self.outbox.other_writes() + self.shapes.jobs.len());
        let mut written = Vec::with_capacity(writes.capacity());
        self.cut_runs(&mut writes, &mut written);
        self.cut_nodes(&mut writes, &mut written);
        for attempt in self.outbox.attempts.drain(..) {
            writes.push(Write::InsertAttempt(Box::new(attempt)));
            written.push(Written::History);
        }
        for (write, request) in self.outbox.asked.drain(..) {
            writes.push(write);
            written.push(Written::Asked(request));
        }
        let counts = self.outbox.take_counts();
        written.resize(written.len() + counts.len(), Written::History);
        writes.extend(counts);
        self.outbox.seq += 1;
        let fence = Fence { cell: self.config.cell, epoch: self.epoch, seq: self.outbox.seq };
        let mut messages = self.outbox.take_held();
        if !self.outbox.dirty_runs.is_empty() {
            messages = self.hold_on(messages);
        }
        self.outbox.in_flight = Some(InFlight { writes: written, messages });
        Some(Batch { transaction: Transaction::fenced(fence, writes) })
    }

    /// What is about a run that did not fit into this batch waits for the next.
    fn hold_on(&mut self, messages: Vec<(Option<RunId>, Message)>) -> Vec<(Option<RunId>, Message)> {
        let dirty = |run: Option<RunId>| {
            run.and_then(|id| self.runs.find(id)).is_some_and(|ix| self.runs.entries[ix].dirty)
        };
        let (wait, go): (Vec<_>, Vec<_>) = messages.into_iter().partition(|(run, _)| dirty(*run));
        for (run, message) in wait {
            self.outbox.after_commit(run, message);
        }
        go
    }

    fn cut_runs(&mut self, writes: &mut Vec<Write>, written: &mut Vec<Written>) {
        let count = self.outbox.dirty_runs.len().min(RUNS_PER_BATCH_MAX);
        let mut runs = std::mem::take(&mut self.outbox.dirty_runs);
        for ix in runs.drain(..count) {
            self.count_end(ix);
            let entry = &mut self.runs.entries[ix];
            entry.dirty = false;
            entry.in_flight = true;
            let expected = entry.status.version;
            entry.status.version += 1;
            entry.status.epoch = self.epoch;
            let status = entry.status.clone();
            if expected == 0 {
                writes.push(Write::InsertRun(Run { head: entry.head.clone(), status }));
                written.push(Written::InsertRun(ix));
            } else {
                writes.push(Write::UpdateRun(RunUpdate { id: entry.head.id, expected, status }));
                written.push(Written::UpdateRun(ix));
            }
        }
        self.outbox.dirty_runs = runs;
        let events = std::mem::take(&mut self.outbox.events);
        for (ordinal, (ix, at, kind)) in events.into_iter().enumerate() {
            let entry = &self.runs.entries[ix];
            if entry.dirty {
                self.outbox.events.push((ix, at, kind));
                continue;
            }
            let event = RunEvent {
                run: entry.head.id,
                version: entry.status.version,
                ordinal: ordinal as u16,
                at,
                kind,
            };
            writes.push(Write::InsertEvent(Box::new(event)));
            written.push(Written::History);
        }
    }

    fn cut_nodes(&mut self, writes: &mut Vec<Write>, written: &mut Vec<Written>) {
        for ix in std::mem::take(&mut self.outbox.dirty_nodes) {
            let Some(entry) = self.nodes.entries.get_mut(ix) else { continue };
            entry.dirty = false;
            entry.stored_revision += 1;
            entry.node.revision = entry.stored_revision;
            writes.push(Write::PutNode(Box::new(entry.node.clone())));
            written.push(Written::Node(ix));
        }
    }

    /// The batch is durable, with these outcomes. Messages that waited for it are released.
    pub fn committed(&mut self, now: Timestamp, outcomes: &[Outcome]) {
        let Some(in_flight) = self.outbox.in_flight.take() else { return };
        assert_eq!(in_flight.writes.len(), outcomes.len(), "one outcome for each write");
        let mut refused_runs = Vec::new();
        for (written, outcome) in in_flight.writes.iter().zip(outcomes) {
            match (written, outcome) {
                (Written::InsertRun(ix) | Written::UpdateRun(ix), Outcome::Applied) => self.settle(now, *ix),
                (Written::InsertRun(ix), Outcome::Conflict(conflict)) => {
                    let existing = match conflict {
                        Conflict::KeyTaken(Some(run)) => *run,
                        _ => self.runs.entries[*ix].head.id,
                    };
                    refused_runs.push((*ix, self.runs.entries[*ix].head.id, existing));
                }
                (Written::UpdateRun(ix), Outcome::Conflict(_)) if self.runs.entries[*ix].adopted => {
                    // It was read from the store before an earlier change of ours was written: read it again.
                    let id = self.runs.entries[*ix].head.id;
                    refused_runs.push((*ix, id, id));
                }
                (Written::UpdateRun(ix), Outcome::Conflict(conflict)) => {
                    let id = self.runs.entries[*ix].head.id;
                    self.diverged = Some(format!("{id} was changed by somebody else: {conflict:?}"));
                }
                (Written::Node(ix), Outcome::Conflict(conflict)) => self.node_conflict(*ix, conflict),
                (Written::Asked(request), Outcome::Conflict(_)) => self.outbox.now.push(Message::Reply {
                    request: *request,
                    answer: Answer::Refused {
                        code: ErrorCode::Conflict,
                        message: "it changed since it was read; read it again".into(),
                    },
                }),
                (Written::Asked(request), Outcome::Applied) => {
                    self.outbox.now.push(Message::Reply { request: *request, answer: Answer::Done });
                }
                (Written::Node(_), Outcome::Applied) | (Written::History, _) => {}
            }
        }
        self.outbox.now.reserve(in_flight.messages.len());
        for (run, message) in in_flight.messages {
            let refused = refused_runs.iter().find(|(_, id, _)| Some(*id) == run);
            match (refused, message) {
                (None, message) => self.outbox.now.push(message),
                (Some((_, _, existing)), Message::Reply { request, answer: Answer::Submitted { .. } }) => {
                    let answer = Answer::Submitted { run: *existing, duplicate: true };
                    self.outbox.now.push(Message::Reply { request, answer });
                }
                (Some(_), _) => {}
            }
        }
        for (ix, ..) in refused_runs {
            self.withdraw(now, ix);
        }
    }

    /// A write of the run is durable. A run that ended, left the cell or waits in the store is forgotten
    /// when nothing about it is owed any more.
    fn settle(&mut self, now: Timestamp, ix: usize) {
        let entry = &mut self.runs.entries[ix];
        entry.in_flight = false;
        entry.adopted = false;
        if entry.dirty {
            return;
        }
        if entry.status.state.is_terminal() || entry.status.cell != self.config.cell {
            return self.forget(ix);
        }
        match entry.status.state {
            RunState::Waiting if entry.group.is_none() => {
                // It was left to the store while this write was under way; a read since may have missed it.
                let key = entry.queue_key();
                self.note_spilled(ix, key);
                self.forget(ix);
                self.read_in();
            }
            RunState::Ready | RunState::Failed if entry.armed == Armed::NOT => {
                let due = Timestamp::from_micros(entry.status.place.map_or(0, |place| place.rank));
                if due <= self.overflow.horizon { self.arm_run(now, ix) } else { self.forget(ix) }
            }
            _ => {}
        }
    }

    /// The run as it is now in memory, for reading.
    pub fn run(&self, id: RunId) -> Option<Run> {
        let entry = &self.runs.entries[self.runs.find(id)?];
        Some(Run { head: entry.head.clone(), status: entry.status.clone() })
    }

    pub(crate) fn mark(&mut self, ix: usize) {
        let entry = &mut self.runs.entries[ix];
        if !entry.dirty {
            entry.dirty = true;
            self.outbox.dirty_runs.push(ix);
        }
    }

    pub(crate) fn mark_node(&mut self, ix: usize) {
        let entry = &mut self.nodes.entries[ix];
        if !entry.dirty {
            entry.dirty = true;
            self.outbox.dirty_nodes.push(ix);
        }
    }

    pub(crate) fn reply_now(&mut self, request: crate::event::RequestId, answer: Answer) {
        self.outbox.now.push(Message::Reply { request, answer });
    }

    /// Whoever asked learns that this cell cannot answer; nodes are silent here and try another.
    fn refuse(&mut self, event: &Event) {
        let request = match event {
            Event::Submit(submission) => submission.request,
            Event::Cancel { request, .. }
            | Event::RetryNow { request, .. }
            | Event::PauseJob { request, .. }
            | Event::PauseCell { request, .. }
            | Event::Drain { request, .. } => *request,
            Event::Hello(_)
            | Event::Heartbeat(_)
            | Event::Report(_)
            | Event::Goodbye { .. }
            | Event::ShelfRead(_)
            | Event::Hint
            | Event::Tick => return,
        };
        let message = "this scheduler does not own the cell now".to_owned();
        self.reply_now(request, Answer::Refused { code: ErrorCode::NotOwner, message });
    }

    fn tick(&mut self, now: Timestamp) {
        while let Some(subject) = self.timers.pop_due(now) {
            match subject {
                Subject::Run(ix) => self.run_due(now, ix),
                Subject::Node(ix) => self.node_due(now, ix),
                Subject::Group(ix) => self.group_due(now, ix),
                Subject::Class(ix) => self.class_due(now, ix),
                Subject::Poll => {
                    self.poll_armed = Armed::NOT;
                    self.poll_arrivals(now);
                }
                Subject::Horizon => self.horizon_due(now),
            }
        }
    }
}
