//! An agent's machine: the agent process, the journal on its disk, and the tasks, which outlive the agent.
//!
//! The rules are those of the product: an order is executed once, only on the connection it was meant for,
//! only if it did not travel too long; the lease to execute ends on the machine's own clock; an ending is
//! reported until it is acknowledged.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mainspring_engine::{Ending, Event, Heartbeat, Held, Hello, Message, News, Order, Report, Stage};
use mainspring_model::spec::OnDisconnect;
use mainspring_model::{
    AttemptToken, Cause, CellId, Node, NodeId, NodeLease, NodeState, Payload, Progress, Timestamp, limits,
};

use crate::jobs::Nature;
use crate::plan::SECOND;
use crate::plant::Plant;
use crate::promises::checkpoint;

/// How often it does its rounds.
pub(crate) const ROUND: i64 = SECOND / 2;
const HELLO_PATIENCE: i64 = 2 * SECOND;
const QUIET_PATIENCE: i64 = 9 * SECOND;

/// An attempt in the journal.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub stage: EntryStage,
    pub since: Timestamp,
    /// It goes on when the schedulers are out of reach.
    pub keep: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum EntryStage {
    Executing,
    Over(Ending),
}

/// A task that begins or ends, for the checker and for the agenda.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Task {
    Begins(AttemptToken, Option<Payload>),
    Ends(AttemptToken),
}

#[derive(Debug)]
pub(crate) struct Agent {
    pub index: usize,
    pub node: Node,
    pub alive: bool,
    /// When the agent or its machine last went down.
    pub down_since: i64,
    pub paused_until: i64,
    /// The machine is suspended until then; for how long it was, in all.
    pub suspended_until: i64,
    pub suspended_for: i64,
    /// Grows with every death of the agent process; timers of an earlier life are void.
    pub life: u64,
    /// Its clock: rate in millionths.
    pub rate: i64,
    // On disk.
    journal: BTreeMap<AttemptToken, Entry>,
    session: u64,
    wipes: u64,
    // In memory.
    target: usize,
    schedulers: usize,
    welcomed: bool,
    hello_at: Timestamp,
    heard_at: Timestamp,
    beat_at: Timestamp,
    lease: NodeLease,
    /// How long its owner waits for it.
    patience: Duration,
    forgotten: BTreeSet<AttemptToken>,
    plant: Option<Plant>,
}

/// What an agent wants done.
#[derive(Debug, Default)]
pub(crate) struct Doings {
    pub send: Vec<(usize, Event)>,
    pub tasks: Vec<Task>,
}

impl Agent {
    pub(crate) fn new(
        index: usize,
        cell: CellId,
        schedulers: usize,
        rate: i64,
        plant: Option<Plant>,
    ) -> Self {
        let zone = if index.is_multiple_of(2) { "a" } else { "b" };
        let mut labels = mainspring_model::label::Labels::new();
        labels.insert("zone", zone).expect("a fixed label");
        let capacity = mainspring_model::resource::Resources {
            cpu_milli: 4_000,
            memory_bytes: 4 << 30,
            ..Default::default()
        };
        let node = Node {
            id: id(index),
            cell,
            name: format!("n{index}").into(),
            pool: "default".into(),
            labels,
            capacity,
            slots: 3,
            weight: 1 + index as u32 % 3,
            handlers: Vec::new(),
            state: NodeState::Up,
            revision: 0,
            joined_at: Timestamp::ZERO,
            updated_at: Timestamp::ZERO,
        };
        Self {
            index,
            node,
            alive: true,
            down_since: 0,
            paused_until: 0,
            suspended_until: 0,
            suspended_for: 0,
            life: 0,
            rate,
            journal: BTreeMap::new(),
            session: 0,
            wipes: 0,
            target: index % schedulers,
            schedulers,
            welcomed: false,
            hello_at: Timestamp::from_micros(-60 * SECOND),
            heard_at: Timestamp::ZERO,
            beat_at: Timestamp::ZERO,
            lease: new_lease(limits::LOST_AFTER),
            patience: limits::LOST_AFTER,
            forgotten: BTreeSet::new(),
            plant,
        }
    }

    /// One whose owner waits so long for it.
    pub(crate) fn patient(mut self, patience: Duration) -> Self {
        (self.patience, self.lease) = (patience, new_lease(patience));
        self
    }

    /// How much longer its owner waits for it than for others.
    pub(crate) fn patience_beyond_others(&self) -> i64 {
        self.patience.saturating_sub(limits::LOST_AFTER).as_micros() as i64
    }

    /// The machine's own elapsed clock: it goes on while the machine is suspended.
    pub(crate) fn clock(&self, now: i64) -> Timestamp {
        let stood_still = if self.plant == Some(Plant::SleepyClock) { self.suspended_for } else { 0 };
        Timestamp::from_micros(now + now * self.rate / 1_000_000 + 7_777 * self.index as i64 - stood_still)
    }

    /// Whether the whole machine is suspended, tasks and all.
    pub(crate) fn is_suspended(&self, now: i64) -> bool {
        now < self.suspended_until
    }

    /// The machine is suspended.
    pub(crate) fn suspend(&mut self, now: i64, until: i64) {
        self.suspended_for += until - now.max(self.suspended_until);
        self.suspended_until = self.suspended_until.max(until);
        self.paused_until = self.paused_until.max(until);
    }

    /// Attempts that execute.
    pub(crate) fn executing(&self) -> Vec<AttemptToken> {
        let executing = |(token, entry): (&AttemptToken, &Entry)| {
            matches!(entry.stage, EntryStage::Executing).then_some(*token)
        };
        self.journal.iter().filter_map(executing).collect()
    }

    /// What the machine does at any time, agent alive or not: the sidecar ends tasks whose lease is over.
    pub(crate) fn watch_lease(&mut self, now: i64) -> Vec<Task> {
        let clock = self.clock(now);
        if self.plant == Some(Plant::NoNodeLease) || !self.lease.expired(clock) {
            return Vec::new();
        }
        let mut tokens = self.executing();
        tokens.retain(|token| !self.journal[token].keep);
        let node = self.node.id;
        tokens.into_iter().map(|token| self.finish(now, token, ending(Cause::Lost { node }, true))).collect()
    }

    /// The agent's round: hello, heartbeats, endings.
    pub(crate) fn round(&mut self, now: i64) -> Doings {
        let mut doings = Doings { tasks: self.watch_lease(now), ..Doings::default() };
        let clock = self.clock(now);
        let quiet = clock.since(self.heard_at) > Duration::from_micros(QUIET_PATIENCE as u64);
        if (!self.welcomed || quiet)
            && clock.since(self.hello_at) >= Duration::from_micros(HELLO_PATIENCE as u64)
        {
            self.say_hello(clock, &mut doings);
        } else if self.welcomed && clock.since(self.beat_at) >= limits::HEARTBEAT_EVERY {
            self.beat_at = clock;
            let beat = self.lease.beat(clock);
            let (node, session) = (self.node.id, self.session);
            doings.send.push((
                self.target,
                Event::Heartbeat(Heartbeat { node, session, beat, held: self.held(clock) }),
            ));
        }
        if self.welcomed {
            self.report_endings(&mut doings);
        }
        doings
    }

    fn say_hello(&mut self, clock: Timestamp, doings: &mut Doings) {
        self.target = (self.target + 1) % self.schedulers;
        self.session += 1;
        self.welcomed = false;
        self.forgotten.clear();
        self.hello_at = clock;
        let beat = self.lease.beat(clock);
        let hello = Hello { node: self.node.clone(), session: self.session, beat, held: self.held(clock) };
        doings.send.push((self.target, Event::Hello(Box::new(hello))));
    }

    fn held(&self, clock: Timestamp) -> Vec<Held> {
        let stage = |entry: &Entry| match entry.stage {
            EntryStage::Executing => Stage::Executing(clock.since(entry.since)),
            EntryStage::Over(_) => Stage::Over,
        };
        self.journal.iter().map(|(token, entry)| Held { token: *token, stage: stage(entry) }).collect()
    }

    fn report_endings(&mut self, doings: &mut Doings) {
        let over: Vec<(AttemptToken, Ending)> = self
            .journal
            .iter()
            .filter_map(|(token, entry)| match &entry.stage {
                EntryStage::Over(ending) => Some((*token, ending.clone())),
                EntryStage::Executing => None,
            })
            .collect();
        for (token, ending) in over {
            doings.send.push((self.target, self.report(token, News::Finished(ending))));
            if self.plant == Some(Plant::SendEndingOnce) {
                self.journal.remove(&token);
            }
        }
    }

    fn report(&self, token: AttemptToken, news: News) -> Event {
        let beat = self.lease.next_beat();
        Event::Report(Box::new(Report { node: self.node.id, session: self.session, beat, token, news }))
    }

    /// A word of a scheduler.
    pub(crate) fn hear(&mut self, now: i64, message: Message) -> Doings {
        let clock = self.clock(now);
        let mut doings = Doings { tasks: self.watch_lease(now), ..Doings::default() };
        match message {
            Message::Welcome { session, beat, .. } if session == self.session => {
                self.welcomed = true;
                self.heard_at = clock;
                self.beat_at = clock;
                self.lease.answered(beat);
                self.report_endings(&mut doings);
            }
            Message::Beat { session, beat, .. } if session == self.session => {
                self.heard_at = clock;
                self.lease.answered(beat);
            }
            Message::WhoAreYou { .. } => self.welcomed = false,
            Message::Start(order) => self.start(clock, &order, &mut doings),
            Message::Stop { session, token, .. } if session == self.session => {
                self.stop(now, token, &mut doings)
            }
            Message::Forget { token, .. } => {
                if matches!(self.journal.get(&token), Some(Entry { stage: EntryStage::Over(_), .. })) {
                    self.journal.remove(&token);
                    self.forgotten.insert(token);
                }
            }
            _ => {}
        }
        doings
    }

    fn start(&mut self, clock: Timestamp, order: &Order, doings: &mut Doings) {
        let token = order.token;
        let any_order = self.plant == Some(Plant::LateOrders);
        if !any_order && (order.session != self.session || !self.welcomed) {
            return;
        }
        let known = self.journal.contains_key(&token) || self.forgotten.contains(&token);
        if known && self.plant != Some(Plant::NoOrderMemory) {
            if self.journal.contains_key(&token) {
                doings.send.push((self.target, self.report(token, News::Accepted)));
            }
            return;
        }
        if !any_order && !self.lease.may_start(order.seen_beat, clock) {
            let ending = ending(Cause::Refused { message: "the order travelled too long".into() }, false);
            self.journal.insert(token, Entry { stage: EntryStage::Over(ending), since: clock, keep: false });
            return;
        }
        let keep = order.spec.on_disconnect == OnDisconnect::Keep;
        self.journal.insert(token, Entry { stage: EntryStage::Executing, since: clock, keep });
        doings.tasks.push(Task::Begins(token, order.checkpoint.clone()));
        doings.send.push((self.target, self.report(token, News::Accepted)));
        doings.send.push((self.target, self.report(token, News::Started)));
    }

    fn stop(&mut self, now: i64, token: AttemptToken, doings: &mut Doings) {
        match self.journal.get(&token) {
            Some(Entry { stage: EntryStage::Executing, .. }) => {
                doings.tasks.push(self.finish(now, token, ending(Cause::Signal { signal: 15 }, true)));
            }
            Some(_) => {}
            None if self.forgotten.contains(&token) => {}
            None => {
                // It must never begin on this connection.
                let ending = ending(Cause::Refused { message: "stopped before it began".into() }, true);
                let since = self.clock(now);
                self.journal.insert(token, Entry { stage: EntryStage::Over(ending), since, keep: false });
            }
        }
        self.report_endings(doings);
    }

    /// A task writes down how far it is.
    pub(crate) fn task_says(&mut self, now: i64, token: AttemptToken, step: u32) -> Doings {
        let mut doings = Doings::default();
        let executes = matches!(self.journal.get(&token), Some(Entry { stage: EntryStage::Executing, .. }));
        if executes && self.alive && self.welcomed && self.paused_until <= now {
            let progress = Some(Progress { permille: step as u16, message: "".into() });
            let news = News::Progressed { progress, checkpoint: Some(checkpoint(token, step)) };
            doings.send.push((self.target, self.report(token, news)));
        }
        doings
    }

    /// Ends on purpose, if it holds nothing: says so and goes.
    pub(crate) fn leave(&mut self, now: i64) -> Option<Doings> {
        let may_leave = self.journal.is_empty() || self.plant == Some(Plant::HastyGoodbye);
        if !self.alive || !self.welcomed || !may_leave || self.paused_until > now {
            return None;
        }
        let goodbye = Event::Goodbye { node: self.node.id, session: self.session };
        let doings = Doings { send: vec![(self.target, goodbye)], ..Doings::default() };
        self.die(now);
        Some(doings)
    }

    /// A task came to its end.
    pub(crate) fn task_ends(&mut self, now: i64, token: AttemptToken, cause: Cause) -> Doings {
        let mut doings = Doings::default();
        if matches!(self.journal.get(&token), Some(Entry { stage: EntryStage::Executing, .. })) {
            doings.tasks.push(self.finish(now, token, ending(cause, false)));
            if self.alive && self.welcomed && self.paused_until <= now {
                self.report_endings(&mut doings);
            }
        }
        doings
    }

    fn finish(&mut self, now: i64, token: AttemptToken, mut ending: Ending) -> Task {
        let clock = self.clock(now);
        let since = self.journal.get(&token).map_or(clock, |entry| entry.since);
        ending.begun_ago = Some(clock.since(since));
        self.journal.insert(token, Entry { stage: EntryStage::Over(ending), since, keep: false });
        Task::Ends(token)
    }

    /// The agent process dies. What the sidecar knows (journal, tasks, lease) lives on.
    pub(crate) fn die(&mut self, now: i64) {
        self.alive = false;
        self.down_since = now;
        self.life += 1;
        self.welcomed = false;
    }

    /// The machine goes down: tasks die. With `wipe`, the disk is lost too.
    pub(crate) fn go_down(&mut self, now: i64, wipe: bool) -> Vec<Task> {
        self.die(now);
        let tokens = self.executing();
        let node = self.node.id;
        let tasks: Vec<Task> = tokens
            .into_iter()
            .map(|token| self.finish(now, token, ending(Cause::Vanished { node }, false)))
            .collect();
        if wipe {
            self.journal.clear();
            self.forgotten.clear();
            // Its id lived in the journal: it joins anew, and the old node is given up.
            self.wipes += 1;
            // Nobody waits longer for a stranger.
            self.patience = limits::LOST_AFTER;
            self.node.id =
                NodeId::new(Timestamp::ZERO, (u128::from(self.wipes) << 16) + self.index as u128 + 1);
            self.session = 0;
        }
        self.lease = new_lease(self.patience);
        tasks
    }

    /// The agent process starts again.
    pub(crate) fn rise(&mut self, now: i64) {
        self.alive = true;
        self.hello_at = self.clock(now) - Duration::from_secs(60);
    }
}

/// The node of an agent by its number.
pub(crate) fn id(index: usize) -> NodeId {
    NodeId::new(Timestamp::ZERO, index as u128 + 1)
}

fn new_lease(patience: Duration) -> NodeLease {
    NodeLease::new(patience, limits::NODE_LEASE_MARGIN)
}

fn ending(cause: Cause, stopped: bool) -> Ending {
    Ending { stopped, ..Ending::of(cause) }
}

/// How long a task takes and how it ends; none when it never does.
pub(crate) fn fate(nature: Nature, token: AttemptToken) -> (i64, Option<Cause>) {
    let chance = mainspring_model::hash::mix(token.run.hash64() ^ u64::from(token.number));
    let span = 50_000 + (chance % 6_000_000) as i64;
    let code = if (chance >> 32).is_multiple_of(6) { 1 } else { 0 };
    match nature {
        Nature::Ordinary | Nature::Impossible => (span, Some(Cause::Exit { code })),
        Nature::Resumes => (span, Some(Cause::Exit { code: i32::from(token.number < 3) })),
        Nature::Hangs if (chance >> 40).is_multiple_of(2) => (span, None),
        Nature::Hangs => (span / 3, Some(Cause::Exit { code: 0 })),
        Nature::KillsNode => (span / 8, None),
        Nature::Breaks => (span / 8, Some(Cause::Exit { code: 1 })),
        Nature::Moody => (span / 8, Some(Cause::Exit { code: i32::from(!(chance >> 32).is_multiple_of(3)) })),
        Nature::Long => (20_000_000 + 5 * span, Some(Cause::Exit { code: 0 })),
    }
}
