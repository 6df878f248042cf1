//! Processes that were told of a folder, on their command line or in their environment: servers, agents, sidecars, tasks.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};

/// Every other process that lives and was told of this folder.
pub(crate) fn all_of(folder: &Path) -> Vec<Pid> {
    let mark = folder.as_os_str().as_bytes();
    let told = |process: &Path, file: &str| {
        let text = fs::read(process.join(file)).unwrap_or_default();
        text.windows(mark.len()).any(|window| window == mark)
    };
    let own = rustix::process::getpid();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let found = entries.filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw)?;
        let process = entry.path();
        let ours = pid != own && (told(&process, "cmdline") || told(&process, "environ"));
        (ours && lives(pid)).then_some(pid)
    });
    found.collect()
}

/// The sidecar of the agent with this folder. A new process of it may still look like its parent.
pub(crate) fn sidecar_of(folder: &Path) -> Option<Pid> {
    all_of(folder).into_iter().find(|pid| command_line(*pid).nth(1).as_deref() == Some("sidecar"))
}

/// Tasks of the agent with this folder.
pub(crate) fn tasks_of(folder: &Path) -> Vec<Pid> {
    let is_task = |pid: &Pid| {
        let environ = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).unwrap_or_default();
        environ.split(|byte| *byte == 0).any(|variable| variable.starts_with(b"MAINSPRING_RUN_ID="))
    };
    all_of(folder).into_iter().filter(is_task).collect()
}

/// Whether a process lives and is no zombie.
pub(crate) fn lives(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    let state = stat.rsplit(')').next().unwrap_or_default().trim_start().chars().next();
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

/// What a process is, for a message.
pub(crate) fn describe(pid: Pid) -> String {
    let words: Vec<String> = command_line(pid).take(4).collect();
    format!("{} ({})", pid.as_raw_nonzero(), words.join(" "))
}

/// Sends a signal. Failure means that the process has ended by itself.
pub(crate) fn signal(pid: Pid, signal: Signal) -> bool {
    kill_process(pid, signal).is_ok()
}

/// The branch of cgroups that a process of a node is in, in each hierarchy.
pub(crate) fn cgroup_branches(pid: Pid) -> Vec<PathBuf> {
    let places = fs::read_to_string(format!("/proc/{}/cgroup", pid.as_raw_nonzero())).unwrap_or_default();
    let branches = places.lines().filter_map(|line| {
        let path = line.splitn(3, ':').nth(2)?;
        let at = path.find("/mainspring-")?;
        let end = path[at + 1..].find('/').map_or(path.len(), |length| at + 1 + length);
        Some(PathBuf::from(path.get(1..end)?))
    });
    branches.collect()
}

/// Directories of such a branch that exist, in every mounted hierarchy.
pub(crate) fn existing_cgroups(branch: &Path) -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let roots = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        let (path, kind) = (words.next()?, words.next()?);
        kind.starts_with("cgroup").then(|| Path::new(path).join(branch))
    });
    roots.filter(|path| path.is_dir()).collect()
}

fn command_line(pid: Pid) -> impl Iterator<Item = String> {
    let line = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
    let words: Vec<String> =
        line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    words.into_iter()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn processes_are_found_by_their_folder() {
        let folder = tempfile::tempdir().unwrap();
        let mut told = Command::new("sleep")
            .arg("600")
            .env("DATA", folder.path())
            .env("MAINSPRING_RUN_ID", "run")
            .spawn()
            .unwrap();
        let pid = Pid::from_child(&told);
        // Until it has become another program it still has the parent's environment.
        while tasks_of(folder.path()).is_empty() {}
        assert_eq!(all_of(folder.path()), [pid]);
        assert!(sidecar_of(folder.path()).is_none());
        told.kill().unwrap();
        while lives(pid) {}
        assert_eq!(all_of(folder.path()), [], "a zombie is not counted");
        told.wait().unwrap();
    }
}
