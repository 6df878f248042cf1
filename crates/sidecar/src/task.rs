//! One live attempt: its process, its pipes, its log, and how far it is on its way out.
//!
//! Only state and the question what is due next; the supervisor acts. The invariant: once `stage` has left `Running`
//! it never goes back, and an attempt is over only when `exit` is known and its tree is empty.

use std::os::fd::OwnedFd;
use std::process::Child;

use rustc_hash::FxHashSet;

use crate::cgroup::Group;
use crate::key::AttemptKey;
use crate::log::Capture;
use crate::progress::Progress;
use crate::protocol::{End, StopCause};
use crate::tree::Tree;
use crate::usage::Usage;

/// How long a killed tree may take to go; only a process that hangs in the kernel takes longer.
const PATIENCE_US: u64 = 10_000_000;
const LOOK_MIN_US: u64 = 5_000;
const LOOK_MAX_US: u64 = 250_000;

/// A live attempt.
pub(crate) struct Task {
    pub(crate) key: AttemptKey,
    pub(crate) pid: u32,
    pub(crate) started_at_us: i64,
    pub(crate) terms: Terms,
    pub(crate) tree: Tree,
    /// Absent for a task of an earlier sidecar.
    pub(crate) child: Option<Child>,
    /// Tells the end of a task of an earlier sidecar.
    pub(crate) pidfd: Option<OwnedFd>,
    pub(crate) stdout: Option<OwnedFd>,
    pub(crate) stderr: Option<OwnedFd>,
    pub(crate) pipes: [u64; 2],
    pub(crate) capture: Capture,
    pub(crate) progress: Progress,
    /// On its directory and on its progress file.
    pub(crate) watches: [Option<i32>; 2],
    pub(crate) group: Option<Group>,
    /// When it is given what only a task that lasts needs; `None` once it has it.
    pub(crate) settle_at_us: Option<u64>,
    /// When it got it, in the unit of process start times.
    pub(crate) settled_ticks: Option<u64>,
    pub(crate) exit: Option<Exit>,
    /// What its orphans used that have ended.
    pub(crate) orphans_used: Usage,
    /// It ended, and its status may still be told.
    pub(crate) awaits_status: Option<AwaitsStatus>,
    pub(crate) stage: Stage,
    /// Who got the stop signal.
    pub(crate) signalled: FxHashSet<u32>,
    pub(crate) stopped_by: Option<StopCause>,
}

/// Since when it is looked for, and when it is looked for again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AwaitsStatus {
    pub(crate) since_us: u64,
    pub(crate) look_at_us: u64,
}

/// What the order said that matters later.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    pub(crate) grace_ms: u32,
    pub(crate) stop_signal: i32,
    pub(crate) timeout_at_us: Option<u64>,
    pub(crate) deadline_us: Option<u64>,
    pub(crate) result_bytes_max: u32,
    pub(crate) durable: bool,
    /// The bound of its processes, for the cgroup that it is given when it lasts. Not in the journal: a task that had no
    /// cgroup when its sidecar died has no bound.
    pub(crate) pids: Option<u32>,
}

/// How the first process ended.
#[derive(Debug, Clone)]
pub(crate) struct Exit {
    pub(crate) end: End,
    pub(crate) at_us: i64,
    pub(crate) used: Usage,
}

impl Exit {
    /// An end that nobody saw.
    pub(crate) fn unseen(at_us: i64) -> Self {
        Self { end: End::Lost, at_us, used: Usage::default() }
    }
}

/// How far a task is on its way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Nobody wants it to end.
    Running,
    /// It was signalled; what is left at that time is killed.
    Stopping { since_us: u64, kill_at_us: u64, look_at_us: u64 },
    /// It was killed, and is killed again until it is gone or given up.
    Killing { since_us: u64, look_at_us: u64 },
}

/// What a task waits for next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// Its run timeout or its lease.
    Stop(StopCause),
    /// The end of its grace.
    Kill,
    /// See whether its status is known.
    Status,
    /// See whether its tree is empty.
    Look,
    /// It has lasted.
    Settle,
}

impl Task {
    /// When to look at it again.
    pub(crate) fn next_us(&self) -> Option<u64> {
        if let Some(awaits) = self.awaits_status {
            return Some(awaits.look_at_us);
        }
        let stage = match self.stage {
            Stage::Running if self.exit.is_some() => None,
            Stage::Running => [self.terms.timeout_at_us, self.terms.deadline_us].into_iter().flatten().min(),
            Stage::Stopping { kill_at_us, look_at_us, .. } => {
                Some(self.killed_at(kill_at_us).min(look_at_us))
            }
            Stage::Killing { look_at_us, .. } => Some(look_at_us),
        };
        [stage, self.settle_at_us].into_iter().flatten().min()
    }

    /// When its grace is over: no later than its lease.
    fn killed_at(&self, kill_at_us: u64) -> u64 {
        self.terms.deadline_us.map_or(kill_at_us, |deadline_us| deadline_us.min(kill_at_us))
    }

    /// What is due by `now_us`.
    pub(crate) fn due(&self, now_us: u64) -> Option<Due> {
        let past = |at: Option<u64>| at.is_some_and(|at| at <= now_us);
        if let Some(awaits) = self.awaits_status {
            // It has ended: nothing else is to be done about it.
            return past(Some(awaits.look_at_us)).then_some(Due::Status);
        }
        match self.stage {
            Stage::Running if self.exit.is_none() && past(self.terms.timeout_at_us) => {
                Some(Due::Stop(StopCause::Timeout))
            }
            Stage::Running if self.exit.is_none() && past(self.terms.deadline_us) => {
                Some(Due::Stop(StopCause::LeaseOver))
            }
            Stage::Stopping { kill_at_us, .. } if self.killed_at(kill_at_us) <= now_us => Some(Due::Kill),
            Stage::Stopping { look_at_us, .. } | Stage::Killing { look_at_us, .. }
                if look_at_us <= now_us =>
            {
                Some(Due::Look)
            }
            _ if past(self.settle_at_us) => Some(Due::Settle),
            _ => None,
        }
    }

    /// Whether it is given up on: killed, and still there after a long while.
    pub(crate) fn is_given_up(&self, now_us: u64) -> bool {
        matches!(self.stage, Stage::Killing { since_us, .. } if since_us + PATIENCE_US <= now_us)
    }

    /// Looks again after a while that grows with the time that was waited.
    pub(crate) fn look_later(&mut self, now_us: u64) {
        if let Stage::Stopping { since_us, look_at_us, .. } | Stage::Killing { since_us, look_at_us } =
            &mut self.stage
        {
            *look_at_us = next_look_us(*since_us, now_us);
        }
    }
}

/// When to look again for what was looked for since then.
pub(crate) fn next_look_us(since_us: u64, now_us: u64) -> u64 {
    now_us + ((now_us - since_us) / 4).clamp(LOOK_MIN_US, LOOK_MAX_US)
}
