//! The agent's protocol: generated messages, and their checked conversion to and from the words of the model.

mod dial;
mod ending;
mod malformed;
mod node;
mod proto;
mod token;

pub use dial::{may_redirect, wait_before_dial};
pub use malformed::Malformed;
pub use proto::*;
pub use token::{bytes_of, node_id, run_id};

/// Specifications that the two ends of a connection remember. The next one makes both forget all and begin anew; what was
/// ordered is not touched by that.
pub const SPECS_PER_CONNECTION_MAX: usize = 4_096;
