//! Why a server does not start or does not go on, in words for whoever started it.

use std::io;
use std::net::SocketAddr;

use crate::identity::IdentityError;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The options make no sense.
    #[error("{0}")]
    Options(String),
    /// The data folder is in use or cannot be used.
    #[error("data folder {folder}")]
    Data {
        /// Which.
        folder: std::path::PathBuf,
        /// Why.
        #[source]
        source: IdentityError,
    },
    /// The store cannot be opened or brought up to date.
    #[error("the store cannot be used")]
    Store(#[source] mainspring_store::Error),
    /// Logs or artifacts have no place.
    #[error("{folder} cannot be used")]
    Folder {
        /// Which.
        folder: std::path::PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Artifacts have no place.
    #[error("the repository of artifacts cannot be used")]
    Artifacts(#[source] mainspring_blob::Error),
    /// The address is in use, or not this machine's.
    #[error("cannot listen on {address}; choose another with --listen")]
    Listen {
        /// Which.
        address: SocketAddr,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The listener broke.
    #[error("the listener broke")]
    Serve(#[source] io::Error),
}
