//! How each thing becomes a row and comes back: one file for each table, and the form of the opaque detail
//! columns. Columns are what queries need; the rest is detail that only these files read.
//!
//! Numbers without a sign are kept by their bits, so that every value comes back as it went in.

pub(crate) mod attempt;
pub(crate) mod counter;
pub(crate) mod detail;
pub(crate) mod event;
pub(crate) mod job;
pub(crate) mod lease;
pub(crate) mod member;
pub(crate) mod node;
pub(crate) mod record;
pub(crate) mod run;
pub(crate) mod run_detail;
pub(crate) mod run_job;
