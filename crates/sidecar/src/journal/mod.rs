//! What was started and how it ended, on disk until it is acknowledged; and the node's id.
//!
//! Append-only, checksummed, one write per turn of the loop. The invariant: a record is in the file before anything
//! follows from it (an exec, an event), and on the disk itself where the order says at most once. The page cache
//! survives a kill of the sidecar; only a crash of the machine tells the two apart, and that ends every task too.
//!
//! The file is rewritten when it is mostly history. What a key's history was is gone then, but the latest keys that
//! are over stay known, so that an order that arrives again is not executed again.

mod file;
mod memory;
mod record;

pub(crate) use file::Journal;
pub(crate) use memory::Entry;
pub(crate) use record::{FinishedRecord, Record, StartedRecord, StartingRecord};
