//! What the long-running roles share: a runtime, what they write about themselves, and how they are stopped.
//!
//! User commands need none of it, and the sidecar must not have it.

mod agent;
mod check;
mod failed;
mod logging;
mod server;
mod stop;
pub(crate) mod task_user;

pub(crate) use agent::AgentFlags;
pub(crate) use check::problems;
pub(crate) use failed::{OTHER_DATA, agent_failed, failed, server_failed};
pub(crate) use server::{ServerFlags, check_port, roles};
pub(crate) use stop::{Stop, ready, starting};

use std::future::Future;

use crate::config::LogConfig;
use crate::failure::Failure;

/// Threads that run tasks. Sessions, commits and placement wait far more than they compute.
const WORKERS_MAX: usize = 4;

/// Runs a role in a runtime of its own.
pub(crate) fn run<T>(log: &LogConfig, role: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    logging::begin(log)?;
    // Only the first call counts; there is one provider in this program.
    drop(rustls::crypto::aws_lc_rs::default_provider().install_default());
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores.min(WORKERS_MAX))
        .enable_all()
        .build()?;
    let ended = runtime.block_on(role);
    // What still waits for a disk or a name must not keep the process.
    runtime.shutdown_background();
    ended
}
