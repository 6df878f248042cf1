//! Jobs as a store keeps them: a name, a current version, a pause; and the immutable versions.

use std::sync::Arc;

use crate::id::JobId;
use crate::namespace::Namespace;
use crate::spec::JobSpec;
use crate::time::Timestamp;

/// A named job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// The job.
    pub id: JobId,
    /// Where it belongs.
    pub namespace: Namespace,
    /// Unique within the namespace.
    pub name: Box<str>,
    /// The version that new runs pin.
    pub current_version: u32,
    /// Grows by one with every write of this row.
    pub revision: u64,
    /// Who paused it and why.
    pub pause: Option<Pause>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When the row was last written.
    pub updated_at: Timestamp,
}

/// Why a job or a cell takes no new attempts.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Pause {
    /// Who.
    pub by: Box<str>,
    /// Their words.
    pub note: Box<str>,
    /// When.
    pub at: Timestamp,
}

/// A job's pause, and which revision of the row says so: of two rows the later one is right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobPause {
    /// The row's revision.
    pub revision: u64,
    /// What it says.
    pub pause: Pause,
}

impl Job {
    /// The pause that the row says.
    pub fn job_pause(&self) -> Option<JobPause> {
        self.pause.clone().map(|pause| JobPause { revision: self.revision, pause })
    }
}

/// An immutable version of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct JobVersion {
    /// The job.
    pub job: JobId,
    /// From 1.
    pub version: u32,
    /// What it says.
    pub spec: Arc<JobSpec>,
    /// When it was made.
    pub created_at: Timestamp,
    /// By whom.
    pub created_by: Box<str>,
}
