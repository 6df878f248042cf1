//! The store contract in memory: the oracle that every other store is compared with, and the store of the
//! simulation.
//!
//! [`MemCore`] is plain and synchronous: ordered maps, no clock, no randomness, the same calls give the same
//! answers. [`MemStore`] is the same behind a mutex and the async contract. Nothing here is durable, and
//! nothing here decides what a run may become: that is `model`'s.

mod apply;
mod change;
mod core;
mod lease;
mod read;
mod retain;
mod store;

pub use change::Change;
pub use core::MemCore;
pub use store::{Clock, MemStore};
