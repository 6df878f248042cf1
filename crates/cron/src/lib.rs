//! When things are due: cron expressions, intervals, zones, calendars. Pure: no clock, no IO; the zones of the world are
//! inside the program.
//!
//! - [`Cron`] is an expression, read by `parse.rs` into sets ([`field`]), and asked for its next moment in `next.rs`.
//! - [`Every`] is an interval that is the same on every machine.
//! - [`Zone`] is where wall clocks are read, [`Dst`] what to do when they are turned.
//! - [`Calendar`] leaves days and times out; [`Schedule`] puts everything together.
//! - [`describe`] says it in words, in English and Chinese.
//!
//! It is the ground on which `model` stands: the job file is checked with it. Moments are plain numbers here.
//!
//! Invariant (I6): what is due next is a function of the schedule and the last moment, strictly later than it, and the same
//! whoever asks. Absent: what becomes of a moment that is due, or was missed; the engine decides that.

mod calendar;
mod cron;
pub mod describe;
mod error;
mod every;
mod field;
mod hash;
mod jitter;
mod macros;
mod next;
mod parse;
mod schedule;
mod zone;

/// A moment, in microseconds since 1970-01-01T00:00:00Z.
pub type Micros = i64;

/// Microseconds in a second.
pub(crate) const MICROS: i64 = 1_000_000;

pub use calendar::{Calendar, DailyWindow, Days, Holiday, Misfit, Part};
pub use cron::{Cron, DayRule};
pub use error::Error;
pub use every::Every;
pub use jitter::jitter;
pub use macros::every_of;
pub use next::{Dst, Gap, Overlap};
pub use schedule::{Bounds, Rhythm, Schedule};
pub use zone::Zone;
