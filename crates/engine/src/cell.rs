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

use mainspring_model::{Epoch, ErrorCode, Node, Pause, Run, RunId, Timestamp};

use mainspring_store::Record;

use crate::concurrency::Concurrency;
use crate::config::Config;
use crate::event::Event;
use crate::load::Loading;
use crate::memory::Memory;
use crate::message::{Answer, Message};
use crate::nodes::Nodes;
use crate::outbox::Outbox;
use crate::overdue::Overdue;
use crate::overflow::Overflow;
use crate::queue::Queue;
use crate::rate::RateLimits;
use crate::runs::Runs;
use crate::shape::Shapes;
use crate::stats::Stats;
use crate::suspects::Suspects;
use crate::timers::{Armed, Subject, Timers};
use crate::triggers::Triggers;

/// Triggers looked at before what they made is written.
const TRIGGERS_AT_ONCE: usize = 500;

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
    pub(crate) memory: Memory,
    pub(crate) overflow: Overflow,
    pub(crate) overdue: Overdue,
    pub(crate) triggers: Triggers,
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
    pub(crate) diverged: Option<String>,
    /// What the store answered after the lease, which may be renewed yet.
    unheard: Vec<Event>,
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
    /// What earlier owners wrote down: all records of [`Tenure::memories_of`].
    pub memories: Vec<Record>,
}

impl Cell {
    /// A cell under a fresh lease. It loads before it acts: see [`Self::take_messages`] for the first reads.
    pub fn new(config: Config, tenure: Tenure, now: Timestamp) -> Self {
        let Tenure { epoch, lease_until, nodes, pause, memories } = tenure;
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
            memory: Memory::default(),
            overflow: Overflow::default(),
            overdue: Overdue::default(),
            triggers: Triggers::default(),
            outbox: Outbox::default(),
            last_now: now,
            suspects: Suspects::default(),
            room: 1,
            poll_armed: Armed::NOT,
            stats: Stats::default(),
            diverged: None,
            unheard: Vec::new(),
        };
        cell.remember(&memories);
        cell.begin_loading(now, nodes);
        cell
    }

    /// One event. A cell whose lease ended does nothing at all: it may have a successor. If it turns out to have none, what the
    /// store answered meanwhile is heard then: nobody asks for it again.
    pub fn handle(&mut self, now: Timestamp, event: Event) {
        self.last_now = now;
        if self.diverged.is_some() {
            return self.refuse(&event);
        }
        if now >= self.lease_until {
            return match event {
                Event::ShelfRead(_)
                | Event::TriggersRead(_)
                | Event::SpecsRead(_)
                | Event::MomentsRead(_) => self.unheard.push(event),
                event => self.refuse(&event),
            };
        }
        for event in std::mem::take(&mut self.unheard) {
            self.take(now, event);
        }
        self.take(now, event);
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
            Event::TriggersChanged { request, job } => {
                self.triggers_changed(job);
                self.reply_now(request, Answer::Done);
            }
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

    /// What may be said at once.
    pub fn take_messages(&mut self) -> Vec<Message> {
        self.outbox.take_now()
    }

    /// When [`Event::Tick`] is next of use.
    pub fn next_deadline(&self) -> Option<Timestamp> {
        match (self.timers.next(), self.triggers.timers.next()) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
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

    /// Whoever asked learns that this cell cannot answer; nodes are silent here and try another.
    fn refuse(&mut self, event: &Event) {
        let request = match event {
            Event::Submit(submission) => submission.request,
            Event::Cancel { request, .. }
            | Event::RetryNow { request, .. }
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
            | Event::Tick => return,
        };
        let message = "this scheduler does not own the cell now".to_owned();
        self.reply_now(request, Answer::Refused { code: ErrorCode::NotOwner, message });
    }

    fn tick(&mut self, now: Timestamp) {
        while let Some(subject) = self.timers.pop_due(now) {
            self.due(now, subject);
        }
        // What is due in the same moment as thousands of others does not keep everything else waiting.
        for _ in 0..TRIGGERS_AT_ONCE {
            let Some(subject) = self.triggers.timers.pop_due(now) else { break };
            self.due(now, subject);
        }
    }

    fn due(&mut self, now: Timestamp, subject: Subject) {
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
            Subject::Overdue => self.overdue_due(now),
            Subject::Trigger(ix) => self.trigger_due(now, ix),
        }
    }
}
