//! The scheduler of one cell: plain state, one function in, effects out.
//!
//! ```text
//! cell.handle(now, event)            decides, changes memory, marks what changed
//! cell.take_messages()               what may be said at once
//! cell.cut() -> Batch                what must be written; one batch is under way at a time
//! cell.committed(now, outcomes)      releases the messages that waited for the batch
//! ```
//!
//! No IO, no clock, no chance, no async: the same events give the same effects. Each kind of event is one
//! file in `commands`; the placement pass is in `place`; what ends a run is in `lifecycle`.

use std::collections::BTreeSet;

use mainspring_model::{Elapsed, Epoch, ErrorCode, Node, NodeId, Pause, Run, RunId, Timestamp};
use mainspring_store::{Outcome, Record};

use crate::concurrency::Concurrency;
use crate::config::Config;
use crate::deadlines::earliest;
use crate::event::{Event, Heartbeat};
use crate::load::Loading;
use crate::memory::Memory;
use crate::message::{Answer, Message};
use crate::nodes::Nodes;
use crate::now::{Deadlines, Now};
use crate::outbox::Outbox;
use crate::overdue::Overdue;
use crate::overflow::Overflow;
use crate::owner::OwnLease;
use crate::queue::Queue;
use crate::rate::RateLimits;
use crate::runs::Runs;
use crate::shape::Shapes;
use crate::stats::Stats;
use crate::suspects::Suspects;
use crate::timers::{Armed, Subject, Timers, Wait, Waits};
use crate::triggers::Triggers;

/// Triggers looked at before what they made is written.
const TRIGGERS_AT_ONCE: usize = 500;

/// The scheduler of one cell under one epoch.
#[derive(Debug)]
pub struct Cell {
    pub(crate) config: Config,
    pub(crate) epoch: Epoch,
    /// How long the owner may act; renewals move it.
    pub(crate) lease: OwnLease,
    /// The cell was taken from a member that may still extend the leases of its nodes.
    pub(crate) succeeds_other: bool,
    pub(crate) loading: Option<Loading>,
    pub(crate) pause: Option<Pause>,
    pub(crate) runs: Runs,
    pub(crate) shapes: Shapes,
    pub(crate) queue: Queue,
    pub(crate) nodes: Nodes,
    /// Deadlines in the store's time.
    pub(crate) timers: Timers,
    /// Deadlines in elapsed time.
    pub(crate) waits: Waits,
    pub(crate) concurrency: Concurrency,
    pub(crate) rates: RateLimits,
    pub(crate) memory: Memory,
    pub(crate) overflow: Overflow,
    pub(crate) overdue: Overdue,
    pub(crate) triggers: Triggers,
    pub(crate) outbox: Outbox,
    /// The store's time of the latest event.
    pub(crate) last_now: Timestamp,
    /// Elapsed time of the latest event.
    pub(crate) elapsed: Elapsed,
    /// Attempts of jobs that lost a node and have not succeeded since.
    pub(crate) suspects: Suspects,
    /// Grows whenever a node gains room that the queue did not take.
    pub(crate) room: u64,
    pub(crate) poll_armed: Armed<Elapsed>,
    pub(crate) stats: Stats,
    /// The store contradicted the memory: the cell must be given up and loaded anew.
    pub(crate) diverged: Option<String>,
    /// A rule of the engine was broken, whatever the store says.
    pub(crate) is_defect: bool,
    /// What the store answered after the lease, in order. It is heard when the lease is renewed.
    unheard: Vec<StoreAnswer>,
    /// What is said after the lease: refusals, and answers to heartbeats while the store is away.
    said_stranded: Vec<Message>,
    /// Nodes whose reports were not heard after the lease: they have to say hello again when it is renewed.
    unreported: BTreeSet<NodeId>,
}

/// What the store answered.
#[derive(Debug)]
enum StoreAnswer {
    Read(Event),
    Committed(Vec<Outcome>),
}

/// What a new owner knows before it loads: its lease, and the cell's nodes and pause as read from the store.
#[derive(Debug, Clone)]
pub struct Tenure {
    /// The granted epoch.
    pub epoch: Epoch,
    /// How long the owner may act, counted from before it asked.
    pub lease: OwnLease,
    /// Whether the cell was taken from a member that may still extend the leases of its nodes.
    pub succeeds_other: bool,
    /// The nodes that have not left.
    pub nodes: Vec<Node>,
    /// Whether the cell is paused.
    pub pause: Option<Pause>,
    /// What earlier owners wrote down: all records of [`Tenure::memories_of`].
    pub memories: Vec<Record>,
}

impl Cell {
    /// A cell under a fresh lease. It loads before it acts: see [`Self::take_messages`] for the first reads.
    pub fn new(config: Config, tenure: Tenure, now: Now) -> Self {
        let Tenure { epoch, lease, succeeds_other, nodes, pause, memories } = tenure;
        let mut cell = Self {
            config,
            epoch,
            lease,
            succeeds_other,
            loading: None,
            pause,
            runs: Runs::default(),
            shapes: Shapes::default(),
            queue: Queue::default(),
            nodes: Nodes::default(),
            timers: Timers::default(),
            waits: Waits::default(),
            concurrency: Concurrency::default(),
            rates: RateLimits::default(),
            memory: Memory::default(),
            overflow: Overflow::default(),
            overdue: Overdue::default(),
            triggers: Triggers::default(),
            outbox: Outbox::default(),
            last_now: now.store,
            elapsed: now.elapsed,
            suspects: Suspects::default(),
            room: 1,
            poll_armed: Armed::NOT,
            stats: Stats::default(),
            diverged: None,
            is_defect: false,
            unheard: Vec::new(),
            said_stranded: Vec::new(),
            unreported: BTreeSet::new(),
        };
        cell.remember(&memories);
        cell.begin_loading(now.store, nodes);
        cell
    }

    /// One event. A cell whose lease ended decides nothing: it may have a successor. While its store is away it still
    /// extends the leases of its nodes. If it turns out to have no successor, what the store answered meanwhile is heard
    /// then, because it is not asked for again.
    pub fn handle(&mut self, now: Now, event: Event) {
        self.clock(now);
        if self.diverged.is_some() {
            return self.refuse(&event);
        }
        if self.elapsed >= self.lease.until {
            return self.stranded(event);
        }
        self.resume();
        self.take(self.last_now, event);
    }

    /// The batch is durable, with these outcomes. Messages that waited for it are released.
    pub fn committed(&mut self, now: Now, outcomes: &[Outcome]) {
        self.clock(now);
        if self.elapsed >= self.lease.until {
            return self.unheard.push(StoreAnswer::Committed(outcomes.to_vec()));
        }
        self.resume();
        self.settle_batch(self.last_now, outcomes);
    }

    /// Time only moves on.
    pub(crate) fn clock(&mut self, now: Now) {
        self.last_now = now.store.max(self.last_now);
        self.elapsed = now.elapsed.max(self.elapsed);
    }

    /// An event after the end of the lease.
    fn stranded(&mut self, event: Event) {
        match event {
            Event::ShelfRead(_) | Event::TriggersRead(_) | Event::SpecsRead(_) | Event::MomentsRead(_) => {
                self.unheard.push(StoreAnswer::Read(event));
            }
            Event::Heartbeat(heartbeat) if self.elapsed < self.lease.extends_until => {
                self.extend(&heartbeat);
            }
            Event::Report(report) => {
                self.unreported.insert(report.node);
            }
            event => self.said_stranded.extend(refusal(&event)),
        }
    }

    /// The lease of a node is extended: it goes on executing what it has.
    fn extend(&mut self, heartbeat: &Heartbeat) {
        let Heartbeat { node, session, beat, .. } = *heartbeat;
        let Some(ix) = self.nodes.find(node).filter(|ix| self.nodes.get(*ix).session == session) else {
            return;
        };
        let entry = &mut self.nodes.entries[ix];
        entry.heard_at = self.elapsed;
        // What the node lists was not looked at: only it may say what it holds.
        self.unreported.insert(node);
        self.said_stranded.push(Message::Beat { node, session, beat });
    }

    /// The lease was renewed after its end: what the store answered meanwhile is heard in the order in which it came, and
    /// nodes that were not listened to say again what they hold.
    fn resume(&mut self) {
        for answer in std::mem::take(&mut self.unheard) {
            match answer {
                StoreAnswer::Read(event) => self.take(self.last_now, event),
                StoreAnswer::Committed(outcomes) => self.settle_batch(self.last_now, &outcomes),
            }
        }
        for node in std::mem::take(&mut self.unreported) {
            self.outbox.now.push(Message::WhoAreYou { node });
        }
    }

    fn take(&mut self, now: Timestamp, event: Event) {
        // What is not loaded yet must not be taken for a stranger, and no time passes for it.
        if self.loading.is_some() && !matches!(event, Event::ShelfRead(_) | Event::TriggersRead(_)) {
            self.refuse(&event);
            return;
        }
        match event {
            Event::Submit(submission) => self.submit(now, *submission),
            Event::Cancel { request, run, row, by, kill } => {
                self.cancel(now, request, (run, row), by, kill);
            }
            Event::RetryNow { request, run, row, by } => self.retry_now(now, request, (run, row), by),
            Event::Prioritise { request, run, row, by, priority } => {
                self.prioritise(now, request, (run, row), by, priority);
            }
            Event::PauseJob { request, job, pause } => self.pause_job(now, request, *job, pause),
            Event::PauseCell { request, pause } => self.pause_cell(request, pause),
            Event::Drain { request, node, deadline } => self.drain(now, request, node, deadline),
            Event::Lose { request, node } => self.lose(now, request, node),
            Event::Hello(hello) => self.hello(now, *hello),
            Event::Heartbeat(heartbeat) => self.heartbeat(now, heartbeat),
            Event::Report(report) => self.report(now, *report),
            Event::Goodbye { node, session } => self.goodbye(now, node, session),
            Event::ShelfRead(read) => self.shelf_read(now, *read),
            Event::TriggersRead(read) => self.triggers_read(now, *read),
            Event::SpecsRead(specs) => self.specs_read(now, specs),
            Event::MomentsRead(read) => self.moments_read(now, &read),
            Event::TriggersChanged { request, job } => self.confirm_triggers(request, job),
            Event::CalendarsChanged { request } => {
                self.look_for_calendar_news();
                self.reply_now(request, Answer::Done);
            }
            Event::Trigger { request, key, command } => self.command_trigger(now, request, &key, command),
            Event::Hint => self.poll_arrivals(now),
            Event::Tick => self.tick(now),
        }
        self.ask_for_specs();
        if std::mem::take(&mut self.nodes.fewer_serve) {
            self.retry_restricted(now);
        }
    }

    /// What may be said at once. After the end of the lease that is only refusals and what extends the leases of nodes.
    pub fn take_messages(&mut self) -> Vec<Message> {
        let mut messages = std::mem::take(&mut self.said_stranded);
        if self.elapsed < self.lease.until {
            messages.append(&mut self.outbox.take_now());
        }
        messages
    }

    /// When [`Event::Tick`] is next of use.
    pub fn next_deadline(&self) -> Deadlines {
        let store = earliest(self.timers.next(), self.triggers.timers.next());
        Deadlines { elapsed: self.waits.next(), store }
    }

    /// The lease was renewed: the owner may act for longer.
    pub fn renewed(&mut self, lease: OwnLease) {
        self.lease.until = self.lease.until.max(lease.until);
        self.lease.extends_until = self.lease.extends_until.max(lease.extends_until);
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

    /// Sends once what changed of the run in this place is durable.
    pub(crate) fn after_commit(&mut self, ix: usize, message: Message) {
        let id = self.runs.entries[ix].head.id;
        self.outbox.after_run(id, ix, message);
    }

    /// Sends once what is known of a run, which may be nothing, is durable.
    pub(crate) fn after_commit_of(&mut self, id: RunId, message: Message) {
        let ix = self.runs.find(id).unwrap_or(u32::MAX as usize);
        self.outbox.after_run(id, ix, message);
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

    fn refuse(&mut self, event: &Event) {
        self.outbox.now.extend(refusal(event));
    }

    fn tick(&mut self, now: Timestamp) {
        while let Some(wait) = self.waits.pop_due(self.elapsed) {
            self.waited(now, wait);
        }
        while let Some(subject) = self.timers.pop_due(now) {
            self.due(now, subject);
        }
        // What is due in the same moment as thousands of others does not keep everything else waiting.
        for _ in 0..TRIGGERS_AT_ONCE {
            let Some(subject) = self.triggers.timers.pop_due(now) else { break };
            self.due(now, subject);
        }
    }

    /// A deadline in elapsed time.
    fn waited(&mut self, now: Timestamp, wait: Wait) {
        match wait {
            Wait::Attempt(ix) => self.attempt_due(now, ix),
            Wait::Silence(ix) => self.silence_due(now, ix),
            Wait::Poll => {
                self.poll_armed = Armed::NOT;
                self.poll_arrivals(now);
            }
            Wait::Rest => self.rested(now),
        }
    }

    /// A deadline in the store's time.
    fn due(&mut self, now: Timestamp, subject: Subject) {
        match subject {
            Subject::Run(ix) => self.run_due(now, ix),
            Subject::Drain(ix) => self.drain_due(now, ix),
            Subject::Group(ix) => self.group_due(now, ix),
            Subject::Class(ix) => self.class_due(now, ix),
            Subject::Horizon => self.horizon_due(now),
            Subject::Overdue => self.overdue_due(now),
            Subject::Trigger(ix) => self.trigger_due(now, ix),
        }
    }
}

/// The answer to a caller that this cell cannot answer. Nodes get none and try another scheduler.
fn refusal(event: &Event) -> Option<Message> {
    let request = match event {
        Event::Submit(submission) => submission.request,
        Event::Cancel { request, .. }
        | Event::RetryNow { request, .. }
        | Event::Prioritise { request, .. }
        | Event::PauseJob { request, .. }
        | Event::PauseCell { request, .. }
        | Event::TriggersChanged { request, .. }
        | Event::CalendarsChanged { request }
        | Event::Trigger { request, .. }
        | Event::Drain { request, .. }
        | Event::Lose { request, .. } => *request,
        Event::Hello(_)
        | Event::Heartbeat(_)
        | Event::Report(_)
        | Event::Goodbye { .. }
        | Event::ShelfRead(_)
        | Event::TriggersRead(_)
        | Event::SpecsRead(_)
        | Event::MomentsRead(_)
        | Event::Hint
        | Event::Tick => return None,
    };
    let message = "this scheduler does not own the cell now".to_owned();
    Some(Message::Reply { request, answer: Answer::Refused { code: ErrorCode::NotOwner, message } })
}
