//! What a seed stands for: the size of the cluster, the jobs, and the list of faults. The list is explicit
//! data, so that a failing one can be made smaller.

use std::fmt;
use std::time::Duration;

use crate::rng::Rng;

/// One second, in microseconds.
pub(crate) const SECOND: i64 = 1_000_000;
/// One day.
pub(crate) const DAY: i64 = 86_400 * SECOND;
/// In one of so many seeds some nodes are waited for longer than others.
const PATIENT_SEEDS: u64 = 3;
/// Faults happen and work arrives until then.
pub(crate) const BUSY_UNTIL: i64 = 100 * SECOND;
/// Everything must have come to rest by then.
pub(crate) const REST_BY: i64 = 700 * SECOND;

/// A cluster and what befalls it.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// The seed.
    pub seed: u64,
    /// Scheduler processes.
    pub schedulers: usize,
    /// Agents.
    pub agents: usize,
    /// Cells.
    pub cells: u16,
    /// Runs that a cell keeps waiting in memory.
    pub waiting_max: usize,
    /// Runs submitted.
    pub runs: usize,
    /// Which triggers it has.
    pub profile: Profile,
    /// Whether some nodes are waited for longer than others.
    pub is_patient: bool,
    /// What befalls it, by time.
    pub faults: Vec<Fault>,
}

/// What is remarkable about the triggers of a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    /// A few of each kind.
    Ordinary,
    /// Nobody is there for ninety days.
    Long,
    /// There are ten thousand.
    Crowd,
}

impl Profile {
    fn of(seed: u64) -> Self {
        match (seed % 250, seed % 20) {
            (207, _) => Self::Crowd,
            (_, 3) => Self::Long,
            _ => Self::Ordinary,
        }
    }
}

/// A fault and when it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault {
    /// When.
    pub at: i64,
    /// What.
    pub kind: FaultKind,
}

/// Who is hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Host {
    /// A scheduler.
    Scheduler(usize),
    /// An agent's machine.
    Agent(usize),
    /// The database.
    Store,
    /// Whoever submits.
    Client,
}

/// What can happen at any instant (F1–F5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// A scheduler is killed and starts again later with nothing.
    KillScheduler { scheduler: usize, down: i64 },
    /// A process stops for a while and goes on where it was.
    Pause { host: Host, span: i64 },
    /// The agent process dies and starts again; its tasks and its journal live on.
    KillAgent { agent: usize, down: i64 },
    /// The machine reboots: tasks die, the journal stays.
    Reboot { agent: usize, down: i64 },
    /// The machine comes back with an empty disk.
    Wipe { agent: usize, down: i64 },
    /// The agent ends on purpose when it holds nothing, says so, and starts again later.
    Leave { agent: usize, down: i64 },
    /// An agent dies as soon as it has a task that will go on for long.
    KillWhileBusy { agent: usize, down: i64 },
    /// Nothing gets from one to the other.
    Cut { from: Host, to: Host, span: i64 },
    /// Messages are lost, doubled and late.
    Noise { span: i64, lost: u64, doubled: u64, late_max: i64 },
    /// What the current owner asks of the store arrives only at the end of the span.
    HoldOwnersRequests { span: i64 },
    /// Commits are done, but the answers are lost.
    LoseCommitAnswers { span: i64 },
    /// The store is away: a failover.
    StoreDown { span: i64 },
    /// The store's clock jumps.
    StoreClockJump { by: i64 },
    /// The wall clock of a scheduler's machine jumps.
    WallClockJump { scheduler: usize, by: i64 },
    /// An agent's machine is suspended, with its tasks, and goes on where it was.
    Suspend { agent: usize, span: i64 },
    /// The owner is cut off from the store, and from nobody else.
    Strand { span: i64 },
    /// Nobody is there for so long.
    Asleep { span: i64, days: i64 },
}

impl Plan {
    /// The plan of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed, "plan");
        let schedulers = rng.range(2, 4) as usize;
        let agents = rng.range(3, 7) as usize;
        let cells = if rng.chance(25) { 2 } else { 1 };
        let waiting_max = if rng.chance(30) { rng.range(4, 16) as usize } else { 1_000 };
        let runs = rng.range(60, 160) as usize;
        let mut faults = vec![
            // The three that no seed goes without: a fenced write, a takeover, an unknown commit.
            Fault {
                at: rng.range(15, 40) * SECOND,
                kind: FaultKind::HoldOwnersRequests { span: rng.range(20, 30) * SECOND },
            },
            Fault {
                at: rng.range(5, 90) * SECOND,
                kind: FaultKind::LoseCommitAnswers { span: rng.range(1, 4) * SECOND },
            },
            Fault {
                at: rng.range(60, 90) * SECOND,
                kind: FaultKind::LoseCommitAnswers { span: rng.range(1, 4) * SECOND },
            },
        ];
        for _ in 0..rng.range(2, 10) {
            let at = rng.range(2 * SECOND, BUSY_UNTIL);
            faults.push(Fault { at, kind: any_fault(&mut rng, schedulers, agents) });
        }
        let profile = Profile::of(seed);
        faults.extend(clock_faults(seed, (schedulers, agents), profile));
        let is_patient = seed.is_multiple_of(PATIENT_SEEDS);
        if is_patient {
            // Longer than others may be away.
            let (at, down) = (rng.range(5, 30) * SECOND, 22 * SECOND);
            faults.push(Fault { at, kind: FaultKind::KillWhileBusy { agent: 0, down } });
        }
        faults.sort_by_key(|fault| fault.at);
        let runs = if profile == Profile::Ordinary { runs } else { runs / 4 };
        Self { seed, schedulers, agents, cells, waiting_max, runs, profile, is_patient, faults }
    }
}

/// What clocks do.
fn clock_faults(seed: u64, (schedulers, agents): (usize, usize), profile: Profile) -> Vec<Fault> {
    let mut rng = Rng::new(seed, "clocks");
    let mut faults = Vec::new();
    if profile == Profile::Long {
        let kind = FaultKind::Asleep { span: rng.range(2, 30) * SECOND, days: 90 };
        faults.push(Fault { at: rng.range(20, 60) * SECOND, kind });
    }
    for _ in 0..rng.range(0, 3) {
        let by = if rng.chance(50) { DAY } else { -DAY };
        let scheduler = rng.index(schedulers);
        let at = rng.range(2 * SECOND, BUSY_UNTIL);
        faults.push(Fault { at, kind: FaultKind::WallClockJump { scheduler, by } });
    }
    if rng.chance(40) {
        let (agent, span) = (rng.index(agents), rng.range(5, 40) * SECOND);
        faults.push(Fault { at: rng.range(5, 90) * SECOND, kind: FaultKind::Suspend { agent, span } });
    }
    if rng.chance(60) {
        let span = rng.range(20, 90) * SECOND;
        faults.push(Fault { at: rng.range(5, 90) * SECOND, kind: FaultKind::Strand { span } });
    }
    // The store's clock goes back by a day, an owner sees it, and it is put right again.
    if profile == Profile::Ordinary && rng.chance(8) {
        let back = rng.range(10, 60) * SECOND;
        let right = back + rng.range(15, 40) * SECOND;
        for (at, by) in [(back, -DAY), (right, DAY)] {
            faults.push(Fault { at, kind: FaultKind::StoreClockJump { by } });
            let span = rng.range(SECOND, 5 * SECOND);
            faults.push(Fault { at: at + 1, kind: FaultKind::Asleep { span, days: 0 } });
        }
    }
    // It jumps by a day, and nothing else: owners follow it. When it went back, their time stands still until it is put right.
    if profile == Profile::Ordinary && rng.chance(8) {
        let at = rng.range(10, 60) * SECOND;
        let jump = |at, by| Fault { at, kind: FaultKind::StoreClockJump { by } };
        if rng.chance(50) {
            faults.push(jump(at, DAY));
        } else {
            let right = at + rng.range(15, 40) * SECOND;
            faults.extend([jump(at, -DAY), jump(right, DAY)]);
        }
    }
    faults
}

fn any_fault(rng: &mut Rng, schedulers: usize, agents: usize) -> FaultKind {
    let scheduler = rng.index(schedulers);
    let agent = rng.index(agents);
    let span = rng.range(SECOND, 40 * SECOND);
    let any_host = |rng: &mut Rng| match rng.index(5) {
        0 | 1 => Host::Scheduler(rng.index(schedulers)),
        2 | 3 => Host::Agent(rng.index(agents)),
        _ => Host::Store,
    };
    match rng.index(12) {
        0 => FaultKind::KillScheduler { scheduler, down: span },
        1 => FaultKind::Pause { host: Host::Scheduler(scheduler), span },
        2 => FaultKind::Pause { host: Host::Agent(agent), span },
        3 if rng.chance(50) => FaultKind::Leave { agent, down: span },
        3 => FaultKind::KillAgent { agent, down: span },
        4 => FaultKind::Reboot { agent, down: span },
        5 if rng.chance(40) => FaultKind::Wipe { agent, down: span },
        5 | 6 => {
            let (from, to) = (Host::Agent(agent), Host::Scheduler(scheduler));
            if rng.chance(50) {
                FaultKind::Cut { from, to, span }
            } else {
                FaultKind::Cut { from: to, to: from, span }
            }
        }
        7 => {
            let (from, to) = (any_host(rng), any_host(rng));
            FaultKind::Cut { from, to, span }
        }
        8 => FaultKind::Noise {
            span,
            lost: rng.range(1, 30) as u64,
            doubled: rng.range(1, 30) as u64,
            late_max: rng.range(SECOND / 10, 20 * SECOND),
        },
        9 if rng.chance(30) => FaultKind::StoreDown { span: rng.range(12, 50) * SECOND },
        9 => FaultKind::StoreDown { span: rng.range(SECOND / 2, 12 * SECOND) },
        10 => FaultKind::LoseCommitAnswers { span: rng.range(SECOND / 2, 4 * SECOND) },
        _ => {
            if rng.chance(30) {
                FaultKind::StoreClockJump { by: rng.range(-20, 3_600) * SECOND }
            } else {
                FaultKind::HoldOwnersRequests { span: rng.range(5, 24) * SECOND }
            }
        }
    }
}

impl FaultKind {
    /// How long it lasts.
    pub(crate) fn span(&self) -> i64 {
        match self {
            Self::KillScheduler { down, .. }
            | Self::KillAgent { down, .. }
            | Self::Reboot { down, .. }
            | Self::Wipe { down, .. }
            | Self::Leave { down, .. }
            | Self::KillWhileBusy { down, .. } => *down,
            Self::Pause { span, .. }
            | Self::Cut { span, .. }
            | Self::Noise { span, .. }
            | Self::HoldOwnersRequests { span }
            | Self::LoseCommitAnswers { span }
            | Self::Asleep { span, .. }
            | Self::Suspend { span, .. }
            | Self::Strand { span }
            | Self::StoreDown { span } => *span,
            Self::StoreClockJump { .. } | Self::WallClockJump { .. } => 0,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = Duration::from_micros(self.at as u64);
        write!(f, "{at:>10.3?}  {:?}", self.kind)
    }
}
