//! What clients of the cluster know: every acknowledged change, with when it was asked for and when it was acknowledged.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::jobs::Job;
use crate::moment::MicrosSinceEpoch;

/// Shared by all threads of the load.
#[derive(Debug, Default)]
pub(crate) struct Journal(Mutex<Acknowledged>);

impl Journal {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Acknowledged> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Everything that was acknowledged.
#[derive(Debug, Default)]
pub(crate) struct Acknowledged {
    pub(crate) submissions: Vec<Submission>,
    pub(crate) puts: Vec<Put>,
    /// Runs whose cancellation was acknowledged.
    pub(crate) cancels: Vec<String>,
    /// Answers that no client may get.
    pub(crate) refusals: Vec<String>,
}

/// A submission.
#[derive(Debug, Clone)]
pub(crate) struct Submission {
    pub(crate) key: String,
    pub(crate) job: Job,
    pub(crate) run: String,
    pub(crate) asked_at: MicrosSinceEpoch,
}

/// A job was put, or its triggers were paused.
#[derive(Debug, Clone)]
pub(crate) struct Put {
    pub(crate) job: Job,
    pub(crate) version: u64,
    /// Whether its triggers fire from then on.
    pub(crate) with_triggers: bool,
    /// A pause makes no version.
    pub(crate) is_pause: bool,
    /// Which server was asked first.
    pub(crate) server: usize,
    pub(crate) asked_at: MicrosSinceEpoch,
    pub(crate) acknowledged_at: MicrosSinceEpoch,
}
