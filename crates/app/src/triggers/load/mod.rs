//! What is planned: how many triggers fire in which hour on which pool, and where many come together.
//!
//! `ask.rs` gathers what the caller may see, `plan.rs` is what one trigger plans, `tally.rs` counts, `crowd.rs` finds the seconds
//! in which many fire, `spread.rs` says how to part them. All but the first is pure. Invariant: the work is bounded, and an
//! answer that is not whole says so; the hours that it tells are whole.

mod ask;
mod crowd;
mod plan;
mod spread;
mod tally;
#[cfg(test)]
mod tests;

/// Microseconds of a second.
const SECOND_US: i64 = 1_000_000;
/// Seconds of an hour.
const HOUR_S: i64 = 3_600;
