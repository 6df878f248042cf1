//! What the long-running roles share: a runtime, what they write about themselves, and how they are stopped.
//!
//! User commands need none of it, and the sidecar must not have it.

mod agent;
mod logging;
mod server;
mod stop;

pub(crate) use agent::AgentFlags;
pub(crate) use server::{ServerFlags, roles};
pub(crate) use stop::{Stop, ready};

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

/// A failure in the words of an error and of all that caused it, on one line.
pub(crate) fn failed(error: impl std::error::Error) -> Failure {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    Failure::failed(text)
}
