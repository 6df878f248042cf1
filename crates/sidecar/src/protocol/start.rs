//! The order to execute an attempt.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::key::AttemptKey;

/// Everything a task process is started with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// Which attempt.
    pub key: AttemptKey,
    /// The program and its arguments; a program without a slash is looked for in `PATH`.
    pub argv: Vec<String>,
    /// The environment beside the defaults (`PATH`, `HOME`, `LANG`) and the variables of the sidecar. Nothing else.
    pub env: Vec<(String, String)>,
    /// The directory to start in; the attempt's own work directory if absent.
    pub cwd: Option<String>,
    /// Standard input.
    pub stdin: Stdin,
    /// Files to place in the attempt's directory before the start: parameters, a script.
    pub files: Vec<File>,
    /// Run as this user, with its groups.
    pub user: Option<String>,
    /// The file mode mask.
    pub umask: Option<u32>,
    /// Limits of each process.
    pub rlimits: Vec<Rlimit>,
    /// Limits of the attempt as a whole, where the system has the controllers.
    pub caps: ResourceCaps,
    /// How long the tree has between the stop signal and the kill.
    pub grace_ms: u32,
    /// The stop signal.
    pub stop_signal: i32,
    /// How much log is kept.
    pub log: LogCaps,
    /// The tree is stopped after this time, agent or no agent.
    pub run_timeout_ms: Option<u64>,
    /// The lease's end on CLOCK_BOOTTIME: the tree is stopped then unless it was extended, and not started after it.
    /// `None` keeps the task for as long as it runs.
    pub deadline_us: Option<u64>,
    /// At most once: the journal is on disk before the exec.
    pub durable: bool,
    /// The most bytes of result; a longer one is not taken.
    pub result_bytes_max: u32,
}

impl Start {
    /// An order with ordinary settings.
    pub fn new<A: Into<String>>(key: AttemptKey, argv: impl IntoIterator<Item = A>) -> Self {
        Self {
            key,
            argv: argv.into_iter().map(Into::into).collect(),
            env: Vec::new(),
            cwd: None,
            stdin: Stdin::Empty,
            files: Vec::new(),
            user: None,
            umask: None,
            rlimits: Vec::new(),
            caps: ResourceCaps::default(),
            grace_ms: 10_000,
            stop_signal: 15,
            log: LogCaps::default(),
            run_timeout_ms: None,
            deadline_us: None,
            durable: false,
            result_bytes_max: mainspring_model::limits::RESULT_BYTES_MAX as u32,
        }
    }
}

/// What the task reads from its standard input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stdin {
    /// Nothing.
    Empty,
    /// These bytes.
    Bytes(Bytes),
    /// A file on the node.
    File(String),
}

/// A file in the attempt's directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// Its name: one plain component, none of the sidecar's own.
    pub name: String,
    /// Its content.
    pub content: Bytes,
    /// Its mode.
    pub mode: u32,
    /// The variable that tells the task its path.
    pub variable: Option<String>,
}

/// Bytes of log frames that are kept: the first and the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogCaps {
    /// From the beginning.
    pub head_bytes: u64,
    /// From the end.
    pub tail_bytes: u64,
}

impl Default for LogCaps {
    fn default() -> Self {
        Self { head_bytes: 8 * 1024 * 1024, tail_bytes: 8 * 1024 * 1024 }
    }
}

/// From here on a bound of processes is set on tasks that last only.
const LASTING_PIDS_MIN: u32 = 1024;

/// Limits of a whole attempt, set on its cgroup.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceCaps {
    /// Memory of all processes together.
    pub memory_bytes: Option<u64>,
    /// Processes and threads.
    pub pids: Option<u32>,
    /// Thousandths of a core.
    pub cpu_millis: Option<u32>,
}

impl ResourceCaps {
    /// Whether a task has to be born in a cgroup with these limits. A bound of many processes guards the machine and need not
    /// be exact: it is set on the cgroup that a task is given when it lasts, and costs short tasks nothing.
    pub fn is_needed_at_birth(&self) -> bool {
        let lasting = Self { pids: self.pids.filter(|pids| *pids >= LASTING_PIDS_MIN), ..Self::default() };
        *self != lasting
    }
}

/// One `setrlimit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rlimit {
    /// What is limited.
    pub kind: RlimitKind,
    /// The limit that holds; `None` is unlimited.
    pub soft: Option<u64>,
    /// The limit up to which the task may raise it.
    pub hard: Option<u64>,
}

/// What an [`Rlimit`] limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RlimitKind {
    /// Address space, in bytes.
    AddressSpace,
    /// Core dumps, in bytes.
    Core,
    /// CPU time, in seconds.
    Cpu,
    /// Data segment, in bytes.
    Data,
    /// The size of a file, in bytes.
    FileSize,
    /// Open files.
    OpenFiles,
    /// Processes of the user.
    Processes,
    /// Stack, in bytes.
    Stack,
    /// Locked memory, in bytes.
    LockedMemory,
}
