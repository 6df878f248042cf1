//! CPU time of everybody who works on a commit: this process with all its threads, and the database's server.
//!
//! A process of one thread is read to the nanosecond, one of many threads to the hundredth of a second, because
//! only its own sum includes threads that ended. A child that ended is in its parent's sum.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::time::{ClockId, clock_gettime};

/// The kernel's unit in `/proc/PID/stat`, the same on every Linux.
const TICK: Duration = Duration::from_millis(10);

/// Whose time counts.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Processes {
    /// There is no server.
    Own,
    /// A server of many threads.
    WithServer(u32),
    /// A server and its children.
    WithFamily(u32),
}

impl Processes {
    /// This process and the parent of `backend` with all its children.
    pub(super) fn with_parent_of(backend: u32) -> Result<Self> {
        let stat = Stat::of(backend).context("the server's processes are not on this machine")?;
        Ok(Self::WithFamily(stat.parent))
    }

    /// The CPU time that they have used so far.
    pub(crate) fn cpu(self) -> Result<Duration> {
        let own = clock_gettime(ClockId::ProcessCPUTime);
        let own = Duration::new(own.tv_sec as u64, own.tv_nsec as u32);
        Ok(own
            + match self {
                Self::Own => Duration::ZERO,
                Self::WithServer(server) => Stat::of(server)?.own,
                Self::WithFamily(parent) => family(parent)?,
            })
    }
}

fn family(parent: u32) -> Result<Duration> {
    let of_parent = Stat::of(parent)?;
    let mut sum = of_parent.exact(parent) + of_parent.ended_children;
    for entry in fs::read_dir("/proc")? {
        let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        // One that cannot be read has ended just now and is in its parent's sum from now on.
        if let Ok(stat) = Stat::of(pid)
            && stat.parent == parent
        {
            sum += stat.exact(pid);
        }
    }
    Ok(sum)
}

/// What `/proc/PID/stat` says.
#[derive(Debug)]
pub(crate) struct Stat {
    parent: u32,
    pub(crate) own: Duration,
    /// Of children that were waited for, and theirs.
    pub(crate) ended_children: Duration,
    threads: u32,
}

impl Stat {
    pub(crate) fn of(pid: u32) -> Result<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat"))?;
        Self::parse(&text).with_context(|| format!("/proc/{pid}/stat cannot be read"))
    }

    /// The name before the fields is in parentheses and may hold anything.
    fn parse(text: &str) -> Option<Self> {
        let fields: Vec<u32> =
            text.rsplit_once(')')?.1.split_whitespace().map(|field| field.parse().unwrap_or(0)).collect();
        let ticks = |at: usize| Some(TICK * fields.get(at)?.checked_add(*fields.get(at + 1)?)?);
        Some(Self {
            parent: *fields.get(1)?,
            own: ticks(11)?,
            ended_children: ticks(13)?,
            threads: *fields.get(17)?,
        })
    }

    fn exact(&self, pid: u32) -> Duration {
        let read = || {
            let text = fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
            text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
        };
        if self.threads == 1 { read().unwrap_or(self.own) } else { self.own }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_from_the_last_parenthesis() {
        let text = "42 (a) b) S 7 1 1 0 -1 0 0 0 0 0 150 50 30 20 20 0 3 0 99 0 0";
        let stat = Stat::parse(text).unwrap();
        assert_eq!((stat.parent, stat.threads), (7, 3));
        assert_eq!((stat.own, stat.ended_children), (Duration::from_secs(2), Duration::from_millis(500)));
        assert!(Stat::parse("42 (a) S").is_none());
    }

    #[test]
    fn work_is_seen() {
        let before = Processes::Own.cpu().unwrap();
        let mut sum = 0u64;
        while Processes::Own.cpu().unwrap() == before {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(Stat::of(std::process::id()).unwrap().threads >= 1);
    }
}
