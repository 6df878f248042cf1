//! The client against real sockets: a small HTTP server that answers as the API does, and a small owner of nodes.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::time::Duration;

mod api;
mod calls;
mod owner;
mod streams;
mod worker;

/// A guard against a hang, far longer than anything takes on a busy machine.
const HANG_LIMIT: Duration = Duration::from_secs(600);
