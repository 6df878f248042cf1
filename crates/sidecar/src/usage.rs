//! What an attempt used: its first process with those that were waited for, its orphans, and what its cgroup counted.
//!
//! No count is complete. The kernel adds what a process used to its parent only when that waits for it; a cgroup counts
//! from when the task had one. So the largest is taken.

#![expect(
    unsafe_code,
    reason = "no crate wraps this call for a process that is not our own child by the library"
)]

use std::mem::MaybeUninit;

use nix::libc;

/// CPU time and memory; zero is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) cpu_user_us: u64,
    pub(crate) cpu_system_us: u64,
    /// The most that was held at once.
    pub(crate) memory_peak_bytes: u64,
}

impl Usage {
    /// Of both, one beside the other.
    pub(crate) fn with(self, other: Self) -> Self {
        Self {
            cpu_user_us: self.cpu_user_us + other.cpu_user_us,
            cpu_system_us: self.cpu_system_us + other.cpu_system_us,
            memory_peak_bytes: self.memory_peak_bytes.max(other.memory_peak_bytes),
        }
    }

    /// Of the same, counted in two ways.
    pub(crate) fn or_more(self, other: Self) -> Self {
        let total_us = |usage: &Self| usage.cpu_user_us + usage.cpu_system_us;
        let more = if total_us(&other) > total_us(&self) { other } else { self };
        Self { memory_peak_bytes: self.memory_peak_bytes.max(other.memory_peak_bytes), ..more }
    }
}

/// Takes a child that has ended off the kernel's list; what it used, with those that it waited for.
pub(crate) fn reap(pid: i32) -> Option<Usage> {
    let mut used = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the call writes a `struct rusage` to the place it is given and nothing else; zeros are one, too.
    let used = unsafe {
        let reaped = libc::wait4(pid, std::ptr::null_mut(), libc::WNOHANG, used.as_mut_ptr());
        (reaped == pid).then(|| used.assume_init())?
    };
    let micros = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
    Some(Usage {
        cpu_user_us: micros(used.ru_utime),
        cpu_system_us: micros(used.ru_stime),
        memory_peak_bytes: used.ru_maxrss as u64 * 1024,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(cpu_user_us: u64, cpu_system_us: u64, memory_peak_bytes: u64) -> Usage {
        Usage { cpu_user_us, cpu_system_us, memory_peak_bytes }
    }

    #[test]
    fn processes_are_added_and_counts_are_compared() {
        assert_eq!(usage(1, 2, 30).with(usage(4, 5, 6)), usage(5, 7, 30));
        assert_eq!(usage(1, 9, 30).or_more(usage(8, 1, 60)), usage(1, 9, 60));
        assert_eq!(usage(1, 2, 30).or_more(usage(4, 0, 0)), usage(4, 0, 30));
    }

    #[test]
    #[expect(clippy::zombie_processes, reason = "it is waited for by what is tested")]
    fn a_child_is_reaped_once() {
        let child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id() as i32;
        let used = loop {
            if let Some(used) = reap(pid) {
                break used;
            }
            std::thread::yield_now();
        };
        assert!(used.memory_peak_bytes > 0);
        assert_eq!(reap(pid), None);
    }
}
