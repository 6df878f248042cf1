//! How each fault of a plan befalls the world, and how it passes.

use mainspring_model::AttemptToken;
use mainspring_model::spec::OnDisconnect;

use crate::agent::Doings;
use crate::checker::Violation;
use crate::jobs::Nature;
use crate::plan::{BUSY_UNTIL, DAY, FaultKind, Host, REST_BY, SECOND};
use crate::scheduler::Scheduler;
use crate::world::{Item, World};

impl World {
    pub(crate) fn fault(&mut self, kind: FaultKind) -> Result<(), Violation> {
        let kind = match kind {
            FaultKind::KillWhileBusy { agent, down } if self.is_busy(agent) => {
                FaultKind::KillAgent { agent, down }
            }
            kind => kind,
        };
        self.trace.say(self.now, format_args!("FAULT {kind:?}"));
        let until = self.now + kind.span();
        let of_an_agent = matches!(
            kind,
            FaultKind::KillAgent { .. }
                | FaultKind::Reboot { .. }
                | FaultKind::Wipe { .. }
                | FaultKind::Leave { .. }
                | FaultKind::KillWhileBusy { .. }
        );
        if !of_an_agent {
            self.disturbed_until = self.disturbed_until.max(until);
        }
        match kind {
            FaultKind::KillScheduler { scheduler, .. } => self.schedulers[scheduler].kill(),
            FaultKind::Pause { host: Host::Scheduler(index), .. } => {
                self.schedulers[index].paused_until = until
            }
            FaultKind::Pause { host: Host::Agent(index), .. } => self.agents[index].paused_until = until,
            FaultKind::Pause { .. } => {}
            FaultKind::KillAgent { agent, .. } => self.agents[agent].die(self.now),
            FaultKind::KillWhileBusy { .. } => {
                if self.now < BUSY_UNTIL {
                    self.agenda.at(self.now + SECOND / 2, Item::Fault(kind));
                }
                return Ok(());
            }
            FaultKind::Reboot { agent, .. } | FaultKind::Wipe { agent, .. } => {
                let wipe = matches!(kind, FaultKind::Wipe { .. });
                let tasks = self.agents[agent].go_down(self.now, wipe);
                self.do_agent(agent, Doings { tasks, ..Doings::default() })?;
            }
            FaultKind::Leave { agent, .. } => match self.agents[agent].leave(self.now) {
                Some(doings) => {
                    self.goodbyes += 1;
                    self.do_agent(agent, doings)?;
                }
                // It holds something, or nobody listens: later.
                None if self.now < BUSY_UNTIL => {
                    self.agenda.at(self.now + SECOND / 2, Item::Fault(kind));
                    return Ok(());
                }
                None => return Ok(()),
            },
            FaultKind::Cut { from, to, .. } => self.net.cut(from, to, until),
            FaultKind::Noise { lost, doubled, late_max, .. } => {
                self.net.noise(until, lost, doubled, late_max)
            }
            FaultKind::HoldOwnersRequests { .. } => {
                let Some(owner) = self.owner() else {
                    // Nobody owns anything just now: somebody soon will.
                    self.agenda.at(self.now + SECOND, Item::Fault(kind));
                    return Ok(());
                };
                self.held = Some((owner, until));
            }
            FaultKind::LoseCommitAnswers { .. } => self.store.lose_answers_until = until,
            FaultKind::StoreDown { .. } => self.store.down_until = until,
            FaultKind::WallClockJump { scheduler, by } => {
                self.schedulers[scheduler].wall_offset += by;
                self.wall_clock_jumps += 1;
            }
            FaultKind::Suspend { agent, .. } => {
                self.agents[agent].suspend(self.now, until);
                self.checker.suspended(self.agents[agent].executing());
                self.suspends += 1;
            }
            FaultKind::Strand { .. } => {
                let Some(owner) = self.owner() else {
                    self.agenda.at(self.now + SECOND, Item::Fault(kind));
                    return Ok(());
                };
                self.net.cut(Host::Scheduler(owner), Host::Store, until);
                self.net.cut(Host::Store, Host::Scheduler(owner), until);
                self.stranded += 1;
            }
            FaultKind::Asleep { days, .. } => {
                self.schedulers.iter_mut().for_each(Scheduler::kill);
                self.store.clock_offset += days * DAY;
                self.days_asleep += days as u64;
                self.checker.clock_jumped(self.store.clock_offset);
            }
            FaultKind::StoreClockJump { by } => {
                self.store.clock_offset += by;
                self.checker.clock_jumped(self.store.clock_offset);
            }
        }
        self.agenda.at(until, Item::Over(kind));
        Ok(())
    }

    /// Whether a living agent has a task that goes on for long, and is ended with its lease.
    fn is_busy(&self, agent: usize) -> bool {
        let is_long = |token: &AttemptToken| {
            let run = self.store.core.run(token.run);
            let job = run.and_then(|run| self.jobs.iter().find(|sim| sim.job.id == run.head.job));
            job.is_some_and(|sim| sim.nature == Nature::Long && sim.spec.on_disconnect == OnDisconnect::Stop)
        };
        self.agents[agent].alive && self.agents[agent].executing().iter().any(is_long)
    }

    /// A scheduler that owns something.
    fn owner(&self) -> Option<usize> {
        (0..self.schedulers.len()).find(|index| !self.schedulers[*index].owned(self.now).is_empty())
    }

    /// A machine goes on where it was. The sidecar looks at the lease first: what is over by then ends before it executes on.
    fn wake(&mut self, agent: usize) -> Result<(), Violation> {
        if self.agents[agent].is_suspended(self.now) {
            return Ok(()); // It was suspended again meanwhile.
        }
        let tasks = self.agents[agent].watch_lease(self.now);
        self.do_agent(agent, Doings { tasks, ..Doings::default() })?;
        let (node, tokens) = (self.agents[agent].node.id, self.agents[agent].executing());
        self.checker.woken(node, tokens, &self.store.core)
    }

    pub(crate) fn fault_over(&mut self, kind: FaultKind) -> Result<(), Violation> {
        match kind {
            FaultKind::Suspend { agent, .. } => self.wake(agent)?,
            FaultKind::LoseCommitAnswers { .. } if self.store.unknown == 0 => {
                self.agenda.at(self.now + 3 * SECOND, Item::Fault(kind));
            }
            FaultKind::HoldOwnersRequests { .. } if self.store.fenced == 0 && self.now < REST_BY / 2 => {
                // The owner had nothing under way, or kept its lease: a seed without a fenced write proves
                // little. Long enough this time for another to take over.
                let kind = FaultKind::HoldOwnersRequests { span: 25 * SECOND };
                self.agenda.at(self.now + 3 * SECOND, Item::Fault(kind));
            }
            FaultKind::KillScheduler { scheduler, .. } if !self.schedulers[scheduler].alive => {
                self.start_scheduler(scheduler)
            }
            FaultKind::Asleep { .. } => {
                for scheduler in 0..self.schedulers.len() {
                    if !self.schedulers[scheduler].alive {
                        self.start_scheduler(scheduler);
                    }
                }
            }
            FaultKind::KillAgent { agent, .. }
            | FaultKind::Reboot { agent, .. }
            | FaultKind::Wipe { agent, .. }
            | FaultKind::Leave { agent, .. }
                if !self.agents[agent].alive =>
            {
                self.agents[agent].rise(self.now);
                let life = self.agents[agent].life;
                self.agenda.at(self.now, Item::Round { agent, life });
            }
            _ => {}
        }
        Ok(())
    }
}
