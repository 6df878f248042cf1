//! The words of Mainspring, spelled once: ids, job specifications, runs, attempts, nodes, leases, the
//! state machine of a run, limits and error codes.
//!
//! What is absent: IO, clocks, random sources, async, SQL and HTTP. Everything here is data and total
//! functions over it; `engine` decides with them, stores keep them, shells act on them.

pub mod attempt;
pub mod cause;
pub mod cell;
pub mod counter;
pub mod error;
pub mod event;
pub mod hash;
pub mod id;
pub mod job;
pub mod limits;
pub mod node;
pub mod node_lease;
pub mod reason;
pub mod run;
pub mod state;
pub mod time;

pub use attempt::{Attempt, AttemptToken, Usage};
pub use cause::{Cause, TimeoutKind};
pub use cell::{CellId, Epoch, Lease, Member};
pub use counter::{CounterKey, Counts};
pub use error::ErrorCode;
pub use event::{RunEvent, RunEventKind};
pub use id::{AttemptId, JobId, MemberId, NodeId, RunId};
pub use job::{Job, JobVersion, Pause};
pub use node::{Node, NodeState};
pub use node_lease::NodeLease;
pub use reason::{NodeFilter, Reason};
pub use run::{
    CancelRequest, Payload, Place, Progress, Run, RunExtra, RunHead, RunKeys, RunStatus, Shelf,
};
pub use state::{Command, IllegalTransition, RunState, transition};
pub use time::Timestamp;
