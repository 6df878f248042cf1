//! The agent: the process on a node that talks to the schedulers and has its sidecar run what they order.
//!
//! ```text
//!  schedulers ◀──stream──▶ driver ◀──socket──▶ sidecar ──▶ tasks
//!                            │
//!                core (decides) · prepare · logs
//! ```
//!
//! - [`core`] holds the rules of a node, without IO; `driver` is the loop around it, `act` carries out what it says.
//! - `stream` dials the schedulers, `sidecar` finds or starts the sidecar, `tasks` reads its events.
//! - `prepare` makes an order ready for the sidecar (templates, artifacts, inputs, outputs), `logs` carries captured output
//!   away.
//! - `identity` is what is on disk about the agent itself, `facts` what can be read off the machine.
//!
//! Absent: processes (the sidecar owns them), retries and timeouts (the owner decides them), SQL. The end of an agent, by
//! whatever cause, ends no task.

mod act;
mod alarm;
pub mod core;
mod driver;
mod error;
mod facts;
mod identity;
mod logs;
mod options;
mod prepare;
mod repository;
mod run;
mod sidecar;
mod stream;
mod tasks;

pub use error::Error;
pub use options::{Options, SidecarCommand};
pub use run::{node, run};
