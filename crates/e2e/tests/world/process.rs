//! Processes that end with the test that started them.

use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};

pub(super) struct Process(Child);

impl Process {
    pub(super) fn start(mut command: Command, log: &Path) -> Self {
        let log = File::options().create(true).append(true).open(log).unwrap();
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        Self(command.spawn().unwrap())
    }

    /// Without warning.
    pub(super) fn kill(self) {
        drop(self);
    }

    /// Asks it to end.
    pub(super) fn ask_to_end(&self) {
        kill_process(self.pid(), Signal::TERM).unwrap();
    }

    /// How it ended by itself, if it did.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().unwrap()
    }

    /// How many files it may open: the soft limit.
    pub(super) fn open_files_max(&self) -> String {
        let limits = fs::read_to_string(format!("/proc/{}/limits", self.0.id())).unwrap();
        let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
        line.split_whitespace().next().unwrap().to_owned()
    }

    /// Its resident memory in KiB.
    pub(super) fn memory_kib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.0.id() as i32).unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The binary beside this test, made by the same `cargo` command.
pub(super) fn binary() -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let binary = here.parent().and_then(Path::parent).unwrap().join("mainspring");
    assert!(
        binary.exists(),
        "{} is missing; build it with `cargo build -p mainspring-cli`",
        binary.display()
    );
    binary
}

/// A worker beside this test: an example of this package, made by the same `cargo` command.
pub(super) fn example(name: &str) -> PathBuf {
    let path = binary().with_file_name("examples").join(name);
    assert!(
        path.exists(),
        "{} is missing; `cargo build -p mainspring-e2e --examples` makes it",
        path.display()
    );
    path
}

/// Ends every process that was told of this folder: sidecars and tasks.
pub(super) fn kill_all_of(folder: &Path) {
    loop {
        let found = all_of(folder);
        let killed = found.into_iter().filter(|pid| kill_process(*pid, Signal::KILL).is_ok());
        if killed.count() == 0 {
            return;
        }
    }
}

/// Ends the sidecar of a folder.
pub(super) fn kill_sidecar_of(folder: &Path) {
    let is_sidecar = |pid: &Pid| {
        let line = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
        line.split(|byte| *byte == 0).nth(1) == Some(b"sidecar")
    };
    let sidecar = all_of(folder).into_iter().find(is_sidecar).expect("a sidecar");
    kill_process(sidecar, Signal::KILL).unwrap();
}

/// Every other process that was told of this folder, on its command line or in its environment.
pub(super) fn all_of(folder: &Path) -> Vec<Pid> {
    let mark = folder.as_os_str().as_bytes();
    let told = |pid: &str, file: &str| {
        let text = fs::read(Path::new("/proc").join(pid).join(file)).unwrap_or_default();
        text.windows(mark.len()).any(|window| window == mark)
    };
    let own = std::process::id().to_string();
    let names =
        fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let pids = names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()) && *name != own);
    let found = pids.filter(|pid| super::lives(pid) && (told(pid, "cmdline") || told(pid, "environ")));
    found.filter_map(|pid| pid.parse().ok().and_then(Pid::from_raw)).collect()
}
