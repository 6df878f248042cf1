//! What an agent asks for.

use serde::{Deserialize, Serialize};

use super::start::Start;
use crate::key::AttemptKey;

/// The most bytes of log that one `Log` request is answered with.
pub const LOG_READ_BYTES_MAX: u32 = 1024 * 1024;

/// What an agent asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// The first request of a connection, answered by `Welcome`. A subscriber gets the events of all attempts,
    /// beginning with what ended unacknowledged; it takes the place of an earlier subscriber.
    Hello {
        /// What the agent speaks.
        version: u32,
        /// Whether it wants the events.
        subscribe: bool,
    },
    /// Execute an attempt. Answered by `Started` or `Refused`; later comes `Finished`.
    Start(Box<Start>),
    /// Signal the whole tree, and kill what is left after the grace.
    Stop {
        /// Which attempt.
        key: AttemptKey,
        /// Instead of the grace that it was started with.
        grace_ms: Option<u32>,
        /// Instead of the signal that it was started with.
        signal: Option<i32>,
    },
    /// Kill the whole tree now.
    Kill {
        /// Which attempt.
        key: AttemptKey,
    },
    /// Move the lease's end of one attempt, or of every attempt that has one.
    Extend {
        /// Which attempt; all that have a deadline if absent.
        key: Option<AttemptKey>,
        /// The new end on CLOCK_BOOTTIME; `None` keeps the task without one.
        deadline_us: Option<u64>,
    },
    /// The result is durably recorded elsewhere: forget it. The directory stays.
    Ack {
        /// Which attempt.
        key: AttemptKey,
    },
    /// Remove the directory of an attempt that is over.
    Remove {
        /// Which attempt.
        key: AttemptKey,
    },
    /// Tell all attempts that are known. Answered by `Listing`.
    List,
    /// Read a captured log. Answered by `LogRead`.
    Log {
        /// Which attempt.
        key: AttemptKey,
        /// From where in the stream of log frames.
        offset: u64,
        /// At most so many bytes, whole frames.
        limit: u32,
    },
    /// Store the node's id in the journal. Answered by `Node` when it is durable.
    SetNode {
        /// The id.
        node: [u8; 16],
    },
    /// Ask for the stored node id. Answered by `Node`.
    GetNode,
    /// End the sidecar, answered by `ShuttingDown`. Forced, it stops its tasks first. Otherwise it is the goodbye of an
    /// agent: refused while tasks live, or while another agent subscribes; then the sidecar ends after its last task, unless
    /// an agent subscribes before that.
    Shutdown {
        /// Stop the tasks.
        force: bool,
    },
}
