//! The captured output of an attempt, line by line.
//!
//! `offset` counts bytes of the stored log. Lines that were captured at once share it; a follower that was cut off goes on from
//! the last position it saw.

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

/// A line of output, or what there is of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LogLine {
    /// Where the piece that it came with begins in the stored log.
    pub offset: u64,
    /// When it was written.
    pub at: Time,
    /// Where it came from.
    pub stream: LogStream,
    /// What was written, with its line end. Without one, the next of the same stream goes on with the line. Bytes that are not
    /// UTF-8 are replaced.
    pub text: String,
}

/// A part of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LogPage {
    /// Of which attempt.
    pub attempt: u32,
    /// The lines, in order.
    pub lines: Vec<LogLine>,
    /// Where to go on.
    pub next_offset: u64,
    /// How long the stored log is.
    pub length: u64,
    /// Whether it is whole: nothing follows `length`.
    pub ended: bool,
}
