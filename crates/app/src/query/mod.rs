//! The query language over runs: `state:failed job:etl label:team=data cause:exit created>-24h`.
//!
//! Words with spaces between, all of which must hold; commas are alternatives; `-` in front turns a word round. Pure: text
//! becomes a [`Query`] in `parse.rs`, and with the names in it looked up a [`Filter`] in `filter.rs`: the part that a store
//! answers by an index, and the rest.

mod filter;
mod parse;

pub(crate) use filter::{Filter, Named};
pub use parse::{Clock, Comparison, Moment, Query, QueryError, Term, Word};
