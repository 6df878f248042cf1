//! The end of an attempt: nothing of it lives, its output is read, its log is put together, its end is journalled
//! and told.

use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Supervisor;
use crate::attempt_dir::read_output;
use crate::cgroup::Group;
use crate::clock::{boottime_us, wall_us};
use crate::journal::{Entry, FinishedRecord, Record};
use crate::protocol::{Event, Finished, Output};
use crate::spare;
use crate::task::{Exit, Stage, Task};
use crate::tree::{self, Snapshot};
use crate::usage::Usage;

/// How long a cgroup that is not empty yet is waited for before it is tried again.
const GROUP_RETRY_US: u64 = 20_000;
/// How often a sidecar that ends looks for that.
const GROUP_LOOKS_AT_END: usize = 50;
/// Looks at a tree whose processes come and go.
const ROUNDS_MAX: usize = 16;
/// A slot that no task has: a wake-up for the loop itself.
const NO_SLOT: usize = usize::MAX;

impl Supervisor {
    /// Finishes the tasks whose first process has ended and of which nothing is left; clears away the rest.
    pub(super) fn finish_ended(&mut self) {
        if self.ended.is_empty() {
            return;
        }
        let orphans = self.orphans();
        for slot in std::mem::take(&mut self.ended) {
            if !self.tasks.contains(slot) {
                continue;
            }
            let survivors = self.survivors(slot, orphans.contains_key(&slot));
            if orphans.contains_key(&slot) && survivors.is_empty() {
                // They have ended by now: what they used is told with the task's end.
                self.reap();
            }
            if survivors.is_empty() || self.tasks[slot].is_given_up(boottime_us()) {
                self.finish(slot, survivors.len() as u32);
            } else if self.tasks[slot].stage == Stage::Running {
                self.stop(slot, None, None, None);
            } else {
                let now_us = boottime_us();
                self.tasks[slot].look_later(now_us);
                self.arm(slot);
            }
        }
        self.kill_struck();
    }

    /// Every process of a task that can be found.
    pub(super) fn members(&mut self, slot: usize) -> Vec<u32> {
        self.members_of_all(&[slot])
    }

    /// Every process of these tasks that can be found. Orphans, and all processes, are looked at for all of them together:
    /// each look takes longer the more tasks there are.
    pub(super) fn members_of_all(&mut self, slots: &[usize]) -> Vec<u32> {
        let (own, found): (Vec<usize>, Vec<usize>) =
            slots.iter().partition(|slot| self.tasks[**slot].tree.own);
        let mut members = self.families(own);
        if !found.is_empty() {
            let snapshot = Snapshot::take(self.roots());
            members.extend(found.iter().flat_map(|slot| snapshot.members(&self.tasks[*slot].tree)));
        }
        for slot in slots {
            members.extend(self.tasks[*slot].group.iter().flat_map(|group| group.members()));
        }
        members.into_iter().collect()
    }

    /// The living descendants of tasks of ours: of their first processes, and of their orphans.
    fn families(&mut self, slots: Vec<usize>) -> FxHashSet<u32> {
        if slots.is_empty() {
            return FxHashSet::default();
        }
        let mut families: FxHashMap<usize, FxHashSet<u32>> = FxHashMap::default();
        let mut orphans = self.orphans();
        let mut open = slots;
        for _ in 0..=ROUNDS_MAX {
            for slot in &open {
                let task = &self.tasks[*slot];
                let root = task.tree.has_root.then_some(task.pid);
                let heads = root.into_iter().chain(orphans.get(slot).into_iter().flatten().copied());
                families.insert(*slot, tree::family(heads));
            }
            let after = self.orphans();
            // One that ended meanwhile left its children to us.
            open = families.keys().copied().filter(|slot| after.get(slot) != orphans.get(slot)).collect();
            if open.is_empty() {
                break;
            }
            orphans = after;
        }
        families.into_values().flatten().collect()
    }

    /// As [`Supervisor::members`] for a task whose first process is gone, and cheap when there are none.
    fn survivors(&mut self, slot: usize, orphans: bool) -> Vec<u32> {
        let task = &mut self.tasks[slot];
        task.tree.has_group = task.tree.has_group && tree::group_exists(task.pid);
        if task.tree.has_group || orphans || !task.tree.own {
            return self.members(slot);
        }
        task.group.as_ref().map_or(Vec::new(), |group| group.members())
    }

    fn roots(&self) -> FxHashSet<u32> {
        self.tasks.iter().filter(|(_, task)| task.tree.has_root).map(|(_, task)| task.pid).collect()
    }

    fn finish(&mut self, slot: usize, survivors: u32) {
        self.journal.crash.pass();
        self.read_last_output(slot);
        self.tell_progress(slot, true);
        let mut task = self.tasks.remove(slot);
        if survivors > 0 {
            // A directory that is gone needs no mark.
            let _ = spare::spoil(&self.layout.attempt(&task.key));
        }
        self.by_key.remove(&task.key);
        self.timers.forget(slot);
        for watch in task.watches.into_iter().flatten() {
            self.forget_watch(watch);
        }
        self.journal.crash.pass();
        let record = Self::finished_record(&mut task, survivors);
        self.journal.crash.pass();
        self.journal.append(Record::Finished(Box::new(record)));
        if task.terms.durable {
            self.journal.sync_next();
        }
        self.leaving.extend(task.group.take());
        self.remove_groups();
        if let Some(connection) = self.subscriber.and_then(|number| self.connections.get_mut(number)) {
            connection.owed.push_back(task.key);
        }
    }

    fn finished_record(task: &mut Task, survivors: u32) -> FinishedRecord {
        let exit = task.exit.take().unwrap_or_else(|| Exit::unseen(wall_us()));
        let extent = task.capture.finish(exit.at_us);
        let counted = task.group.as_ref().map_or(Usage::default(), Group::usage);
        let used = exit.used.with(task.orphans_used).or_more(counted);
        FinishedRecord {
            key: task.key,
            end: exit.end,
            stopped_by: task.stopped_by,
            oom: task.group.as_ref().is_some_and(|group| group.oom_killed()),
            survivors,
            cpu_user_us: used.cpu_user_us,
            cpu_system_us: used.cpu_system_us,
            memory_peak_bytes: used.memory_peak_bytes,
            started_at_us: task.started_at_us,
            finished_at_us: exit.at_us,
            log_head: extent.head,
            log_end: extent.end,
            log_gap: extent.gap,
            log_dropped_bytes: task.capture.dropped_bytes(),
            result_bytes_max: task.terms.result_bytes_max,
        }
    }

    /// Removes the cgroups of attempts that are over; the kernel may take a moment to empty one.
    pub(super) fn remove_groups(&mut self) {
        if self.leaving.is_empty() {
            return;
        }
        self.leaving.retain_mut(|group| !group.remove());
        if !self.leaving.is_empty() {
            self.timers.wake(boottime_us() + GROUP_RETRY_US, NO_SLOT);
        }
    }

    /// Removes what the last attempts left before this process ends; the kernel is done with it soon.
    pub(super) fn await_empty_groups(&mut self) {
        for _ in 0..GROUP_LOOKS_AT_END {
            self.remove_groups();
            if self.leaving.is_empty() {
                return;
            }
            std::thread::sleep(Duration::from_micros(GROUP_RETRY_US));
        }
    }

    /// Tells ends that are owed, as far as each peer has room.
    pub(super) fn pay_owed(&mut self) {
        for (_, connection) in &mut self.connections {
            connection.say_unsaid();
            while connection.has_room()
                && let Some(key) = connection.owed.pop_front()
            {
                if let Some(line) = connection.unsaid.remove(&key) {
                    connection.push(Event::Progress { key, line });
                }
                if let Some(Entry::Finished(record)) = self.journal.entry(&key) {
                    let mut finished = told(record, read_output(&self.layout, &key, record.result_bytes_max));
                    if connection.version < 2 && finished.output == Output::Unreadable {
                        finished.output = Output::Taken;
                    }
                    connection.push(Event::Finished(Box::new(finished)));
                }
            }
        }
    }
}

fn told(record: &FinishedRecord, (result, output): (Option<Vec<u8>>, Output)) -> Finished {
    Finished {
        key: record.key,
        end: record.end.clone(),
        stopped_by: record.stopped_by,
        oom: record.oom,
        survivors: record.survivors,
        cpu_user_us: record.cpu_user_us,
        cpu_system_us: record.cpu_system_us,
        memory_peak_bytes: record.memory_peak_bytes,
        started_at_us: record.started_at_us,
        finished_at_us: record.finished_at_us,
        log_end: record.log_end,
        log_dropped_bytes: record.log_dropped_bytes,
        result: result.map(Into::into),
        output,
    }
}
