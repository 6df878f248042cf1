//! The seat's task: one loop that waits for anything, tells the engine, and performs what the engine wants.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use mainspring_app::audit;
use mainspring_app::ports::{CellError, Command, NewRun};
use mainspring_engine::{
    Answer, Cell, Deadlines, Event, LeaseAnswer, LoadedRun, News, Owner, OwnerConfig, Submission, Tenure,
};
use mainspring_model::{CellId, Elapsed, ErrorCode, MemberId};
use mainspring_store::Store;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use super::connections::{Connections, Rhythm};
use super::input::{Delivery, Handover, Input, NodeInput};
use super::load::Loads;
use super::passing::Passing;
use super::pending::Pending;
use super::perform::Reign;
use super::setbacks::Setbacks;
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
    pub(super) setbacks: Setbacks,
    pub(super) pending: Pending,
    pub(super) connections: Connections,
    pub(super) loads: Loads,
    pub(super) passing: Passing,
    standing: watch::Sender<Standing>,
    /// The lease is over and the store does not answer: nothing is decided until it does.
    stranded: bool,
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
            outage_max: config.engine.outage_max,
        };
        let rhythm = Rhythm { heartbeat_every: config.heartbeat_every, engine: config.engine.clone() };
        let seat = Self {
            id,
            owner: Owner::new(owner, config.clock.elapsed()),
            tenure: None,
            stranded: false,
            tenure_number: 0,
            setbacks: Setbacks::default(),
            pending: Pending::default(),
            connections: Connections::new(rhythm),
            loads: Loads::default(),
            passing: Passing::default(),
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
        let mut jumps = self.config.clock.jumps();
        self.tick();
        loop {
            let alarm = self.config.clock.alarm(self.next_deadline());
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some(delivered) = self.beside.join_next() => self.guarded(|seat| {
                    seat.delivered(delivered);
                    while let Some(delivered) = seat.beside.try_join_next() {
                        seat.delivered(delivered);
                    }
                }),
                _ = inbox.recv_many(&mut inputs, INPUTS_AT_ONCE) => {
                    self.guarded(|seat| inputs.drain(..).for_each(|input| seat.take(input)));
                }
                () = hint.notified() => self.guarded(|seat| seat.handle(Event::Hint)),
                () = tokio::time::sleep_until(alarm) => self.guarded(Self::tick),
                // A clock stepped or the machine was suspended. The sender lives as long as the clock.
                _ = jumps.changed() => self.guarded(Self::tick),
            }
            self.guarded(|seat| {
                // A full inbox must not keep the lease from being renewed, nor time from passing.
                if seat.config.clock.elapsed() >= seat.next_deadline() {
                    seat.tick();
                }
                seat.pump();
                seat.tell_passing();
            });
        }
        self.resign().await;
    }

    /// A step of the task. A panic in it is a setback of this cell: other cells and the process go on.
    fn guarded(&mut self, step: impl FnOnce(&mut Self)) {
        // What a panic leaves behind is dropped with the tenure.
        let Err(panic) = catch_unwind(AssertUnwindSafe(|| step(self))) else { return };
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let why = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        self.set_back(&format!("the scheduler's task panicked: {why}"));
    }

    /// When something is due, in elapsed time. A stranded owner waits for its lease alone.
    fn next_deadline(&self) -> Elapsed {
        let clock = &self.config.clock;
        let lease = self.owner.next_deadline(clock.elapsed());
        let Some(reign) = self.tenure.as_ref().filter(|_| !self.stranded) else { return lease };
        let Deadlines { elapsed, store } = reign.cell.next_deadline();
        let store = store.map(|at| clock.when(at));
        [elapsed, store, self.passing.due()].into_iter().flatten().fold(lease, Elapsed::min)
    }

    /// The cell, while this process decides about it.
    pub(super) fn acting(&mut self) -> Option<&mut Reign> {
        let owns = self.owner.epoch(self.config.clock.elapsed()).is_some();
        self.tenure.as_mut().filter(|reign| owns && reign.cell.is_loaded())
    }

    /// Time passed.
    fn tick(&mut self) {
        let now = self.config.clock.both();
        let step = self.owner.step(now);
        self.look_at_lease(now.elapsed);
        if let Some(step) = step {
            let (store, clock) = (Arc::clone(&self.config.store), self.config.clock.clone());
            self.beside(lease::ask(store, self.id, step, self.config.lease_renew_every, clock));
        }
        self.handle(Event::Tick);
    }

    /// A lease that is over and was not renewed strands the owner, or ends its tenure.
    fn look_at_lease(&mut self, now: Elapsed) {
        if self.tenure.is_none() || self.owner.epoch(now).is_some() {
            return self.stranded = false;
        }
        if !self.owner.is_stranded(now) {
            info!(cell = self.id.0, "the lease is over");
            return self.give_up();
        }
        if !std::mem::replace(&mut self.stranded, true) {
            warn!(
                cell = self.id.0,
                "the store is away and the lease is over: nothing is decided, connected nodes go on for {:?} in all",
                self.config.engine.outage_max
            );
            self.stand(Standing::Unknown);
        }
    }

    fn handle(&mut self, event: Event) {
        if let Some(reign) = &mut self.tenure {
            reign.cell.handle(self.config.clock.both(), event);
        }
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Submit { runs, audit, reply } => self.submit(runs, audit, reply),
            Input::Command { command, row, audit, reply } => self.command(command, row, audit, reply),
            Input::Live { runs, reply } => {
                let live = self.live(&runs);
                self.passing.looked_at(&live, self.config.clock.elapsed());
                drop(reply.send(live));
            }
            Input::NearestNodes { run, count, reply } => {
                drop(reply.send(self.nearest_nodes(run, count)));
            }
            Input::Tell(what) => {
                if let Some(reign) = self.acting() {
                    reign.news.tell([what]);
                }
            }
            Input::Loads { nodes, reply } => drop(reply.send(self.loads.of(&nodes))),
            Input::Activity { jobs, reply } => drop(reply.send(self.activity(&jobs))),
            Input::Overview { reply } => drop(reply.send(self.overview())),
            Input::Waiting { groups_max, reply } => drop(reply.send(self.waiting(groups_max))),
            Input::Node(input) => self.node(input),
        }
    }

    fn submit(
        &mut self,
        runs: Vec<NewRun>,
        audit: Vec<audit::Entry>,
        reply: oneshot::Sender<Result<Vec<Answer>, CellError>>,
    ) {
        let now = self.config.clock.both();
        let Some(reign) = self.acting() else { return drop(reply.send(Err(CellError::Nowhere))) };
        reign.audit.extend(audit);
        let requests = self.pending.many(runs.len(), reply);
        let Some(reign) = &mut self.tenure else { return };
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
        let Some(reign) = self.acting() else { return drop(reply.send(Err(CellError::Nowhere))) };
        if !translate::holds(&reign.cell, &command, row.as_deref()) {
            let code = ErrorCode::PreconditionFailed;
            let refused = |entry| audit::Entry { outcome: audit::Outcome::Refused(code), ..entry };
            reign.audit.extend(audit.into_iter().map(refused));
            let message = "it changed meanwhile".to_owned();
            return drop(reply.send(Ok(Answer::Refused { code, message })));
        }
        reign.audit.extend(audit);
        let request = self.pending.one(reply);
        self.handle(command.event(request, row));
    }

    fn node(&mut self, input: NodeInput) {
        match input {
            NodeInput::Connected { node, session, hello, agent, outward } => {
                // A connection to somebody who does not own the cell ends at once; the node looks further.
                if self.acting().is_some() {
                    self.connections.connect(node, session, agent, outward);
                    self.handle(*hello);
                }
            }
            NodeInput::Said { node, events, usage } => {
                if let Some(usage) = usage {
                    self.connections.uses(node, usage);
                    self.sample(node, usage);
                }
                for event in events {
                    if let Event::Report(report) = &event
                        && matches!(report.news, News::Progressed { .. })
                    {
                        self.passing.progressed(report.token.run, self.config.clock.elapsed());
                    }
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
                return self.set_back(&format!("what waits for the store broke down: {broken}"));
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
                self.give_up();
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
        let now = self.config.clock.elapsed();
        if let LeaseAnswer::Seen(Some(seen)) = &answer
            && let Some(holder) = seen.holder.filter(|holder| *holder != self.config.member)
        {
            self.stand(Standing::Follows(holder));
        }
        if self.owner.answered(now, answer) {
            self.forget();
            self.tenure_number += 1;
            let (store, clock) = (Arc::clone(&self.config.store), self.config.clock.clone());
            self.beside(lease::take_over(store, self.id, self.config.lease_ttl, clock));
        } else if let (Some(lease), Some(reign)) = (self.owner.lease(), &mut self.tenure) {
            reign.cell.renewed(lease);
            // An answer that was none leaves the lease as it was.
            if self.owner.epoch(now).is_some() && std::mem::take(&mut self.stranded) {
                info!(cell = self.id.0, "the store is back and nobody took the cell: its owner goes on");
                self.handle(Event::Tick);
            }
        } else if self.owner.lease().is_none() && self.tenure.is_some() {
            info!(cell = self.id.0, "another scheduler owns the cell");
            self.forget();
        }
    }

    /// The cell is ours and everything that must be known is: the engine begins.
    fn reign(&mut self, handover: Handover) {
        let now = self.config.clock.both();
        let (Some(epoch), Some(lease)) = (self.owner.epoch(now.elapsed), self.owner.lease()) else { return };
        let succeeds_other = self.owner.succeeds_other();
        let Handover { nodes, pause, memories } = handover;
        let tenure = Tenure { epoch, lease, succeeds_other, nodes, pause, memories };
        info!(cell = self.id.0, epoch = epoch.0, "this scheduler owns the cell");
        self.tenure = Some(Reign {
            cell: Cell::new(self.config.engine.clone(), tenure, now),
            news: self.config.news.column(self.id, epoch),
            audit: Vec::new(),
            batch: None,
            given_up: CancellationToken::new(),
            backfills: BTreeSet::new(),
        });
    }

    /// The cell is somebody else's, or must be loaded anew.
    pub(super) fn give_up(&mut self) {
        self.owner.depose(self.config.clock.elapsed());
        self.forget();
    }

    /// What is in memory cannot be trusted. The lease is given back, and the cell is loaded anew, by another server or, after a
    /// while, by this one.
    pub(super) fn set_back(&mut self, why: &str) {
        let now = self.config.clock.elapsed();
        let epoch = self.owner.epoch(now);
        let wait = self.setbacks.note(now);
        let (cell, times) = (self.id, self.setbacks.count());
        error!(
            cell = cell.0,
            why,
            times,
            wait_ms = wait.as_millis() as u64,
            "the cell is given up and loaded anew"
        );
        self.give_up();
        self.owner.hold_off(now + wait);
        let Some(epoch) = epoch else { return };
        let (store, member) = (Arc::clone(&self.config.store), self.config.member);
        tokio::spawn(async move {
            if !matches!(timeout(RESIGN_WAIT, store.release_lease(cell, member, epoch)).await, Ok(Ok(_))) {
                warn!(cell = cell.0, "the lease was not given back; it ends by itself");
            }
        });
    }

    fn forget(&mut self) {
        self.stranded = false;
        self.write_audit();
        if let Some(reign) = self.tenure.take() {
            reign.given_up.cancel();
        }
        self.tenure_number += 1;
        self.pending.give_up();
        self.connections.disconnect_all();
        self.loads = Loads::default();
        self.passing = Passing::default();
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
        let epoch = self.owner.epoch(self.config.clock.elapsed());
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
