//! One action on every run that a query finds. First a count and a few examples, then an operation that is kept in the store
//! and carried out by the owners of the runs, whether or not its starter stays.
//!
//! Invariant: an operation acts on no run that was made after it was started, and on none that its starter may not act on.

mod document;
mod start;
mod view;
mod work;

pub use work::BulkProgress;
