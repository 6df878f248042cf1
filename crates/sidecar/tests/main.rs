//! The sidecar as a real process with real tasks.
//!
//! Every test has its own directory and its own sidecar, waits for events and never for a time; what a test started
//! is gone when it ends.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod account;
mod crash;
mod crash_points;
mod disk;
mod end;
mod hostile;
mod journal;
mod leaving;
mod limits;
mod output;
mod privilege;
mod sidecar;
mod start;
