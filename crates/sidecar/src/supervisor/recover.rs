//! Taking over what an earlier sidecar left: its ends stay to be told, its living tasks are watched and may be
//! stopped. The status of a task that ends now goes to another parent, and is known here only where the kernel tells
//! (see `pidfd`); that of one that ended while nobody watched is lost.

use std::path::PathBuf;

use rustc_hash::FxHashSet;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::Supervisor;
use crate::birthmark::Birthmark;
use crate::cgroup::{Cgroups, Group};
use crate::clock::wall_us;
use crate::error::Error;
use crate::journal::{Entry, Journal, StartedRecord, StartingRecord};
use crate::layout::Layout;
use crate::log::Capture;
use crate::pipe;
use crate::procfs;
use crate::progress::Progress;
use crate::task::{Exit, Stage, Task, Terms};
use crate::tree::{self, Tree};
use crate::usage::Usage;

/// The cgroups of this directory's sidecars, without those of attempts that are over.
pub(super) fn cgroups(layout: &Layout, journal: &Journal) -> Option<Cgroups> {
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
    pub(super) fn recover(&mut self) -> Result<(), Error> {
        let left: Vec<(Box<StartingRecord>, Option<Box<StartedRecord>>)> = self
            .journal
            .entries()
            .filter_map(|(_, entry)| match entry {
                Entry::Starting(starting) => Some((starting.clone(), None)),
                Entry::Started(starting, started) => Some((starting.clone(), Some(started.clone()))),
                Entry::Finished(_) => None,
            })
            .collect();
        for (starting, started) in left {
            let task = self.found(&starting, started.as_deref());
            let slot = self.adopt(task);
            if self.tasks[slot].exit.is_some() {
                self.ended.push(slot);
            }
        }
        self.finish_ended();
        self.journal.flush().map_err(Error::io("cannot write the journal"))
    }

    /// The task as it is now. Of another boot nothing is left but what is on disk.
    fn found(&self, starting: &StartingRecord, started: Option<&StartedRecord>) -> Task {
        let key = starting.key;
        let marks = tree::marks(&key, &self.layout.output(&key).to_string_lossy());
        let same_boot = starting.boot == self.boot;
        let root = started.map(|started| (started.pid, started.start_ticks)).or_else(|| find_root(&marks));
        let alive = root.filter(|root| same_boot && is_alive(*root));
        let (pid, start_ticks) = root.unwrap_or((0, 0));
        let pidfd =
            alive.and_then(|(pid, _)| pidfd_open(Pid::from_raw(pid as i32)?, PidfdFlags::empty()).ok());
        let output = |descriptor: usize| {
            let (pid, _) = alive?;
            pipe::reopen(pid, descriptor as u32 + 1, started?.pipes[descriptor])
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
            },
            // The journal does not say.
            launched: true,
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
            stdout: output(0),
            stderr: output(1),
            pipes: started.map_or([0; 2], |started| started.pipes),
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

/// The first process of an attempt whose sidecar died before it could say which one it is: the oldest leader of a
/// group that carries the attempt's variables.
fn find_root(marks: &[String]) -> Option<(u32, u64)> {
    let leaders = procfs::processes().into_iter().filter(|process| process.pid == process.group);
    let marked = leaders.filter(|process| procfs::has_entries(&procfs::environment(process.pid), marks));
    marked.min_by_key(|process| process.start_ticks).map(|process| (process.pid, process.start_ticks))
}
