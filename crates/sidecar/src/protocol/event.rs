//! What a sidecar tells: answers to requests and, to its subscriber, what happens to attempts.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::key::AttemptKey;

/// One message of the sidecar.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The answer to `Hello`.
    Welcome {
        /// What the sidecar speaks.
        version: u32,
        /// Its process id.
        pid: u32,
        /// The node id in the journal.
        node: Option<[u8; 16]>,
        /// What it can do on this machine.
        capabilities: Capabilities,
    },
    /// The task's process exists.
    Started {
        /// Which attempt.
        key: AttemptKey,
        /// Its first process.
        pid: u32,
        /// When, by the wall clock.
        started_at_us: i64,
    },
    /// The order was not followed; nothing was executed for it.
    Refused {
        /// Which attempt.
        key: AttemptKey,
        /// Why.
        refusal: Refusal,
        /// Why, in words.
        message: String,
    },
    /// Frames of log, as they are on disk. A gap in the offsets means that the reader was too slow: ask with `Log`.
    Log {
        /// Which attempt.
        key: AttemptKey,
        /// Where in the stream of frames.
        offset: u64,
        /// Whole frames.
        frames: Bytes,
    },
    /// A line of the progress file.
    Progress {
        /// Which attempt.
        key: AttemptKey,
        /// The line, without its end.
        line: String,
    },
    /// The attempt is over and none of its processes is left. Sent again after each `Hello` until acknowledged.
    Finished(Box<Finished>),
    /// The answer to `List`.
    Listing {
        /// Every attempt that has a task, an unacknowledged end or a directory.
        attempts: Vec<Listed>,
    },
    /// The answer to `Log`.
    LogRead {
        /// Which attempt.
        key: AttemptKey,
        /// Where the frames begin: later than asked for if what lay there was dropped.
        offset: u64,
        /// Whole frames.
        frames: Bytes,
        /// The length of the stream so far.
        end: u64,
        /// Whether it will not grow any more.
        over: bool,
    },
    /// The answer to `SetNode` and `GetNode`.
    Node {
        /// The id in the journal.
        node: Option<[u8; 16]>,
    },
    /// The attempt that a request named is not known.
    Unknown {
        /// Which attempt.
        key: AttemptKey,
    },
    /// The answer to `Remove`: the directory is as good as gone.
    Removed {
        /// Which attempt.
        key: AttemptKey,
    },
    /// The answer to `Shutdown`: whether the sidecar ends now.
    ShuttingDown {
        /// `false` when tasks live or another agent subscribes, and it was not forced.
        accepted: bool,
    },
}

/// What a sidecar can do where it runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// Attempts get a cgroup.
    pub cgroups: bool,
    /// Memory of an attempt can be limited.
    pub memory: bool,
    /// Processes of an attempt can be limited.
    pub pids: bool,
    /// CPU of an attempt can be limited.
    pub cpu: bool,
}

/// Why an order to start was not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// The deadline had passed.
    Late,
    /// The attempt was executed before, and its end acknowledged.
    AlreadyOver,
    /// The order makes no sense: an empty command, a bad file name, a user that does not exist.
    Invalid,
    /// The program could not be executed.
    CannotExecute,
    /// The system has no room: processes, files, disk.
    NoRoom,
    /// The sidecar is ending.
    ShuttingDown,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finished {
    /// Which attempt.
    pub key: AttemptKey,
    /// The end of its first process.
    pub end: End,
    /// Why the sidecar stopped it, if it did.
    pub stopped_by: Option<StopCause>,
    /// The kernel killed something of it for lack of memory.
    pub oom: bool,
    /// Processes that could not be killed: they hang in the kernel.
    pub survivors: u32,
    /// CPU time in user mode, of all its processes that could be counted.
    pub cpu_user_us: u64,
    /// CPU time in the kernel.
    pub cpu_system_us: u64,
    /// The most memory it held at once, counted by its cgroup, or the largest resident size of one process if that is more
    /// or it had none. Zero where that is not known: a process smaller than the sidecar cannot be told from it.
    pub memory_peak_bytes: u64,
    /// When it was started, by the wall clock.
    pub started_at_us: i64,
    /// When its first process ended, by the wall clock.
    pub finished_at_us: i64,
    /// The length of the stream of log frames, dropped ones included.
    pub log_end: u64,
    /// Bytes of output that are not in the log.
    pub log_dropped_bytes: u64,
    /// The content of the output file.
    pub result: Option<Bytes>,
    /// What became of the output file.
    pub output: Output,
}

/// What became of the file whose content is the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Output {
    /// It is in `result`, or there was nothing in it.
    Taken,
    /// It was longer than allowed and is not in `result`.
    TooLong,
    /// It was no plain file, or could not be read. Said from version 2 on.
    Unreadable,
}

/// The end of a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// It exited.
    Exited(i32),
    /// A signal ended it.
    Signalled(i32),
    /// It could not become the program, and says why. Only in journals of earlier versions: such a start is refused.
    NotExecuted(String),
    /// It ended while no sidecar was its parent, so its status is not known.
    Lost,
}

/// Why the sidecar stopped an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopCause {
    /// `Stop` or `Kill`.
    Requested,
    /// The run timeout.
    Timeout,
    /// The lease ended without an extension.
    LeaseOver,
    /// The sidecar was told to end.
    Shutdown,
}

/// An attempt in a listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// Which attempt.
    pub key: AttemptKey,
    /// Where it stands.
    pub standing: Standing,
}

/// Where an attempt stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Standing {
    /// Its task lives.
    Running {
        /// The first process.
        pid: u32,
        /// When it was started.
        started_at_us: i64,
        /// The lease's end.
        deadline_us: Option<u64>,
        /// The length of the stream of log frames.
        log_end: u64,
        /// Whether it is being stopped.
        stopping: bool,
    },
    /// It is over and not acknowledged.
    Finished,
    /// Only its directory is left.
    Retained,
}
