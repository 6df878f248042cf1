//! The store contract: the one source of truth behind an interface small enough to implement in a week.
//!
//! - One write verb, [`Store::commit`]: a fenced, atomic batch in which every write is a compare-and-set
//!   or an insert-if-absent and answers for itself.
//! - A few reads: the active work of a cell shelf by shelf, pages by keyset, one by id, roll-ups, records.
//! - Leases with epochs, members, the store's clock, retention.
//!
//! What is absent: SQL (in `store-sql`), rules (in `model` and `engine`), an async runtime. Stores join a
//! [`Registry`] by URL scheme; the built-in ones have no privilege. Whoever writes a store calls [`check`]
//! before a verb and [`readback`] for a batch that comes twice, and proves it with `store-conformance`.

pub mod check;
mod commit;
mod contract;
mod error;
mod metered;
mod page;
pub mod readback;
mod record;
mod registry;
mod resend;
mod run_end;
mod scan;
mod versions;

pub use commit::{Conflict, Fence, Outcome, RunUpdate, Transaction, Write};
pub use contract::{LeaseGrant, LeaseRequest, Migration, Retention, Store};
pub use error::{Error, Result};
pub use metered::{Measurement, Metered, Recorder, Verb};
pub use page::{CounterQuery, JobPlace, Page, RunQuery, ShelfQuery, first_id_at};
pub use record::{Record, RecordKey, RecordKind, RecordQuery, RecordRetention};
pub use registry::{Opener, Registry};
pub use resend::resend;
pub use run_end::RunEnd;
pub use scan::Scan;
pub use versions::Versions;
