//! The world: one queue of what is going to happen, hosts that react to it, and a checker that watches.
//! Everything that happens follows from the plan and its seed.

use std::sync::Arc;
use std::time::Duration;

use mainspring_engine::{Answer, Config, Event, Message};
use mainspring_model::{AttemptToken, Cause, CellId, Epoch, MemberId, NodeId, RunState, Timestamp};
use mainspring_store::{Transaction, Write};

use crate::agent::{self, Agent, Doings, Task};
use crate::checker::{Checker, Violation};
use crate::client::Client;
use crate::jobs::{self, Nature, SimJob};
use crate::net::{Agenda, Net};
use crate::operators::{OPERATE, Operators, Sight};
use crate::plan::{FaultKind, Host, Plan, REST_BY, SECOND};
use crate::plant::Plant;
use crate::rng::Rng;
use crate::scheduler::{Doing, Scheduler};
use crate::store::{Ask, SimStore, Told};
use crate::trace::Trace;

/// Schedulers look at their timers this often.
const TICK: i64 = SECOND / 10;

/// Something that is going to happen.
#[derive(Debug)]
pub(crate) enum Item {
    Fault(FaultKind),
    Over(FaultKind),
    Tick { scheduler: usize, life: u64 },
    Round { agent: usize, life: u64 },
    Lease { agent: usize },
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
    pub operators: Operators,
    pub checker: Checker,
    pub jobs: Arc<Vec<SimJob>>,
    pub net: Net,
    pub agenda: Agenda<Item>,
    pub steps: u64,
    /// What the owner asks the store until then arrives only then.
    pub held: Option<(usize, i64)>,
    /// When the store, the network and the schedulers were last disturbed.
    pub disturbed_until: i64,
    rng: Rng,
}

impl World {
    pub(crate) fn new(plan: Plan, plant: Option<Plant>, verbose: bool) -> Self {
        let mut rng = Rng::new(plan.seed, "world");
        let jobs = Arc::new(jobs::all());
        let mut store = SimStore::new(plant);
        for job in jobs.iter() {
            let mut writes = vec![Write::PutJob(Box::new(job.job.clone()))];
            if job.readable {
                writes.push(Write::InsertJobVersion(Box::new(job.version())));
            }
            store.core.commit(&Transaction::unfenced(writes)).expect("the jobs are valid");
        }
        let config = Config {
            cells: plan.cells,
            waiting_max: plan.waiting_max,
            page_rows: if plan.waiting_max < 100 { 5 } else { 50 },
            timed_horizon: Duration::from_secs(20),
            poll_every: Duration::from_secs(10),
            ..Config::default()
        };
        // Rates within 1 % of true; a few percent of a second apart at the start.
        let mut clock = || (rng.range(-9_000, 9_000), rng.range(-50_000, 50_000));
        let schedulers: Vec<Scheduler> = (0..plan.schedulers)
            .map(|_| Scheduler::new(config.clone(), jobs.clone(), clock(), plant))
            .collect();
        let agents: Vec<Agent> = (0..plan.agents)
            .map(|n| Agent::new(n, CellId(n as u16 % plan.cells), plan.schedulers, clock().0, plant))
            .collect();
        let checker = Checker::new(&jobs, &agents[0].node);
        let client = Client::new(&plan, &jobs);
        let operators = Operators::new(&plan, &jobs);
        let mut world = Self {
            now: 0,
            trace: Trace::new(verbose),
            store,
            schedulers,
            agents,
            client,
            operators,
            checker,
            jobs,
            net: Net::new(plan.seed),
            agenda: Agenda::new(),
            steps: 0,
            held: None,
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
        if at > REST_BY || (self.client.is_done(at) && self.is_at_rest()) {
            return Ok(false);
        }
        self.steps += 1;
        self.trace.mark(at, self.steps);
        match item {
            Item::Fault(kind) => self.fault(kind)?,
            Item::Over(kind) => self.fault_over(kind),
            Item::Tick { scheduler, life } => self.tick(scheduler, life)?,
            Item::Round { agent, life } => self.round(agent, life)?,
            Item::Lease { agent } => {
                let tasks = self.agents[agent].watch_lease(self.now);
                self.do_agent(agent, Doings { tasks, ..Doings::default() })?;
                self.agenda.at(self.now + SECOND / 4, Item::Lease { agent });
            }
            Item::TaskEnds { agent, token, cause } => self.task_ends(agent, token, cause)?,
            Item::Client => {
                self.client_acts();
                self.check_dead_nodes()?;
            }
            Item::AtScheduler { scheduler, what } => self.at_scheduler(scheduler, what)?,
            Item::AtAgent { agent, message } => self.at_agent(agent, message)?,
            Item::AtStore { scheduler, life, number, ask } => self.at_store(scheduler, life, number, ask)?,
            Item::StoreSays { scheduler, life, number, told } => {
                self.store_says(scheduler, life, number, told)?
            }
            Item::AtClient { request, answer } => {
                let now = self.now;
                if request >= OPERATE {
                    self.operators.answered(request, &answer);
                } else {
                    self.client.answered(now, request, &answer, &mut self.trace)?;
                }
            }
        }
        Ok(true)
    }

    fn sight(&self) -> Sight<'_> {
        let Self { store, agents, jobs, plan, .. } = self;
        Sight { core: &store.core, agents, jobs, cells: plan.cells }
    }

    fn is_at_rest(&self) -> bool {
        let faults_over =
            self.plan.faults.iter().all(|fault| fault.at + fault.kind.span() + SECOND < self.now);
        let core = &self.store.core;
        faults_over
            && self.operators.is_done(self.now, &self.sight())
            && self.client.all_ended(core)
            && self.checker.executing().is_empty()
            && !core.all_runs().any(|run| run.status.state == RunState::Running)
    }

    // --- hosts ---

    fn tick(&mut self, index: usize, life: u64) -> Result<(), Violation> {
        let scheduler = &mut self.schedulers[index];
        if scheduler.life != life {
            return Ok(());
        }
        if scheduler.paused_until > self.now {
            let at = scheduler.paused_until;
            self.agenda.at(at, Item::Tick { scheduler: index, life });
            return Ok(());
        }
        let doings = scheduler.tick(self.now);
        self.agenda.at(self.now + TICK, Item::Tick { scheduler: index, life });
        self.do_scheduler(index, doings)
    }

    fn round(&mut self, index: usize, life: u64) -> Result<(), Violation> {
        let agent = &mut self.agents[index];
        if agent.life != life {
            return Ok(());
        }
        if agent.paused_until > self.now {
            let at = agent.paused_until;
            self.agenda.at(at, Item::Round { agent: index, life });
            return Ok(());
        }
        let doings = agent.round(self.now);
        self.agenda.at(self.now + agent::ROUND, Item::Round { agent: index, life });
        self.do_agent(index, doings)
    }

    fn at_scheduler(&mut self, index: usize, what: ToScheduler) -> Result<(), Violation> {
        let operated = match what {
            ToScheduler::Operate { request } => self.operators.event(self.now, request, &self.sight()),
            _ => None,
        };
        let scheduler = &mut self.schedulers[index];
        if !scheduler.alive {
            return Ok(());
        }
        if scheduler.paused_until > self.now {
            let at = scheduler.paused_until;
            self.agenda.at(at, Item::AtScheduler { scheduler: index, what });
            return Ok(());
        }
        let mut doings = Vec::new();
        match what {
            ToScheduler::Node { cell, event } => scheduler.handle(self.now, cell, event, &mut doings),
            ToScheduler::Submit { request } => {
                let (head, job) = self.client.head(self.now, request, &mut self.rng);
                if let Some(at) = head.not_before {
                    self.checker.not_before.insert(head.id, at.as_micros());
                }
                let pause = self.store.core.job(head.job).and_then(|job| job.pause);
                scheduler.submit(self.now, request, head, (job, pause), &mut doings);
            }
            ToScheduler::Operate { .. } => {
                if let Some((cell, event)) = operated {
                    scheduler.handle(self.now, cell, event, &mut doings);
                }
            }
            ToScheduler::Cancel { request } => {
                if let Some((cell, event)) =
                    self.client.cancel_event(request, &self.store.core, self.plan.cells)
                {
                    scheduler.handle(self.now, cell, event, &mut doings);
                }
            }
            ToScheduler::Hint { cell } => scheduler.handle(self.now, cell, Event::Hint, &mut doings),
        }
        self.do_scheduler(index, doings)
    }

    fn do_scheduler(&mut self, index: usize, doings: Vec<Doing>) -> Result<(), Violation> {
        let (from, life) = (Host::Scheduler(index), self.schedulers[index].life);
        for doing in doings {
            match doing {
                Doing::Ask { number, ask } => {
                    let held = self.held.filter(|(who, until)| *who == index && *until > self.now);
                    for arrival in self.net.arrivals(self.now, from, Host::Store).into_iter().flatten() {
                        let at = held.map_or(arrival, |(_, until)| until + (arrival - self.now));
                        self.agenda
                            .at(at, Item::AtStore { scheduler: index, life, number, ask: ask.clone() });
                    }
                }
                Doing::Tell { message } => {
                    let Some(agent) = node_of(&message).and_then(|node| self.agent_of(node)) else {
                        continue;
                    };
                    for at in self.net.arrivals(self.now, from, Host::Agent(agent)).into_iter().flatten() {
                        self.agenda.at(at, Item::AtAgent { agent, message: message.clone() });
                    }
                }
                Doing::Answer { request, answer } => {
                    for at in self.net.arrivals(self.now, from, Host::Client).into_iter().flatten() {
                        self.agenda.at(at, Item::AtClient { request, answer: answer.clone() });
                    }
                }
                Doing::Hint { cell } => {
                    for other in 0..self.schedulers.len() {
                        self.send_scheduler(from, other, ToScheduler::Hint { cell });
                    }
                }
            }
        }
        Ok(())
    }

    fn send_scheduler(&mut self, from: Host, scheduler: usize, what: ToScheduler) {
        for at in self.net.arrivals(self.now, from, Host::Scheduler(scheduler)).into_iter().flatten() {
            self.agenda.at(at, Item::AtScheduler { scheduler, what: what.clone() });
        }
    }

    fn at_agent(&mut self, index: usize, message: Message) -> Result<(), Violation> {
        let agent = &mut self.agents[index];
        if !agent.alive {
            return Ok(());
        }
        if agent.paused_until > self.now {
            let at = agent.paused_until;
            self.agenda.at(at, Item::AtAgent { agent: index, message });
            return Ok(());
        }
        let doings = agent.hear(self.now, message);
        self.do_agent(index, doings)
    }

    pub(crate) fn do_agent(&mut self, index: usize, doings: Doings) -> Result<(), Violation> {
        let cell = self.agents[index].node.cell;
        for task in doings.tasks {
            match task {
                Task::Begins(token) => self.task_begins(index, token)?,
                Task::Ends(token) => self.checker.ends(token),
            }
        }
        for (scheduler, event) in doings.send {
            self.send_scheduler(Host::Agent(index), scheduler, ToScheduler::Node { cell, event });
        }
        Ok(())
    }

    fn task_begins(&mut self, index: usize, token: AttemptToken) -> Result<(), Violation> {
        let node = self.agents[index].node.id;
        self.trace.say(self.now, format_args!("{token} begins on n{index}"));
        self.checker.begins(self.now, token, node, &self.store.core)?;
        let nature = self.nature(token);
        let (span, cause) = agent::fate(nature, token);
        if cause.is_some() || nature == Nature::KillsNode {
            self.agenda.at(self.now + span, Item::TaskEnds { agent: index, token, cause });
        }
        Ok(())
    }

    fn task_ends(
        &mut self,
        index: usize,
        token: AttemptToken,
        cause: Option<Cause>,
    ) -> Result<(), Violation> {
        match cause {
            Some(cause) => {
                let well = cause.is_success();
                let doings = self.agents[index].task_ends(self.now, token, cause);
                if well && !doings.tasks.is_empty() {
                    self.checker.succeeded(token);
                }
                self.do_agent(index, doings)
            }
            None if self.agents[index].executing().contains(&token) => {
                self.trace.say(self.now, format_args!("{token} takes n{index} down"));
                self.fault(FaultKind::Reboot { agent: index, down: 30 * SECOND })
            }
            None => Ok(()),
        }
    }

    fn nature(&self, token: AttemptToken) -> Nature {
        let job = self.store.core.run(token.run).map(|run| run.head.job);
        let found = self.jobs.iter().find(|sim| Some(sim.job.id) == job);
        found.map_or(Nature::Ordinary, |sim| sim.nature)
    }

    fn agent_of(&self, node: NodeId) -> Option<usize> {
        self.agents.iter().position(|agent| agent.node.id == node)
    }

    // --- the store ---

    fn at_store(&mut self, scheduler: usize, life: u64, number: u64, ask: Ask) -> Result<(), Violation> {
        let holds: Vec<String> = match &ask {
            Ask::Commit(transaction) => transaction.writes.iter().filter_map(hold).collect(),
            _ => Vec::new(),
        };
        let told = self.store.ask(self.now, ask);
        if !holds.is_empty() {
            self.trace.say(self.now, format_args!("s{scheduler} asked for {holds:?}"));
            self.checker.look_at_holds(self.now, &self.store.core, self.plan.cells);
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
        self.checker.changed(&changes, granted)?;
        let Some(told) = told else { return Ok(()) };
        if let Told::Asked(mainspring_store::LeaseGrant::Granted(lease)) = &told {
            self.trace.say(self.now, format_args!("s{scheduler} owns {} under {}", lease.cell, lease.epoch));
        }
        for at in self.net.arrivals(self.now, Host::Store, Host::Scheduler(scheduler)).into_iter().flatten() {
            self.agenda.at(at, Item::StoreSays { scheduler, life, number, told: told.clone() });
        }
        Ok(())
    }

    fn store_says(&mut self, index: usize, life: u64, number: u64, told: Told) -> Result<(), Violation> {
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
        self.do_scheduler(index, doings)
    }

    // --- the client ---

    fn client_acts(&mut self) {
        let now = self.now;
        let schedulers = self.schedulers.len();
        let mut asked = self.client.act(now, schedulers);
        let Self { store, agents, jobs, plan, .. } = self;
        let sight = Sight { core: &store.core, agents, jobs, cells: plan.cells };
        asked.extend(self.operators.act(now, schedulers, &sight));
        for (scheduler, what) in asked {
            self.send_scheduler(Host::Client, scheduler, what);
        }
        self.agenda.at(now + SECOND / 5, Item::Client);
    }
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

fn node_of(message: &Message) -> Option<NodeId> {
    match message {
        Message::Welcome { node, .. }
        | Message::Beat { node, .. }
        | Message::WhoAreYou { node }
        | Message::Stop { node, .. }
        | Message::Forget { node, .. } => Some(*node),
        Message::Start(order) => Some(order.node),
        Message::Reply { .. } | Message::Read(_) | Message::Hint { .. } => None,
    }
}
