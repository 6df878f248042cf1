//! What `/proc` says about processes. Every answer may be out of date when it is read; a pid is only sure together
//! with the time its process started.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};

/// What is read of an environment: a task makes its own as long as it likes.
const ENVIRONMENT_BYTES_MAX: u64 = 256 * 1024;

/// One process, from `/proc/PID/stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) state: u8,
    pub(crate) parent: u32,
    pub(crate) group: u32,
    pub(crate) start_ticks: u64,
}

impl Process {
    /// Whether it is only an entry that waits for its parent.
    pub(crate) fn is_dead(&self) -> bool {
        matches!(self.state, b'Z' | b'X')
    }
}

/// The process with this pid.
pub(crate) fn process(pid: u32) -> Option<Process> {
    // One read into a buffer that holds every line there is: this is done for each task.
    let mut line = [0; 1024];
    let length = File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut line).ok()?;
    parse(pid, &line[..length])
}

/// Every process there is.
pub(crate) fn processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(process).collect()
}

/// The children of this thread, which is the only one that makes any. Complete, because only we take the dead off the list.
pub(crate) fn own_children() -> io::Result<Vec<u32>> {
    let mut text = String::with_capacity(1024);
    File::open("/proc/thread-self/children")?.read_to_string(&mut text)?;
    Ok(text.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect())
}

/// The children of all threads of a process.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists =
        threads.flatten().filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| {
            list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>()
        })
        .collect()
}

/// Now, in the unit of start times.
pub(crate) fn now_ticks() -> u64 {
    // The unit that the kernel shows to programs is a hundredth of a second everywhere.
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    now.tv_sec as u64 * 100 + now.tv_nsec as u64 / 10_000_000
}

/// The environment that a process was started with, its first part if it is very long.
pub(crate) fn environment(pid: u32) -> Vec<u8> {
    let mut environment = Vec::new();
    if let Ok(file) = File::open(format!("/proc/{pid}/environ")) {
        // What was read before an error is as good as the whole.
        let _ = file.take(ENVIRONMENT_BYTES_MAX).read_to_end(&mut environment);
    }
    environment
}

/// Whether an environment has all these `NAME=value` entries.
pub(crate) fn has_entries(environment: &[u8], entries: &[String]) -> bool {
    let has = |wanted: &String| environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes());
    entries.iter().all(has)
}

/// A file that a process has open.
#[derive(Debug)]
pub(crate) enum Open {
    /// A pipe by its inode.
    Pipe(u64),
    /// Anything else by its name.
    Path(PathBuf),
}

/// The first files that a process has open, up to `limit`.
pub(crate) fn open_files(pid: u32, limit: usize) -> impl Iterator<Item = Open> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten().take(limit);
    entries.filter_map(|entry| {
        let target = fs::read_link(entry.path()).ok()?;
        Some(pipe_inode(&target).map_or(Open::Path(target), Open::Pipe))
    })
}

/// Who has each of these pipes open: processes with the numbers of their files, this process left out.
pub(crate) fn holders(pipes: &FxHashSet<u64>) -> FxHashMap<u64, Vec<(u32, u32)>> {
    let mut holders: FxHashMap<u64, Vec<(u32, u32)>> = FxHashMap::default();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    for pid in pids.filter(|pid| *pid != std::process::id()) {
        for entry in fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten() {
            let number = entry.file_name().to_str().and_then(|name| name.parse().ok());
            let inode = fs::read_link(entry.path()).ok().and_then(|target| pipe_inode(&target));
            if let (Some(number), Some(inode)) = (number, inode.filter(|inode| pipes.contains(inode))) {
                holders.entry(inode).or_default().push((pid, number));
            }
        }
    }
    holders
}

fn pipe_inode(target: &Path) -> Option<u64> {
    target.to_str()?.strip_prefix("pipe:[")?.strip_suffix(']')?.parse().ok()
}

/// The largest resident size that this process ever had.
pub(crate) fn own_peak_bytes() -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes =
        line.and_then(|line| line.trim().strip_suffix("kB")).and_then(|line| line.trim().parse().ok());
    kilobytes.map_or(u64::MAX, |kilobytes: u64| kilobytes * 1024)
}

/// The id of this boot of the machine: times since the boot and pids mean nothing in another.
pub(crate) fn boot_id() -> [u8; 16] {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    u128::from_str_radix(&digits, 16).unwrap_or_default().to_be_bytes()
}

/// The name of the program may hold spaces and brackets, so fields are counted from its last bracket.
fn parse(pid: u32, stat: &[u8]) -> Option<Process> {
    let after = stat.iter().rposition(|byte| *byte == b')')? + 2;
    let rest = std::str::from_utf8(stat.get(after..)?).ok()?;
    let fields: Vec<&str> = rest.split(' ').take(20).collect();
    let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
    Some(Process {
        pid,
        state: *fields.first()?.as_bytes().first()?,
        parent: number(1)? as u32,
        group: number(2)? as u32,
        start_ticks: number(19)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stat_line_with_a_nasty_name() {
        let line = b"42 (a ) S 1 (b)) R 7 42 40 0 -1 4194304 90 0 0 0 1 2 0 0 20 0 1 0 12345 1000 10 0\n";
        let expected = Process { pid: 42, state: b'R', parent: 7, group: 42, start_ticks: 12345 };
        assert_eq!(parse(42, line), Some(expected));
        assert_eq!(parse(42, b""), None);
        assert_eq!(parse(42, b"42 (x)"), None);
    }

    #[test]
    fn start_times_are_of_our_clock() {
        for _ in 0..20 {
            let before = now_ticks();
            let mut child = std::process::Command::new("/bin/cat")
                .stdin(std::process::Stdio::piped())
                .spawn()
                .expect("a process is started");
            let after = now_ticks();
            let started = process(child.id()).expect("it waits for its input").start_ticks;
            assert!((before..=after).contains(&started), "{before} {started} {after}");
            drop(child.stdin.take());
            child.wait().expect("it ends with its input");
        }
    }

    #[test]
    fn a_long_environment_is_read_in_part() {
        let mut child = std::process::Command::new("/bin/cat");
        child.env_clear().env("A", "1");
        child.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        child.envs((0..8).map(|number| (format!("LONG_{number}"), "x".repeat(100_000))));
        let mut child = child.spawn().expect("a process is started");
        // It has its environment when it does its work.
        let (stdin, stdout) = (child.stdin.as_mut(), child.stdout.as_mut());
        std::io::Write::write_all(stdin.expect("it has an input"), b"x").expect("it lives");
        stdout.expect("it has an output").read_exact(&mut [0]).expect("it answers");
        let environment = environment(child.id());
        assert_eq!(environment.len() as u64, ENVIRONMENT_BYTES_MAX);
        assert!(has_entries(&environment, &["A=1".to_owned()]));
        drop(child.stdin.take());
        child.wait().expect("it ends with its input");
    }

    #[test]
    fn this_process_is_found() {
        let pid = std::process::id();
        assert!(processes().iter().any(|process| process.pid == pid && !process.is_dead()));
        assert_ne!(boot_id(), [0; 16]);
    }
}
