//! The cgroup of one attempt: a directory in each hierarchy that is used for it, the one with the list first.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::process::Signal;

use crate::tree::signal_each;
use crate::usage::Usage;

/// Rounds of reading and killing where there is no `cgroup.kill`; a frozen group needs one.
const KILL_ROUNDS: usize = 8;

/// How the name of an attempt's directory begins.
pub(super) const ATTEMPT_PREFIX: &str = "attempt-";

/// An attempt's directories.
#[derive(Debug)]
pub(crate) struct Group {
    directories: Vec<PathBuf>,
    unified: bool,
}

impl Group {
    pub(crate) fn new(unified: bool) -> Self {
        Self { directories: Vec::new(), unified }
    }

    /// A group that an earlier sidecar made.
    pub(crate) fn found(directories: Vec<PathBuf>) -> Self {
        let unified = directories.first().is_some_and(|list| list.join("cgroup.kill").exists());
        Self { directories, unified }
    }

    /// Makes a directory of it.
    pub(crate) fn add(&mut self, directory: PathBuf) -> io::Result<PathBuf> {
        fs::create_dir(&directory)?;
        self.directories.push(directory.clone());
        Ok(directory)
    }

    pub(crate) fn directories(&self) -> &[PathBuf] {
        &self.directories
    }

    pub(crate) fn is_unified(&self) -> bool {
        self.unified
    }

    /// The directories, for the journal.
    pub(crate) fn names(&self) -> Vec<String> {
        self.directories.iter().map(|directory| directory.to_string_lossy().into_owned()).collect()
    }

    /// Whether this is its name, which is the same in each hierarchy.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.directories.first().is_some_and(|list| list.file_name().is_some_and(|found| found == name))
    }

    /// Moves this process into it.
    pub(crate) fn enter(&self) -> io::Result<()> {
        self.take_in("0")
    }

    /// Moves another process into it.
    pub(crate) fn adopt(&self, pid: u32) -> io::Result<()> {
        self.take_in(&pid.to_string())
    }

    /// Who is in it.
    pub(crate) fn members(&self) -> Vec<u32> {
        let Some(list) = self.directories.first() else { return Vec::new() };
        let text = fs::read_to_string(list.join("cgroup.procs")).unwrap_or_default();
        // A zero is a process that this one cannot see, from outside its namespace.
        text.lines().filter_map(|line| line.parse().ok()).filter(|pid| *pid != 0).collect()
    }

    /// Kills everybody in it, whoever forks meanwhile.
    pub(crate) fn kill(&mut self) {
        let Some(list) = self.directories.first() else { return };
        if self.unified && fs::write(list.join("cgroup.kill"), "1").is_ok() {
            return;
        }
        // A frozen process takes its signal when it is thawed, and cannot fork before that.
        let frozen = fs::write(list.join("freezer.state"), "FROZEN").is_ok();
        for _ in 0..if frozen { 1 } else { KILL_ROUNDS } {
            let members = self.members();
            if members.is_empty() {
                break;
            }
            signal_each(&members, Signal::KILL);
        }
        if frozen {
            let _ = fs::write(list.join("freezer.state"), "THAWED");
        }
    }

    /// Whether the kernel killed something in it for lack of memory.
    pub(crate) fn oom_killed(&self) -> bool {
        let files = ["memory.events", "memory.oom_control"];
        let paths = self.directories.iter().flat_map(|directory| files.map(|file| directory.join(file)));
        paths.into_iter().any(|path| oom_kills(&path) > 0)
    }

    /// What was used in it, as far as the kernel counts that here.
    pub(crate) fn usage(&self) -> Usage {
        let first = |files: [&str; 2]| {
            let mut paths =
                self.directories.iter().flat_map(|directory| files.map(|file| directory.join(file)));
            paths.find_map(|path| fs::read_to_string(path).ok()).unwrap_or_default()
        };
        let cpu = first(["cpu.stat", "cpuacct.usage"]);
        // The second version has lines `user_usec N`, the first one number of nanoseconds.
        let line = |name: &str| cpu.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        let nanos = cpu.trim().parse::<u64>().unwrap_or(0);
        let memory = first(["memory.peak", "memory.max_usage_in_bytes"]);
        Usage {
            cpu_user_us: line("user_usec").unwrap_or(nanos / 1_000),
            cpu_system_us: line("system_usec").unwrap_or(0),
            memory_peak_bytes: memory.trim().parse().unwrap_or(0),
        }
    }

    /// Removes the directories. An error means that somebody is still in it.
    pub(crate) fn remove(&mut self) -> bool {
        self.directories.retain(|directory| {
            matches!(fs::remove_dir(directory), Err(error) if error.kind() != io::ErrorKind::NotFound)
        });
        self.directories.is_empty()
    }

    fn take_in(&self, pid: &str) -> io::Result<()> {
        self.directories.iter().try_for_each(|directory| fs::write(directory.join("cgroup.procs"), pid))
    }
}

/// The name of the attempt's cgroup that a process is in, whoever's it is: every hierarchy has a line
/// `number:controllers:path`.
pub(crate) fn attempt_of(pid: u32) -> Option<String> {
    let places = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    let mut parts = places.lines().flat_map(|line| line.split('/'));
    parts.find(|part| part.starts_with(ATTEMPT_PREFIX)).map(str::to_owned)
}

/// Both versions have a line `oom_kill N`.
fn oom_kills(path: &Path) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}
