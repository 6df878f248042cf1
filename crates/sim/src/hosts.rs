//! What happens at the hosts: schedulers and agents tick, hear each other, and tasks begin, speak and end. A process that is
//! paused hears everything when it goes on.

use mainspring_engine::{Event, Message};
use mainspring_model::{AttemptToken, Cause, NodeId, Payload};

use crate::agent::{self, Doings, Task};
use crate::checker::Violation;
use crate::jobs::Nature;
use crate::plan::{FaultKind, Host, SECOND};
use crate::scheduler::Doing;
use crate::world::{Item, TICK, ToScheduler, World};

impl World {
    pub(crate) fn tick(&mut self, index: usize, life: u64) -> Result<(), Violation> {
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
        self.check_reservations(index)?;
        self.agenda.at(self.now + TICK, Item::Tick { scheduler: index, life });
        self.do_scheduler(index, doings)
    }

    pub(crate) fn round(&mut self, index: usize, life: u64) -> Result<(), Violation> {
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

    pub(crate) fn at_scheduler(&mut self, index: usize, what: ToScheduler) -> Result<(), Violation> {
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
                let pause = self.store.core.job(head.job).and_then(|job| job.job_pause());
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
        self.check_reservations(index)?;
        self.do_scheduler(index, doings)
    }

    pub(crate) fn do_scheduler(&mut self, index: usize, doings: Vec<Doing>) -> Result<(), Violation> {
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

    pub(crate) fn send_scheduler(&mut self, from: Host, scheduler: usize, what: ToScheduler) {
        for at in self.net.arrivals(self.now, from, Host::Scheduler(scheduler)).into_iter().flatten() {
            self.agenda.at(at, Item::AtScheduler { scheduler, what: what.clone() });
        }
    }

    pub(crate) fn at_agent(&mut self, index: usize, message: Message) -> Result<(), Violation> {
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
                Task::Begins(token, checkpoint) => self.task_begins(index, token, checkpoint)?,
                Task::Ends(token) => self.checker.ends(token),
            }
        }
        for (scheduler, event) in doings.send {
            self.send_scheduler(Host::Agent(index), scheduler, ToScheduler::Node { cell, event });
        }
        Ok(())
    }

    fn task_begins(
        &mut self,
        index: usize,
        token: AttemptToken,
        checkpoint: Option<Payload>,
    ) -> Result<(), Violation> {
        let node = self.agents[index].node.id;
        self.trace.say(self.now, format_args!("{token} begins on n{index}"));
        self.checker.begins(self.now, token, node, &self.store.core)?;
        self.checker.continues(token, checkpoint.as_ref(), &self.store.core)?;
        let nature = self.nature(token);
        let (span, cause) = agent::fate(nature, token);
        if nature == Nature::Resumes {
            for step in 1..=3 {
                let at = self.now + span * i64::from(step) / 4;
                self.agenda.at(at, Item::TaskSays { agent: index, token, step });
            }
        }
        if cause.is_some() || nature == Nature::KillsNode {
            self.agenda.at(self.now + span, Item::TaskEnds { agent: index, token, cause });
        }
        Ok(())
    }

    pub(crate) fn task_ends(
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
}

fn node_of(message: &Message) -> Option<NodeId> {
    match message {
        Message::Welcome { node, .. }
        | Message::Beat { node, .. }
        | Message::WhoAreYou { node }
        | Message::Stop { node, .. }
        | Message::Forget { node, .. } => Some(*node),
        Message::Start(order) => Some(order.node),
        Message::Reply { .. }
        | Message::Read(_)
        | Message::ReadTriggers(_)
        | Message::ReadSpecs(_)
        | Message::ReadMoments(_)
        | Message::Damaged { .. }
        | Message::Hint { .. } => None,
    }
}
