//! A sidecar of a test: starts the program, speaks to it, waits for events with a generous deadline.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use mainspring_sidecar::client::Connection;
use mainspring_sidecar::log::{FrameKind, frames};
use mainspring_sidecar::protocol::{End, Event, Finished, Refusal, Request, Start, VERSION};
use mainspring_sidecar::{AttemptKey, Error, Layout, start_detached};

/// No event takes this long, even on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(600);

/// A directory, its sidecar, and a connection.
pub(crate) struct Sidecar {
    pub(crate) layout: Layout,
    pub(crate) pid: u32,
    pub(crate) connection: Connection,
    _directory: tempfile::TempDir,
    /// Events that came while another was waited for.
    pub(crate) seen: Vec<Event>,
}

/// A key that no other test has.
pub(crate) fn key() -> AttemptKey {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let mut run = [0; 16];
    run[..4].copy_from_slice(&std::process::id().to_be_bytes());
    run[4..8].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    AttemptKey { run, attempt: 1, epoch: 7 }
}

/// An order to run a line of shell.
pub(crate) fn shell(script: &str) -> Start {
    Start::new(key(), ["/bin/sh", "-c", script])
}

/// A task that waits at a gate until the test opens it.
pub(crate) fn gated(sidecar: &Sidecar, before: &str, after: &str) -> (Start, PathBuf) {
    let start = shell(&format!("{before}; read x < gate; {after}"));
    std::fs::create_dir_all(sidecar.layout.work(&start.key)).unwrap();
    let gate = sidecar.layout.work(&start.key).join("gate");
    let gates = [&gate, &gate.with_file_name("second")];
    assert!(Command::new("mkfifo").args(gates).status().unwrap().success());
    (start, gate)
}

/// What is known of the end of a task that an earlier sidecar started: kernels before 6.15 tell its new parent alone.
pub(crate) fn seen(end: End) -> End {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers =
        release.split(|char: char| !char.is_ascii_digit()).map(|number| number.parse().unwrap_or(0));
    let version: (u32, u32) = (numbers.next().unwrap(), numbers.next().unwrap());
    if version >= (6, 15) { end } else { End::Lost }
}

impl Sidecar {
    pub(crate) fn start() -> Self {
        Self::start_in(tempfile::tempdir().unwrap())
    }

    /// One that stays so long without an agent.
    pub(crate) fn start_lingering(millis: u32) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let pid = spawn_lingering(directory.path(), millis);
        let data = directory.path().to_owned();
        Self::meet(directory, &data, pid)
    }

    pub(crate) fn start_in(directory: tempfile::TempDir) -> Self {
        Self::start_below(directory, "")
    }

    /// One whose directory is not there yet.
    pub(crate) fn start_below(directory: tempfile::TempDir, name: &str) -> Self {
        let data = directory.path().join(name);
        Self::start_with(&mut command(&data), directory, &data)
    }

    /// One that is started by a command of its own.
    pub(crate) fn start_with(command: &mut Command, directory: tempfile::TempDir, data: &Path) -> Self {
        let pid = start_detached(command, data).unwrap();
        Self::meet(directory, data, pid)
    }

    fn meet(directory: tempfile::TempDir, data: &Path, pid: u32) -> Self {
        let layout = Layout::new(data);
        let connection = connect(&layout, true);
        let mut sidecar = Self { layout, pid, connection, _directory: directory, seen: Vec::new() };
        sidecar.wait(|event| matches!(event, Event::Welcome { .. }).then_some(()));
        sidecar
    }

    pub(crate) fn send(&mut self, request: Request) {
        self.connection.send(&[request]).unwrap();
    }

    pub(crate) fn order(&mut self, start: &Start) {
        self.send(Request::Start(Box::new(start.clone())));
    }

    /// Waits for the first event that `pick` takes; keeps the others.
    pub(crate) fn wait<T>(&mut self, mut pick: impl FnMut(&Event) -> Option<T>) -> T {
        let mut at = 0;
        let begun = Instant::now();
        loop {
            while at == self.seen.len() {
                assert!(
                    begun.elapsed() < PATIENCE,
                    "waited in vain for {PATIENCE:?}, a guard against a hang; seen: {:#?}",
                    self.brief()
                );
                let event = self
                    .connection
                    .receive()
                    .unwrap_or_else(|error| panic!("{error}; seen {:#?}", self.brief()));
                self.seen.push(event.expect("the sidecar lives"));
            }
            if let Some(picked) = pick(&self.seen[at]) {
                self.seen.remove(at);
                return picked;
            }
            at += 1;
        }
    }

    pub(crate) fn started(&mut self, key: AttemptKey) -> u32 {
        self.wait(|event| match event {
            Event::Started { key: found, pid, .. } if *found == key => Some(*pid),
            Event::Refused { key: found, message, .. } if *found == key => panic!("refused: {message}"),
            _ => None,
        })
    }

    pub(crate) fn refused(&mut self, key: AttemptKey) -> (Refusal, String) {
        self.wait(|event| match event {
            Event::Refused { key: found, refusal, message } if *found == key => {
                Some((*refusal, message.clone()))
            }
            Event::Started { key: found, .. } if *found == key => panic!("started"),
            _ => None,
        })
    }

    pub(crate) fn finished(&mut self, key: AttemptKey) -> Finished {
        self.wait(|event| match event {
            Event::Finished(finished) if finished.key == key => Some((**finished).clone()),
            Event::Refused { key: found, message, .. } if *found == key => panic!("refused: {message}"),
            _ => None,
        })
    }

    /// Starts and waits for the end.
    pub(crate) fn run(&mut self, start: &Start) -> Finished {
        self.order(start);
        self.finished(start.key)
    }

    /// Waits until the task has written `text` to its output.
    pub(crate) fn wait_output(&mut self, key: AttemptKey, text: &str) {
        let mut output = String::new();
        self.wait(|event| {
            if let Event::Log { key: found, frames: bytes, .. } = event
                && *found == key
            {
                let written = frames(bytes).map(|frame| String::from_utf8_lossy(frame.content).into_owned());
                output.extend(written);
            }
            output.contains(text).then_some(())
        });
    }

    /// What the log file on disk holds of a stream.
    pub(crate) fn stored(&self, key: AttemptKey, kind: FrameKind) -> String {
        let bytes = std::fs::read(self.layout.log(&key)).unwrap_or_default();
        let content =
            frames(&bytes).filter(|frame| frame.kind == kind).flat_map(|frame| frame.content.to_vec());
        String::from_utf8_lossy(&content.collect::<Vec<_>>()).into_owned()
    }

    /// Drops the connection without a word and makes another.
    pub(crate) fn reconnect(&mut self) {
        self.reconnect_as(VERSION);
    }

    /// The same, as an agent of some version.
    pub(crate) fn reconnect_as(&mut self, version: u32) {
        self.connection = connect_as(&self.layout, version, true);
        self.seen.clear();
    }

    /// Kills the sidecar and starts another for the same directory.
    pub(crate) fn crash_and_restart(&mut self) {
        self.crash();
        self.restart();
    }

    /// Starts another after a crash.
    pub(crate) fn restart(&mut self) {
        self.try_restart().unwrap();
        self.reconnect();
    }

    pub(crate) fn try_restart(&mut self) -> Result<(), Error> {
        let data = self.layout.data();
        self.pid = start_detached(&mut command(data), data)?;
        Ok(())
    }

    pub(crate) fn crash(&mut self) {
        signal(self.pid, rustix::process::Signal::KILL);
        while self.connection.receive().is_ok_and(|event| event.is_some()) {}
        // The lock is free when the process is gone for good.
        wait_gone(self.pid);
    }

    fn brief(&self) -> Vec<String> {
        self.seen.iter().map(|event| format!("{event:?}").chars().take(300).collect()).collect()
    }
}

impl Drop for Sidecar {
    fn drop(&mut self) {
        let _ = self.connection.send(&[Request::List, Request::Shutdown { force: true }]);
        if let Ok(mut last) = Connection::connect(&self.layout.socket()) {
            let _ = last.send(&[
                Request::Hello { version: VERSION, subscribe: false },
                Request::Shutdown { force: true },
            ]);
            let _ = last.set_receive_timeout(Some(PATIENCE));
            while last.receive().is_ok_and(|event| event.is_some()) {}
        }
    }
}

pub(crate) fn command(data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mainspring-sidecar"));
    command.arg(data);
    command
}

pub(crate) fn spawn_lingering(data: &Path, millis: u32) -> u32 {
    start_detached(command(data).arg(millis.to_string()), data).unwrap()
}

pub(crate) fn connect(layout: &Layout, subscribe: bool) -> Connection {
    connect_as(layout, VERSION, subscribe)
}

fn connect_as(layout: &Layout, version: u32, subscribe: bool) -> Connection {
    let mut connection = Connection::connect(&layout.socket()).unwrap();
    connection.set_receive_timeout(Some(PATIENCE)).unwrap();
    connection.send(&[Request::Hello { version, subscribe }]).unwrap();
    connection
}

pub(crate) fn signal(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(pid as i32).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// Whether a process runs: the dead that nobody waited for do not.
pub(crate) fn is_running(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['Z', 'X']))
}

/// Waits for a process that is not ours to end.
pub(crate) fn wait_gone(pid: u32) {
    let Some(raw) = rustix::process::Pid::from_raw(pid as i32) else { return };
    let Ok(pidfd) = rustix::process::pidfd_open(raw, rustix::process::PidfdFlags::empty()) else { return };
    let mut fds = [rustix::event::PollFd::new(&pidfd, rustix::event::PollFlags::IN)];
    let patience = rustix::event::Timespec { tv_sec: 60, tv_nsec: 0 };
    assert_eq!(rustix::event::poll(&mut fds, Some(&patience)), Ok(1), "process {pid} does not end");
}

/// The pid that a task wrote to a file in its work directory.
pub(crate) fn pid_in(layout: &Layout, key: AttemptKey, file: &str) -> u32 {
    let text = std::fs::read_to_string(layout.work(&key).join(file)).unwrap();
    text.trim().parse().unwrap()
}
