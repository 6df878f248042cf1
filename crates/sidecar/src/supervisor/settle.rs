//! What only a task that lasts is given: a cgroup that keeps the list of its processes, and a watch on its progress
//! file. Most tasks of a busy node are over before, and neither costs them anything.
//!
//! Moving a tree that is forking takes rounds: whoever is in the cgroup has its children there, so the number of
//! processes outside falls until a round finds nobody.

use rustix::fs::inotify;

use super::Supervisor;
use crate::journal::Record;
use crate::procfs;
use crate::protocol::ResourceCaps;

const ROUNDS_MAX: usize = 16;

impl Supervisor {
    pub(super) fn settle(&mut self, slots: &[usize]) {
        if slots.is_empty() {
            return;
        }
        let mut orphans = self.orphans();
        let mut enclosing = Vec::new();
        for slot in slots {
            if self.tasks.get(*slot).is_some_and(|task| task.exit.is_none()) {
                self.watch_progress(*slot);
                if self.give_group(*slot) {
                    enclosing.push(*slot);
                }
            }
        }
        if enclosing.is_empty() {
            return;
        }
        self.journal.crash.pass();
        // A later sidecar ends whatever is in a cgroup that no record names.
        let journalled = self.journal.flush().is_ok();
        for slot in enclosing {
            match journalled {
                true => self.enclose(slot, orphans.remove(&slot).unwrap_or_default()),
                false => self.leaving.extend(self.tasks[slot].group.take()),
            }
        }
    }

    /// The file is watched for what is written, the directory only for another file of that name: the log is in it too, and
    /// would wake us with each write.
    fn watch_progress(&mut self, slot: usize) {
        let flags = inotify::WatchFlags::CREATE | inotify::WatchFlags::MOVED_TO;
        let directory = self.layout.attempt(&self.tasks[slot].key);
        if let Ok(watch) = inotify::add_watch(&self.watches, &directory, flags) {
            self.tasks[slot].watches[0] = Some(watch);
            self.watched.insert(watch, slot);
        }
        self.watch_file(slot);
        self.tell_progress(slot, false);
    }

    /// Watches the progress file that is there now, if one is.
    pub(super) fn watch_file(&mut self, slot: usize) {
        let path = self.layout.progress(&self.tasks[slot].key);
        let flags = inotify::WatchFlags::MODIFY | inotify::WatchFlags::DONT_FOLLOW;
        let watch = inotify::add_watch(&self.watches, path, flags).ok();
        let before = std::mem::replace(&mut self.tasks[slot].watches[1], watch);
        if let Some(before) = before.filter(|before| Some(*before) != watch) {
            self.forget_watch(before);
        }
        self.watched.extend(watch.map(|watch| (watch, slot)));
    }

    pub(super) fn forget_watch(&mut self, watch: i32) {
        self.watched.remove(&watch);
        let _ = inotify::remove_watch(&self.watches, watch);
    }

    /// Makes a cgroup for a task that has none.
    fn give_group(&mut self, slot: usize) -> bool {
        if self.tasks[slot].group.is_some() {
            return false;
        }
        let caps = ResourceCaps { pids: self.tasks[slot].terms.pids, ..ResourceCaps::default() };
        let Some(Ok(group)) = self.cgroups.as_mut().map(|cgroups| cgroups.create(&caps)) else {
            return false;
        };
        self.tasks[slot].group = Some(group);
        self.journal.append(Record::Started(Box::new(self.started_record(slot))));
        true
    }

    /// Moves everybody of a task into its cgroup.
    fn enclose(&mut self, slot: usize, orphans: Vec<u32>) {
        let task = &self.tasks[slot];
        let Some(group) = &task.group else { return };
        let mut inside = rustc_hash::FxHashSet::default();
        let mut roots = orphans;
        roots.push(task.pid);
        for _ in 0..ROUNDS_MAX {
            let before = inside.len();
            let mut open = roots.clone();
            while let Some(pid) = open.pop() {
                // Children of a process are looked up after it was moved: later ones are born inside.
                if inside.insert(pid) {
                    let _ = group.adopt(pid);
                }
                open.extend(procfs::children(pid));
            }
            if inside.len() == before {
                break;
            }
        }
        self.tasks[slot].settled_ticks = Some(procfs::now_ticks());
    }
}
