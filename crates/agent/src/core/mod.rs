//! The rules of a node, as a state machine without IO: what happened goes in, what to say and to do comes out.
//!
//! What is absent: sockets, files, clocks, threads. Times are those of the node's own clock (CLOCK_BOOTTIME) and are passed in.
//! The shells around it are `driver` (the loop), `stream` (the schedulers), `sidecar` (the tasks), `prepare` and `logs`.
//!
//! What it keeps: an order is executed once, only on the connection it was meant for and only if it did not travel too
//! long; no task executes beyond the node's lease unless its job says so; an ending is told until it is acknowledged; an
//! attempt that was to be stopped before it was known never begins on that connection.

mod attempt;
mod input;
mod lease;
mod link;
mod orders;
mod output;
mod profile;
mod progress;
mod pulse;
mod specs;
mod state;
mod tasks;
mod words;

pub use attempt::{Ending, Order};
pub use input::{Input, KnownStage, KnownTask, TaskEnd};
pub use output::Output;
pub use profile::Profile;
pub(crate) use pulse::REPLACE_LOOKS;
pub use state::Core;
