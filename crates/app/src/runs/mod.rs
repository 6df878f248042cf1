//! Runs: asked for, looked at, ended, asked for again.

mod act;
mod batch;
mod bulk;
mod counts;
mod get;
mod head;
mod list;
mod log_index;
mod log_pattern;
mod log_search;
mod log_text;
mod log_walk;
mod logs;
mod overlap;
mod rerun;
mod submit;
mod timeline;
mod unblock;

pub use bulk::BulkProgress;
pub(crate) use head::priority_from;
pub(crate) use log_index::LogIndices;
pub use log_search::LogSearch;
pub use logs::{LogQuery, LogTarget};
