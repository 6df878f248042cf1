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
    /// The store was made with another number of cells.
    #[error("server.cells is {configured}, but the store was made with {recorded}")]
    Cells {
        /// What the options say.
        configured: u16,
        /// What the store says.
        recorded: u16,
    },
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
    /// Another server has the store.
    #[error("another server uses {url}; stop it, or share a PostgreSQL or MySQL store")]
    StoreTaken {
        /// Which.
        url: String,
    },
    /// Logs have no place.
    #[error("the place of logs cannot be used")]
    Logs(#[source] mainspring_blob::Error),
    /// A scheduler's task broke down: a defect. Others take its cells, and this process has to be started anew.
    #[error("the scheduler broke down; start it again, and report what its log says")]
    BrokenDown,
    /// The address is in use, or not this machine's.
    #[error("cannot listen on {address}; choose another with --listen")]
    Listen {
        /// Which.
        address: SocketAddr,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The certificate or its key cannot be used, or the certificates that other servers are checked with.
    #[error("TLS cannot be used: {0}")]
    Tls(String),
    /// The listener broke.
    #[error("the listener broke")]
    Serve(#[source] io::Error),
}
