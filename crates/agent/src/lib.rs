//! The agent: the process on a node that talks to the schedulers and has its sidecar run what they order.
//!
//! - [`core`] holds the rules of a node, without IO.
//!
//! Absent: processes (the sidecar owns them), retries and timeouts (the owner decides them), SQL.

pub mod core;
