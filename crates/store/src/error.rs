//! What can go wrong with a store, as far as a caller acts differently.

use mainspring_model::{CellId, Epoch};

/// The result of a verb.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a verb did not answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The fence does not hold: another owner has the cell. Nothing of the batch was written; the caller
    /// drops its memory of the cell.
    #[error("{cell} is no longer owned under {epoch}")]
    FenceLost {
        /// The cell.
        cell: CellId,
        /// The caller's epoch.
        epoch: Epoch,
    },
    /// The commit may or may not have happened. Sending the same fenced transaction again answers as if
    /// it were the first time; an unfenced one is sent again by [`crate::resend`].
    #[error("the outcome of the commit is unknown")]
    Unknown(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The store does not answer or gave up after bounded tries. Nothing was written.
    #[error("the store is unavailable")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The caller broke the contract: a batch too large, a value over its limit, a seq out of turn.
    #[error("invalid request: {0}")]
    Invalid(String),
    /// A stored row cannot be read back. Names the row, so that one bad row never stops the rest.
    #[error("stored row {row} is damaged: {what}")]
    Damaged {
        /// Which row.
        row: String,
        /// What is wrong with it.
        what: String,
    },
    /// The URL names no store that can be opened.
    #[error("{0}")]
    Open(String),
}

impl Error {
    /// Nothing was written and the same call may succeed later.
    pub fn unavailable(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Unavailable(source.into())
    }
    /// It may have been written.
    pub fn unknown(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Unknown(source.into())
    }
    /// Whether the same call may succeed later.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unknown(_) | Self::Unavailable(_))
    }
}
