//! The world: one queue of what is going to happen, hosts that react to it, and a checker that watches.
//! Everything that happens follows from the plan and its seed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use mainspring_engine::{Answer, Config, Event, Message, TriggerRow};
use mainspring_model::{AttemptToken, Cause, CellId, JobId, MemberId, Reason, RunId, RunState, Timestamp};
use mainspring_store::{Transaction, Write};

use crate::agent::{self, Agent, Doings};
use crate::backfills::Backfills;
use crate::calendars::Heeded;
use crate::callers::{CALL, Callers};
use crate::changes::Changes;
use crate::checker::{Checker, Violation};
use crate::client::Client;
use crate::jobs::{self, SimJob};
use crate::ledgers::Ledgers;
use crate::needs::Needs;
use crate::net::{Agenda, Net};
use crate::operators::{OPERATE, Operators, Sight};
use crate::plan::{BUSY_UNTIL, FaultKind, Host, Plan, REST_BY, SECOND};
use crate::plant::Plant;
use crate::rng::Rng;
use crate::scheduler::Scheduler;
use crate::store::{Ask, SimStore, Told};
use crate::timed;
use crate::trace::Trace;

/// Schedulers look at their timers this often.
pub(crate) const TICK: i64 = SECOND / 10;
/// How long the nodes are waited for that are waited for longer than the others.
const PATIENCE: Duration = Duration::from_secs(30);

/// Requests from here on are nobody's.
pub(crate) const NOBODY: u64 = 1 << 35;

/// Something that is going to happen.
#[derive(Debug)]
pub(crate) enum Item {
    Fault(FaultKind),
    Over(FaultKind),
    Tick { scheduler: usize, life: u64 },
    Round { agent: usize, life: u64 },
    Lease { agent: usize },
    TaskSays { agent: usize, token: AttemptToken, step: u32 },
    TaskEnds { agent: usize, token: AttemptToken, cause: Option<Cause> },
    Client,
    AtScheduler { scheduler: usize, what: ToScheduler },
    AtAgent { agent: usize, message: Message },
    AtStore { scheduler: usize, life: u64, number: u64, ask: Ask },
    StoreSays { scheduler: usize, life: u64, number: u64, told: Told },
    AtClient { request: u64, answer: Answer },
}

/// A message to a scheduler.
#[derive(Debug, Clone)]
pub(crate) enum ToScheduler {
    Node { cell: CellId, event: Event },
    Submit { request: u64 },
    Cancel { request: u64 },
    Operate { request: u64 },
    Hint { cell: CellId },
}

/// The simulated world.
pub(crate) struct World {
    pub plan: Plan,
    pub now: i64,
    pub trace: Trace,
    pub store: SimStore,
    pub schedulers: Vec<Scheduler>,
    pub agents: Vec<Agent>,
    pub client: Client,
    pub callers: Callers,
    pub operators: Operators,
    pub checker: Checker,
    pub jobs: Arc<Vec<SimJob>>,
    pub net: Net,
    pub agenda: Agenda<Item>,
    pub steps: u64,
    /// What was told of planned moments.
    pub ledgers: Ledgers,
    pub backfills: Backfills,
    pub needs: Needs,
    pub heeded: Heeded,
    pub changes: Changes,
    /// Jobs that were put anew, wall clocks that jumped, days that nobody was there.
    pub puts: u64,
    pub wall_clock_jumps: u64,
    pub suspends: u64,
    pub stranded: u64,
    pub days_asleep: u64,
    /// Agents that ended on purpose.
    pub goodbyes: u64,
    /// What the owner asks the store until then arrives only then.
    pub held: Option<(usize, i64)>,
    /// When a cell was last taken.
    pub taken_at: i64,
    /// When the store, the network and the schedulers were last disturbed.
    pub disturbed_until: i64,
    pub rng: Rng,
}

impl World {
    pub(crate) fn new(plan: Plan, plant: Option<Plant>, verbose: bool) -> Self {
        let mut rng = Rng::new(plan.seed, "world");
        let jobs = Arc::new(jobs::all(plan.profile));
        let mut store = SimStore::new(plant);
        for job in jobs.iter() {
            let mut writes = vec![Write::PutJob(Box::new(job.job.clone()))];
            if job.readable {
                writes.push(Write::InsertJobVersion(Box::new(job.version())));
            }
            writes.extend(timed::rows(job, plan.cells));
            store.core.commit(&Transaction::unfenced(writes)).expect("the jobs are valid");
        }
        let mut config = Config {
            cells: plan.cells,
            waiting_max: plan.waiting_max,
            page_rows: if plan.waiting_max < 100 { 5 } else { 50 },
            timed_horizon: Duration::from_secs(20),
            poll_every: Duration::from_secs(10),
            ..Config::default()
        };
        if plan.is_patient {
            config.patience.extend([0, 2].map(|n| (agent::id(n), PATIENCE)));
        }
        // Rates within 1 % of true; a few percent of a second apart at the start.
        let mut clock = || (rng.range(-9_000, 9_000), rng.range(-50_000, 50_000));
        let schedulers: Vec<Scheduler> = (0..plan.schedulers)
            .map(|_| Scheduler::new(config.clone(), jobs.clone(), clock(), plant))
            .collect();
        let agents: Vec<Agent> = (0..plan.agents)
            .map(|n| {
                let mut agent =
                    Agent::new(n, CellId(n as u16 % plan.cells), plan.schedulers, clock().0, plant);
                if let Some(patience) = config.patience.get(&agent.node.id) {
                    agent = agent.patient(*patience);
                }
                // One of each cell is larger than the others.
                if n < usize::from(plan.cells) {
                    agent.node.capacity.cpu_milli *= 2;
                }
                agent
            })
            .collect();
        let checker = Checker::new(&jobs);
        let ledgers = Ledgers::new(&jobs);
        let backfills = Backfills::new(&jobs);
        let needs = Needs::new(&jobs);
        let heeded = Heeded::new(plan.seed, &jobs);
        let client = Client::new(&plan, &jobs);
        let callers = Callers::new(&plan, &jobs);
        let operators = Operators::new(&plan, &jobs);
        let mut world = Self {
            now: 0,
            trace: Trace::new(verbose),
            store,
            schedulers,
            agents,
            client,
            callers,
            operators,
            checker,
            jobs,
            net: Net::new(plan.seed),
            agenda: Agenda::new(),
            steps: 0,
            ledgers,
            backfills,
            needs,
            heeded,
            changes: Changes::new(plan.seed, plant),
            puts: 0,
            wall_clock_jumps: 0,
            suspends: 0,
            stranded: 0,
            days_asleep: 0,
            goodbyes: 0,
            held: None,
            taken_at: 0,
            disturbed_until: 0,
            rng,
            plan,
        };
        world.begin();
        world
    }

    fn begin(&mut self) {
        for fault in &self.plan.faults {
            self.agenda.at(fault.at, Item::Fault(fault.kind));
        }
        for scheduler in 0..self.schedulers.len() {
            self.start_scheduler(scheduler);
        }
        for agent in 0..self.agents.len() {
            let at = self.rng.range(0, SECOND);
            self.agenda.at(at, Item::Round { agent, life: 0 });
            self.agenda.at(at, Item::Lease { agent });
        }
        self.agenda.at(SECOND, Item::Client);
    }

    pub(crate) fn start_scheduler(&mut self, index: usize) {
        let member = MemberId::new(Timestamp::from_micros(self.now), self.rng.bits());
        self.schedulers[index].start(self.now, member);
        let life = self.schedulers[index].life;
        let at = self.now + self.rng.range(0, TICK);
        self.agenda.at(at, Item::Tick { scheduler: index, life });
    }

    /// One thing happens. False when the world is at rest or out of time.
    pub(crate) fn step(&mut self) -> Result<bool, Violation> {
        let Some((at, item)) = self.agenda.pop() else { return Ok(false) };
        self.now = at;
        let may_end = matches!(item, Item::Client) && self.client.is_done(at);
        if at > REST_BY || (may_end && self.is_at_rest()) {
            return Ok(false);
        }
        self.steps += 1;
        self.trace.mark(at, self.steps);
        match item {
            Item::Fault(kind) => self.fault(kind)?,
            Item::Over(kind) => self.fault_over(kind)?,
            Item::Tick { scheduler, life } => self.tick(scheduler, life)?,
            Item::Round { agent, life } => self.round(agent, life)?,
            Item::Lease { agent } => {
                if !self.agents[agent].is_suspended(self.now) {
                    let tasks = self.agents[agent].watch_lease(self.now);
                    self.do_agent(agent, Doings { tasks, ..Doings::default() })?;
                }
                self.agenda.at(self.now + SECOND / 4, Item::Lease { agent });
            }
            // Nothing happens on a machine that is suspended.
            Item::TaskSays { agent, .. } | Item::TaskEnds { agent, .. }
                if self.agents[agent].is_suspended(self.now) =>
            {
                self.agenda.at(self.agents[agent].suspended_until, item);
            }
            Item::TaskSays { agent, token, step } => {
                let doings = self.agents[agent].task_says(self.now, token, step);
                self.do_agent(agent, doings)?;
            }
            Item::TaskEnds { agent, token, cause } => self.task_ends(agent, token, cause)?,
            Item::Client => {
                self.client_acts();
                self.call_hooks();
                self.change_calendar();
                self.put_jobs()?;
                self.confirm_changes();
                self.check_dead_nodes()?;
                self.check_punctual()?;
            }
            Item::AtScheduler { scheduler, what } => self.at_scheduler(scheduler, what)?,
            Item::AtAgent { agent, message } => self.at_agent(agent, message)?,
            Item::AtStore { scheduler, life, number, ask } => self.at_store(scheduler, life, number, ask)?,
            Item::StoreSays { scheduler, life, number, told } => {
                self.store_says(scheduler, life, number, told)?
            }
            Item::AtClient { request, answer } => {
                let now = self.now;
                if request >= NOBODY {
                    // Nobody waits for it.
                } else if request >= CALL {
                    self.callers.answered(request, &answer, &self.jobs, &self.store.core)?;
                } else if request >= OPERATE {
                    if let Some((id, is_stop)) = self.operators.answered_backfill(request, &answer) {
                        self.backfills.answered(id, is_stop)?;
                    }
                    self.changes.answered(request, &answer);
                    self.operators.answered(request, &answer);
                } else {
                    self.client.answered(now, request, &answer, &mut self.trace)?;
                }
            }
        }
        Ok(true)
    }

    pub(crate) fn sight(&self) -> Sight<'_> {
        let Self { store, agents, jobs, plan, .. } = self;
        Sight { core: &store.core, agents, jobs, cells: plan.cells, quarantined: self.quarantined() }
    }

    /// Jobs that are held because they lost nodes; looked at when the faults are over.
    fn quarantined(&self) -> BTreeSet<JobId> {
        if self.now < BUSY_UNTIL {
            return BTreeSet::new();
        }
        let held = |run: &RunId| {
            self.owned_cells().any(|cell| matches!(cell.why(*run), Some(Reason::Quarantined { .. })))
        };
        let waiting = self.store.core.all_runs().filter(|run| run.status.state == RunState::Waiting);
        waiting.filter(|run| held(&run.head.id)).map(|run| run.head.job).collect()
    }

    fn is_at_rest(&self) -> bool {
        let faults_over =
            self.plan.faults.iter().all(|fault| fault.at + fault.kind.span() + SECOND < self.now);
        let core = &self.store.core;
        faults_over
            && self.client.all_ended(core)
            && self.callers.is_done(self.now, core)
            && self.checker.executing().is_empty()
            && !core.all_runs().any(|run| run.status.state == RunState::Running)
            && timed::are_over(core, &self.jobs, self.plan.cells, |row| self.may_wait(row))
            && self.operators.is_done(self.now, &self.sight())
    }

    /// Whether a moment of the trigger waits for another job, and with reason.
    pub(crate) fn may_wait(&self, row: &TriggerRow) -> bool {
        let cell = CellId::of(&row.state.namespace, self.plan.cells);
        let mut owners = self.schedulers.iter().filter(|scheduler| scheduler.owned(self.now).contains(&cell));
        self.needs.may_wait(row, owners.next().map(|owner| owner.both(self.now).store))
    }

    fn client_acts(&mut self) {
        let now = self.now;
        let schedulers = self.schedulers.len();
        let mut asked = self.client.act(now, schedulers);
        let mut operators = std::mem::take(&mut self.operators);
        asked.extend(operators.act(now, schedulers, &self.sight()));
        self.operators = operators;
        for (scheduler, what) in asked {
            self.send_scheduler(Host::Client, scheduler, what);
        }
        self.agenda.at(now + SECOND / 5, Item::Client);
    }
}
