//! Chaos: a real cluster of two servers and three agents on PostgreSQL, under a load, broken again and again, and a checker
//! that compares what clients were told, what tasks witnessed outside of the system, and what the system says of itself.
//!
//! `plan` makes the faults from a seed, `conductor` carries them out on the processes of `cluster`, `load` keeps clients busy,
//! `evidence` collects what is known at the end, `checks` and `logs` say what must hold. The database is the caller's: see [`Database`].

mod api;
mod checks;
mod cluster;
mod conductor;
mod evidence;
mod http;
mod jobs;
mod journal;
mod load;
mod logs;
mod moment;
mod observer;
mod plan;
mod procfs;
mod report;
mod rest;
mod rng;
mod run;
mod witness;

pub use plan::SEED_OF_A_MINUTE;
pub use report::Report;
pub use run::{Options, run};

use anyhow::Result;

/// The database of the cluster, which faults stop and start.
pub trait Database {
    /// Where servers find it.
    fn url(&self) -> &str;

    /// Ends it: at once, or after it has disconnected its clients. False when it is stopped already.
    fn stop(&mut self, immediate: bool) -> Result<bool>;

    /// Starts it unless it runs; does not wait until it answers.
    fn start(&mut self) -> Result<()>;
}
