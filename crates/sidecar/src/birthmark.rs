//! A mark that every process of an attempt is born with, however it was started: the slack of its timers.
//!
//! Children inherit it, `exec`, `setsid` and an empty environment leave it alone, and hardly any program sets it. The slack
//! says how late a timer may be so that wake-ups fall together, 50 µs everywhere; ours differ from that by at most 4 µs,
//! which nobody can tell. It costs one short system call for each start, against some ten for a cgroup, and tells whose a
//! daemon is that was started before its task had a cgroup. Only a privileged sidecar may read it of others.

use std::num::NonZeroU64;
use std::ops::RangeInclusive;

/// What processes have by default.
const SLACK_NS: u64 = 50_000;
/// All marks there are.
const MARKS: RangeInclusive<u64> = SLACK_NS + 1..=SLACK_NS + 4_096;

/// The mark of one attempt; another may have the same if there are thousands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Birthmark(u64);

/// The marks of one sidecar.
#[derive(Debug)]
pub(crate) struct Birthmarks {
    last: u64,
    /// Whether this sidecar was born with one: it runs in a task of another, which knows all that comes of it by that mark,
    /// and would take another for that of a task of its own.
    born_with_one: bool,
}

impl Birthmarks {
    /// To be called by the thread that starts tasks, before it does.
    pub(crate) fn new() -> Self {
        let born_with_one = rustix::thread::current_timer_slack().is_ok_and(|slack| MARKS.contains(&slack));
        Self { last: *MARKS.start(), born_with_one }
    }

    /// The mark of another attempt. What this thread starts from now on has it.
    pub(crate) fn wear_next(&mut self) -> Birthmark {
        if self.born_with_one {
            return Birthmark::NONE;
        }
        self.last = if self.last < *MARKS.end() { self.last + 1 } else { *MARKS.start() };
        match rustix::thread::set_current_timer_slack(NonZeroU64::new(self.last)) {
            Ok(()) => Birthmark(self.last),
            Err(_) => Birthmark::NONE,
        }
    }
}

impl Birthmark {
    /// Of a process that was not given one.
    pub(crate) const NONE: Self = Self(0);

    /// The mark of a process, if it has one and we may know.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        let text = std::fs::read_to_string(format!("/proc/{pid}/timerslack_ns")).ok()?;
        let slack_ns = text.trim().parse().ok()?;
        MARKS.contains(&slack_ns).then_some(Self(slack_ns))
    }
}
