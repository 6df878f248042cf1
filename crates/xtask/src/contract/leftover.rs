//! Processes that outlive the one that started them, by design: a sidecar and the tasks it owns. They are found by the
//! folder that they were told of, which is ours alone.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::process::POLL_INTERVAL;

/// How long they may take to end before they are killed.
const GRACE: Duration = Duration::from_secs(2);

/// Ends every process that was told of this folder, when dropped.
pub(super) struct Leftovers(pub(super) PathBuf);

impl Drop for Leftovers {
    fn drop(&mut self) {
        let begun = Instant::now();
        let mut signal = Signal::TERM;
        loop {
            let found = told_of(&self.0);
            if found.is_empty() {
                return;
            }
            if begun.elapsed() > GRACE {
                signal = Signal::KILL;
            }
            if begun.elapsed() > 2 * GRACE {
                eprintln!("    some processes cannot be ended: {found:?}");
                return;
            }
            for pid in found {
                // Failure means that it ended by itself just now.
                let _ = kill_process(pid, signal);
            }
            thread::sleep(POLL_INTERVAL);
        }
    }
}

/// Processes that live and have the folder on their command line or in their environment.
fn told_of(folder: &Path) -> Vec<Pid> {
    let mark = folder.as_os_str().as_bytes();
    let told = |process: &Path, file: &str| {
        let text = fs::read(process.join(file)).unwrap_or_default();
        text.windows(mark.len()).any(|window| window == mark)
    };
    let own = rustix::process::getpid();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw)?;
            let process = entry.path();
            // A zombie has neither a command line nor an environment.
            (pid != own && (told(&process, "cmdline") || told(&process, "environ"))).then_some(pid)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn whoever_was_told_of_the_folder_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let mut told = Command::new("sleep").arg("600").env("DATA", folder.path()).spawn().unwrap();
        let mut other = Command::new("sleep").arg("600").spawn().unwrap();
        drop(Leftovers(folder.path().to_owned()));
        assert!(!told.wait().unwrap().success());
        assert!(other.try_wait().unwrap().is_none());
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
