//! Why a worker ends by itself. Everything that trying again may help is tried again instead.

use std::path::PathBuf;

/// Why a worker cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The identity file cannot be used.
    #[error("cannot use the identity file {path}: {why}")]
    Identity {
        /// Where it is.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The node has no credential and no token to get one with.
    #[error("the worker has not joined yet: give it a join token, made by `mainspring node token`")]
    NotJoined,
    /// The schedulers do not accept the join token, and the worker has no credential.
    #[error("the join token was not accepted: {0}; `mainspring node token` makes another")]
    Refused(String),
    /// The schedulers let the worker in, but not as it was set up.
    #[error("{0}")]
    Unfit(String),
    /// The worker was set up wrongly.
    #[error("{0}")]
    Setup(String),
}
