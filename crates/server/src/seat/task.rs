//! The seat's task: one loop that waits for anything, tells the engine, and performs what the engine wants.

use std::sync::Arc;
use std::time::Duration;

use mainspring_app::audit;
use mainspring_app::ports::{CellError, Changed, Command, NewRun};
use mainspring_engine::{
    Answer, Cell, Event, LeaseAnswer, LoadedRun, Message, Owner, OwnerConfig, Submission, Tenure,
};
use mainspring_model::{CellId, MemberId, Timestamp};
use mainspring_store::{Outcome, Store};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::connections::{Connections, Rhythm};
use super::input::{Delivery, Handover, Input, NodeInput, Postbox};
use super::pending::Pending;
use super::{Hints, SeatHandle, Standing, commit, lease, read, translate};
use crate::clock::Clock;
use crate::news::{Column, Newsroom};

/// Inputs that may wait before whoever sends them has to.
const INBOX_MAX: usize = 4_096;
/// Inputs that are taken before the engine's effects are performed.
const INPUTS_AT_ONCE: usize = 512;
/// How long the store may take for the last things.
const RESIGN_WAIT: Duration = Duration::from_secs(3);

/// What a seat needs.
#[derive(Clone)]
pub(crate) struct Config {
    pub(crate) engine: mainspring_engine::Config,
    pub(crate) member: MemberId,
    pub(crate) lease_ttl: Duration,
    pub(crate) lease_renew_every: Duration,
    pub(crate) heartbeat_every: Duration,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Clock,
    pub(crate) news: Newsroom,
    pub(crate) chain: Arc<audit::Chain>,
    pub(crate) hints: Hints,
}

/// The task's state.
pub(crate) struct Seat {
    config: Config,
    pub(super) id: CellId,
    owner: Owner,
    pub(super) tenure: Option<Reign>,
    /// Grows with each tenure, so that what comes back from an earlier one is told apart.
    tenure_number: u64,
    pending: Pending,
    pub(super) connections: Connections,
    standing: watch::Sender<Standing>,
    deliveries: mpsc::UnboundedSender<(u64, Delivery)>,
}

/// While the cell is owned.
pub(super) struct Reign {
    pub(super) cell: Cell,
    /// What the cell's clock is ahead of the process's.
    shift: i64,
    news: Column,
    /// What callers asked, to be written down with the next batch.
    audit: Vec<audit::Entry>,
    /// The batch under way.
    batch: Option<Flight>,
    given_up: CancellationToken,
}

/// A batch that is being written.
struct Flight {
    /// How many of its writes are the engine's; records follow.
    engine_writes: usize,
    changes: Vec<(usize, Changed)>,
}

impl Seat {
    /// Starts the task; it ends when `stop` is cancelled, after it gave the lease back.
    pub(crate) fn start(
        config: Config,
        stop: CancellationToken,
    ) -> (SeatHandle, tokio::task::JoinHandle<()>) {
        let (inbox, inputs) = mpsc::channel(INBOX_MAX);
        let (deliveries, delivered) = mpsc::unbounded_channel();
        let (standing, watched) = watch::channel(Standing::Unknown);
        let id = config.engine.cell;
        let owner = OwnerConfig {
            cell: id,
            member: config.member,
            ttl: config.lease_ttl,
            renew_every: config.lease_renew_every,
        };
        let rhythm = Rhythm { heartbeat_every: config.heartbeat_every, lost_after: config.engine.lost_after };
        let seat = Self {
            id,
            owner: Owner::new(owner, config.clock.now()),
            tenure: None,
            tenure_number: 0,
            pending: Pending::default(),
            connections: Connections::new(rhythm),
            standing,
            deliveries,
            config,
        };
        let task = tokio::spawn(seat.run(inputs, delivered, stop));
        (SeatHandle { cell: id, inbox, standing: watched }, task)
    }

    async fn run(
        mut self,
        mut inbox: mpsc::Receiver<Input>,
        mut delivered: mpsc::UnboundedReceiver<(u64, Delivery)>,
        stop: CancellationToken,
    ) {
        let mut inputs = Vec::with_capacity(INPUTS_AT_ONCE);
        let hints = Arc::clone(&self.config.hints);
        let hint = &hints[usize::from(self.id.0)];
        self.tick();
        loop {
            let alarm = self.config.clock.alarm(self.next_deadline());
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some((tenure, delivery)) = delivered.recv() => {
                    self.delivered(tenure, delivery);
                    while let Ok((tenure, delivery)) = delivered.try_recv() {
                        self.delivered(tenure, delivery);
                    }
                }
                _ = inbox.recv_many(&mut inputs, INPUTS_AT_ONCE) => {
                    for input in inputs.drain(..) {
                        self.take(input);
                    }
                }
                () = hint.notified() => self.handle(Event::Hint),
                () = tokio::time::sleep_until(alarm) => self.tick(),
            }
            // A full inbox must not keep the lease from being renewed, nor time from passing.
            if self.config.clock.now() >= self.next_deadline() {
                self.tick();
            }
            self.pump();
        }
        self.resign(delivered).await;
    }

    /// When something is due, on the process's clock.
    fn next_deadline(&self) -> Timestamp {
        let lease = self.owner.next_deadline();
        let cell = self.tenure.as_ref().and_then(|reign| {
            let due = reign.cell.next_deadline()?;
            Some(Timestamp::from_micros(due.as_micros().saturating_sub(reign.shift)))
        });
        cell.map_or(lease, |cell| cell.min(lease))
    }

    /// Time passed.
    fn tick(&mut self) {
        let now = self.config.clock.now();
        let step = self.owner.step(now);
        if self.owner.epoch(now).is_none() && self.tenure.is_some() {
            info!(cell = %self.id, "the lease is over");
            self.give_up(now);
        }
        if let Some(step) = step {
            let (store, postbox) = (Arc::clone(&self.config.store), self.postbox());
            lease::ask(store, self.id, step, self.config.lease_renew_every, postbox);
        }
        self.handle(Event::Tick);
    }

    fn handle(&mut self, event: Event) {
        if let Some(reign) = &mut self.tenure {
            let now = reign.now(self.config.clock);
            reign.cell.handle(now, event);
        }
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Submit { runs, audit, reply } => self.submit(runs, audit, reply),
            Input::Command { command, row, audit, reply } => self.command(command, row, audit, reply),
            Input::Live { runs, reply } => drop(reply.send(self.live(&runs))),
            Input::Overview { reply } => drop(reply.send(self.overview())),
            Input::Node(input) => self.node(input),
        }
    }

    fn submit(
        &mut self,
        runs: Vec<NewRun>,
        audit: Vec<audit::Entry>,
        reply: oneshot::Sender<Result<Vec<Answer>, CellError>>,
    ) {
        let Some(reign) = self.tenure.as_mut().filter(|reign| reign.cell.is_loaded()) else {
            return drop(reply.send(Err(CellError::Nowhere)));
        };
        let now = reign.now(self.config.clock);
        reign.audit.extend(audit);
        let requests = self.pending.many(runs.len(), reply);
        for (request, NewRun { head, spec, pause }) in requests.zip(runs) {
            let submission = Submission { request, head, spec, pause };
            reign.cell.handle(now, Event::Submit(Box::new(submission)));
        }
    }

    fn command(
        &mut self,
        command: Command,
        row: Option<Box<LoadedRun>>,
        audit: Vec<audit::Entry>,
        reply: oneshot::Sender<Result<Answer, CellError>>,
    ) {
        let Some(reign) = self.tenure.as_mut().filter(|reign| reign.cell.is_loaded()) else {
            return drop(reply.send(Err(CellError::Nowhere)));
        };
        reign.audit.extend(audit);
        let request = self.pending.one(reply);
        self.handle(translate::event(command, request, row));
    }

    fn node(&mut self, input: NodeInput) {
        match input {
            NodeInput::Connected { node, session, hello, outward } => {
                // A connection to somebody who does not own the cell ends at once; the node looks further.
                if self.tenure.as_ref().is_some_and(|reign| reign.cell.is_loaded()) {
                    self.connections.connect(node, session, outward);
                    self.handle(*hello);
                }
            }
            NodeInput::Said { node, events, usage } => {
                if let Some(usage) = usage {
                    self.connections.uses(node, usage);
                }
                for event in events {
                    self.handle(event);
                }
            }
            NodeInput::Relabelled { node } => self.connections.drop_node(node),
            NodeInput::Disconnected { node, session } => self.connections.disconnect(node, session),
        }
    }

    fn delivered(&mut self, tenure: u64, delivery: Delivery) {
        if let Delivery::Lease(answer) = delivery {
            return self.lease_answered(answer);
        }
        if tenure != self.tenure_number {
            return;
        }
        match delivery {
            Delivery::Lease(_) => {}
            Delivery::Tenure(Some(handover)) => self.reign(*handover),
            Delivery::Committed(Some(outcomes)) => self.committed(&outcomes),
            Delivery::Tenure(None) | Delivery::Committed(None) => {
                let now = self.config.clock.now();
                self.give_up(now);
            }
            Delivery::Read(page) => self.handle(Event::ShelfRead(page)),
        }
    }

    fn lease_answered(&mut self, answer: LeaseAnswer) {
        let now = self.config.clock.now();
        if let LeaseAnswer::Seen(Some(seen)) = &answer
            && let Some(holder) = seen.holder.filter(|holder| *holder != self.config.member)
        {
            self.stand(Standing::Follows(holder));
        }
        if self.owner.answered(now, answer) {
            self.forget();
            self.tenure_number += 1;
            let (store, postbox) = (Arc::clone(&self.config.store), self.postbox());
            lease::take_over(store, self.id, self.config.lease_ttl, postbox);
        } else if let (Some(until), Some(reign)) = (self.owner.lease_until(), &mut self.tenure) {
            reign.cell.renewed(Timestamp::from_micros(until.as_micros() + reign.shift));
        }
    }

    /// The cell is ours and everything that must be known is: the engine begins.
    fn reign(&mut self, handover: Handover) {
        let now = self.config.clock.now();
        let (Some(epoch), Some(until)) = (self.owner.epoch(now), self.owner.lease_until()) else { return };
        let shift = handover.clock.as_micros() - now.as_micros();
        let shifted = |at: Timestamp| Timestamp::from_micros(at.as_micros() + shift);
        let tenure =
            Tenure { epoch, lease_until: shifted(until), nodes: handover.nodes, pause: handover.pause };
        info!(cell = %self.id, %epoch, "this scheduler owns the cell");
        self.tenure = Some(Reign {
            cell: Cell::new(self.config.engine.clone(), tenure, shifted(now)),
            shift,
            news: self.config.news.column(self.id, epoch),
            audit: Vec::new(),
            batch: None,
            given_up: CancellationToken::new(),
        });
    }

    fn committed(&mut self, outcomes: &[Outcome]) {
        let Some(reign) = &mut self.tenure else { return };
        let Some(flight) = reign.batch.take() else { return };
        let now = reign.now(self.config.clock);
        reign.cell.committed(now, &outcomes[..flight.engine_writes.min(outcomes.len())]);
        let applied = |(at, change): (usize, Changed)| (outcomes[at] == Outcome::Applied).then_some(change);
        reign.news.tell(flight.changes.into_iter().filter_map(applied));
    }

    /// Performs what the engine wants until it wants nothing more.
    fn pump(&mut self) {
        while let Some(reign) = &mut self.tenure {
            if let Some(why) = reign.cell.diverged() {
                warn!(cell = %self.id, why, "memory and store differ; the cell is loaded anew");
                let now = self.config.clock.now();
                self.give_up(now);
                break;
            }
            let wrote = self.cut();
            let Some(reign) = &mut self.tenure else { break };
            let messages = reign.cell.take_messages();
            if messages.is_empty() && !wrote {
                if reign.cell.is_loaded() {
                    self.stand(Standing::Owns);
                }
                break;
            }
            for message in messages {
                self.say(message);
            }
        }
        self.connections.flush();
    }

    /// Sends the next batch to the store; true when there was one.
    fn cut(&mut self) -> bool {
        let postbox = self.postbox();
        let Some(reign) = &mut self.tenure else { return false };
        if reign.batch.is_some() {
            return false;
        }
        let (mut transaction, engine_writes) = match reign.cell.cut() {
            Some(batch) => {
                let writes = batch.transaction.writes.len();
                (batch.transaction, writes)
            }
            None => return self.write_audit(),
        };
        let changes = translate::changes(&reign.cell, &transaction, reign.now(self.config.clock));
        let entries = std::mem::take(&mut reign.audit);
        transaction.writes.extend(self.config.chain.record(reign.now(self.config.clock), entries));
        reign.batch = Some(Flight { engine_writes, changes });
        let given_up = reign.given_up.clone();
        let batch = commit::Batch { transaction, engine_writes, given_up };
        commit::write(Arc::clone(&self.config.store), batch, postbox);
        true
    }

    /// What callers asked that changed nothing is written down too; that needs no fence.
    fn write_audit(&mut self) -> bool {
        let Some(reign) = &mut self.tenure else { return false };
        let entries = std::mem::take(&mut reign.audit);
        let writes = self.config.chain.record(reign.now(self.config.clock), entries);
        if !writes.is_empty() {
            tokio::spawn(commit::write_alone(Arc::clone(&self.config.store), writes));
        }
        false
    }

    fn say(&mut self, message: Message) {
        match message {
            Message::Reply { request, answer } => self.pending.answer(request, answer),
            Message::Read(query) => {
                let postbox = self.postbox();
                let Some(reign) = &self.tenure else { return };
                let (store, given_up) = (Arc::clone(&self.config.store), reign.given_up.clone());
                tokio::spawn(async move {
                    if let Some(page) = read::page(&*store, query, &given_up).await {
                        postbox.post(Delivery::Read(Box::new(page)));
                    }
                });
            }
            // Where another process owns that cell, it finds the runs at its next look.
            Message::Hint { cell } => {
                if let Some(hint) = self.config.hints.get(usize::from(cell.0)) {
                    hint.notify_one();
                }
            }
            message => self.connections.tell(message),
        }
    }

    /// The cell is somebody else's, or must be loaded anew.
    fn give_up(&mut self, now: Timestamp) {
        self.owner.depose(now);
        self.forget();
    }

    fn forget(&mut self) {
        self.write_audit();
        if let Some(reign) = self.tenure.take() {
            reign.given_up.cancel();
        }
        self.tenure_number += 1;
        self.pending.give_up();
        self.connections.disconnect_all();
        self.stand(Standing::Unknown);
    }

    fn stand(&self, standing: Standing) {
        self.standing.send_if_modified(|known| std::mem::replace(known, standing) != standing);
    }

    /// Finishes the batch under way and gives the lease back, so that another scheduler takes over at once.
    async fn resign(mut self, mut delivered: mpsc::UnboundedReceiver<(u64, Delivery)>) {
        let finishing = async {
            while self.tenure.as_ref().is_some_and(|reign| reign.batch.is_some()) {
                let Some((tenure, delivery)) = delivered.recv().await else { break };
                self.delivered(tenure, delivery);
                self.pump();
            }
        };
        if timeout(RESIGN_WAIT, finishing).await.is_err() {
            warn!(cell = %self.id, "the store does not answer; the batch under way is left to it");
        }
        let epoch = self.owner.epoch(self.config.clock.now());
        self.forget();
        if let Some(epoch) = epoch {
            let released = self.config.store.release_lease(self.id, self.config.member, epoch);
            if !matches!(timeout(RESIGN_WAIT, released).await, Ok(Ok(_))) {
                warn!(cell = %self.id, "the lease was not given back; it ends by itself");
            }
        }
    }

    /// Where what runs beside the task sends its answers, marked with the tenure they belong to.
    fn postbox(&self) -> Postbox {
        Postbox { tenure: self.tenure_number, deliveries: self.deliveries.clone() }
    }
}

impl Reign {
    /// The cell's time: the store's when it was taken, and from then on the process's.
    fn now(&self, clock: Clock) -> Timestamp {
        Timestamp::from_micros(clock.now().as_micros() + self.shift)
    }
}
