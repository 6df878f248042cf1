//! Triggers: written with their jobs, read, previewed, and moved by the owner of their cell.

mod act;
mod history;
mod list;
mod load;
mod merging;
mod preview;

pub use act::Named;
pub(crate) use merging::Merging;
