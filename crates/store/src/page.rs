//! Reads by keyset: a page and where it ended. A page costs its own rows, however long the history.

use mainspring_model::{CellId, JobId, Namespace, RunId, RunState, Shelf, Timestamp};

/// Rows, and whether more follow.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// The rows, in order.
    pub rows: Vec<T>,
    /// Whether the store had more than the limit allowed.
    pub more: bool,
}

/// Active runs of a cell on one shelf, ordered by (rank, id).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShelfQuery {
    /// The cell.
    pub cell: CellId,
    /// The shelf.
    pub shelf: Shelf,
    /// Only what comes after this.
    pub after: Option<(i64, RunId)>,
    /// Only ranks up to and including this.
    pub rank_max: Option<i64>,
    /// At most so many rows.
    pub limit: usize,
}

/// Runs for people, newest first, ordered by id descending.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunQuery {
    /// In this namespace and all below it.
    pub namespace: Option<Namespace>,
    /// Of this job.
    pub job: Option<JobId>,
    /// In one of these states; empty is any.
    pub states: Vec<RunState>,
    /// Made at or after.
    pub from: Option<Timestamp>,
    /// Made before.
    pub until: Option<Timestamp>,
    /// Only what comes after this in the order, that is, older.
    pub after: Option<RunId>,
    /// At most so many rows.
    pub limit: usize,
}

/// Roll-ups by hour, ordered by (hour, job).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterQuery {
    /// In this namespace and all below it.
    pub namespace: Option<Namespace>,
    /// Of this job.
    pub job: Option<JobId>,
    /// Hours that begin at or after.
    pub from: Timestamp,
    /// Hours that begin before.
    pub until: Timestamp,
    /// At most so many rows.
    pub limit: usize,
}
