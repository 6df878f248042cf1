//! A scheduler process: the thin shell around the pure engine that every real one has. It asks the store,
//! hands answers to the engine, and sends what the engine releases. All rules are in the engine.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mainspring_engine::{
    Answer, Cell, Config, Event, LeaseAnswer, LeaseStep, LoadedRun, Message, Now, Owner, OwnerConfig,
    RequestId, ShelfRead, SpecRead, Submission, Success, Tenure, TriggersRead,
};
use mainspring_model::{
    CellId, ClockReading, Elapsed, Epoch, JobId, JobPause, MemberId, Name, RunHead, RunId, StoreClock,
    Timestamp,
};
use mainspring_store::{Outcome, Transaction, Write};

use crate::calendars;
use crate::jobs::SimJob;
use crate::plan::SECOND;
use crate::plant::Plant;
use crate::store::{Ask, Handover, PausesRead, Told};
use crate::world::TICK;

/// A question that got no answer is asked again after this.
const PATIENCE: i64 = 2 * SECOND;

/// What a scheduler wants done.
#[derive(Debug)]
pub(crate) enum Doing {
    /// Ask the store; the answer comes back under this number.
    Ask { number: u64, ask: Ask },
    /// Tell a node.
    Tell { message: Message },
    /// Answer a client's request.
    Answer { request: u64, answer: Answer },
    /// Tell the other schedulers.
    Hint { cell: CellId },
}

/// What a question was about.
#[derive(Debug, Clone)]
pub(crate) enum Purpose {
    Lease(CellId),
    Tenure { cell: CellId },
    Commit(CellId),
    Read(CellId),
    Insert { request: u64, run: RunId, cell: CellId },
}

#[derive(Debug)]
struct Question {
    purpose: Purpose,
    ask: Ask,
    asked_at: i64,
}

#[derive(Debug)]
struct Seat {
    owner: Owner,
    cell: Option<Cell>,
}

/// What a process's idea of the store's clock showed, tick by tick, in one of its lives: true time, and the store's.
type Shown = Vec<(i64, Timestamp)>;

/// One scheduler process, in one of its lives.
#[derive(Debug)]
pub(crate) struct Scheduler {
    pub alive: bool,
    pub paused_until: i64,
    pub life: u64,
    /// The rate of its elapsed clock, in millionths, and where that began.
    pub rate: i64,
    pub offset: i64,
    /// How far its wall clock, which decides nothing, is ahead of true time.
    pub wall_offset: i64,
    /// The store's clock as it follows it; none before the first reading.
    store_clock: Option<StoreClock>,
    pub takeovers: u64,
    pub member: MemberId,
    seats: BTreeMap<CellId, Seat>,
    questions: BTreeMap<u64, Question>,
    next_number: u64,
    pub jobs: Arc<Vec<SimJob>>,
    config: Config,
    pub plant: Option<Plant>,
    /// What its clock showed in each of its lives, and in which of them it owned a cell.
    shown: Vec<Shown>,
    owned_in: BTreeMap<(CellId, Epoch), usize>,
    /// The longest that what it read of jobs was on its way.
    pub late_max: i64,
}

impl Scheduler {
    pub(crate) fn new(
        config: Config,
        jobs: Arc<Vec<SimJob>>,
        clock: (i64, i64),
        plant: Option<Plant>,
    ) -> Self {
        Self {
            alive: false,
            paused_until: 0,
            life: 0,
            rate: clock.0,
            offset: clock.1,
            wall_offset: 0,
            store_clock: None,
            takeovers: 0,
            member: MemberId::MIN,
            seats: BTreeMap::new(),
            questions: BTreeMap::new(),
            next_number: 0,
            jobs,
            config,
            plant,
            shown: Vec::new(),
            owned_in: BTreeMap::new(),
            late_max: 0,
        }
    }

    /// The process starts with nothing but its configuration.
    pub(crate) fn start(&mut self, now: i64, member: MemberId) {
        self.alive = true;
        self.life += 1;
        self.member = member;
        self.questions.clear();
        self.store_clock = None;
        self.shown.push(Shown::new());
        let clock = self.elapsed(now);
        let seat =
            |cell| (cell, Seat { owner: Owner::new(OwnerConfig::new(cell, member), clock), cell: None });
        self.seats = (0..self.config.cells).map(CellId).map(seat).collect();
    }

    pub(crate) fn kill(&mut self) {
        self.alive = false;
        self.life += 1;
        self.seats.clear();
        self.questions.clear();
    }

    /// Its elapsed clock: its own rate, an arbitrary beginning, and nothing stops it.
    pub(crate) fn elapsed(&self, now: i64) -> Elapsed {
        Elapsed::from_micros(now + now * self.rate / 1_000_000 + self.offset)
    }

    /// Both of its clocks. Before the first reading it knows nothing of the store's.
    pub(crate) fn both(&self, now: i64) -> Now {
        let elapsed = self.elapsed(now);
        if self.plant == Some(Plant::WallClock) {
            return Now { elapsed, store: Timestamp::from_micros(now + self.wall_offset) };
        }
        let store = self.store_clock.as_ref().map_or(Timestamp::ZERO, |clock| clock.now(elapsed));
        Now { elapsed, store }
    }

    /// The store's clock was read; the question was asked at `asked_at`.
    fn read_clock(&mut self, now: i64, asked_at: i64, store: Timestamp) {
        let (asked, answered) = (self.elapsed(asked_at), self.elapsed(now));
        let reading = ClockReading { asked, answered, store };
        match &mut self.store_clock {
            Some(_) if self.plant == Some(Plant::DeafToClock) => {}
            Some(clock) => drop(clock.read(reading)),
            None => self.store_clock = Some(StoreClock::new(reading)),
        }
    }

    /// When its clock showed this as the owner of a cell, if it did: a tick too early at most.
    pub(crate) fn when(&self, cell: CellId, epoch: Epoch, clock: Timestamp) -> Option<i64> {
        let shown = self.shown.get(*self.owned_in.get(&(cell, epoch))?)?;
        let first = shown.partition_point(|(_, shown)| *shown < clock);
        Some(shown.get(first).or(shown.last())?.0 - TICK)
    }

    /// Cells that it owns and acts for.
    pub(crate) fn owned(&self, now: i64) -> Vec<CellId> {
        let clock = self.elapsed(now);
        let owns = |(cell, seat): (&CellId, &Seat)| {
            (seat.owner.epoch(clock).is_some() && seat.cell.as_ref().is_some_and(Cell::is_loaded))
                .then_some(*cell)
        };
        self.seats.iter().filter_map(owns).collect()
    }

    pub(crate) fn cell(&self, cell: CellId) -> Option<&Cell> {
        self.seats.get(&cell).and_then(|seat| seat.cell.as_ref())
    }

    /// Time passed: leases, timers, unanswered questions.
    pub(crate) fn tick(&mut self, now: i64) -> Vec<Doing> {
        let both = self.both(now);
        let clock = both.elapsed;
        if let Some(shown) = self.shown.last_mut().filter(|_| self.store_clock.is_some()) {
            shown.push((now, both.store));
        }
        let mut doings = Vec::new();
        for cell_id in self.seats.keys().copied().collect::<Vec<_>>() {
            let Some(seat) = self.seats.get_mut(&cell_id) else { continue };
            let step = seat.owner.step(both);
            let lost = (seat.owner.epoch(clock).is_none() && !seat.owner.is_stranded(clock))
                || seat.cell.as_ref().is_some_and(|cell| cell.diverged().is_some());
            if lost && seat.cell.is_some() && self.plant != Some(Plant::TakeoverAtOnce) {
                self.drop_cell(clock, cell_id);
            }
            if let Some(step) = step {
                let ask = match step {
                    LeaseStep::Look => Ask::Look(cell_id),
                    LeaseStep::Acquire(request) => Ask::Acquire(request),
                    LeaseStep::Renew { cell, member, epoch, expires_at } => {
                        Ask::Renew { cell, member, epoch, expires_at }
                    }
                };
                self.ask(now, Purpose::Lease(cell_id), ask, &mut doings);
            }
            self.handle(now, cell_id, Event::Tick, &mut doings);
        }
        self.ask_again(now, &mut doings);
        doings
    }

    fn ask_again(&mut self, now: i64, doings: &mut Vec<Doing>) {
        let late: Vec<u64> = self
            .questions
            .iter()
            .filter(|(_, question)| question.asked_at + PATIENCE <= now)
            .map(|(n, _)| *n)
            .collect();
        for number in late {
            let Some(question) = self.questions.remove(&number) else { continue };
            match question.purpose {
                // No answer is an answer: the owner decides what to ask next.
                Purpose::Lease(cell) => self.lease_answered(now, cell, LeaseAnswer::Failed, doings),
                Purpose::Commit(cell) if self.plant == Some(Plant::UnknownIsDone) => {
                    self.assume_done(now, cell, &question.ask, doings);
                }
                Purpose::Read(_) if self.plant == Some(Plant::DropReads) => {}
                purpose => self.ask(now, purpose, question.ask, doings),
            }
        }
    }

    /// Something for a cell: from a node, from a client, from the engine's own clock.
    pub(crate) fn handle(&mut self, now: i64, cell_id: CellId, mut event: Event, doings: &mut Vec<Doing>) {
        let clock = self.both(now);
        self.spoil_call(&mut event);
        self.see_off(cell_id, &event, doings);
        if self.confirms_unread(&event, doings) {
            return;
        }
        let Some(cell) = self.seats.get_mut(&cell_id).and_then(|seat| seat.cell.as_mut()) else { return };
        cell.handle(clock, event);
        if let Some(why) = cell.defect() {
            panic!("{cell_id} broke a rule: {why}");
        }
        self.pump(now, cell_id, doings);
    }

    /// A submission: to the engine where this process owns the cell, else straight into the store.
    pub(crate) fn submit(
        &mut self,
        now: i64,
        request: u64,
        head: RunHead,
        (job, pause): (usize, Option<JobPause>),
        doings: &mut Vec<Doing>,
    ) {
        let pause = pause.filter(|_| self.plant != Some(Plant::ForgetPause));
        let cell_id = CellId::of(&head.namespace, self.config.cells);
        // A process that has not read the store's clock yet takes nothing.
        if self.store_clock.is_none() {
            return;
        }
        let run = head.id;
        if self.owned(now).contains(&cell_id) {
            let spec = self.engine_spec(&self.jobs[job].spec);
            let submission = Submission { request: RequestId(request), head, spec, pause };
            self.handle(now, cell_id, Event::Submit(Box::new(submission)), doings);
            if self.plant == Some(Plant::AckBeforeCommit) {
                doings.push(Doing::Answer { request, answer: Answer::Submitted { run, duplicate: false } });
            }
            return;
        }
        let mut head = head;
        head.created_at = self.both(now).store;
        head.keys = mainspring_engine::render_keys(&self.jobs[job].spec, &head.params).ok().flatten();
        let transaction = Transaction::unfenced(vec![Write::insert_arrived(head, cell_id)]);
        self.ask(now, Purpose::Insert { request, run, cell: cell_id }, Ask::Commit(transaction), doings);
    }

    fn pump(&mut self, now: i64, cell_id: CellId, doings: &mut Vec<Doing>) {
        loop {
            let Some(cell) = self.seats.get_mut(&cell_id).and_then(|seat| seat.cell.as_mut()) else { return };
            let batch = cell.cut();
            let messages = cell.take_messages();
            let quiet = batch.is_none() && messages.is_empty();
            if let Some(batch) = batch {
                if self.dies_of(&batch.transaction) {
                    return self.drop_cell(self.elapsed(now), cell_id);
                }
                if self.plant == Some(Plant::ActBeforeCommit) {
                    let applied = vec![Outcome::Applied; batch.transaction.writes.len()];
                    let clock = self.both(now);
                    if let Some(cell) = self.seats.get_mut(&cell_id).and_then(|seat| seat.cell.as_mut()) {
                        cell.committed(clock, &applied);
                    }
                }
                self.ask(now, Purpose::Commit(cell_id), Ask::Commit(batch.transaction), doings);
            }
            for message in messages {
                match message {
                    Message::Read(query) => self.ask(now, Purpose::Read(cell_id), Ask::Shelf(query), doings),
                    Message::ReadTriggers(query) => {
                        self.ask(now, Purpose::Read(cell_id), Ask::Records(query), doings);
                    }
                    Message::ReadMoments(query) => {
                        self.ask(now, Purpose::Read(cell_id), Ask::Moments(query), doings);
                    }
                    Message::ReadSpecs(keys) => {
                        let needed = self.needed_by(&keys);
                        self.ask(now, Purpose::Read(cell_id), Ask::Pauses { keys, needed }, doings)
                    }
                    Message::Reply { request, answer } => {
                        let early = self.plant == Some(Plant::AckBeforeCommit)
                            && matches!(answer, Answer::Submitted { .. });
                        if !early {
                            doings.push(Doing::Answer { request: request.0, answer });
                        }
                    }
                    Message::Hint { cell } => doings.push(Doing::Hint { cell }),
                    Message::Start(mut order) => {
                        order.checkpoint =
                            order.checkpoint.filter(|_| self.plant != Some(Plant::ForgetCheckpoint));
                        doings.push(Doing::Tell { message: Message::Start(order) });
                    }
                    message => doings.push(Doing::Tell { message }),
                }
            }
            if quiet {
                return;
            }
        }
    }

    pub(crate) fn ask(&mut self, now: i64, purpose: Purpose, ask: Ask, doings: &mut Vec<Doing>) {
        self.next_number += 1;
        let number = self.next_number;
        self.questions.insert(number, Question { purpose, ask: ask.clone(), asked_at: now });
        doings.push(Doing::Ask { number, ask });
    }

    /// The store answered.
    pub(crate) fn told(&mut self, now: i64, number: u64, told: Told) -> Vec<Doing> {
        let mut doings = Vec::new();
        if matches!(told, Told::Away) {
            return doings; // Asked again when patience ends.
        }
        let Some(question) = self.questions.remove(&number) else { return doings };
        let told = match told {
            Told::Clock(clock, told) => {
                self.read_clock(now, question.asked_at, clock);
                *told
            }
            told => told,
        };
        match (question.purpose, told) {
            (Purpose::Lease(cell), Told::Seen(lease)) => {
                if self.plant == Some(Plant::TakeoverAtOnce) {
                    return self.grab(now, cell, lease);
                }
                self.lease_answered(now, cell, LeaseAnswer::Seen(lease), &mut doings);
            }
            (Purpose::Lease(cell), Told::Asked(grant)) => {
                self.lease_answered(now, cell, LeaseAnswer::Asked(grant), &mut doings)
            }
            (Purpose::Lease(cell), Told::Renewed(held)) => {
                self.lease_answered(now, cell, LeaseAnswer::Renewed(held), &mut doings)
            }
            (Purpose::Tenure { cell }, Told::Tenure(handover)) => {
                self.take_over(now, cell, *handover, &mut doings)
            }
            (Purpose::Commit(cell), Told::Committed(outcomes)) => {
                self.committed(now, cell, &outcomes, &mut doings)
            }
            (Purpose::Commit(cell), Told::FenceLost) => {
                let clock = self.elapsed(now);
                self.drop_cell(clock, cell);
            }
            (Purpose::Read(cell), Told::Shelf(query, page, pauses)) => {
                let rows = page.rows.into_iter().map(|run| self.loaded(run, &pauses)).collect();
                let rows = self.spoil(query.shelf, rows);
                let read = ShelfRead { query, rows, more: page.more };
                self.handle(now, cell, Event::ShelfRead(Box::new(read)), &mut doings);
            }
            (Purpose::Read(cell), Told::Records(query, page)) => {
                let rows = self.spoil_triggers(cell, self.both(now).store, page.rows);
                let rows = self.spoil_news(query.kind, rows);
                let read = TriggersRead { query, rows, more: page.more };
                self.handle(now, cell, Event::TriggersRead(Box::new(read)), &mut doings);
            }
            (Purpose::Read(cell), Told::Moments(read)) => {
                self.handle(now, cell, Event::MomentsRead(read), &mut doings);
            }
            (Purpose::Read(cell), Told::Pauses(read)) => {
                self.late_max = self.late_max.max(now - read.at);
                let specs = read.keys.iter().map(|key| self.spec_read(*key, &read)).collect();
                self.handle(now, cell, Event::SpecsRead(specs), &mut doings);
            }
            (Purpose::Insert { request, run, cell }, Told::Committed(outcomes)) => {
                let answer = match outcomes.first() {
                    Some(Outcome::Conflict(mainspring_store::Conflict::KeyTaken(Some(first)))) => {
                        Answer::Submitted { run: *first, duplicate: true }
                    }
                    Some(_) => Answer::Submitted { run, duplicate: false },
                    None => return doings,
                };
                doings.push(Doing::Answer { request, answer });
                doings.push(Doing::Hint { cell });
            }
            (purpose, Told::Broken(what)) => panic!("the store refused {purpose:?}: {what}"),
            (purpose, told) => panic!("{told:?} does not answer {purpose:?}"),
        }
        doings
    }

    fn lease_answered(&mut self, now: i64, cell_id: CellId, answer: LeaseAnswer, doings: &mut Vec<Doing>) {
        let clock = self.elapsed(now);
        let Some(seat) = self.seats.get_mut(&cell_id) else { return };
        let granted = seat.owner.answered(clock, answer);
        if granted {
            self.takeovers += 1;
            self.drop_memory(cell_id);
            self.ask(now, Purpose::Tenure { cell: cell_id }, Ask::Tenure(cell_id), doings);
        } else if let (Some(lease), Some(cell)) = (seat.owner.lease(), seat.cell.as_mut()) {
            cell.renewed(lease);
        }
    }

    fn take_over(&mut self, now: i64, cell_id: CellId, handover: Handover, doings: &mut Vec<Doing>) {
        let clock = self.both(now);
        let Handover { nodes, pause, memories } = self.spoil_handover(handover);
        let Some(seat) = self.seats.get_mut(&cell_id) else { return };
        let (Some(epoch), Some(lease)) = (seat.owner.epoch(clock.elapsed), seat.owner.lease()) else {
            return;
        };
        self.owned_in.insert((cell_id, epoch), self.shown.len() - 1);
        let succeeds_other = seat.owner.succeeds_other();
        let mut config = Config { cell: cell_id, ..self.config.clone() };
        match self.plant {
            Some(Plant::LostTooSoon) => config.lost_after = Duration::from_secs(4),
            Some(Plant::ForgetPatience) => config.patience.clear(),
            Some(Plant::NeverLost) => config.lost_after = Duration::from_secs(86_400),
            Some(Plant::HastySuccessor) => config.outage_max = Duration::ZERO,
            _ => {}
        }
        seat.cell =
            Some(Cell::new(config, Tenure { epoch, lease, succeeds_other, nodes, pause, memories }, clock));
        self.pump(now, cell_id, doings);
    }

    pub(crate) fn committed(
        &mut self,
        now: i64,
        cell_id: CellId,
        outcomes: &[Outcome],
        doings: &mut Vec<Doing>,
    ) {
        let clock = self.both(now);
        if self.plant != Some(Plant::ActBeforeCommit)
            && let Some(cell) = self.seats.get_mut(&cell_id).and_then(|seat| seat.cell.as_mut())
        {
            cell.committed(clock, outcomes);
        }
        self.pump(now, cell_id, doings);
    }

    /// The cell is somebody else's, or must be loaded anew.
    fn drop_cell(&mut self, clock: Elapsed, cell_id: CellId) {
        if let Some(seat) = self.seats.get_mut(&cell_id) {
            seat.owner.depose(clock);
        }
        self.drop_memory(cell_id);
    }

    fn drop_memory(&mut self, cell_id: CellId) {
        if let Some(seat) = self.seats.get_mut(&cell_id) {
            seat.cell = None;
        }
        self.questions.retain(|_, question| match question.purpose {
            Purpose::Commit(cell) | Purpose::Read(cell) | Purpose::Tenure { cell } => cell != cell_id,
            Purpose::Lease(_) | Purpose::Insert { .. } => true,
        });
    }

    fn spec_read(&self, (job, version): (JobId, u32), read: &PausesRead) -> SpecRead {
        let pause = read.pauses.get(&job).filter(|_| self.plant != Some(Plant::ForgetPause)).cloned();
        let found = self.jobs.iter().find(|sim| sim.job.id == job && sim.readable);
        let successes = found.map(|sim| self.successes(sim, read)).unwrap_or_default();
        SpecRead {
            job,
            version,
            successes,
            spec: found.map(|sim| self.engine_spec(sim.spec_of(version))),
            pause,
            calendars: found
                .map(|sim| calendars::of(sim.spec_of(version), self.spoil_calendar(read.calendar)))
                .unwrap_or_default(),
        }
    }

    /// The last successes of what a job's triggers need.
    fn successes(&self, sim: &SimJob, read: &PausesRead) -> Vec<Success> {
        let needs = sim.spec.triggers.iter().flat_map(|trigger| &trigger.needs);
        let last = |name: &Name| {
            let at = read.successes.get(&self.job_named(sim, name)?).copied();
            self.spoil_success(at).map(|at| Success { job: name.clone(), at })
        };
        needs.filter_map(|need| last(&need.job)).collect()
    }

    fn job_named(&self, beside: &SimJob, name: &Name) -> Option<JobId> {
        let is_it = |sim: &&SimJob| sim.job.namespace == beside.job.namespace && sim.spec.name == *name;
        self.jobs.iter().find(is_it).map(|sim| sim.job.id)
    }

    /// The jobs that triggers of these need.
    fn needed_by(&self, keys: &[(JobId, u32)]) -> Vec<JobId> {
        let of = self.jobs.iter().filter(|sim| keys.iter().any(|(job, _)| *job == sim.job.id));
        of.flat_map(|sim| {
            let needs = sim.spec.triggers.iter().flat_map(|trigger| &trigger.needs);
            needs.filter_map(|need| self.job_named(sim, &need.job))
        })
        .collect()
    }

    /// A run with the specification that it pins, as the store has it.
    fn loaded(&self, mut run: mainspring_model::Run, pauses: &BTreeMap<JobId, JobPause>) -> LoadedRun {
        if self.plant == Some(Plant::ForgetDeadline) {
            Arc::make_mut(&mut run.head).deadline = None;
        }
        let pause = pauses.get(&run.head.job).filter(|_| self.plant != Some(Plant::ForgetPause)).cloned();
        let job = self.jobs.iter().find(|job| job.job.id == run.head.job && job.readable);
        LoadedRun { spec: job.map(|job| self.engine_spec(job.spec_of(run.head.job_version))), run, pause }
    }
}
