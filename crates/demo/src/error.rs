//! What can go wrong: the store, or the company itself.

use mainspring_store::Outcome;

/// Why there is no history.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store did not take it.
    #[error("the store does not take the history")]
    Store(#[from] mainspring_store::Error),
    /// The store holds something else already.
    #[error("the store is not empty: {0:?}")]
    NotEmpty(Outcome),
    /// A use case refused what somebody of the company did.
    #[error("the company's story does not fit: {0}")]
    Story(#[from] mainspring_app::Error),
    /// The scheduler gave up.
    #[error("the history broke a rule: {0}")]
    Broken(String),
}
