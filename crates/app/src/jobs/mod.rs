//! Jobs: made and replaced by specification, listed, compared, paused, removed.

mod confirm;
mod delete;
mod dependents;
mod diff;
mod find;
mod health;
mod list;
mod pause;
mod put;
mod source;
mod validate;

pub use find::JobsQuery;
pub(crate) use health::{queued_ms, running_ms};
pub(crate) use pause::check_note;
pub use put::PutJob;
pub use source::Sourced;
