//! The audit: one entry for each mutating call, allowed or denied, in the transaction of what it wrote (I29).
//!
//! Entries of several calls that are committed together share one record, so that a short run stays two row writes. The
//! records of a process are hash chains: each names the hash of the one before, so that none can be changed or left out
//! unseen. Records are ordered by time; `app` reads them, nobody changes them, retention cuts them from the oldest.

mod asked;
mod chain;
mod check;
mod entry;
mod journal;
mod list;
mod strangers;
mod verify;

pub(crate) use asked::told;
pub use asked::{Observed, asked_by, asks_for, observe};
pub use chain::{Chain, Draft};
pub use entry::{Entry, Outcome};
pub(crate) use journal::{Journal, Now};
pub use list::AuditFilter;
pub(crate) use strangers::Strangers;
pub use verify::{Break, verify};
