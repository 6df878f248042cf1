//! What is asked of the store and what it answers; the checker sees every change on the way.

use mainspring_engine::{Event, RequestId};
use mainspring_model::{CellId, Epoch, NodeId, Timestamp};
use mainspring_store::{Transaction, Write};
use mainspring_store_mem::Change;

use crate::changes::Unconfirmed;
use crate::checker::Violation;
use crate::plan::Host;
use crate::scheduler::Scheduler;
use crate::store::{Ask, Told};
use crate::timed;
use crate::world::{Item, NOBODY, ToScheduler, World};
use crate::written::Written;

impl World {
    pub(crate) fn at_store(
        &mut self,
        scheduler: usize,
        life: u64,
        number: u64,
        ask: Ask,
    ) -> Result<(), Violation> {
        let holds: Vec<String> = match &ask {
            Ask::Commit(transaction) => transaction.writes.iter().filter_map(hold).collect(),
            _ => Vec::new(),
        };
        let transaction = match &ask {
            Ask::Commit(transaction) => Some(transaction.clone()),
            _ => None,
        };
        let told = self.store.ask(self.now, ask);
        if !holds.is_empty() {
            self.trace.say(self.now, format_args!("s{scheduler} asked for {holds:?}"));
            let nodes: Vec<NodeId> = transaction.iter().flat_map(nodes_of).collect();
            self.checker.look_at_holds(self.now, &self.store.core, self.plan.cells, &nodes);
        }
        let changes = self.store.core.take_changes();
        for change in &changes {
            if let Some(after) = &change.after {
                let (id, state, attempt) = (change.head.id, after.state.name(), after.attempt);
                let (version, epoch, cause) = (after.version, after.epoch, &after.cause);
                self.trace.say(
                    self.now,
                    format_args!("{id} {state} attempt {attempt} v{version} {epoch} {cause:?}"),
                );
            }
        }
        let leases = self.store.core.leases();
        let granted =
            |cell| leases.iter().find(|lease| lease.cell == cell).map_or(Epoch(0), |lease| lease.epoch);
        let decided = |cell, epoch, clock| {
            self.schedulers.iter().find_map(|scheduler| scheduler.when(cell, epoch, clock))
        };
        self.checker.changed(&changes, &self.store.core, granted, decided)?;
        if let Some(transaction) = transaction {
            self.written(&transaction, &changes)?;
            self.cancel_calls();
        }
        let is_away = |node| !self.agents.iter().any(|agent| agent.node.id == node && agent.alive);
        self.checker.look_at_goodbyes(&self.store.core, is_away)?;
        let Some(told) = told else { return Ok(()) };
        if let Told::Clock(_, told) = &told
            && let Told::Asked(mainspring_store::LeaseGrant::Granted(lease)) = &**told
        {
            self.taken_at = self.now;
            self.trace.say(self.now, format_args!("s{scheduler} owns {} under {}", lease.cell, lease.epoch));
        }
        for at in self.net.arrivals(self.now, Host::Store, Host::Scheduler(scheduler)).into_iter().flatten() {
            self.agenda.at(at, Item::StoreSays { scheduler, life, number, told: told.clone() });
        }
        Ok(())
    }

    /// What a transaction wrote about triggers is looked at.
    fn written(&mut self, transaction: &Transaction, changes: &[Change]) -> Result<(), Violation> {
        let written = Written::read(transaction, &self.store.core);
        self.ledgers.committed(&written, changes, &self.store.core)?;
        self.callers.committed(changes)?;
        let decided = |clock: Timestamp| {
            let fence = transaction.fence.as_ref()?;
            self.schedulers.iter().find_map(|scheduler| scheduler.when(fence.cell, fence.epoch, clock))
        };
        let late = self.schedulers.iter().map(|scheduler| scheduler.late_max).max().unwrap_or_default();
        self.heeded.committed(self.now, &written, changes, decided, late)?;
        self.needs.committed(&written, changes)?;
        self.changes.committed(changes, (&self.store.core, self.plan.cells), &self.jobs)?;
        self.backfills.committed(&written, changes, &self.store.core)
    }

    /// Jobs are put anew, each at one of the schedulers. Some of those never ask the owner, and answer nobody.
    pub(crate) fn put_jobs(&mut self) -> Result<(), Violation> {
        for (job, request) in self.operators.puts(self.now) {
            let sim = &self.jobs[job];
            let now = self.store.clock(self.now);
            let server = self.changes.rng.index(self.schedulers.len());
            if self.now < self.store.down_until || !self.acts(server) {
                continue;
            }
            let at = (self.plan.cells, self.store.calendar);
            let Some(transaction) = timed::put(&self.store.core, sim, at, now) else { continue };
            let (id, cell) = (sim.job.id, CellId::of(&sim.job.namespace, self.plan.cells));
            self.store.core.commit(&transaction).expect("a put");
            self.puts += 1;
            self.trace.say(self.now, format_args!("{id} is put anew"));
            self.written(&transaction, &[])?;
            let version = self.store.core.job(id).map_or(0, |job| job.current_version);
            if self.changes.rng.chance(80) {
                let life = self.schedulers[server].life;
                let change = Unconfirmed::new((id, version), cell, request, (server, life));
                self.changes.written(change);
            }
        }
        Ok(())
    }

    /// Whoever took a change asks all schedulers about it: only the owner may confirm it.
    pub(crate) fn confirm_changes(&mut self) {
        let now = self.now;
        let core = (now >= self.store.down_until).then_some(&self.store.core);
        let lives = |(server, life): (usize, u64)| {
            let scheduler: &Scheduler = &self.schedulers[server];
            let is_same = scheduler.alive && scheduler.life == life;
            (!is_same || scheduler.paused_until <= now).then_some(is_same)
        };
        for (server, cell, job, request) in self.changes.ask(now, core, lives) {
            for scheduler in 0..self.schedulers.len() {
                let event = Event::TriggersChanged { request: RequestId(request), job };
                self.send_scheduler(Host::Scheduler(server), scheduler, ToScheduler::Node { cell, event });
            }
        }
    }

    fn acts(&self, server: usize) -> bool {
        self.schedulers[server].alive && self.schedulers[server].paused_until <= self.now
    }

    /// Somebody changes the calendar. Whether the owners are told, or find out, is chance.
    pub(crate) fn change_calendar(&mut self) {
        if self.now < self.store.down_until {
            return;
        }
        let clock = self.store.clock(self.now);
        let Some((version, transaction)) = self.heeded.change(self.now, clock, &self.store.core) else {
            return;
        };
        self.store.core.commit(&transaction).expect("a change of a calendar");
        self.store.calendar = version;
        self.ledgers.calendar_changed(version);
        self.backfills.calendar_changed(version);
        self.trace.say(self.now, format_args!("version {version} of the calendar is put"));
        if self.rng.chance(50) {
            for cell in (0..self.plan.cells).map(CellId) {
                for scheduler in 0..self.schedulers.len() {
                    let event = Event::CalendarsChanged { request: RequestId(NOBODY) };
                    self.send_scheduler(Host::Client, scheduler, ToScheduler::Node { cell, event });
                }
            }
        }
    }

    /// Webhooks are called. Whoever takes a call has to read the store first.
    pub(crate) fn call_hooks(&mut self) {
        if self.now < self.store.down_until {
            return;
        }
        let clock = self.store.clock(self.now);
        let calls = self.callers.act(self.now, clock, &self.jobs, (&self.store.core, self.plan.cells));
        for (cell, event) in calls {
            for scheduler in 0..self.schedulers.len() {
                let what = ToScheduler::Node { cell, event: event.clone() };
                self.send_scheduler(Host::Client, scheduler, what);
            }
        }
    }

    /// Whoever sees the run of a delivery that nobody wants cancels it.
    fn cancel_calls(&mut self) {
        for (cell, event) in self.callers.cancels(&self.jobs, &self.store.core) {
            for scheduler in 0..self.schedulers.len() {
                let what = ToScheduler::Node { cell, event: event.clone() };
                self.send_scheduler(Host::Client, scheduler, what);
            }
        }
    }

    pub(crate) fn store_says(
        &mut self,
        index: usize,
        life: u64,
        number: u64,
        told: Told,
    ) -> Result<(), Violation> {
        let scheduler = &mut self.schedulers[index];
        if scheduler.life != life {
            return Ok(());
        }
        if scheduler.paused_until > self.now {
            let at = scheduler.paused_until;
            self.agenda.at(at, Item::StoreSays { scheduler: index, life, number, told });
            return Ok(());
        }
        let doings = scheduler.told(self.now, number, told);
        self.check_reservations(index)?;
        self.do_scheduler(index, doings)
    }
}

/// The nodes whose rows are written.
fn nodes_of(transaction: &Transaction) -> impl Iterator<Item = NodeId> {
    transaction.writes.iter().filter_map(|write| match write {
        Write::PutNode(node) => Some(node.id),
        _ => None,
    })
}

/// What the write pauses or empties, or lets go.
fn hold(write: &Write) -> Option<String> {
    match write {
        Write::PutJob(job) => Some(format!("{} paused {}", job.id, job.pause.is_some())),
        Write::PauseCell(pause) => Some(format!("cell paused {}", pause.is_some())),
        Write::PutNode(node) => Some(format!("{} {}", node.id, node.state.name())),
        _ => None,
    }
}
