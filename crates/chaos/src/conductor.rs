//! Carries the plan out: breaks what is due, restores it after its time, and starts again what ended by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use rustix::process::{Pid, Signal};

use crate::Database;
use crate::cluster::{Cluster, Unit, units};
use crate::moment::{self, MicrosSinceEpoch};
use crate::plan::{AGENTS, Fault, FaultKind};
use crate::procfs;

const TICK: Duration = Duration::from_millis(50);
/// How often cgroups of nodes are noted.
const NOTE_EVERY: Duration = Duration::from_secs(1);

/// A fault that was carried out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Done {
    pub(crate) kind: FaultKind,
    /// From when recovery counts: the fault, or its end where nothing can run before.
    pub(crate) counts_from: MicrosSinceEpoch,
}

/// The cluster, its database, and what is to be restored.
pub(crate) struct Conductor<'a> {
    pub(crate) cluster: Cluster,
    pub(crate) database: &'a mut dyn Database,
    /// What is restored when.
    due: Vec<(Instant, Restore)>,
    pub(crate) done: Vec<Done>,
    /// Faults whose target was away already, or not there.
    pub(crate) idle: BTreeMap<FaultKind, usize>,
    /// Branches of cgroups that processes of nodes were in.
    pub(crate) cgroups: BTreeSet<PathBuf>,
    noted_at: Instant,
    /// Fails when the person wants us to stop.
    check: fn() -> Result<()>,
}

/// How a fault ends.
#[derive(Debug, Clone)]
enum Restore {
    Start(Unit),
    Continue(Pid),
    StartDatabase(FaultKind),
    StartAll,
}

impl<'a> Conductor<'a> {
    pub(crate) fn new(cluster: Cluster, database: &'a mut dyn Database, check: fn() -> Result<()>) -> Self {
        let (due, done, idle, cgroups) = Default::default();
        Self { cluster, database, due, done, idle, cgroups, noted_at: Instant::now(), check }
    }

    /// Carries out every fault; `tell` hears of each.
    pub(crate) fn perform(&mut self, plan: &[Fault], length: Duration, tell: &dyn Fn(String)) -> Result<()> {
        let begun = Instant::now();
        let mut rest = plan.iter().peekable();
        while begun.elapsed() < length {
            while let Some(fault) = rest.next_if(|fault| fault.at <= begun.elapsed()) {
                let name = format!("{} {}", fault.kind, fault.target);
                let happened = self.begin(fault)?;
                let outcome = if happened { "" } else { " (nothing to break)" };
                tell(format!(
                    "{:>6.1} s  {name}, for {:.1} s{outcome}",
                    begun.elapsed().as_secs_f32(),
                    fault.away.as_secs_f32()
                ));
            }
            self.look_after()?;
            thread::sleep(TICK);
        }
        Ok(())
    }

    /// Restores what is due, and starts what ended by itself.
    pub(crate) fn look_after(&mut self) -> Result<()> {
        (self.check)()?;
        let now = Instant::now();
        let (due, later) = std::mem::take(&mut self.due).into_iter().partition(|(at, _)| *at <= now);
        self.due = later;
        let due: Vec<(Instant, Restore)> = due;
        due.into_iter().try_for_each(|(_, restore)| self.restore(&restore))?;
        self.cluster.supervise()?;
        if self.noted_at.elapsed() >= NOTE_EVERY {
            self.note_cgroups();
            self.noted_at = now;
        }
        Ok(())
    }

    /// Ends every fault at once.
    pub(crate) fn restore_all(&mut self) -> Result<()> {
        let due = std::mem::take(&mut self.due);
        due.iter().try_for_each(|(_, restore)| self.restore(restore))?;
        self.database.start()?;
        units().try_for_each(|unit| self.cluster.start(unit, None))
    }

    fn begin(&mut self, fault: &Fault) -> Result<bool> {
        let at = moment::now();
        let restore = self.break_it(fault)?;
        let happened = restore.is_some();
        if let Some(restore) = restore.flatten() {
            self.due.push((Instant::now() + fault.away, restore));
        }
        if !happened {
            *self.idle.entry(fault.kind).or_default() += 1;
        } else if !fault.kind.stops_all() {
            self.done.push(Done { kind: fault.kind, counts_from: at });
        }
        Ok(happened)
    }

    /// None when there is nothing to break; else how it is restored, if not by itself.
    fn break_it(&mut self, fault: &Fault) -> Result<Option<Option<Restore>>> {
        let (server, agent) = (Unit::Server(fault.target), Unit::Agent(fault.target));
        Ok(match fault.kind {
            FaultKind::KillServer => self.kill(server),
            FaultKind::KillAgent => self.kill(agent),
            FaultKind::FreezeServer => freeze(self.cluster.pid(server)),
            FaultKind::FreezeAgent => freeze(self.cluster.pid(agent)),
            FaultKind::KillSidecar => kill(self.sidecar(fault.target)),
            FaultKind::FreezeSidecar => freeze(self.sidecar(fault.target)),
            FaultKind::KillTask => kill(self.task(fault.target)),
            FaultKind::FreezeTask => freeze(self.task(fault.target)),
            FaultKind::KillMachine => {
                let killed = self.kill(agent);
                self.kill_all_of(agent);
                killed
            }
            FaultKind::StopDatabaseFast | FaultKind::StopDatabaseImmediate => {
                let stopped = self.database.stop(fault.kind == FaultKind::StopDatabaseImmediate)?;
                stopped.then_some(Some(Restore::StartDatabase(fault.kind)))
            }
            FaultKind::KillEverything => {
                self.database.stop(true)?;
                units().for_each(|unit| {
                    self.cluster.kill(unit);
                });
                for sidecar in (0..AGENTS).filter_map(|index| self.sidecar(index)).collect::<Vec<_>>() {
                    procfs::signal(sidecar, Signal::KILL);
                }
                Some(Some(Restore::StartAll))
            }
        })
    }

    fn restore(&mut self, restore: &Restore) -> Result<()> {
        match restore {
            Restore::Start(unit) => self.cluster.start(*unit, None),
            Restore::Continue(pid) => {
                procfs::signal(*pid, Signal::CONT);
                Ok(())
            }
            Restore::StartDatabase(kind) => {
                self.done.push(Done { kind: *kind, counts_from: moment::now() });
                self.database.start()
            }
            Restore::StartAll => {
                self.done.push(Done { kind: FaultKind::KillEverything, counts_from: moment::now() });
                self.database.start()?;
                units().try_for_each(|unit| self.cluster.start(unit, None))
            }
        }
    }

    fn kill(&mut self, unit: Unit) -> Option<Option<Restore>> {
        self.cluster.kill(unit).then_some(Some(Restore::Start(unit)))
    }

    fn kill_all_of(&self, agent: Unit) {
        let data = self.cluster.data(agent);
        loop {
            let killed = procfs::all_of(&data).into_iter().filter(|pid| procfs::signal(*pid, Signal::KILL));
            if killed.count() == 0 {
                return;
            }
        }
    }

    fn sidecar(&self, index: usize) -> Option<Pid> {
        procfs::sidecar_of(&self.cluster.data(Unit::Agent(index)))
    }

    fn task(&self, number: usize) -> Option<Pid> {
        let agents = (0..AGENTS).map(|index| self.cluster.data(Unit::Agent(index)));
        let tasks: Vec<Pid> = agents.flat_map(|data| procfs::tasks_of(&data)).collect();
        tasks.get(number % tasks.len().max(1)).copied()
    }

    fn note_cgroups(&mut self) {
        for index in 0..AGENTS {
            let data = self.cluster.data(Unit::Agent(index));
            for pid in procfs::sidecar_of(&data).into_iter().chain(procfs::tasks_of(&data)) {
                self.cgroups.extend(procfs::cgroup_branches(pid));
            }
        }
    }
}

fn kill(pid: Option<Pid>) -> Option<Option<Restore>> {
    pid.filter(|pid| procfs::signal(*pid, Signal::KILL)).map(|_| None)
}

fn freeze(pid: Option<Pid>) -> Option<Option<Restore>> {
    pid.filter(|pid| procfs::signal(*pid, Signal::STOP)).map(|pid| Some(Restore::Continue(pid)))
}
