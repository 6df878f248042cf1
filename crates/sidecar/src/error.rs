//! The one error of this crate. Variants exist where a caller branches: another sidecar that already serves the
//! directory is good news for an agent, a peer that speaks another protocol is not.

use std::io;
use std::path::{Path, PathBuf};

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another sidecar holds this directory.
    #[error("a sidecar already serves {}", .0.display())]
    AlreadyRunning(PathBuf),
    /// The other end sent bytes that are not the protocol, or a version that is not spoken here.
    #[error("protocol: {0}")]
    Protocol(String),
    /// The journal is of a later version, or its start is damaged.
    #[error("journal: {0}")]
    Journal(String),
    /// The system refused something.
    #[error("{context}: {source}")]
    Io {
        /// What was tried.
        context: String,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    /// Wraps what the system said with what was tried.
    pub(crate) fn io(context: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let context = context.into();
        move |source| Self::Io { context, source }
    }

    /// As [`Error::io`], for a path.
    pub(crate) fn at(verb: &str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        Self::io(format!("cannot {verb} {}", path.display()))
    }
}
