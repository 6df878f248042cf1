//! Scenarios of the scheduler, told through one small world: a cell, a store in memory, and nodes that obey.
//!
//! Each module is one subject. A test says what happens and then everything that was said
//! ([`world::World::said`] leaves nothing out), so it also shows that nothing else was.
//! What many schedulers, faults and chance do together is the simulation's.

#![allow(clippy::unwrap_used, reason = "tests")]

mod backfill;
mod balancers;
mod calendars;
mod cancel;
mod clocks;
mod concurrency;
mod confirm;
mod cursor;
mod determinism;
mod drain;
mod followers;
mod hand_over;
mod hooks;
mod lease;
mod needs;
mod nodes;
mod overflow;
mod pause;
mod persist;
mod preference;
mod quarantine;
mod queue;
mod rate;
mod retry;
mod submit;
mod takeover;
mod timeouts;
mod tokens;
mod triggers;
mod why;
mod world;
