//! One record of the journal and its bytes: length, checksum, content.
//!
//! A record that is cut short or does not match its checksum ends the journal there: it is the write that a crash
//! interrupted, and nothing was done on its word yet.

use serde::{Deserialize, Serialize};

use crate::key::AttemptKey;
use crate::log::Extent;
use crate::protocol::{End, LogCaps, StopCause};

/// The version of the records below.
pub(crate) const JOURNAL_VERSION: u32 = 1;

/// What a journal says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Record {
    /// The first record of every file.
    Header { version: u32 },
    /// The id of the node.
    Node([u8; 16]),
    /// The attempt is about to be executed.
    Starting(Box<StartingRecord>),
    /// It is going to be, or was, this process.
    Started(Box<StartedRecord>),
    /// It ended.
    Finished(Box<FinishedRecord>),
    /// The lease of one attempt, or of all that have one, ends at another time.
    Extended { key: Option<AttemptKey>, deadline_us: Option<u64> },
    /// Nothing was executed, or it was and its end is recorded elsewhere; it stays known, so that it is not executed again.
    Over { key: AttemptKey, refused: bool },
}

/// What a later sidecar needs to know to look after the task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StartingRecord {
    pub(crate) key: AttemptKey,
    pub(crate) boot: [u8; 16],
    pub(crate) started_at_us: i64,
    pub(crate) grace_ms: u32,
    pub(crate) stop_signal: i32,
    pub(crate) log: LogCaps,
    /// On CLOCK_BOOTTIME, which means something within one boot.
    pub(crate) timeout_at_us: Option<u64>,
    pub(crate) deadline_us: Option<u64>,
    pub(crate) result_bytes_max: u32,
    pub(crate) durable: bool,
}

/// The process that the attempt becomes. It is journalled before there is one, and again when its pid is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StartedRecord {
    pub(crate) key: AttemptKey,
    /// 0 while it is not known.
    pub(crate) pid: u32,
    /// From `/proc`: with the pid it names one process of a boot.
    pub(crate) start_ticks: u64,
    /// The inodes of the pipes that were its standard output and error.
    pub(crate) pipes: [u64; 2],
    /// The directories of its cgroup.
    pub(crate) cgroup: Vec<String>,
}

/// How the attempt ended; its result is in the output file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FinishedRecord {
    pub(crate) key: AttemptKey,
    pub(crate) end: End,
    pub(crate) stopped_by: Option<StopCause>,
    pub(crate) oom: bool,
    pub(crate) survivors: u32,
    pub(crate) cpu_user_us: u64,
    pub(crate) cpu_system_us: u64,
    pub(crate) memory_peak_bytes: u64,
    pub(crate) started_at_us: i64,
    pub(crate) finished_at_us: i64,
    pub(crate) log_head: u64,
    pub(crate) log_end: u64,
    /// Bytes of frames that were dropped between head and tail.
    pub(crate) log_gap: u64,
    /// Bytes of output that were dropped, there or because the disk was full.
    pub(crate) log_dropped_bytes: u64,
    pub(crate) result_bytes_max: u32,
}

const HEADER_BYTES: usize = 8;

/// Appends the bytes of a record.
pub(crate) fn encode(record: &Record, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER_BYTES]);
    *out = postcard::to_extend(record, std::mem::take(out)).expect("records are plain data");
    let content = &out[start + HEADER_BYTES..];
    let (length, sum) = (content.len() as u32, crc32fast::hash(content));
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
    out[start + 4..start + HEADER_BYTES].copy_from_slice(&sum.to_le_bytes());
}

/// The first record of `bytes` and its length; `None` where the good part of a journal ends.
pub(crate) fn decode(bytes: &[u8]) -> Option<(Record, usize)> {
    let (header, rest) = bytes.split_first_chunk::<HEADER_BYTES>()?;
    let (length, sum) = header.split_first_chunk::<4>()?;
    let content = rest.get(..u32::from_le_bytes(*length) as usize)?;
    if sum != crc32fast::hash(content).to_le_bytes() {
        return None;
    }
    let record = postcard::from_bytes(content).ok()?;
    Some((record, HEADER_BYTES + content.len()))
}

impl FinishedRecord {
    /// Which part of the log is on disk.
    pub(crate) fn log_extent(&self) -> Extent {
        Extent { head: self.log_head, gap: self.log_gap, end: self.log_end }
    }
}
