//! SIGINT, SIGTERM and SIGHUP become a question that loops ask, so that an interrupted command unwinds through its
//! guards and no database server is left behind.
//!
//! Invariant: nothing here ends the process; only `main` does, after every guard has run.

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use anyhow::{Context, Result};
use rustix::process::Signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// The number of the last signal that asked us to stop; zero while there was none.
static LAST: LazyLock<Arc<AtomicUsize>> = LazyLock::new(|| Arc::new(AtomicUsize::new(0)));

/// Somebody asked us to stop.
#[derive(Debug, thiserror::Error)]
#[error("stopped by signal {}", .0.as_raw())]
pub(crate) struct Interrupted(pub(crate) Signal);

impl Interrupted {
    /// The exit code by which a shell recognises an end by signal.
    pub(crate) fn exit_code(&self) -> ExitCode {
        u8::try_from(128 + self.0.as_raw()).map_or(ExitCode::FAILURE, ExitCode::from)
    }
}

/// Starts to note signals instead of dying of them.
pub(crate) fn watch() -> Result<()> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let number = usize::try_from(signal).context("signal numbers are positive")?;
        signal_hook::flag::register_usize(signal, Arc::clone(&LAST), number)
            .with_context(|| format!("cannot handle signal {signal}"))?;
    }
    Ok(())
}

/// The signal that asked us to stop, if one came.
pub(crate) fn received() -> Option<Signal> {
    let number = i32::try_from(LAST.load(Ordering::SeqCst)).ok()?;
    Signal::from_named_raw(number)
}

/// Fails once somebody asked us to stop.
pub(crate) fn check() -> Result<()> {
    match received() {
        Some(signal) => Err(Interrupted(signal).into()),
        None => Ok(()),
    }
}
