//! What an agent and a sidecar say to each other.
//!
//! Requests and events travel in [`frame`]s, many to a frame. An agent may be newer or older than the sidecar it
//! finds, because tasks outlive upgrades: variants and fields are only ever added at the end together with a new
//! [`VERSION`], and both speak the lower of the two versions that `Hello` and `Welcome` name.
//!
//! Everything that asks for a change may be sent again: a known attempt is answered with what is known of it.

mod event;
pub mod frame;
mod request;
mod start;

pub use event::{Capabilities, End, Event, Finished, Listed, Output, Refusal, Standing, StopCause};
pub use request::{LOG_READ_BYTES_MAX, Request};
pub use start::{File, LogCaps, ResourceCaps, Rlimit, RlimitKind, Start, Stdin};

/// The version spoken here.
pub const VERSION: u32 = 2;
