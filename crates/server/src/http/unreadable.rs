//! Requests for a change that cannot be read: they never reach a use case, and yet the audit tells of them.

use axum::http::Extensions;
use mainspring_app::{Caller, Operation};

use super::edge::Edge;
use super::failure::Failure;

/// Passes on what was read. What could not be read is written down if it is known who asks; the audit has no place for
/// strangers.
pub(crate) async fn note<T>(edge: &Edge, asked: &Extensions, read: Result<T, Failure>) -> Result<T, Failure> {
    if let Err(Failure(error)) = &read
        && let (Some(caller), Some(operation)) = (asked.get::<Caller>(), asked.get::<Operation>())
    {
        edge.app.note_unreadable(caller, *operation, error).await;
    }
    read
}
