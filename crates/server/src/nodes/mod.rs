//! The gRPC edge: nodes dial in here, are told apart by their credential, and talk to the seat of their cell.
//!
//! What a node says about itself is checked; what it says about attempts is judged by the engine; its log goes to
//! [`crate::logs`]. A node reaches only what is its own (I34): events carry the id that its credential proves.

mod door;
mod fetch;
mod gate;
mod inward;
mod router;
mod service;
mod stream;

pub(crate) use door::Door;
pub(crate) use fetch::Files;
pub(crate) use router::router;
pub(crate) use service::NodeService;
