//! The handler body: a function in a user's own process, registered through an SDK.
//!
//! The process is a node of its own, so no command, environment or artifact is given here; the run's
//! parameters are all that the function gets.

use serde::Serialize;
use utoipa::ToSchema;

/// A function in a user's own process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Handler {
    /// The name that the process registered. The run's parameters are the function's input.
    pub name: Box<str>,
}
