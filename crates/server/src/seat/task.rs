//! The seat's task: one loop that waits for anything, tells the engine, and performs what the engine wants.

use std::sync::Arc;
use std::time::Duration;

use mainspring_app::audit;
use mainspring_app::ports::{CellError, Command, NewRun};
use mainspring_engine::{
    Answer, Cell, Event, LeaseAnswer, LoadedRun, Owner, OwnerConfig, Submission, Tenure,
};
use mainspring_model::{CellId, ErrorCode, MemberId, Timestamp};
use mainspring_store::Store;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use super::connections::{Connections, Rhythm};
use super::input::{Delivery, Handover, Input, NodeInput};
use super::pending::Pending;
use super::perform::Reign;
use super::{Hints, SeatHandle, Standing, lease, translate};
use crate::clock::Clock;
use crate::health::StoreHealth;
use crate::news::Newsroom;

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
    pub(crate) health: Arc<StoreHealth>,
}

/// The task's state.
pub(crate) struct Seat {
    pub(super) config: Config,
    pub(super) id: CellId,
    owner: Owner,
    pub(super) tenure: Option<Reign>,
    /// Grows with each tenure, so that what comes back from an earlier one is told apart.
    tenure_number: u64,
    pub(super) pending: Pending,
    pub(super) connections: Connections,
    standing: watch::Sender<Standing>,
    /// What waits for the store, with the tenure that its answers belong to: those of an earlier one are dropped.
    beside: JoinSet<(u64, Delivery)>,
}

impl Seat {
    /// Starts the task; it ends when `stop` is cancelled, after it gave the lease back.
    pub(crate) fn start(
        config: Config,
        stop: CancellationToken,
    ) -> (SeatHandle, tokio::task::JoinHandle<()>) {
        let (inbox, inputs) = mpsc::channel(INBOX_MAX);
        let (standing, watched) = watch::channel(Standing::Unknown);
        let id = config.engine.cell;
        let owner = OwnerConfig {
            cell: id,
            member: config.member,
            ttl: config.lease_ttl,
            renew_every: config.lease_renew_every,
        };
        let rhythm = Rhythm { heartbeat_every: config.heartbeat_every, engine: config.engine.clone() };
        let seat = Self {
            id,
            owner: Owner::new(owner, config.clock.now()),
            tenure: None,
            tenure_number: 0,
            pending: Pending::default(),
            connections: Connections::new(rhythm),
            standing,
            beside: JoinSet::new(),
            config,
        };
        let task = tokio::spawn(seat.run(inputs, stop));
        (SeatHandle { cell: id, inbox, standing: watched }, task)
    }

    async fn run(mut self, mut inbox: mpsc::Receiver<Input>, stop: CancellationToken) {
        let mut inputs = Vec::with_capacity(INPUTS_AT_ONCE);
        let hints = Arc::clone(&self.config.hints);
        let hint = &hints[usize::from(self.id.0)];
        self.tick();
        loop {
            let alarm = self.config.clock.alarm(self.next_deadline());
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some(delivered) = self.beside.join_next() => {
                    self.delivered(delivered);
                    while let Some(delivered) = self.beside.try_join_next() {
                        self.delivered(delivered);
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
        self.resign().await;
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
            info!(cell = self.id.0, "the lease is over");
            self.give_up(now);
        }
        if let Some(step) = step {
            let store = Arc::clone(&self.config.store);
            self.beside(lease::ask(store, self.id, step, self.config.lease_renew_every));
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
        if !translate::holds(&reign.cell, &command, row.as_deref()) {
            let code = ErrorCode::PreconditionFailed;
            let refused = |entry| audit::Entry { outcome: audit::Outcome::Refused(code), ..entry };
            reign.audit.extend(audit.into_iter().map(refused));
            let message = "it changed meanwhile".to_owned();
            return drop(reply.send(Ok(Answer::Refused { code, message })));
        }
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

    fn delivered(&mut self, delivered: Result<(u64, Delivery), JoinError>) {
        let (tenure, delivery) = match delivered {
            Ok(delivered) => delivered,
            Err(broken) => {
                error!(cell = self.id.0, %broken, "what waits for the store broke down; the cell is loaded anew");
                return self.give_up(self.config.clock.now());
            }
        };
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
            Delivery::Read(Some(page)) => self.handle(Event::ShelfRead(page)),
            Delivery::Triggers(Some(read)) => self.handle(Event::TriggersRead(read)),
            Delivery::Specs(Some(specs)) => self.handle(Event::SpecsRead(specs)),
            Delivery::Moments(Some(read)) => self.handle(Event::MomentsRead(read)),
            Delivery::Read(None)
            | Delivery::Triggers(None)
            | Delivery::Specs(None)
            | Delivery::Moments(None) => {}
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
            let store = Arc::clone(&self.config.store);
            self.beside(lease::take_over(store, self.id, self.config.lease_ttl));
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
        let Handover { nodes, pause, memories, .. } = handover;
        let tenure = Tenure { epoch, lease_until: shifted(until), nodes, pause, memories };
        info!(cell = self.id.0, epoch = epoch.0, "this scheduler owns the cell");
        self.tenure = Some(Reign {
            cell: Cell::new(self.config.engine.clone(), tenure, shifted(now)),
            shift,
            news: self.config.news.column(self.id, epoch),
            audit: Vec::new(),
            batch: None,
            given_up: CancellationToken::new(),
        });
    }

    /// The cell is somebody else's, or must be loaded anew.
    pub(super) fn give_up(&mut self, now: Timestamp) {
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

    pub(super) fn stand(&self, standing: Standing) {
        self.standing.send_if_modified(|known| std::mem::replace(known, standing) != standing);
    }

    /// Finishes the batch under way and gives the lease back, so that another scheduler takes over at once.
    async fn resign(mut self) {
        let finishing = async {
            while self.tenure.as_ref().is_some_and(|reign| reign.batch.is_some()) {
                let Some(delivered) = self.beside.join_next().await else { break };
                self.delivered(delivered);
                self.pump();
            }
        };
        if timeout(RESIGN_WAIT, finishing).await.is_err() {
            warn!(cell = self.id.0, "the store does not answer; the batch under way is left to it");
        }
        let epoch = self.owner.epoch(self.config.clock.now());
        self.forget();
        if let Some(epoch) = epoch {
            let released = self.config.store.release_lease(self.id, self.config.member, epoch);
            if !matches!(timeout(RESIGN_WAIT, released).await, Ok(Ok(_))) {
                warn!(cell = self.id.0, "the lease was not given back; it ends by itself");
            }
        }
    }

    /// Starts something that waits for the store; its answer comes back to the task.
    pub(super) fn beside(&mut self, work: impl Future<Output = Delivery> + Send + 'static) {
        let tenure = self.tenure_number;
        self.beside.spawn(async move { (tenure, work.await) });
    }
}
