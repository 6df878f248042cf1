//! Who belongs to an attempt: everything that came of its first process, however it forked.
//!
//! With a cgroup the kernel keeps the list. Without, a process belongs if it descends from the first one, or from an orphan
//! of it (`supervisor/orphans.rs` says whose an orphan is). Orphans of a task that an earlier sidecar started do not come to
//! this one: there a process belongs if it is in the first process's group, carries the attempt's variables in its
//! environment, or descends from such a one.

use rustc_hash::{FxHashMap, FxHashSet};
use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};

use crate::birthmark::Birthmark;
use crate::key::AttemptKey;
use crate::procfs::{self, Process};

/// What is known of an attempt's tree.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    /// The first process, leader of its group.
    pub(crate) root: u32,
    /// When it started: nothing older belongs to it.
    pub(crate) start_ticks: u64,
    /// Entries of its environment that name the attempt.
    pub(crate) marks: [String; 3],
    /// Whether the first process still holds its pid: it lives, or nobody has waited for it.
    pub(crate) has_root: bool,
    /// Whether its group still holds that number. A number that is free again may name somebody else.
    pub(crate) has_group: bool,
    /// What its processes are born with.
    pub(crate) birthmark: Birthmark,
    /// Whether orphans of it come to this sidecar; not so for a task that an earlier sidecar started.
    pub(crate) own: bool,
}

/// The processes of the machine at one moment, seen by a sidecar.
pub(crate) struct Snapshot {
    processes: Vec<Process>,
    sidecar: u32,
    /// The first processes of all attempts.
    roots: FxHashSet<u32>,
}

/// The entries that name an attempt. The directory tells apart two sidecars of one machine.
pub(crate) fn marks(key: &AttemptKey, output: &str) -> [String; 3] {
    [
        format!("MAINSPRING_RUN_ID={}", key.run_id()),
        format!("MAINSPRING_ATTEMPT={}", key.attempt),
        format!("MAINSPRING_OUTPUT={output}"),
    ]
}

impl Snapshot {
    /// Looks at every process, which is for the tasks of an earlier sidecar alone.
    pub(crate) fn take(roots: FxHashSet<u32>) -> Self {
        Self { processes: procfs::processes(), sidecar: std::process::id(), roots }
    }

    /// The living members of a tree, the first process included.
    pub(crate) fn members(&self, tree: &Tree) -> Vec<u32> {
        let mut members: FxHashSet<u32> =
            self.processes.iter().filter(|p| self.is_seed(p, tree)).map(|p| p.pid).collect();
        let mut by_parent: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for process in &self.processes {
            by_parent.entry(process.parent).or_default().push(process.pid);
        }
        let mut open: Vec<u32> = members.iter().copied().collect();
        while let Some(parent) = open.pop() {
            for child in by_parent.get(&parent).into_iter().flatten() {
                if self.may_belong(*child, tree) && members.insert(*child) {
                    open.push(*child);
                }
            }
        }
        let living = self.processes.iter().filter(|p| !p.is_dead() && members.contains(&p.pid));
        living.map(|p| p.pid).collect()
    }

    fn is_seed(&self, process: &Process, tree: &Tree) -> bool {
        if process.start_ticks < tree.start_ticks || !self.may_belong(process.pid, tree) {
            return false;
        }
        let kin = tree.has_root && process.pid == tree.root || tree.has_group && process.group == tree.root;
        kin || procfs::has_entries(&procfs::environment(process.pid), &tree.marks)
    }

    fn may_belong(&self, pid: u32, tree: &Tree) -> bool {
        let foreign_root = self.roots.contains(&pid) && !(tree.has_root && pid == tree.root);
        pid != self.sidecar && pid != 1 && !foreign_root
    }
}

/// The living among these processes and their descendants.
pub(crate) fn family(heads: impl Iterator<Item = u32>) -> FxHashSet<u32> {
    let mut open: Vec<u32> = heads.collect();
    let mut family: FxHashSet<u32> = open.iter().copied().collect();
    while let Some(pid) = open.pop() {
        open.extend(procfs::children(pid).into_iter().filter(|child| family.insert(*child)));
    }
    family.retain(|pid| procfs::process(*pid).is_some_and(|process| !process.is_dead()));
    family
}

/// Whether the process group has anybody, the dead that nobody waited for included.
pub(crate) fn group_exists(root: u32) -> bool {
    pid(root).is_some_and(|root| test_kill_process_group(root).is_ok())
}

/// Signals the process group of a tree.
pub(crate) fn signal_group(root: u32, signal: Signal) {
    if let Some(root) = pid(root) {
        let _ = kill_process_group(root, signal);
    }
}

/// Signals processes one by one.
pub(crate) fn signal_each(pids: &[u32], signal: Signal) {
    for process in pids.iter().filter_map(|process| pid(*process)) {
        let _ = kill_process(process, signal);
    }
}

fn pid(raw: u32) -> Option<Pid> {
    Pid::from_raw(raw as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIDECAR: u32 = 10;

    fn process(pid: u32, parent: u32, group: u32) -> Process {
        Process { pid, state: b'S', parent, group, start_ticks: 100 }
    }

    fn check(processes: Vec<Process>, expected: &[u32]) {
        let roots = [20, 30].into_iter().collect();
        let snapshot = Snapshot { processes, sidecar: SIDECAR, roots };
        let tree = Tree {
            root: 20,
            start_ticks: 50,
            marks: ["A", "B", "C"].map(|name| format!("{name}=of no process")),
            has_root: true,
            has_group: true,
            birthmark: Birthmark::NONE,
            own: false,
        };
        let mut members = snapshot.members(&tree);
        members.sort_unstable();
        assert_eq!(members, expected);
    }

    #[test]
    fn kin_and_descendants_belong() {
        check(
            vec![
                process(SIDECAR, 1, 10),
                process(20, SIDECAR, 20),
                process(21, 20, 20),
                process(22, 21, 22),
                process(23, SIDECAR, 20),
                process(30, SIDECAR, 30),
                process(31, 30, 30),
            ],
            &[20, 21, 22, 23],
        );
    }

    #[test]
    fn the_dead_are_passed_through_but_do_not_count() {
        let dead = Process { state: b'Z', ..process(20, SIDECAR, 20) };
        check(vec![dead, process(21, 20, 21)], &[21]);
    }

    #[test]
    fn what_is_older_than_the_task_is_not_its_own() {
        let old = Process { start_ticks: 10, ..process(40, 1, 20) };
        check(vec![process(20, SIDECAR, 20), old], &[20]);
    }
}
