//! The one error of this crate: what ends an agent. What can be tried again is tried again and logged instead.

use std::io;
use std::path::PathBuf;

/// Why an agent cannot run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file of the agent cannot be used.
    #[error("cannot {verb} {}", path.display())]
    File {
        /// What was tried.
        verb: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Somebody else is the agent of the directory.
    #[error("another agent uses {}; end it first, or give this one a directory of its own with --data", .0.display())]
    InUse(PathBuf),
    /// The sidecar cannot be started or speaks another language.
    #[error("sidecar: {0}")]
    Sidecar(#[from] mainspring_sidecar::Error),
    /// An option makes no sense.
    #[error("option {name}: {why}")]
    Option {
        /// Which.
        name: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// The node has no credential, and no token to get one with.
    #[error("this node has not joined: it needs a join token")]
    NotJoined,
    /// The sidecar has another node's id in its journal than before.
    #[error("the sidecar lost its journal")]
    JournalLost,
    /// The join token was not accepted.
    #[error("the join token was not accepted: {0}")]
    JoinRefused(String),
    /// The schedulers let the node in, but not as it was started.
    #[error("{0}")]
    Unfit(String),
}

impl Error {
    pub(crate) fn file(verb: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { verb, path, source }
    }
}
