//! One body of cases that every store must pass, the built-in ones and a user's own alike.
//!
//! Whoever writes a store implements [`Harness`] in its tests and calls [`run_all`]; each case gets a fresh
//! store. What a harness can do beyond that (reopen its data, lose an answer) it offers through [`Data`]; a
//! case that needs what is not offered is named in the report, never passed over. [`differential::run`] plays
//! the same random calls to a store and an oracle and compares every answer.
//!
//! What is absent: rules of runs, timing and load. Cases are about answers.
//!
//! ```
//! use std::sync::Arc;
//! use mainspring_store::Store;
//! use mainspring_store_conformance::{Harness, run};
//! use mainspring_store_mem::MemStore;
//!
//! struct Mine;
//!
//! #[async_trait::async_trait]
//! impl Harness for Mine {
//!     async fn fresh(&self) -> Arc<dyn Store> {
//!         Arc::new(MemStore::default())
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! // A test plays all of them with `run_all`.
//! let report = run(Arc::new(Mine), |name| name.starts_with("leases::")).await;
//! assert!(report.failed.is_empty() && report.passed > 10, "{report:?}");
//! # }
//! ```
#![allow(
    clippy::unwrap_used,
    reason = "test support: a case fails by panicking, with its name in the report"
)]

mod case;
mod cases;
pub mod differential;
mod fixture;
mod harness;
mod runner;

pub use case::{Case, Verdict};
pub use cases::cases;
pub use harness::{Data, Harness};
pub use runner::{Report, run, run_all};
