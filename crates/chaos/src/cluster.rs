//! The processes of the cluster: two servers and three agents in one folder, on ports of the loopback interface.
//!
//! A process that ends although no fault ended it is started again, as a service manager would, and counted.

use std::fs::{self, File, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal};

use crate::plan::{AGENTS, SERVERS};
use crate::procfs;

/// How long a process that ended by itself stays away.
const RESTART_AFTER: Duration = Duration::from_millis(500);

/// Which process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Server(usize),
    Agent(usize),
}

/// Every process of the cluster that we start ourselves.
pub(crate) fn units() -> impl Iterator<Item = Unit> {
    (0..SERVERS).map(Unit::Server).chain((0..AGENTS).map(Unit::Agent))
}

/// The cluster.
pub(crate) struct Cluster {
    folder: PathBuf,
    binary: PathBuf,
    store: String,
    ports: Vec<u16>,
    processes: Vec<Process>,
}

/// One of them.
struct Process {
    unit: Unit,
    child: Option<Child>,
    /// Away because of a fault.
    down: bool,
    ended_at: Option<Instant>,
    /// How often it ended by itself.
    own_ends: u32,
}

impl Cluster {
    /// A cluster of which nothing runs yet.
    pub(crate) fn new(folder: &Path, binary: &Path, store: &str) -> Result<Self> {
        let ports = (0..SERVERS).map(|_| free_port()).collect::<Result<Vec<u16>>>()?;
        let process = |unit| Process { unit, child: None, down: false, ended_at: None, own_ends: 0 };
        let processes = units().map(process).collect();
        for name in ["witness", "logs", "artifacts"] {
            let path = folder.join(name);
            fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        }
        // Tasks may run as another user than the agent.
        for (path, mode) in [(folder.to_owned(), 0o711), (folder.join("witness"), 0o1777)] {
            fs::set_permissions(&path, Permissions::from_mode(mode))
                .context("cannot open a folder to tasks")?;
        }
        let (folder, binary, store) = (folder.to_owned(), binary.to_owned(), store.to_owned());
        Ok(Self { folder, binary, store, ports, processes })
    }

    pub(crate) fn ports(&self) -> &[u16] {
        &self.ports
    }

    /// Where tasks leave what they witnessed.
    pub(crate) fn witness_folder(&self) -> PathBuf {
        self.folder.join("witness")
    }

    /// The data of a server or agent.
    pub(crate) fn data(&self, unit: Unit) -> PathBuf {
        self.folder.join(name(unit))
    }

    /// The first admin's token, once a server has written it.
    pub(crate) fn token(&self) -> Option<String> {
        let tokens = (0..SERVERS).map(|index| self.data(Unit::Server(index)).join("token"));
        let texts = tokens.filter_map(|path| fs::read_to_string(path).ok());
        texts.map(|text| text.trim().to_owned()).find(|text| !text.is_empty())
    }

    /// Starts a process unless it runs. A node needs a join token for its first start.
    pub(crate) fn start(&mut self, unit: Unit, join_token: Option<&str>) -> Result<()> {
        let mut command = self.command(unit);
        if let Some(token) = join_token {
            command.env("MAINSPRING_JOIN_TOKEN", token);
        }
        let log = self.folder.join(format!("{}.log", name(unit)));
        let log = File::options().create(true).append(true).open(log).context("cannot open a log")?;
        // A group of its own: Ctrl-C at the terminal reaches us alone.
        command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(log.try_clone().context("cannot share a log")?)
            .stderr(log);
        let process = self.process(unit);
        if process.child.is_none() {
            process.child = Some(command.spawn().with_context(|| format!("cannot start {}", name(unit)))?);
        }
        process.down = false;
        process.ended_at = None;
        Ok(())
    }

    /// Kills a process; false when it is away already.
    pub(crate) fn kill(&mut self, unit: Unit) -> bool {
        let process = self.process(unit);
        process.down = true;
        let Some(mut child) = process.child.take() else { return false };
        let _ = child.kill();
        let _ = child.wait();
        true
    }

    /// The process, if it runs.
    pub(crate) fn pid(&mut self, unit: Unit) -> Option<Pid> {
        self.process(unit).child.as_ref().map(Pid::from_child)
    }

    /// Asks a process to end and waits for it; false when it does not within the limit.
    pub(crate) fn end(&mut self, unit: Unit, limit: Duration) -> bool {
        let process = self.process(unit);
        process.down = true;
        let Some(mut child) = process.child.take() else { return true };
        procfs::signal(Pid::from_child(&child), Signal::TERM);
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline {
            if matches!(child.try_wait(), Ok(Some(_))) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = child.kill();
        let _ = child.wait();
        false
    }

    /// Starts again what ended by itself.
    pub(crate) fn supervise(&mut self) -> Result<()> {
        let mut due = Vec::new();
        for process in &mut self.processes {
            if process.child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(Some(_)))) {
                process.child = None;
                process.own_ends += 1;
                process.ended_at = Some(Instant::now());
            }
            if process.ended_at.is_some_and(|at| at.elapsed() >= RESTART_AFTER) && !process.down {
                due.push(process.unit);
            }
        }
        due.into_iter().try_for_each(|unit| self.start(unit, None))
    }

    /// How often each process ended by itself, of those that did.
    pub(crate) fn own_ends(&self) -> Vec<(String, u32)> {
        let ended = self.processes.iter().filter(|process| process.own_ends > 0);
        ended.map(|process| (name(process.unit), process.own_ends)).collect()
    }

    /// Lines of the logs of servers and agents that tell of a panic.
    pub(crate) fn panics(&self) -> Vec<String> {
        let logs = units().map(|unit| (name(unit), self.folder.join(format!("{}.log", name(unit)))));
        let panics = logs.flat_map(|(name, path)| {
            let text = fs::read(path).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            let lines = text.lines().filter(|line| line.contains("panicked at"));
            lines.map(|line| format!("{name}: {line}")).collect::<Vec<_>>()
        });
        panics.collect()
    }

    fn command(&self, unit: Unit) -> Command {
        let mut command = Command::new(&self.binary);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", &self.folder).current_dir(&self.folder);
        for (name, value) in [
            ("SERVER__HEARTBEAT_EVERY", "1s".to_owned()),
            ("SERVER__LOST_AFTER", "6s".to_owned()),
            ("SERVER__LOGS", format!("file://{}", self.folder.join("logs").display())),
            ("SERVER__ARTIFACTS", format!("file://{}", self.folder.join("artifacts").display())),
        ] {
            command.env(format!("MAINSPRING_{name}"), value);
        }
        match unit {
            Unit::Server(index) => {
                command.arg("server").arg("--data").arg(self.data(unit)).args(["--store", &self.store]);
                command.args(["--listen", &format!("127.0.0.1:{}", self.ports[index])]);
            }
            Unit::Agent(_) => {
                command.args(["agent", "--name", &name(unit), "--data"]).arg(self.data(unit));
                if rustix::process::geteuid().is_root() {
                    command.env("MAINSPRING_AGENT__TASK_USER", "root");
                }
                for port in &self.ports {
                    command.args(["--server", &format!("http://127.0.0.1:{port}")]);
                }
            }
        }
        command
    }

    fn process(&mut self, unit: Unit) -> &mut Process {
        let at = match unit {
            Unit::Server(index) => index,
            Unit::Agent(index) => SERVERS + index,
        };
        &mut self.processes[at]
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        units().for_each(|unit| {
            self.kill(unit);
        });
        // Sidecars and tasks outlive their agents by design.
        loop {
            let killed =
                procfs::all_of(&self.folder).into_iter().filter(|pid| procfs::signal(*pid, Signal::KILL));
            if killed.count() == 0 {
                return;
            }
        }
    }
}

/// The name of a process, of its folder and of its log.
pub(crate) fn name(unit: Unit) -> String {
    match unit {
        Unit::Server(index) => format!("server{index}"),
        Unit::Agent(index) => format!("agent{index}"),
    }
}

fn free_port() -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no free port on 127.0.0.1")?;
    Ok(listener.local_addr().context("a bound port has a number")?.port())
}
