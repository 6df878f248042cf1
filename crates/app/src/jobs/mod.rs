//! Jobs: made and replaced by specification, listed, compared, paused, removed.

mod confirm;
mod delete;
mod diff;
mod list;
mod pause;
mod put;

pub(crate) use pause::check_note;
pub use put::PutJob;
