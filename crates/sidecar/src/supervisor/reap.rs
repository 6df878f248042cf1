//! Taking note of processes that ended: first processes of tasks with their status and usage, orphans with their usage.

use nix::errno::Errno;
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use wait4::Wait4;

use super::Supervisor;
use crate::clock::{boottime_us, wall_us};
use crate::pidfd;
use crate::procfs;
use crate::protocol::End;
use crate::task::{self, AwaitsStatus, Exit};
use crate::usage::{self, Usage};

/// How long the parent of a task of an earlier sidecar has to take note of its end: mostly no time, but some look only now and
/// then.
const STATUS_PATIENCE_US: u64 = 5_000_000;

impl Supervisor {
    /// Takes every child that has ended off the kernel's list.
    pub(super) fn reap(&mut self) {
        while let Some(pid) = ended_child() {
            match self.by_pid.remove(&(pid.as_raw() as u32)) {
                Some(slot) => self.note_end(slot),
                None => self.reap_orphan(pid),
            }
        }
    }

    /// An orphan ended: what it used is its task's. One that was never seen alive still says whose it is, until we wait for it.
    fn reap_orphan(&mut self, pid: Pid) {
        let number = pid.as_raw() as u32;
        let key = self.parents.remove(&number).or_else(|| self.parent(number));
        let used = usage::reap(pid.as_raw());
        let slot = key.and_then(|key| self.by_key.get(&key));
        if let (Some(slot), Some(used)) = (slot, used) {
            let memory_peak_bytes = task_peak_bytes(used.memory_peak_bytes, &mut self.own_peak_bytes);
            let task = &mut self.tasks[*slot];
            task.orphans_used = task.orphans_used.with(Usage { memory_peak_bytes, ..used });
        }
    }

    /// A task of an earlier sidecar ended. Its status goes to another parent, and the kernel may tell us when that has it.
    pub(super) fn await_status(&mut self, slot: usize) {
        let now_us = boottime_us();
        let Some(task) = self.tasks.get_mut(slot) else { return };
        let since_us = task.awaits_status.map_or(now_us, |awaits| awaits.since_us);
        let pidfd = task.pidfd.as_ref().filter(|pidfd| pidfd::exit(pidfd) == pidfd::Exit::Pending);
        let Some(pidfd) = pidfd.filter(|_| now_us < since_us + STATUS_PATIENCE_US) else {
            return self.note_unseen_end(slot);
        };
        self.poller.forget(pidfd);
        let look_at_us = task::next_look_us(since_us, now_us);
        task.awaits_status = Some(AwaitsStatus { since_us, look_at_us });
        self.arm(slot);
    }

    /// A task of an earlier sidecar ended, or is given up, with what is known of that.
    pub(super) fn note_unseen_end(&mut self, slot: usize) {
        let Some(task) = self.tasks.get_mut(slot) else { return };
        let end = match task.pidfd.take().map(pidfd::exit) {
            Some(pidfd::Exit::Known(status)) => end_of(status),
            _ => End::Lost,
        };
        (task.tree.has_root, task.awaits_status) = (false, None);
        task.exit = Some(Exit { end, ..Exit::unseen(wall_us()) });
        self.ended.push(slot);
    }

    fn note_end(&mut self, slot: usize) {
        let task = &mut self.tasks[slot];
        let used = task.child.as_mut().map(Wait4::wait4);
        task.tree.has_root = false;
        task.exit = Some(match used {
            Some(Ok(used)) => Exit {
                end: end_of(used.status),
                at_us: wall_us(),
                used: Usage {
                    cpu_user_us: used.rusage.utime.as_micros() as u64,
                    cpu_system_us: used.rusage.stime.as_micros() as u64,
                    memory_peak_bytes: task_peak_bytes(used.rusage.maxrss, &mut self.own_peak_bytes),
                },
            },
            _ => Exit::unseen(wall_us()),
        });
        self.ended.push(slot);
    }
}

fn end_of(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code),
        (None, Some(signal)) => End::Signalled(signal),
        (None, None) => End::Lost,
    }
}

/// A process begins in the memory of the one that starts it, and the kernel counts that as its own: what is not larger than
/// this process ever was says nothing about the task.
fn task_peak_bytes(peak_bytes: u64, own_peak_bytes: &mut u64) -> u64 {
    if peak_bytes > *own_peak_bytes {
        *own_peak_bytes = procfs::own_peak_bytes();
    }
    if peak_bytes > *own_peak_bytes { peak_bytes } else { 0 }
}

/// A child that has ended, left on the list so that its usage can be read with its status.
fn ended_child() -> Option<Pid> {
    loop {
        match waitid(Id::All, WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT) {
            Ok(WaitStatus::Exited(pid, _) | WaitStatus::Signaled(pid, _, _)) => return Some(pid),
            Err(Errno::EINTR) => {}
            _ => return None,
        }
    }
}
