//! Runs: asked for, looked at, ended, asked for again.

mod act;
mod batch;
mod bulk;
mod counts;
mod get;
mod head;
mod list;
mod log_text;
mod logs;
mod overlap;
mod rerun;
mod submit;
mod timeline;

pub use bulk::BulkProgress;
pub(crate) use head::priority_from;
pub use logs::{LogQuery, LogTarget};
