//! Stopping a tree: signal, grace, kill, and killing again until nothing of it is left.

use rustix::process::Signal;

use super::Supervisor;
use crate::clock::boottime_us;
use crate::procfs;
use crate::protocol::StopCause;
use crate::task::{Due, Stage};
use crate::tree;

impl Supervisor {
    /// Begins to stop a task, or hurries on a stop that is under way. Without a cause it only clears away what the
    /// task left behind.
    pub(super) fn stop(
        &mut self,
        slot: usize,
        cause: Option<StopCause>,
        grace_ms: Option<u32>,
        signal: Option<i32>,
    ) {
        let now_us = boottime_us();
        let task = &mut self.tasks[slot];
        if task.exit.is_none() && task.awaits_status.is_none() {
            task.stopped_by = task.stopped_by.or(cause);
        }
        let grace_us = u64::from(grace_ms.unwrap_or(task.terms.grace_ms)) * 1000;
        let kill_at_us = now_us + grace_us;
        let first = task.stage == Stage::Running;
        match &mut task.stage {
            Stage::Running => {
                task.stage = Stage::Stopping { since_us: now_us, kill_at_us, look_at_us: u64::MAX };
            }
            // A stop is never put off by another.
            Stage::Stopping { kill_at_us: earlier, .. } => *earlier = (*earlier).min(kill_at_us),
            Stage::Killing { .. } => return,
        }
        if task.exit.is_some() {
            task.look_later(now_us);
        }
        task.terms.stop_signal = signal.unwrap_or(task.terms.stop_signal);
        let signal = Signal::from_named_raw(task.terms.stop_signal).unwrap_or(Signal::TERM);
        if grace_us == 0 || signal == Signal::KILL {
            self.kill(slot);
        } else if first {
            self.signal(slot, signal);
        }
        self.arm(slot);
    }

    /// Does what is due by now.
    pub(super) fn act_on_time(&mut self) {
        let now_us = boottime_us();
        let mut settling = Vec::new();
        let due = self.timers.due(now_us);
        if !due.is_empty() {
            // What has ended by itself is not stopped for being late.
            self.reap();
        }
        for slot in due {
            let Some(task) = self.tasks.get_mut(slot) else { continue };
            match task.due(now_us) {
                // When its lease is over another node may have the run: nothing of it may be left by then.
                Some(Due::Stop(StopCause::LeaseOver)) => {
                    self.stop(slot, Some(StopCause::LeaseOver), Some(0), None);
                }
                Some(Due::Stop(cause)) => self.stop(slot, Some(cause), None, None),
                Some(Due::Kill) => self.kill(slot),
                Some(Due::Status) => self.await_status(slot),
                Some(Due::Look) => self.look(slot, now_us),
                Some(Due::Settle) => {
                    task.settle_at_us = None;
                    settling.push(slot);
                }
                None => {}
            }
            self.arm(slot);
        }
        self.kill_struck();
        self.settle(&settling);
        self.remove_groups();
    }

    fn look(&mut self, slot: usize, now_us: u64) {
        let task = &mut self.tasks[slot];
        task.look_later(now_us);
        if matches!(task.stage, Stage::Killing { .. }) {
            if task.is_given_up(now_us) && task.exit.is_none() {
                self.note_unseen_end(slot);
                return;
            }
            self.strike(slot);
        } else {
            let signal = self.tasks[slot].terms.stop_signal;
            self.signal(slot, Signal::from_named_raw(signal).unwrap_or(Signal::TERM));
        }
        if self.tasks[slot].exit.is_some() {
            self.ended.push(slot);
        }
    }

    fn kill(&mut self, slot: usize) {
        let now_us = boottime_us();
        self.tasks[slot].stage = Stage::Killing { since_us: now_us, look_at_us: now_us };
        self.tasks[slot].look_later(now_us);
        self.strike(slot);
    }

    /// Signals everybody in the tree, each once. The group is signalled as a whole, because one that forks at this
    /// moment takes its child with it; whoever turns up later has its turn when the tree is looked at again.
    fn signal(&mut self, slot: usize, signal: Signal) {
        let members = self.members(slot);
        let task = &mut self.tasks[slot];
        let in_group = |pid: &u32| procfs::process(*pid).is_some_and(|process| process.group == task.pid);
        let as_group = task.tree.has_root && task.signalled.is_empty();
        let alone: Vec<u32> = members.into_iter().filter(|pid| !(as_group && in_group(pid))).collect();
        let fresh: Vec<u32> = alone.into_iter().filter(|pid| task.signalled.insert(*pid)).collect();
        for signal in [signal, Signal::CONT] {
            // What stands still could not act on the first.
            if as_group {
                tree::signal_group(task.pid, signal);
                task.signalled.insert(task.pid);
            }
            tree::signal_each(&fresh, signal);
        }
    }

    /// Kills the group and the cgroup of a task now, and whoever is in neither with those of others in this turn.
    fn strike(&mut self, slot: usize) {
        let task = &mut self.tasks[slot];
        if task.tree.has_root {
            tree::signal_group(task.pid, Signal::KILL);
        }
        if let Some(group) = &mut task.group {
            group.kill();
        }
        self.struck.push(slot);
    }

    /// Kills all that is left of the trees that were struck. Leases of many tasks end at one moment, so one look is for all.
    pub(super) fn kill_struck(&mut self) {
        let mut struck = std::mem::take(&mut self.struck);
        struck.retain(|slot| self.tasks.contains(*slot));
        if !struck.is_empty() {
            let members = self.members_of_all(&struck);
            tree::signal_each(&members, Signal::KILL);
        }
    }
}
