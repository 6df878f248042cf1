//! The agent's protocol: generated messages, and their checked conversion to and from the words of the model.

mod ending;
mod malformed;
mod node;
mod proto;
mod token;

pub use malformed::Malformed;
pub use proto::*;
pub use token::{bytes_of, node_id, run_id};
