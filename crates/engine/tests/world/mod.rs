//! A cell with everything around it, as a shell sees it: rows go to a store in memory, reads are answered from
//! it, time passes when a test says so.
//!
//! Runs are called `r1`, `r2`… in the order they were submitted; nodes by their names. Nodes obey at once
//! (an order is accepted and started) unless a test wants to do that by hand: [`World::by_hand`].

mod nodes;
mod rows;
mod speech;
mod time;
mod triggers;
mod work;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mainspring_engine::{
    Batch, Cell, Config, Event, LoadedRun, Message, Now, RequestId, ShelfRead, Tenure, TriggersRead,
};
use mainspring_model::{
    Calendars, CellId, Epoch, JobId, JobSpec, MemberId, NodeId, Run, RunId, Timestamp, limits,
};
use mainspring_store::{LeaseGrant, LeaseRequest, ShelfQuery};
use mainspring_store_mem::MemCore;

pub(crate) use nodes::Agent;
pub(crate) use nodes::ending;
pub(crate) use time::{FOR_EVER, at, both, millis, secs};
pub(crate) use work::{Job, balancer, paused, wait};

/// A cell and everything around it.
pub(crate) struct World {
    pub(crate) cell: Cell,
    pub(crate) store: MemCore,
    /// The store's time.
    pub(crate) now: Timestamp,
    /// How far the store's clock has stepped forward since the world began.
    pub(crate) stepped: Duration,
    pub(crate) config: Config,
    pub(crate) epoch: Epoch,
    /// Nodes accept and start what they are ordered at once.
    pub(crate) obedient: bool,
    /// Commits happen by themselves after each event.
    pub(crate) commits: bool,
    /// Nodes that live: they beat while time passes.
    pub(crate) agents: BTreeMap<NodeId, Agent>,
    /// What triggers find when they name a calendar.
    pub(crate) calendars: Calendars,
    /// Answers about triggers that are under way, while the store is slow.
    pub(crate) late: Option<Vec<Event>>,
    names: BTreeMap<RunId, String>,
    specs: BTreeMap<(JobId, u32), Arc<JobSpec>>,
    jobs: u128,
    requests: u64,
    said: Vec<Message>,
    /// Pages that were read from the store.
    pub(crate) pages: usize,
}

impl World {
    /// A loaded cell over an empty store.
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// The same with another configuration.
    pub(crate) fn with(change: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config::default();
        change(&mut config);
        let mut store = MemCore::new();
        let now = at(0);
        let (cell, epoch) = own(&mut store, &config, both(now, Duration::ZERO), false);
        let mut world = Self {
            cell,
            store,
            now,
            stepped: Duration::ZERO,
            config,
            epoch,
            obedient: true,
            commits: true,
            agents: BTreeMap::new(),
            calendars: Calendars::default(),
            late: None,
            names: BTreeMap::new(),
            specs: BTreeMap::new(),
            jobs: 0,
            requests: 0,
            said: Vec::new(),
            pages: 0,
        };
        world.settle();
        assert!(world.cell.is_loaded());
        world
    }

    /// Nodes do nothing by themselves from now on.
    pub(crate) fn by_hand(mut self) -> Self {
        self.obedient = false;
        self
    }

    /// One event, and everything that follows from it.
    pub(crate) fn handle(&mut self, event: Event) {
        self.cell.handle(self.both(), event);
        self.settle();
    }

    /// Commits, answers reads and lets nodes obey until nothing is left to do.
    pub(crate) fn settle(&mut self) {
        loop {
            self.listen();
            assert_eq!(self.cell.defect(), None, "the cell broke a rule");
            if !self.commits || !self.commit() {
                self.recount();
                // What waited for nothing but the cut is said now.
                return self.listen();
            }
        }
    }

    /// Memory never contradicts itself. Crowds are not counted again and again.
    fn recount(&self) {
        if self.cell.running() + self.cell.waiting() <= 20 {
            assert_eq!(self.cell.recount(), [""; 0], "memory contradicts itself");
        }
    }

    /// Writes one batch; false when there was none.
    pub(crate) fn commit(&mut self) -> bool {
        let Some(batch) = self.cell.cut() else { return false };
        self.write(&batch);
        true
    }

    /// Writes a batch that was cut before.
    pub(crate) fn write(&mut self, batch: &Batch) {
        let outcomes = self.store.commit(&batch.transaction).expect("the store takes the batch");
        self.cell.committed(self.both(), &outcomes);
        if let Some(why) = self.cell.diverged() {
            panic!("the cell diverged: {why}");
        }
    }

    fn listen(&mut self) {
        loop {
            let messages = self.cell.take_messages();
            if messages.is_empty() {
                return;
            }
            for message in messages {
                match &message {
                    Message::Read(query) => {
                        self.pages += 1;
                        let read = self.read(query.clone());
                        self.cell.handle(self.both(), Event::ShelfRead(Box::new(read)));
                        continue;
                    }
                    Message::ReadTriggers(query) => {
                        let page = self.store.records(query).expect("a page");
                        let query = query.clone();
                        let read = TriggersRead { query, rows: page.rows, more: page.more };
                        self.answer(Event::TriggersRead(Box::new(read)));
                        continue;
                    }
                    Message::ReadMoments(query) => {
                        let read = self.moments_read(query);
                        self.cell.handle(self.both(), Event::MomentsRead(Box::new(read)));
                        continue;
                    }
                    Message::ReadSpecs(keys) => {
                        let read = keys.iter().map(|key| self.spec_read(*key)).collect();
                        self.answer(Event::SpecsRead(read));
                        continue;
                    }
                    Message::Start(order) if self.obedient => self.obey(&order.clone()),
                    Message::Forget { node, token, .. } => {
                        self.agent(*node).held.retain(|held| held.0 != *token)
                    }
                    _ => {}
                }
                self.said.push(message);
            }
        }
    }

    /// The store answers, at once or when it is asked to.
    fn answer(&mut self, event: Event) {
        match &mut self.late {
            Some(late) => late.push(event),
            None => self.cell.handle(self.both(), event),
        }
    }

    /// The store answers what was read while it was slow, and is quick again.
    pub(crate) fn answer_late(&mut self) {
        for event in self.late.take().unwrap_or_default() {
            self.cell.handle(self.both(), event);
        }
        self.settle();
    }

    /// What the store answers to a read.
    pub(crate) fn read(&self, query: ShelfQuery) -> ShelfRead {
        let page = self.store.shelf(&query).expect("a page");
        let rows = page.rows.into_iter().map(|run| self.loaded(run)).collect();
        ShelfRead { query, rows, more: page.more }
    }

    /// A row with what belongs to it.
    pub(crate) fn loaded(&self, run: Run) -> LoadedRun {
        let spec = self.specs.get(&(run.head.job, run.head.job_version)).cloned();
        let pause = self.store.job(run.head.job).and_then(|job| job.job_pause());
        LoadedRun { run, spec, pause }
    }

    /// Another scheduler takes the cell under the next epoch; nodes have to connect again.
    pub(crate) fn take_over(&mut self) {
        self.succeed(false);
    }

    /// The same, from a scheduler that may still extend the leases of its nodes.
    pub(crate) fn take_over_from_other(&mut self) {
        self.succeed(true);
    }

    fn succeed(&mut self, succeeds_other: bool) {
        let now = self.both();
        let (cell, epoch) = own(&mut self.store, &self.config, now, succeeds_other);
        self.cell = cell;
        self.epoch = epoch;
        self.said.clear();
        self.settle();
        assert!(self.cell.is_loaded());
    }

    pub(crate) fn request(&mut self) -> RequestId {
        self.requests += 1;
        RequestId(self.requests)
    }
}

/// A cell under a fresh lease, as the store has it.
fn own(store: &mut MemCore, config: &Config, now: Now, succeeds_other: bool) -> (Cell, Epoch) {
    let member = MemberId::new(at(0), 1);
    let expires_at = now.store + limits::LEASE_TTL;
    let request = LeaseRequest { cell: config.cell, member, observed: None, expires_at };
    let LeaseGrant::Granted(lease) = store.acquire_lease(request) else { panic!("the lease is held") };
    let tenure = Tenure {
        epoch: lease.epoch,
        lease: time::lease_at(now.elapsed),
        succeeds_other,
        nodes: store.nodes(config.cell),
        pause: store.cell_pause(config.cell),
        memories: store.records(&Tenure::memories_of(config.cell, None)).expect("records").rows,
    };
    (Cell::new(config.clone(), tenure, now), lease.epoch)
}

/// The first cell.
pub(crate) const CELL: CellId = CellId(0);
