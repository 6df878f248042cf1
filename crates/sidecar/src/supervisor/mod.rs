//! The loop: waits for the socket, the pipes, the ends of children and the clock; gathers what they ask for; writes
//! the journal; then acts and answers.
//!
//! One turn: read everything that is ready, journal the orders to start, spawn them, take note of ends and of time,
//! journal that, and only then flush the connections. Nothing here waits for anybody, except on the disk.

mod connection;
mod finish;
mod orphans;
mod output;
mod poller;
mod reap;
mod recover;
mod requests;
mod run;
mod settle;
mod starts;
mod stop;

use run::Supervisor;
pub use run::run;
