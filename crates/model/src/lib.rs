//! The words of Mainspring, spelled once: ids, job specifications, runs, attempts, nodes, leases, the
//! state machine of a run, limits and error codes.
//!
//! What is absent: IO, clocks, random sources, async, SQL and HTTP. Everything here is data and total
//! functions over it; `engine` decides with them, stores keep them, shells act on them.

pub mod attempt;
pub mod backfill;
pub mod calendar;
pub mod cause;
pub mod cell;
pub mod counter;
pub mod duration_text;
pub mod elapsed;
pub mod error;
pub mod event;
pub mod hash;
pub mod id;
pub mod job;
pub mod label;
pub mod limits;
pub mod log;
pub mod name;
pub mod namespace;
pub mod no_node;
pub mod node;
pub mod node_fit;
pub mod node_lease;
pub mod quantity;
pub mod reason;
pub mod resource;
pub mod run;
pub mod selector;
pub mod shortage;
pub mod spec;
pub mod state;
pub mod store_clock;
pub mod time;

pub use attempt::{Attempt, AttemptToken, Usage};
pub use backfill::{BackfillOrder, Makeup, Reprocess};
pub use calendar::{CalendarSpec, Calendars, Weekday};
pub use cause::{Cause, TimeoutKind};
pub use cell::{CellId, Epoch, Lease, Member};
pub use counter::{CounterKey, Counts};
pub use elapsed::Elapsed;
pub use error::ErrorCode;
pub use event::{RunEvent, RunEventKind};
pub use id::{AttemptId, BackfillId, BulkId, JobId, MemberId, NodeId, RunId};
pub use job::{Job, JobPause, JobVersion, Pause};
pub use label::Labels;
pub use name::Name;
pub use namespace::Namespace;
pub use no_node::{Away, NoNode, NodeFilter, Unavailable};
pub use node::{Node, NodeState};
pub use node_fit::{Amount, NodeFit, NodeLack};
pub use node_lease::NodeLease;
pub use reason::Reason;
pub use resource::Resources;
pub use run::{
    CancelRequest, Fired, OverlapRule, Payload, Place, Progress, Run, RunExtra, RunHead, RunKeys, RunStatus,
    Shelf,
};
pub use selector::Selector;
pub use shortage::{Seen, Shortage};
pub use spec::JobSpec;
pub use state::{Command, IllegalTransition, RunState, transition};
pub use store_clock::{ClockReading, Correction, StoreClock};
pub use time::Timestamp;
