//! Whose an orphan is: a process whose parent ended and that so became a child of the sidecar, which is a subreaper.
//!
//! What tells, the surest first: its cgroup, its process group, the mark it was born with, its environment, the directory
//! it is in, the files it has open. One that hides all of these is of the only task that can have started it: an enclosed
//! task's later children are in its cgroup. What is found is remembered until the orphan ends, because it is asked at the
//! end of every task; a pid is not given to another before we have waited for it.

use std::path::Path;

use rustc_hash::FxHashMap;

use super::Supervisor;
use crate::birthmark::Birthmark;
use crate::cgroup;
use crate::key::AttemptKey;
use crate::procfs::{self, Open, Process};
use crate::task::Task;

/// Open files of an orphan that are looked at.
const OPEN_FILES_MAX: usize = 256;

impl Supervisor {
    /// The orphans of each task, by its slot.
    pub(super) fn orphans(&mut self) -> FxHashMap<usize, Vec<u32>> {
        let mut orphans: FxHashMap<usize, Vec<u32>> = FxHashMap::default();
        for pid in procfs::own_children().unwrap_or_default() {
            if self.by_pid.contains_key(&pid) || self.keeper.as_ref().is_some_and(|keeper| keeper.pid == pid)
            {
                continue;
            }
            let known = self.parents.get(&pid).filter(|key| self.by_key.contains_key(key)).copied();
            if let Some(key) = known.or_else(|| self.parent(pid)) {
                self.parents.insert(pid, key);
                orphans.entry(self.by_key[&key]).or_default().push(pid);
            }
        }
        orphans
    }

    /// The attempt that an orphan came of, if that can be told. One that has ended and was not waited for tells less.
    pub(super) fn parent(&self, pid: u32) -> Option<AttemptKey> {
        let process = procfs::process(pid)?;
        self.by_cgroup(pid)
            .or_else(|| self.only(|task| task.tree.has_group && task.pid == process.group))
            .or_else(|| Birthmark::of(pid).and_then(|mark| self.only(|task| task.tree.birthmark == mark)))
            .or_else(|| self.only_marked(pid))
            .or_else(|| self.by_path(&std::fs::read_link(format!("/proc/{pid}/cwd")).ok()?))
            .or_else(|| procfs::open_files(pid, OPEN_FILES_MAX).find_map(|open| self.by_open_file(&open)))
            .or_else(|| self.only(|task| !process.is_dead() && task.may_have_started(&process)))
    }

    fn by_cgroup(&self, pid: u32) -> Option<AttemptKey> {
        let name = cgroup::attempt_of(pid)?;
        self.only(|task| task.group.as_ref().is_some_and(|group| group.is_named(&name)))
    }

    fn only_marked(&self, pid: u32) -> Option<AttemptKey> {
        let environment = procfs::environment(pid);
        self.only(|task| procfs::has_entries(&environment, &task.tree.marks))
    }

    fn by_path(&self, path: &Path) -> Option<AttemptKey> {
        let below = path.strip_prefix(&self.attempts).ok()?;
        let key = below.iter().next()?.to_str()?.parse().ok()?;
        self.by_key.contains_key(&key).then_some(key)
    }

    fn by_open_file(&self, open: &Open) -> Option<AttemptKey> {
        match open {
            Open::Pipe(inode) => self.only(|task| task.pipes.contains(inode)),
            Open::Path(path) => self.by_path(path),
        }
    }

    /// The one task that `is_it`; `None` if there are more.
    fn only(&self, is_it: impl Fn(&Task) -> bool) -> Option<AttemptKey> {
        let mut found = self.tasks.iter().map(|(_, task)| task).filter(|task| task.tree.own && is_it(task));
        let first = found.next()?;
        found.next().is_none().then_some(first.key)
    }
}

impl Task {
    /// Whether a process that hides where it comes from may be of this task.
    fn may_have_started(&self, process: &Process) -> bool {
        self.tree.start_ticks <= process.start_ticks
            && self.settled_ticks.is_none_or(|settled| process.start_ticks <= settled)
    }
}
