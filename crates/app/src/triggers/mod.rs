//! Triggers: written with their jobs, read, previewed, and moved by the owner of their cell.

mod act;
mod backfill;
mod backfills;
mod history;
mod ledgers;
mod list;
mod load;
mod merging;
mod missing;
mod moments;
mod preview;
mod successes;

pub use act::Named;
pub use history::Moments;
pub(crate) use history::outcome_of;
pub(crate) use merging::Merging;
pub(crate) use missing::{KnownJobs, warnings};
pub use moments::read_moments;
pub use successes::LastSuccesses;
