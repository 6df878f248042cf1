//! Where things are in the sidecar's directory. Both ends use it: the agent names files of an attempt by it.

use std::path::{Path, PathBuf};

use crate::key::AttemptKey;

/// The name of the progress file in the directory of an attempt.
pub(crate) const PROGRESS: &str = "progress";

/// The paths under a sidecar's directory.
#[derive(Debug, Clone)]
pub struct Layout {
    data: PathBuf,
}

impl Layout {
    /// The layout of `data`.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        Self { data: data.into() }
    }

    /// The directory itself.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// What only the sidecar's own user may enter. The directory around it may be passed through, because tasks that
    /// run as another user work inside it.
    pub fn private(&self) -> PathBuf {
        self.data.join("private")
    }

    /// The socket that agents connect to.
    pub fn socket(&self) -> PathBuf {
        self.private().join("sidecar.sock")
    }

    /// Held locked for as long as a sidecar serves the directory.
    pub fn lock(&self) -> PathBuf {
        self.private().join("sidecar.lock")
    }

    /// What a detached sidecar complains to.
    pub fn complaints(&self) -> PathBuf {
        self.private().join("sidecar.err")
    }

    /// The journal.
    pub fn journal(&self) -> PathBuf {
        self.private().join("journal")
    }

    /// The directories of the attempts.
    pub fn attempts(&self) -> PathBuf {
        self.data.join("attempts")
    }

    /// Everything of one attempt.
    pub fn attempt(&self, key: &AttemptKey) -> PathBuf {
        self.attempts().join(key.to_string())
    }

    /// The directory that the task starts in.
    pub fn work(&self, key: &AttemptKey) -> PathBuf {
        self.attempt(key).join("work")
    }

    /// The file whose content becomes the result, `MAINSPRING_OUTPUT`.
    pub fn output(&self, key: &AttemptKey) -> PathBuf {
        self.attempt(key).join("output")
    }

    /// The file whose lines become progress, `MAINSPRING_PROGRESS`.
    pub fn progress(&self, key: &AttemptKey) -> PathBuf {
        self.attempt(key).join(PROGRESS)
    }

    /// The captured log, in the format of [`crate::log`].
    pub fn log(&self, key: &AttemptKey) -> PathBuf {
        self.attempt(key).join("log")
    }
}
