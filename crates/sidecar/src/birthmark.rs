//! A mark that every process of an attempt is born with, however it was started: the slack of its timers.
//!
//! Children inherit it, `exec`, `setsid` and an empty environment leave it alone, and hardly any program sets it. The slack
//! says how late a timer may be so that wake-ups fall together, 50 µs everywhere; ours differ from that by at most 4 µs,
//! which nobody can tell. It costs one short system call for each start, against some ten for a cgroup, and tells whose a
//! daemon is that was started before its task had a cgroup. Only a privileged sidecar may read it of others.

use std::num::NonZeroU64;

/// What processes have by default.
const SLACK_NS: u64 = 50_000;
const MARKS: u64 = 4_096;

/// The mark of one attempt; another may have the same if there are thousands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Birthmark(u64);

impl Birthmark {
    /// Of a process that was not given one.
    pub(crate) const NONE: Self = Self(0);

    /// The mark of the attempt with this number. What this thread starts from now on has it.
    pub(crate) fn wear(number: u64) -> Self {
        let slack_ns = SLACK_NS + 1 + number % MARKS;
        match rustix::thread::set_current_timer_slack(NonZeroU64::new(slack_ns)) {
            Ok(()) => Self(slack_ns),
            Err(_) => Self::NONE,
        }
    }

    /// The mark of a process, if it has one and we may know.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        let text = std::fs::read_to_string(format!("/proc/{pid}/timerslack_ns")).ok()?;
        let slack_ns = text.trim().parse().ok()?;
        (SLACK_NS + 1..=SLACK_NS + MARKS).contains(&slack_ns).then_some(Self(slack_ns))
    }
}
