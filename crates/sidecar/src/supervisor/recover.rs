//! Taking over what an earlier sidecar left: its ends stay to be told, its living tasks are watched and may be
//! stopped. The status of a task that ends now goes to another parent, and is known here only where the kernel tells
//! (see `pidfd`); that of one that ended while nobody watched is lost. What it wrote is not: pipes are opened again
//! wherever they are still open, in the task's first process, in another of its processes, or in the keeper.

use std::path::PathBuf;

use rustc_hash::{FxHashMap, FxHashSet};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::Supervisor;
use crate::birthmark::Birthmark;
use crate::cgroup::{Cgroups, Group};
use crate::clock::wall_us;
use crate::error::Error;
use crate::journal::{Entry, Journal, StartedRecord, StartingRecord};
use crate::keeper::Predecessor;
use crate::layout::Layout;
use crate::log::Capture;
use crate::pipe;
use crate::procfs::{self, Process};
use crate::progress::Progress;
use crate::task::{Exit, Stage, Task, Terms};
use crate::tree::{self, Tree};
use crate::usage::Usage;

/// Who has each pipe open: processes with the numbers of their files.
type Holders = FxHashMap<u64, Vec<(u32, u32)>>;

/// The cgroups of this directory's sidecars, without those of attempts that are over.
pub(super) fn cgroups(layout: &Layout, journal: &Journal) -> Option<(Cgroups, Vec<Group>)> {
    let path = layout.data().canonicalize().ok()?;
    let name = format!("{:08x}", crc32fast::hash(path.as_os_str().as_encoded_bytes()));
    let kept: Vec<String> = journal
        .entries()
        .filter_map(|(_, entry)| match entry {
            Entry::Started(_, started) => Some(started.cgroup.clone()),
            _ => None,
        })
        .flatten()
        .collect();
    Cgroups::set_up(&name, &kept)
}

impl Supervisor {
    pub(super) fn recover(&mut self, predecessor: Option<Predecessor>) -> Result<(), Error> {
        let left: Vec<(Box<StartingRecord>, Option<Box<StartedRecord>>)> = self
            .journal
            .entries()
            .filter_map(|(_, entry)| match entry {
                Entry::Starting(starting) => Some((starting.clone(), None)),
                Entry::Started(starting, started) => Some((starting.clone(), Some(started.clone()))),
                Entry::Finished(_) => None,
            })
            .collect();
        let pipes = left.iter().filter_map(|(_, started)| started.as_ref()).flat_map(|started| started.pipes);
        let holders = match left.is_empty() {
            true => Holders::default(),
            false => procfs::holders(&pipes.collect()),
        };
        for (starting, started) in left {
            let task = self.found(&starting, started.as_deref(), &holders);
            let slot = self.adopt(task);
            if self.tasks[slot].exit.is_some() {
                self.ended.push(slot);
            }
        }
        // From here on the pipes are ours.
        predecessor.into_iter().for_each(Predecessor::end_keeper);
        self.finish_ended();
        self.remove_groups();
        self.journal.flush().map_err(Error::io("cannot write the journal"))
    }

    /// The task as it is now. Of another boot nothing is left but what is on disk.
    fn found(&self, starting: &StartingRecord, started: Option<&StartedRecord>, holders: &Holders) -> Task {
        let key = starting.key;
        let marks = tree::marks(&key, &self.layout.output(&key).to_string_lossy());
        let same_boot = starting.boot == self.boot;
        let pipes = started.map_or([0; 2], |started| started.pipes);
        let known = started.filter(|started| started.pid != 0);
        let root = known.map(|started| (started.pid, started.start_ticks));
        let root = root.or_else(|| find_root(&marks, pipes, holders).filter(|_| same_boot));
        let alive = root.filter(|root| same_boot && is_alive(*root));
        let (pid, start_ticks) = root.unwrap_or((0, 0));
        let pidfd =
            alive.and_then(|(pid, _)| pidfd_open(Pid::from_raw(pid as i32)?, PidfdFlags::empty()).ok());
        let output = |inode: u64| {
            let holders = holders.get(&inode).filter(|_| same_boot)?;
            holders.iter().find_map(|(pid, number)| pipe::reopen(*pid, *number, inode))
        };
        let directory = self.layout.attempt(&key);
        let capture = Capture::resume(directory.clone(), starting.log);
        let cgroup = started.map(|started| started.cgroup.iter().map(PathBuf::from).collect::<Vec<_>>());
        Task {
            key,
            pid,
            started_at_us: starting.started_at_us,
            terms: Terms {
                grace_ms: starting.grace_ms,
                stop_signal: starting.stop_signal,
                timeout_at_us: starting.timeout_at_us.filter(|_| same_boot),
                deadline_us: starting.deadline_us.filter(|_| same_boot),
                result_bytes_max: starting.result_bytes_max,
                durable: starting.durable,
                pids: None,
            },
            tree: Tree {
                root: pid,
                start_ticks,
                marks,
                has_root: pidfd.is_some(),
                // A group that outlives its leader keeps the number; one that is empty may have lost it.
                has_group: same_boot && pidfd.is_some(),
                birthmark: Birthmark::NONE,
                own: false,
            },
            child: None,
            exit: pidfd.is_none().then(|| Exit::unseen(wall_us())),
            pidfd,
            orphans_used: Usage::default(),
            awaits_status: None,
            stdout: output(pipes[0]),
            stderr: output(pipes[1]),
            pipes,
            capture: capture.unwrap_or_else(|_| Capture::new(directory, starting.log)),
            progress: Progress::default(),
            watches: [None; 2],
            group: cgroup.filter(|directories| same_boot && !directories.is_empty()).map(Group::found),
            settle_at_us: Some(0),
            settled_ticks: None,
            stage: Stage::Running,
            signalled: FxHashSet::default(),
            stopped_by: None,
        }
    }
}

fn is_alive((pid, start_ticks): (u32, u64)) -> bool {
    procfs::process(pid).is_some_and(|process| process.start_ticks == start_ticks && !process.is_dead())
}

/// The first process of an attempt whose sidecar died before it could say which one it is: the oldest that leads a group
/// and carries the attempt's variables, or that has the attempt's pipe as its output. Between its fork and its exec it has
/// the pipe only.
fn find_root(marks: &[String], pipes: [u64; 2], holders: &Holders) -> Option<(u32, u64)> {
    let writes = |pid: u32| {
        let has = |(inode, number)| holders.get(inode).is_some_and(|held| held.contains(&(pid, number)));
        pipes.iter().zip(1..).any(has)
    };
    let leads = |process: &Process| process.pid == process.group;
    let candidates = procfs::processes().into_iter().filter(|process| !process.is_dead());
    let marked = candidates.filter(|process| {
        let environment = || procfs::environment(process.pid);
        writes(process.pid) || leads(process) && procfs::has_entries(&environment(), marks)
    });
    let oldest = marked.min_by_key(|process| (process.start_ticks, !leads(process), process.pid));
    oldest.map(|process| (process.pid, process.start_ticks))
}
