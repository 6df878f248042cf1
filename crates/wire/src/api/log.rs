//! The captured output of an attempt, line by line.
//!
//! `offset` counts bytes of the stored log; a follower that was cut off goes on from the last one it saw.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Time;

/// Where a line came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// Mainspring itself: what was dropped, why a task was stopped.
    System,
}

/// A piece of output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LogLine {
    /// Where it begins in the stored log.
    pub offset: u64,
    /// When it was written.
    pub at: Time,
    /// Where it came from.
    pub stream: LogStream,
    /// What was written, with its line end if it had one. Bytes that are not UTF-8 are replaced.
    pub text: String,
}

/// A part of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LogPage {
    /// Of which attempt.
    pub attempt: u32,
    /// The pieces, in order.
    pub lines: Vec<LogLine>,
    /// Where to go on.
    pub next_offset: u64,
    /// How long the stored log is.
    pub length: u64,
    /// Whether it is whole: nothing follows `length`.
    pub ended: bool,
}
